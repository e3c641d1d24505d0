"""A check of an attack's own probabilities where the truth is not known: a rehearsal on the known records themselves.

Each target's epochs are cut in two, every other one to each half, and the attack links halves to halves. There the
truth is known, so what the attack states can be held against what is right. Then half of the targets are taken for
strangers to the other half: how often the attack is sure of *them*, who have no counterpart, is how often it is sure
for nothing.
A threshold passes where

- the share of right links among those stated to be at least so sure is not significantly below what was stated, and was
  measured well enough to exclude that it lies 10 points or more below;
- strangers reach the threshold at most a tenth as often as the records to identify do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk import measure
from reidrisk.attacks import Attack
from reidrisk.audit.axis import holds
from reidrisk.base import Floats, Result, mean_interval, stream
from reidrisk.records import Attributes, Bags, Traces, Vectors

_PEOPLE = 2_000  # targets that are rehearsed on: enough to tell 90 in 100 from 88
_FEWEST = 20  # with fewer targets there is nothing to rehearse
_SHORT = 0.1  # how far below the stated the right share may at most lie, at the lower end of its interval
_STRANGERS = 0.1  # how often strangers may reach a threshold, as a share of how often the records to identify do


@dataclass(frozen=True, eq=False)
class ThresholdCheck(Result):
    """The check of one threshold.

    ``answered`` is the share of halves for which the attack stated at least ``threshold``, ``stated`` its mean there,
    ``right`` the share of right links among them with its interval, and ``strangers`` the share of strangers that
    reached the threshold. What would tell of a few people is None.
    """

    threshold: float
    answered: float | None
    stated: float
    right: float | None
    low: float | None
    high: float | None
    strangers: float | None
    passed: bool


@dataclass(frozen=True, eq=False)
class ProbabilityCheck(Result):
    """The check of one attack's probabilities among ``n_people`` targets, ``n_epochs`` in each half.

    ``points`` hold the thresholds that could be checked; none where there are too few people or epochs.
    """

    attack: str
    n_people: int
    n_epochs: int
    points: tuple[ThresholdCheck, ...]

    @property
    def passed(self) -> tuple[float, ...]:
        """The thresholds that passed."""
        return tuple(point.threshold for point in self.points if point.passed)


def check_probabilities(
    attack: Attack[Any], targets: Any, claimed: Floats, thresholds: tuple[float, ...], seed: int, level: float = 0.95
) -> ProbabilityCheck:
    """Check an attack's probabilities on halves of the targets' own records, on which it is fitted here.

    ``claimed`` is what the attack states of the records to identify.

    >>> from reidrisk import attacks
    >>> own = Traces(np.repeat(np.arange(300)[:, None], 4, axis=1), n_tokens=400)      # a token of one's own each
    >>> attack = attacks.WeightedHamming(top_k=2, noise=0.0)
    >>> check_probabilities(attack, own, np.ones(300), (0.9,), seed=0).passed
    (0.9,)
    """
    draw = stream(seed, "rehearse on the targets")
    rows = np.sort(draw.permutation(len(targets))[:_PEOPLE])
    half, ours, theirs = _halves(targets.take(rows), draw)
    if half < 1 or len(rows) < _FEWEST:
        return ProbabilityCheck(attack.name, len(rows), half, ())
    apart = draw.permutation(len(rows))
    among = targets.take(rows)
    known, strange = among.take(apart[: len(rows) // 2]), among.take(apart[len(rows) // 2 :])
    if not (holds(ours) and holds(known)):
        return ProbabilityCheck(attack.name, len(rows), half, ())
    stated = _stated(attack.fit(ours), theirs)
    credit = measure.credits(attack, theirs, attack.link(theirs), np.arange(len(rows)))
    strangers = _stated(attack.fit(known), strange)
    points = (_point(t, stated, credit, claimed, strangers, level) for t in thresholds)
    return ProbabilityCheck(attack.name, len(rows), half, tuple(point for point in points if point is not None))


def _halves(people: Any, draw: np.random.Generator) -> tuple[int, Any, Any]:
    """Cut records in two: every other epoch to each half; of bags, each event to either. Say how much a half holds."""
    if isinstance(people, Vectors):  # half a vector is none
        return 0, people, people
    if isinstance(people, Bags):
        held = people.counts.data.astype(np.int64)
        ours = draw.binomial(held, 0.5)
        half = int(np.median(people.counts.sum(axis=1))) // 2 if len(people) else 0
        return half, people.with_counts(ours), people.with_counts(held - ours)
    half = 0 if isinstance(people, Attributes) else people.n_epochs // 2  # a column is not known of both halves
    if not half:
        return half, people, people
    one, other = (Traces(people.tokens[:, side : 2 * half : 2], people.n_tokens) for side in (0, 1))
    return half, one, other


def _stated(attack: Attack[Any], queries: Any) -> Floats:
    found = attack.link(queries, probability=True).probability
    return np.zeros(len(queries)) if found is None else found


def _point(
    threshold: float, stated: Floats, credit: Floats, claimed: Floats, strangers: Floats, level: float
) -> ThresholdCheck | None:
    """Check one threshold; None where no link reaches it."""
    sure = stated >= threshold
    n = int(sure.sum())
    if not n:
        return None
    mean, right = float(stated[sure].mean()), float(credit[sure].sum()) / n
    low, high = mean_interval(np.clip(credit[sure], 0.0, 1.0), level)
    reached = int(np.sum(strangers >= threshold)) / len(strangers)
    passed = high >= mean and low > mean - _SHORT and reached <= _STRANGERS * float(np.mean(claimed >= threshold))
    return ThresholdCheck(threshold, n / len(sure), mean, right, low, high, reached, passed)
