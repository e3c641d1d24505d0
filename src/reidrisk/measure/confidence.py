"""How sure an attacker can be: right and wrong links as it answers only where its own probability is high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.results import Result

__all__ = ["Choosiness", "choosiness"]

_THRESHOLDS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Choosiness(Result):
    """One point of the curve: the attacker answers where it is at least ``threshold`` sure.

    ``answered``, ``correct`` and ``incorrect`` are shares of all scored queries; ``correct`` and ``incorrect`` are
    ``None`` where the truth is not known.
    """

    threshold: float
    answered: float
    correct: float | None
    incorrect: float | None


def choosiness(probability: npt.NDArray[np.float64], credit: npt.NDArray[np.float64] | None) -> tuple[Choosiness, ...]:
    """Return the curve over fixed thresholds.

    Parameters
    ----------
    probability : (q,) array
        ``Links.probability``.
    credit : (q,) array or None
        Probability of a right link (``Risk.per_user``), where the truth is known.

    Examples
    --------
    >>> curve = choosiness(np.array([0.96, 0.2]), np.array([1.0, 0.0]))
    >>> curve[0].correct, curve[0].incorrect, curve[-2].correct, curve[-2].incorrect
    (0.5, 0.5, 0.5, 0.0)
    """
    points = []
    for threshold in _THRESHOLDS:
        answers = probability >= threshold
        answered = float(answers.mean())
        correct = None if credit is None else float(np.where(answers, credit, 0.0).mean())
        incorrect = None if correct is None else answered - correct
        points.append(Choosiness(threshold=threshold, answered=answered, correct=correct, incorrect=incorrect))
    return tuple(points)
