"""The verdict: one sentence about the strongest of all rows, or about what can be said without a rate."""

from __future__ import annotations

from reidrisk import measure
from reidrisk.audit.rehearsal import Rehearsal
from reidrisk.audit.truth_doubt import TruthDoubt
from reidrisk.base.results import Risk
from reidrisk.base.wording import about_in_words, in_words, people_in_words, range_in_words

__all__ = ["SURE", "verdict"]

SURE = 0.9
"""A chance at which an attack is called sure."""


def verdict(
    worst: Risk | None,
    n_epochs: int,
    doubt: TruthDoubt | None,
    curve: tuple[measure.Choosiness, ...],
    rehearsals: tuple[Rehearsal, ...],
) -> str:
    """Return the verdict; ``worst`` has the ends that hold for all rows together.

    Examples
    --------
    >>> risk = Risk(0.92, 0.88, 0.94, 0.08, 0.0, 1 / 600, n_targets=600, n_queries=600, attack="Hamming", n_epochs=2)
    >>> print(verdict(risk, 8, None, (), ()))
    With 2 of the 8 epochs, an attacker who holds both tables links about 92 in 100 people correctly (88 to 94 in
    100); guessing blindly would link 1 in 600.
    """
    if worst is None:
        return f"Who is whom is not known, so no rate can be measured; {_sureness(curve, rehearsals)}"
    said = _rate(worst, n_epochs)
    return said if doubt is None else f"{_doubted(doubt)} {said}"


def _rate(worst: Risk, n_epochs: int) -> str:
    ends = range_in_words(worst.rate, worst.low, worst.high)
    used = f"{worst.n_epochs} of the {n_epochs} epochs" if worst.n_epochs < n_epochs else ""
    if worst.low <= worst.baseline and worst.high <= 2.0 * worst.baseline:
        within = f" with {used}" if used else ""
        return (
            f"This attacker cannot be told apart from blind guessing: it links {people_in_words(worst.rate)} "
            f"correctly{within} ({ends}), guessing links {in_words(worst.baseline)}."
        )
    start = f"With {used}, an attacker" if used else "An attacker"
    said = f"{start} who holds both tables links {about_in_words(worst.rate)} people correctly ({ends}); "
    if worst.low <= worst.baseline:
        few = "there are too few people to tell that from guessing blindly, which would link"
        return f"{said}{few} {in_words(worst.baseline)}."
    return f"{said}guessing blindly would link {in_words(worst.baseline)}."


def _doubted(doubt: TruthDoubt) -> str:
    share = f"more than {in_words(doubt.low)}" if doubt.wrong is None else in_words(doubt.wrong)
    return (
        f"The pairs taken as true may be wrong: {doubt.attack} finds links far closer than strangers come, and "
        f"{share if doubt.low or doubt.wrong else 'most'} of them are called wrong. Check the truth first."
    )


def _sureness(curve: tuple[measure.Choosiness, ...], rehearsals: tuple[Rehearsal, ...]) -> str:
    if not rehearsals:
        return "and the attacks that ran give no probabilities: nothing can be said."
    if curve:
        sure = next((point for point in curve if point.threshold >= SURE), curve[-1])
        return (
            f"the attack gives {in_words(sure.answered) + ' records' if sure.answered else 'no record'} a chance of "
            f"{100 * sure.threshold:g} in 100 or more, and such chances held in a rehearsal on the known records."
        )
    if any(rehearsal.passed for rehearsal in rehearsals):
        return "how sure an attack is of how many records is not shown: that would set apart too few people."
    if not any(rehearsal.points for rehearsal in rehearsals):
        return (
            "nor is it said how sure an attack is: there are too few people or epochs to check its probabilities in a "
            "rehearsal on the known records."
        )
    return (
        "nor is it said how sure an attack is: in a rehearsal on the known records, what the attacks state of "
        "themselves did not hold."
    )
