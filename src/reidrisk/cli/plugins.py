"""Commands that other distributions bring along, by entry points of the group ``reidrisk.commands``."""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from reidrisk.base.errors import MissingExtraError
from reidrisk.base.moved import STUDIES

GROUP = "reidrisk.commands"
_ANY_WORDS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def add_commands(app: typer.Typer, panel: str) -> None:
    """Add the menus that are installed; where ``study`` is not among them, one command that says how to get it."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, entry in sorted(found.items()):
        app.add_typer(entry.load(), name=name, rich_help_panel=panel)
    if "study" not in found:
        app.command("study", rich_help_panel=panel, context_settings=dict(_ANY_WORDS))(_no_studies)


def _no_studies(context: typer.Context) -> None:
    """Run published experiments again (not installed: see `reidrisk study`)."""
    raise MissingExtraError(f"the studies are a package of their own; install it with: pip install {STUDIES}")
