"""What a measured rate rests on and what its interval promises, in sentences."""

from __future__ import annotations

import numpy as np

from reidrisk.base.results import Risk
from reidrisk.base.wording import about_in_words, counted, in_words, people_in_words, range_in_words
from reidrisk.records import Truth

__all__ = ["assumptions_of", "reading_of"]


def assumptions_of(truth: Truth, risk: Risk, why_not: str, min_group: int = 1) -> tuple[str, ...]:
    """Say what a rate rests on and for whom its interval is; ``why_not`` is why that is not people like these."""
    notes, times = [truth.origin], f"in {100 * risk.level:g} of 100 such measurements"
    if risk.everyone:
        notes.append("Every query was scored: the rate is exact for these people.")
    else:
        notes.append(
            f"The rate was measured on {risk.n_queries:,} queries drawn at random, and the interval holds the rate of "
            f"all of them {times}."
        )
    strangers = int(np.sum(truth.target < 0))
    if strangers:
        notes.append(
            f"Of the scored queries, {counted(strangers, min_group)} belong to nobody among the targets; any link of "
            "them is wrong."
        )
    if risk.covers == "people":
        notes.append(
            "The interval is for as many people like these, drawn anew for both tables, and holds their expected rate "
            f"{times} if people are independent: the wider of Gaffke's bound and a jackknife over people."
        )
    elif risk.covers == "none":
        notes.append(
            "This attack's links depend on all queries together; the interval takes them for independent, so how often "
            "it holds the expected rate is not promised."
        )
    elif risk.everyone:
        notes.append(
            "The interval covers another draw of queries among the same targets, not other people among the targets: "
            f"{why_not or 'one person has all queries'}. It holds their expected rate {times} if people are "
            "independent."
        )
    notes.append("That Gaffke's bound holds is conjectured; it was tested by simulation.")
    return tuple(notes)


def reading_of(rate: float, low: float, high: float, baseline: float) -> str:
    """Say in one sentence how many people are linked correctly, and how many by guessing."""
    if low <= baseline:
        return (
            f"This attacker cannot be told apart from blind guessing: it links {people_in_words(rate)} correctly "
            f"({range_in_words(rate, low, high)}), guessing links {in_words(baseline)}."
        )
    return (
        f"An attacker who holds both tables links {about_in_words(rate)} people correctly "
        f"({range_in_words(rate, low, high)}); guessing blindly would link {in_words(baseline)}."
    )
