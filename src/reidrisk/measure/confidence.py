"""How sure an attacker can be: right and wrong links as it answers only where its own probability is high."""

from dataclasses import dataclass

import numpy as np

from reidrisk.base import Bools, Floats, Result, mean_interval, of_class

_THRESHOLDS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Choosiness(Result):
    """One point of the curve: the attacker answers where it is at least ``threshold`` sure.

    ``answered``, ``correct`` and ``incorrect`` are shares of all scored queries, ``precision`` is the share of right
    links among the answers, each with its interval. Where the truth is not known, only ``answered`` is; where nothing
    is answered, there is no ``precision``.
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


def choosiness(probability: Floats, credit: Floats | None, level: float = 0.95) -> tuple[Choosiness, ...]:
    """Return the curve over fixed thresholds, from answering always on, given ``Links.probability``.

    ``credit`` is the probability of a right link (``Risk.per_user``), where the truth is known.

    >>> curve = choosiness(np.array([0.96, 0.2]), np.array([1.0, 0.0]))
    >>> curve[0].correct, curve[0].incorrect, curve[-2].correct, curve[-2].incorrect
    (0.5, 0.5, 0.5, 0.0)
    """
    of_class("probability", probability, np.ndarray, "an array, as Links.probability is")
    of_class("credit", credit, (np.ndarray, type(None)), "an array, as Risk.per_user is, or None")
    return tuple(_point(threshold, probability >= threshold, credit, level) for threshold in _THRESHOLDS)


def _point(threshold: float, answers: Bools, credit: Floats | None, level: float) -> Choosiness:
    answered = float(answers.mean())
    if credit is None:
        return Choosiness(threshold, answered, None, None)
    right, wrong = np.where(answers, credit, 0.0), np.where(answers, 1.0 - credit, 0.0)
    among: tuple[float, ...] = ()
    if answers.any():
        among = (float(credit[answers].mean()), *mean_interval(credit[answers], level))
    ends = (*mean_interval(right, level), *mean_interval(wrong, level))
    return Choosiness(threshold, answered, float(right.mean()), float(wrong.mean()), *ends, *among)
