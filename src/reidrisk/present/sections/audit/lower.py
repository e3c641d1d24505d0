"""What would lower it: each change that was tried, the people found after it, the difference, and what is kept."""

from functools import partial
from pathlib import PurePath
from typing import Any

from reidrisk.audit import AuditResult
from reidrisk.base.notes import Note
from reidrisk.mitigations import Tried, WhatIf
from reidrisk.present import Cell, Section, Table, Terms, drawing
from reidrisk.present.sections.written import written
from reidrisk.present.words import (
    attack_label,
    capital,
    changes,
    in_words,
    interval,
    joined,
    percent,
    sentence,
    two_digits,
)

_NONE = ("no-change-fits", "changes-left-out", "items-known-with-more")  # why no change was tried


def section(result: AuditResult, terms: Terms) -> Section | None:
    """Return the changes and the answer to an aim, where either was asked for."""
    found = result.further
    if found is None or (found.what_if is None and found.aim is None and not _said_why(found.notes)):
        return None
    said = [sentence(note, terms) for note in found.notes if note.code in _NONE]
    if found.aim is not None:
        said.append(changes.aimed(found.aim, terms))
    what = found.what_if
    if what is None:
        return Section("What would lower it", see=tuple(said), console=True, name="lower")
    said = [
        changes.advice(what, terms),
        changes.confuses(what, terms),
        *said,
        _whose(result, what.side, terms),
        _on_fewer(result, what, terms),
        _left_out(what, terms),
        _not_measured(what),
        *(f"Not tried: {changes.said(one.change, terms)} ({one.why})." for one in what.refused),
    ]
    values, see = {"best": _spoken(what, terms)}, tuple(text for text in said if text)
    draw, table = partial(chart, what, terms), _table(what, terms)
    return written("audit.lower", terms, values, draw, see=see, table=table, console=True)


def _said_why(notes: tuple[Note, ...]) -> bool:
    return any(note.code in _NONE for note in notes)


def chart(found: WhatIf, terms: Terms, narrow: bool = False) -> Any:
    """Draw the people found against what is kept, numbered as in the table; Pareto-optimal changes are filled."""
    alt = drawing.altair()
    rows: list[dict[str, Any]] = [
        {
            "kept": one.kept.overall,
            "rate": one.risk.rate,
            "change": changes.said(one.change, terms),
            "best": one.pareto,
            "label": f"{place}",
            "option": f"--change {one.change}",
            "text": f"{in_words(one.risk.rate)}, {percent(one.kept.overall)} kept",
        }
        for place, one in enumerate(_shown(found), 1)
    ]
    top = max([found.before.rate, *(one.risk.rate for one in _shown(found))]) or 1.0
    ends = alt.Axis(format="%", tickCount=4)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("kept:Q", title=f"{terms.items} as they were", scale=alt.Scale(domain=[0, 1]), axis=ends),
        y=alt.Y("rate:Q", title=f"{terms.people} found", scale=alt.Scale(domain=[0, top]), axis=ends),
    )
    titles = {"change:N": "change", "text:N": f"{terms.people} found", "option:N": "as an option"}
    tips = [alt.Tooltip(field, title=title) for field, title in titles.items()]
    color = drawing.ATTACKS[0].color
    parts = [
        base.transform_filter(f"datum.best === {shown}")
        .mark_point(color=color, filled=filled, size=80, opacity=1)
        .encode(tooltip=tips)
        for shown, filled in (("true", True), ("false", False))
    ]
    labels = base.mark_text(dy=-12, color=drawing.INK).encode(text=alt.Text("label:N"))
    before = alt.Chart(alt.Data(values=[{"rate": found.before.rate}])).mark_rule(color=drawing.GREY, strokeDash=[4, 4])
    return drawing.finished(alt.layer(before.encode(y="rate:Q"), *parts, labels), 330)


def _shown(found: WhatIf) -> list[Tried]:
    """Return what was tried in full, by the people found."""
    return sorted((one for one in found.tried if one.full), key=lambda one: one.risk.rate)


def _table(found: WhatIf, terms: Terms) -> Table | None:
    rows: list[tuple[str | Cell, ...]] = []
    for place, one in enumerate(_shown(found), 1):
        gap = one.difference
        fewer = f"{two_digits(100 * gap.difference)} ({two_digits(100 * gap.low)} to {two_digits(100 * gap.high)})"
        about = interval(one.risk.rate, one.risk.low, one.risk.high)
        name = Cell(f"{place}. {capital(changes.said(one.change, terms))}", tag="Pareto-optimal" if one.pareto else "")
        unaware = in_words(one.naive.rate) if one.naive.rate < one.risk.rate else ""
        rows.append((name, Cell(in_words(one.risk.rate), small=about), fewer, percent(one.kept.overall), unaware))
    columns = (
        "change",
        f"{terms.people} found",
        "fewer in 100",
        f"{terms.items} as they were",
        "found without knowing of it",
    )
    caption = (
        f"Pareto-optimal: no other change finds fewer {terms.people} and leaves as many {terms.items} as they were, in "
        f"one {terms.record}."
    )
    return Table(columns, tuple(rows), (1, 2, 3, 4), caption) if rows else None


def _left_out(found: WhatIf, terms: Terms) -> str:
    if not found.left_out:
        return ""
    names = joined([attack_label(name) for name in found.left_out])
    return (
        f"There was no time to try the changes with {names}: more {terms.people} may be found after them than stated."
    )


def _whose(result: AuditResult, side: str, terms: Terms) -> str:
    """Say whose table is changed, by its file where files have names."""
    inputs = result.spec.get("inputs") or {}
    files = inputs.get("files") or [inputs[role] for role in ("targets", "queries") if inputs.get(role)]
    names = [PurePath(file).name for file in files]
    known, asked = names if len(names) == 2 else ("", "")
    if side == "targets":
        return f"Changed is the released table{_named(*names[:1])}; what the attacker knows stays as it is."
    if len(names) == 1:
        return f"Changed are the {terms.records} to identify, a part{_named(names[0], ' of ')}; the known part stays."
    return (
        f"Changed are the {terms.records} to identify{_named(asked)}; the known ones{_named(known)} stay as they are."
    )


def _named(name: str = "", before: str = ", ") -> str:
    return f"{before}{name}" if name else ""


def _on_fewer(result: AuditResult, found: WhatIf, terms: Terms) -> str:
    """Say on how many of those whom the verdict is about changes were tried, if not on all."""
    verdict, n = result.strongest, found.before.n_queries
    if verdict is None or n == verdict.n_queries:
        return ""
    about = interval(found.before.rate, found.before.low, found.before.high)
    of = f"{n:,} of the {verdict.n_queries:,} {terms.records} of the verdict"
    return f"Changes were tried on {of}; as they are, {in_words(found.before.rate)} of these are found ({about})."


def _not_measured(found: WhatIf) -> str:
    """Say how many changes the attack of the verdict did not measure."""
    few = sum(not one.full for one in found.tried)
    attack = attack_label(found.before.attack)
    return f"For {few} more changes there was no time to measure them with {attack} (--what-if-budget)." if few else ""


def _spoken(found: WhatIf, terms: Terms) -> str:
    best = [one for one in _shown(found) if one.pareto]
    said = (
        f"{changes.said(one.change, terms)}: {in_words(one.risk.rate)}, {percent(one.kept.overall)} kept"
        for one in best
    )
    return capital("; ".join(said)) + "."
