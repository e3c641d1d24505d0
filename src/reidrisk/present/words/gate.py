"""Sentences of the gate: the answer, how the ends lie to the limit, and under which circumstances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import attack_label, interval, people, percent
from reidrisk.present.words.register import reads
from reidrisk.present.words.risk import ORIGINS

if TYPE_CHECKING:
    from reidrisk.audit import Gate

_WHY = {
    "within": "the upper end of every attack and number of {periods} is within the limit",
    "above": "the lower end is above the limit",
    "straddles": "the interval straddles the limit",
    "doubt": "the pairs taken as true may be wrong, so no answer rests on them: check the truth, then audit again",
    "format": "the result has format 1, whose intervals are too narrow and whose rates strangers dilute: audit again",
}


@reads("Gate")
def _gate(gate: Gate, terms: Terms) -> str:
    links = f"{gate.attack} at {terms.many('period', gate.n_epochs)} links {percent(gate.rate)}"
    ends = f"{percent(gate.low)} to {percent(gate.high)}"
    limit = f"a limit of {percent(gate.max_risk)}"
    return f"{gate.answer}: {links} ({ends}) against {limit}; {because(gate, terms)}. {circumstances(gate, terms)}"


def in_frequencies(gate: Gate, terms: Terms) -> str:
    """Say how the gate answers in natural frequencies, for a page that has no percentages beside it."""
    about = interval(gate.rate, gate.low, gate.high)
    rate = people(gate.rate) + (f" ({about})" if about else "")
    links = f"{attack_label(gate.attack)} at {terms.many('period', gate.n_epochs)} links {rate}"
    said = f"The limit given is {people(gate.max_risk)}. {links}: {because(gate, terms)}."
    return f"{said} {circumstances(gate, terms, label=True)}"


def because(gate: Gate, terms: Terms) -> str:
    """Say how the ends lie to the limit, and what could decide where they straddle it."""
    said = _WHY[gate.why].format(periods=terms.periods)
    if gate.why != "straddles":
        return said
    if gate.everyone:
        return f"{said}, and all {terms.records} were scored: only data of more people can decide"
    return f"{said}: score more {terms.records} to decide"


def circumstances(gate: Gate, terms: Terms, label: bool = False) -> str:
    """Say among whom the risk was measured, with which attacks, and what was left out."""
    from reidrisk.attacks.registry import left_out

    named = attack_label if label else str
    who = "simulated people" if gate.simulated else "people"
    said = f"Among {gate.n_targets:,} {who}, {gate.n_scored:,} of them scored; attacks tried: "
    said += ", ".join(named(attack) for attack in gate.attacks)
    for one in left_out(gate.attacks, gate.n_epochs_held):
        said += f"; {named(one.attack.__name__)} was not run and may link more"
    said += f"; numbers of {terms.periods} looked at: {_listed(gate.epochs)} of {gate.n_epochs_held}"
    if gate.epochs[0] < gate.n_epochs_held:
        said += ", always the first; other choices were not tried"
    if gate.epochs_left_out:
        said += f" (left out: {_listed(gate.epochs_left_out)}; an attacker may use them)"
    said += f". Level {percent(gate.level)} for all {gate.n_rows} rows together"
    if gate.strangers is None:
        said += f"; how many {terms.records} have no counterpart is not recorded"
    else:
        said += f"; {terms.records} without a counterpart: {percent(gate.strangers)}, not counted in the rate"
    said += f". Truth: {ORIGINS.get(gate.truth, gate.truth)}"
    return f"{said} It could not be checked." if gate.truth_check == "no power" and not gate.simulated else said


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers)
