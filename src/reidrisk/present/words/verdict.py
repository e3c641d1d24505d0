"""The verdict of an audit: one sentence about the strongest of all rows, or about what can be said without a rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reidrisk.base.results import Risk
from reidrisk.present.model import Sentence
from reidrisk.present.terms import Terms
from reidrisk.present.words.frequencies import attack_label, in_words, range_in_words
from reidrisk.present.words.register import reads

if TYPE_CHECKING:
    from reidrisk.audit import AuditResult, TruthDoubt


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
    said = _rate(worst, result.n_epochs, terms)
    if result.truth_doubt is None:
        return said
    return Sentence(f"{_doubted(result.truth_doubt)} {said.before}", said.strong, said.after)


def _rate(worst: Risk, n_epochs: int, terms: Terms) -> Sentence:
    ends = range_in_words(worst.rate, worst.low, worst.high)
    used = f"{worst.n_epochs} of the {n_epochs} {terms.periods}" if worst.n_epochs < n_epochs else ""
    strong = in_words(worst.rate) if worst.rate > 0.0 else ""
    whom = f" {terms.people} correctly" if strong else "nobody correctly"
    if worst.low <= worst.baseline and worst.high <= 2.0 * worst.baseline:
        within = f" with {used}" if used else ""
        return Sentence(
            "This attacker cannot be told apart from blind guessing: it links ",
            strong,
            f"{whom}{within} ({ends}), guessing links {in_words(worst.baseline)}.",
        )
    start = f"With {used}, an attacker" if used else "An attacker"
    about = "about " if strong and not strong.startswith(("more", "fewer")) else ""
    guess = f"guessing blindly would link {in_words(worst.baseline)}"
    if worst.low <= worst.baseline:
        few = "there are too few people to tell that from guessing blindly, which would link"
        guess = f"{few} {in_words(worst.baseline)}"
    return Sentence(f"{start} who holds both tables links {about}", strong, f"{whom} ({ends}); {guess}.")


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
