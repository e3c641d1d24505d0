"""How sure an attacker can be: right and wrong links as it answers only where its own probability is high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.intervals import mean_interval
from reidrisk.results import Result

__all__ = ["Choosiness", "choosiness"]

_THRESHOLDS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Choosiness(Result):
    """One point of the curve: the attacker answers where it is at least ``threshold`` sure.

    ``answered``, ``correct`` and ``incorrect`` are shares of all scored queries; ``correct``, its interval ``low`` to
    ``high``, and ``incorrect`` are ``None`` where the truth is not known.
    """

    threshold: float
    answered: float
    correct: float | None
    incorrect: float | None
    low: float | None = None
    high: float | None = None


def choosiness(
    probability: npt.NDArray[np.float64], credit: npt.NDArray[np.float64] | None, level: float = 0.95
) -> tuple[Choosiness, ...]:
    """Return the curve over fixed thresholds.

    Parameters
    ----------
    probability : (q,) array
        ``Links.probability``.
    credit : (q,) array or None
        Probability of a right link (``Risk.per_user``), where the truth is known.
    level : float
        Level of the intervals.

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
        if credit is None:
            points.append(Choosiness(threshold, answered, None, None))
            continue
        kept = np.where(answers, credit, 0.0)
        correct = float(kept.mean())
        points.append(Choosiness(threshold, answered, correct, answered - correct, *mean_interval(kept, level)))
    return tuple(points)
