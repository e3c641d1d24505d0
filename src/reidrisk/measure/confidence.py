"""How sure an attacker can be: right and wrong links as it answers only where its own probability is high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.base.intervals import mean_interval
from reidrisk.base.results import Result
from reidrisk.measure.disclosure import cuts_to_show, limits

_THRESHOLDS = (0.9, 0.5, 0.99, 0.1, 0.95, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 0.05, 0.01, 0.001)
"""The most wanted first: where two cannot both be shown, the earlier one is."""


@dataclass(frozen=True, eq=False)
class Choosiness(Result):
    """One point of the curve: the attacker answers where it is at least ``threshold`` sure.

    ``answered``, ``correct`` and ``incorrect`` are shares of all scored queries, ``precision`` is the share of right
    links among the answers, each with its interval. Where the truth is not known, only ``answered`` is; where nothing
    is answered, there is no ``precision``.

    Where fewer than ``min_group`` of the answers are right, or wrong, or of those between two thresholds, ``correct``,
    ``incorrect`` and ``precision`` are None, and the ends are not intervals but limits that hold in any case.
    """

    threshold: float
    answered: float
    correct: float | None
    incorrect: float | None
    low: float | None = None
    high: float | None = None
    incorrect_low: float | None = None
    incorrect_high: float | None = None
    precision: float | None = None
    precision_low: float | None = None
    precision_high: float | None = None


def choosiness(
    probability: npt.NDArray[np.float64],
    credit: npt.NDArray[np.float64] | None,
    level: float = 0.95,
    min_group: int = 1,
) -> tuple[Choosiness, ...]:
    """Return the curve over fixed thresholds, from answering always on.

    Parameters
    ----------
    probability : (q,) array
        ``Links.probability``.
    credit : (q,) array or None
        Probability of a right link (``Risk.per_user``), where the truth is known.
    level : float
        Level of the intervals.
    min_group : int
        Thresholds that would set apart fewer people, from everybody or from another threshold, are left out; where
        they would set apart fewer right or fewer wrong answers, these are not told apart. How many are right when
        everything is answered is always told.

    Examples
    --------
    >>> curve = choosiness(np.array([0.96, 0.2]), np.array([1.0, 0.0]))
    >>> curve[0].correct, curve[0].incorrect, curve[-2].correct, curve[-2].incorrect
    (0.5, 0.5, 0.5, 0.0)
    >>> [point.threshold for point in choosiness(np.array([0.96, 0.2]), None, min_group=2)]
    [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.99]
    """
    above = {threshold: int(np.sum(probability >= threshold)) for threshold in _THRESHOLDS}
    kept = cuts_to_show(above, len(probability), min_group, _THRESHOLDS)
    split = set(kept) if credit is None else _split(probability, credit, kept, min_group)
    return tuple(
        _point(threshold, probability >= threshold, credit, level)
        if credit is None or threshold == 0.0 or threshold in split
        else _blurred(threshold, probability >= threshold, credit, min_group)
        for threshold in [0.0, *kept]
    )


def _split(
    probability: npt.NDArray[np.float64], credit: npt.NDArray[np.float64], kept: list[float], min_group: int
) -> set[float]:
    """Choose the thresholds at which right and wrong answers may be told apart."""
    answers = {threshold: probability >= threshold for threshold in kept}
    wanted = [threshold for threshold in _THRESHOLDS if threshold in answers]
    for part in (credit, 1.0 - credit):
        above = {threshold: float(part[answers[threshold]].sum()) for threshold in wanted}
        allowed = cuts_to_show(above, float(part.sum()), min_group, wanted)
        wanted = [threshold for threshold in wanted if threshold in allowed]
    # To answer always, or never, tells nothing beyond the rate of everybody.
    return {*wanted, *(threshold for threshold in kept if answers[threshold].all() or not answers[threshold].any())}


def _blurred(
    threshold: float, answers: npt.NDArray[np.bool_], credit: npt.NDArray[np.float64], min_group: int
) -> Choosiness:
    """Return a point that says between which limits right and wrong answers lie."""
    low, high = limits(float(credit[answers].sum()), float((1.0 - credit[answers]).sum()), min_group)
    answered = float(answers.mean())
    ends = (answered * low, answered * high, answered * (1.0 - high), answered * (1.0 - low))
    return Choosiness(threshold, answered, None, None, *ends, None, low, high)


def _point(
    threshold: float, answers: npt.NDArray[np.bool_], credit: npt.NDArray[np.float64] | None, level: float
) -> Choosiness:
    answered = float(answers.mean())
    if credit is None:
        return Choosiness(threshold, answered, None, None)
    right, wrong = np.where(answers, credit, 0.0), np.where(answers, 1.0 - credit, 0.0)
    among: tuple[float, ...] = ()
    if answers.any():
        among = (float(credit[answers].mean()), *mean_interval(credit[answers], level))
    ends = (*mean_interval(right, level), *mean_interval(wrong, level))
    return Choosiness(threshold, answered, float(right.mean()), float(wrong.mean()), *ends, *among)
