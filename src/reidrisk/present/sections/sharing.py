"""Sections of the administrator's page: the risk and its history, the groups, who shared, what is kept."""

from functools import partial
from typing import Any

from reidrisk.present import Cell, Section, Table, Terms, drawing
from reidrisk.present.drawing import Line, rated
from reidrisk.present.scales import rate_scale
from reidrisk.present.sections.written import written
from reidrisk.present.words.frequencies import as_given, attack_label, percent, with_interval
from reidrisk.present.words.sharing import STATES, handed_out

_NAMES = {"scoreboard": "scoreboard", "likelihood": "mechanism known"}
_MOST = 500  # agents in the table


def risk(told: dict[str, Any]) -> Section | None:
    """Return the measured risk of what is handed out, by version."""
    measured = [one for one in told["history"] if "likelihood" in one["risk"]]
    if not measured:
        return None
    rows = [
        (
            f"{one['version']}",
            one["built_at"].replace("T", " ").removesuffix("+00:00"),
            f"{one['members']:,}",
            *(with_interval(*(one["risk"][name][end] for end in ("rate", "low", "high"))) for name in _NAMES),
            Cell("", tag=one["status"]) if one["status"] != "published" else "served",
        )
        for one in reversed(measured)
    ]
    columns = ("version", "built (UTC)", "members", "scoreboard", "mechanism known", "status")
    last, table = measured[-1]["risk"], Table(columns, tuple(rows), numbers=(0, 2))
    said = {"cells": last["cells"], "last": last["likelihood"]["rate"]}
    return written("sharing.risk", Terms(), said, partial(_drawn, measured, told["max_risk"]), table=table)


def _drawn(measured: list[dict[str, Any]], limit: float | None, narrow: bool) -> Any:
    ends = [one["risk"][name][end] for one in measured for name in _NAMES for end in ("low", "high")]
    scale = rate_scale([*ends, *([] if limit is None else [limit])])
    versions = [float(one["version"]) for one in measured]
    lines = []
    for (name, label), style in zip(_NAMES.items(), drawing.ATTACKS, strict=False):
        found = [(v, one["risk"][name]) for v, one in zip(versions, measured, strict=True)]
        points = tuple(rated(v, r["rate"], r["low"], r["high"]) for v, r in found)
        lines.append(Line(attack_label(label), label, percent(points[-1].rate), style, points))
    if limit is not None:
        flat = tuple(rated(v, limit) for v in versions)
        lines.append(Line("limit", "limit", as_given(limit), drawing.BOUND, flat))
    first, last = versions[0], versions[-1]
    domain = (first - 0.5, last + 0.5) if first == last else (first, last)
    step = max(1, len(versions) // 10)
    axis = drawing.across("version", domain, versions[::-step][::-1], format=",d")
    return drawing.line_chart(lines, axis, scale, "Members found", "version", narrow)


def groups(told: dict[str, Any]) -> Section:
    """Return how many members are behind each matrix."""
    rows = tuple((f"{one['number'] + 1}", f"{one['members']:,}") for one in told["groups"])
    waiting = sum(one["state"] == "waiting" for one in told["agents"])
    return Section(
        title="What is handed out",
        see=(handed_out(told), f"{waiting:,} records wait for enough newcomers, or for the next rebuild."),
        table=Table(("group", "members"), rows, numbers=(0, 1)) if rows else None,
        name="groups",
    )


def agents(told: dict[str, Any]) -> Section | None:
    """Return who shared."""
    if not told["agents"]:
        return None
    shown = told["agents"][-_MOST:][::-1]
    rows = tuple(
        (
            one["agent"],
            one["enrolled_at"][:10],
            Cell(STATES[one["state"]], tag="revoked" if one["revoked"] else "", soft=one["state"] != "included"),
            f"{one['revision']}" if one["revision"] else "",
            (one["shared_at"] or "")[:16].replace("T", " "),
            "" if one["group"] is None else f"{one['group'] + 1}",
        )
        for one in shown
    )
    columns = ("agent", "enrolled", "record", "revision", "shared (UTC)", "group")
    few = f"The newest {len(shown):,} of {len(told['agents']):,} agents." if len(shown) < len(told["agents"]) else ""
    return Section("Who shared", see=few, table=Table(columns, rows, numbers=(3, 5)), name="agents")


def kept(told: dict[str, Any]) -> Section:
    """Return the state of the ledger and of the codes."""
    broken = told["ledger"]["first_broken"]
    chain = "every entry follows from the one before it" if broken is None else f"entry {broken} was changed"
    return Section(
        title="The ledger",
        see=f"{told['ledger']['entries']:,} entries; {chain}. {told['codes_unused']:,} enrolment codes are unused.",
        name="ledger",
    )
