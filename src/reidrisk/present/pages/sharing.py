"""The administrator's page of the sharing service: who shared, what is handed out, and how risky that is."""

from typing import Any

from reidrisk.present.html import render
from reidrisk.present.model import Mood, Page, Tile
from reidrisk.present.sections import sharing
from reidrisk.present.words.sharing import now


def page(told: dict[str, Any]) -> Page:
    """Return the page of an overview."""
    members = sum(one["members"] for one in told["groups"])
    broken = told["ledger"]["first_broken"] is not None
    sections = (sharing.risk(told), sharing.groups(told), sharing.agents(told), sharing.kept(told))
    moods: dict[str, Mood] = {"published": "calm", "refused": "alarm", "failed": "alarm"}
    return Page(
        kind="Sharing service",
        subject=told["strategy"],
        verdict=now(told),
        first=("The ledger was changed behind the back of the service.",) if broken else (),
        sections=tuple(filter(None, sections)),
        tiles=(
            Tile("Members", f"{members:,}", "in what is handed out"),
            Tile("Groups", f"{len(told['groups']):,}", f"version {told['version']}"),
            Tile("Agents", f"{len(told['agents']):,}", "enrolled"),
        ),
        mood=moods.get(told["status"], "plain"),
        facts=(f"built {told['built_at']}", f"next rebuild {told['next_rebuild']}"),
        footer="This page is for the administrator: it names agents, and holds no matrix, no profile and no secret.",
        heading="What is handed out now",
    )


def written(told: dict[str, Any]) -> str:
    """Return the page as HTML."""
    return render(page(told))
