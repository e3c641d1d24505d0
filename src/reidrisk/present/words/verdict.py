"""The verdict of an audit: one sentence about the strongest of all rows, or about what can be said without a rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reidrisk.base import Note, Risk
from reidrisk.present import Sentence, Terms
from reidrisk.present.words import about, attack_label, capital, in_words, joined, range_in_words, reads
from reidrisk.present.words.audit import along
from reidrisk.present.words.exports import shown
from reidrisk.present.words.scenarios import known_facts

if TYPE_CHECKING:
    from reidrisk.audit import AuditResult, TruthDoubt

_OWN = "this attacker"


@reads("AuditResult")
def _reading(result: AuditResult, terms: Terms) -> str:
    return str(verdict(result, terms))


def verdict(result: AuditResult, terms: Terms) -> Sentence:
    """Return the verdict; the number that matters most is set apart."""
    worst = result.strongest
    if worst is None:
        said = _sureness(result, terms)
        unknown = "Who is whom is not known, so no rate can be measured"
        return Sentence(f"{unknown}; {said.before}", said.strong, said.after)
    said = _few(worst, result, terms) if result.too_few else _steps(result, terms) or _rate(worst, result, terms)
    if result.truth_doubt is None:
        return said
    return Sentence(f"{_doubted(result.truth_doubt)} {said.before}", said.strong, said.after)


def _few(worst: Risk, result: AuditResult, terms: Terms) -> Sentence:
    ends = range_in_words(worst.rate, worst.low, worst.high)
    scored = f"only {terms.many('person', result.n_scored)} could be looked for"
    return Sentence("There are ", "too few", f" {terms.people} to tell: {scored}, and any rate from {ends} fits that.")


def _rate(worst: Risk, result: AuditResult, terms: Terms) -> Sentence:
    ends = range_in_words(worst.rate, worst.low, worst.high)
    who, links = attacker(result, worst.n_epochs, terms)
    if worst.setting == "matching":
        matches = f"matches all {terms.records} one to one"
        who += f", who {matches}," if who == _OWN else f" and {matches}"
    used = "" if worst.n_epochs == result.n_epochs or terms.axis == "facts" else terms.many("period", worst.n_epochs)
    if used and terms.axis == "epochs":
        used = f"{worst.n_epochs} of the {result.n_epochs} {terms.periods}"
    elif used and terms.whole:
        used = f"up to {used} of each {terms.record}"
    carried = next((note for note in result.notes if note.code == "cells-carried-by"), None)
    if carried is not None:
        who += _carried_by(carried)
    strong = in_words(worst.rate) if worst.rate > 0.0 else ""
    rightly = "" if links == "find" else " correctly"
    whom = f" {terms.people}{rightly}" if strong else f"nobody{rightly}"
    if like_guessing(worst):
        within = f" with {used}" if used else ""
        return Sentence(
            f"This attacker cannot be told apart from blind guessing: it {links}s ",
            strong,
            f"{whom}{within} ({ends}), guessing {links}s {in_words(worst.baseline)}.",
        )
    start = f"With {used}, {who}" if used else capital(who)
    guess = f"guessing blindly would {links} {in_words(worst.baseline)}"
    if worst.low <= worst.baseline:
        few = f"there are too few {terms.people} to tell that from guessing blindly, which would {links}"
        guess = f"{few} {in_words(worst.baseline)}"
    return Sentence(f"{start} {links}s {about(worst.rate)}", strong, f"{whom} ({ends}); {guess}.")


def _carried_by(note: Note) -> str:
    """Say by which columns people are found."""
    columns = joined([repr(name) for name in note["columns"]])
    what = "columns" if len(note["columns"]) > 1 else "a column"
    return f" and goes by {columns}" + (f" ({what} not used otherwise)" if note["unused"] == note["columns"] else "")


def _steps(result: AuditResult, terms: Terms) -> Sentence | None:
    """Return what is found at each step of what somebody knows of each event; nothing where only one was asked.

    Where another question leads, its answer comes first.
    """
    from reidrisk.audit.steps import (  # which imports the attacks: who reads other results pays for none
        in_order,
        step_of,
    )

    steps = in_order(result.questions)
    rates = [(step_of(step.scenario), step.strongest) for step in steps]
    found = [(told, row) for told, row in rates if told is not None and row is not None]
    if len(found) < 2:
        return None
    asked, columns = steps[0].scenario, _columns(result)
    assert asked is not None
    own = along(terms, steps[0])
    start = f"somebody who knows {known_facts(Note.from_dict({**asked.to_dict(), 'told': 'what'}), own)} finds "
    every = steps[-1].scenario
    if asked.get("columns") and every is not None:
        columns = {"what": "", "row": f" if they know all {len(every['columns'])} columns"}
    parts: list[tuple[str, str, str]] = []
    for told, row in found:
        whom = "" if parts else f" {terms.people}" if row.rate > 0.0 else f" of the {terms.people}"
        after = f"{whom} ({range_in_words(row.rate, row.low, row.high)}){columns[told]}"
        parts.append(("" if parts else about(row.rate), in_words(row.rate), after))
    guess = f"; guessing blindly would find {in_words(found[0][1].baseline)}."
    lead = next((i for i, step in enumerate(steps) if step is result), None)
    said = ["".join(part) for part in parts]
    if lead is None:
        first = _rate(result.strongest, result, terms) if result.strongest is not None else Sentence("")
        return Sentence(first.before, first.strong, f"{first.after} {capital(start)}{joined(said)}{guess}")
    left, right = joined([*said[:lead], "\0", *said[lead + 1 :]]).split("\0")
    before, strong, after = parts[lead]
    return Sentence(f"{capital(start)}{left}{before}", strong, f"{after}{right}{guess}")


def _columns(result: AuditResult) -> dict[str, str]:
    """Say of each step how people are found by it, with the names of the columns where they are noted."""
    known: list[Mapping[str, Any]] = [note for note in result.notes if note.code == "understood-as"]
    read = known[0] if known else {}
    items = [*(read.get("items") or ()), *(read.get("place") or ())]
    others = [name for name in (read.get("amount"), *(read.get("unused") or ())) if name is not None]
    time = f" ({read['time']})" if read.get("time") else ""
    when = "time" if read.get("times") == "numbers" else "day"
    more = f" ({shown(others)} as well)" if others else ""
    return {
        "what": f" by {shown(items)} alone" if items else " by what they are",
        "day": f" if they also know the {when}{time}",
        "row": f" if they know the whole row{more}",
    }


def like_guessing(risk: Risk) -> bool:
    """Whether the whole interval is near what blind guessing gets: never among one or two people, where it holds all.

    >>> few, many = (Risk(1 / n, 0.0, 2 / n, 1 - 1 / n, 0.0, 1 / n, n, n) for n in (2, 500))
    >>> like_guessing(few), like_guessing(many)
    (False, True)
    """
    return risk.low <= risk.baseline and risk.high <= 2.0 * risk.baseline < 1.0


def attacker(result: AuditResult, n: int, terms: Terms) -> tuple[str, str]:
    """Say who attacks, with what, and what they do: link records, or find people."""
    asked = result.scenario
    if asked is not None and asked.code == "scenario-knows":
        counted = terms.axis == "facts" and not asked.get("columns")
        known = Note.from_dict({**asked.to_dict(), "facts": n}) if counted else asked
        return f"somebody who knows {known_facts(known, terms)}", "find"
    if asked is not None and asked.code == "scenario-split":
        parts = {"time": "earlier part of each", "random": "other part of each", "column": "other side of each"}
        return f"an attacker who knows the {parts[asked['by']]} {terms.record}", "link"
    if asked is not None and asked.code == "scenario-own":
        return _OWN, "link"
    return "an attacker who holds both tables", "link"


def _doubted(doubt: TruthDoubt) -> str:
    share = f"more than {in_words(doubt.low)}" if doubt.wrong is None else in_words(doubt.wrong)
    return (
        f"The pairs taken as true may be wrong: {attack_label(doubt.attack)} finds far more close links than among "
        f"strangers, and {share if doubt.low or doubt.wrong else 'most'} of them are called wrong. "
        "Check the truth first."
    )


def _sureness(result: AuditResult, terms: Terms) -> Sentence:
    from reidrisk.audit.sureness import SURE

    curve, rehearsals = result.choosiness, result.rehearsals
    if not rehearsals:
        return Sentence("and the attacks that ran give no probabilities: nothing can be said.")
    if curve:
        sure = next((point for point in curve if point.threshold >= SURE), curve[-1])
        strong = in_words(sure.answered) if sure.answered else ""
        records = f" {terms.records}" if strong else f"no {terms.record}"
        chance = f"a chance of {100 * sure.threshold:g} in 100 or more"
        held = f"such chances held in a rehearsal on the known {terms.records}"
        return Sentence("the attack gives ", strong, f"{records} {chance}, and {held}.")
    if any(rehearsal.passed for rehearsal in rehearsals):
        few = "that would set apart too few people"
        return Sentence(f"how sure an attack is of how many {terms.records} is left out: {few}.")
    why = f"in a rehearsal on the known {terms.records}, its probabilities did not hold"
    if not any(rehearsal.points for rehearsal in rehearsals):
        few = f"there are too few people or {terms.periods}"
        why = f"{few} to check its probabilities in a rehearsal on the known {terms.records}"
    return Sentence(f"nor is it said how sure an attack is: {why}.")
