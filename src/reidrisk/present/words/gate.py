"""Sentences of the gate: the answer, how the ends lie to the limit, and what it rests on; the rest is in its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reidrisk.base.results import Risk
from reidrisk.present.terms import Terms, plural
from reidrisk.present.words import (
    as_given,
    attack_label,
    capital,
    in_words,
    interval,
    joined,
    people,
    percent,
    reads,
    table,
)

if TYPE_CHECKING:
    from reidrisk.audit import Gate

_WHY = table("gate")
_TOLD, _TOLD_OF_PEOPLE = table("told-of-each"), table("told-of-people")

_TRUTH = table("truth")
_DOORS = table("doors")


@reads("Gate")
def _gate(gate: Gate, terms: Terms) -> str:
    links = f"{gate.attack} {used_at(gate, terms)} links {percent(gate.rate)}"
    ends = f"{percent(gate.low)} to {percent(gate.high)}"
    said = f"{gate.answer}: {links} ({ends}), against {as_given(gate.max_risk)}: {because(gate, terms)}."
    return " ".join(filter(None, (said, known(gate, terms, percent), circumstances(gate, terms))))


def in_frequencies(gate: Gate, terms: Terms) -> str:
    """Say how the gate answers in natural frequencies, for a page that has no percentages beside it."""
    about = interval(gate.rate, gate.low, gate.high)
    rate = people(gate.rate, terms.people) + (f" ({about})" if about else "")
    links = f"{attack_label(gate.attack)} {used_at(gate, terms)} links {rate}"
    limit = f"{100 * gate.max_risk:g} in 100 {terms.people}" if gate.max_risk else "nobody"
    said = f"The limit given is {limit}. {links}: {because(gate, terms)}."
    return " ".join(filter(None, (said, known(gate, terms, in_words), circumstances(gate, terms))))


def known(gate: Gate, terms: Terms, rate: Callable[[float], str]) -> str:
    """Say how much of each event of a log the attacker is told, and what those find who are told more."""
    if gate.told is None:
        return ""
    of_people = terms.axis == "columns"
    words = _TOLD_OF_PEOPLE if of_people else _TOLD
    more = "".join(
        f"; {words[one.told]} would find {rate(one.rate)} ({rate(one.low)} to {rate(one.high)})" for one in gate.beyond
    )
    whose = terms.a_person if of_people else f"each {terms.item}"
    return f"Known of {whose}: {words[gate.told]}{more}."


def because(gate: Gate, terms: Terms) -> str:
    """Say how the ends lie to the limit, and what could decide where they straddle it."""
    said = _WHY[gate.why].format(periods=terms.periods, people=terms.people)
    missing = {"not run": gate.not_run, "required": gate.required}.get(gate.why)
    if missing:
        said = f"{said} ({', '.join(missing)})"
    if gate.why == "door":
        return f"{said}: {joined([_DOORS.get(code, code) for code in gate.doors])}"
    if gate.why != "straddles":
        return said
    if gate.everyone:
        return f"{said}, and all {terms.records} were scored: only data of more people can decide"
    return f"{said}: score more {terms.records} to decide"


def circumstances(gate: Gate, terms: Terms) -> str:
    """Say in a few words whom, with what and how surely; and what weakens the answer, where something does."""
    who = plural(terms.person, gate.n_scored if gate.everyone else gate.n_targets)
    who = f"simulated {who}" if gate.simulated else who
    unchecked = ", unchecked" if gate.truth_check == "no power" and not gate.simulated else ""
    of_all = "" if terms.whole else f" of {gate.n_epochs_held}"
    said = [
        f"{gate.n_scored:,} {who}" if gate.everyone else f"{gate.n_scored:,} of {gate.n_targets:,} {who} scored",
        f"{len(gate.attacks)} {plural('attack', len(gate.attacks))}"
        + (f", {len(gate.not_run)} not run" if gate.not_run else ""),
        f"{gate.n_questions} questions" if gate.n_questions > 1 else "",
        f"{terms.periods} {', '.join(map(terms.count, gate.epochs))}{of_all}",
        f"not tried {', '.join(map(terms.count, gate.epochs_untried))}" if gate.epochs_untried else "",
        f"level {as_given(gate.level)}",
        f"strangers {'not recorded' if gate.strangers is None else percent(gate.strangers)}",
        f"known {terms.records} nobody asks for {percent(gate.unasked)}" if gate.unasked else "",
        f"truth {_TRUTH.get(gate.truth, gate.truth)}{unchecked}",
    ]
    return capital("; ".join(text for text in said if text)) + "."


def periods_used(row: Gate | Risk, terms: Terms) -> str:
    """Say how many periods a row used, and which where they are not the first."""
    used = terms.many("period", row.n_epochs)
    which = (terms.columns[epoch] if terms.columns else str(epoch + 1) for epoch in row.which)
    return f"the best {used} ({', '.join(which)})" if row.which else used


def used_at(row: Gate | Risk, terms: Terms) -> str:
    """Say the same as part of a sentence."""
    return f"at {periods_used(row, terms)}" if row.which else terms.at(row.n_epochs)
