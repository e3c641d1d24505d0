r"""A measured curve continued without a family: by its slope, by how the slope changes, and by how many are still new.

All three look at log kappa as a function of log n, and keep the slope between 0 and -1: with more people, nobody is
found more often, and one more stranger cannot do more than guessing blindly does.

``straight``: kappa goes on with its mean slope over the sizes that were measured. ``bending``: the slope goes on
changing as it did (a parabola). ``accumulating``: the number of people told apart, K(n) = n kappa(n), grows by K'(n)
for each new one, and K' goes on falling as a power of n; where what a record can say runs out, this ends as K / n.
"""

import numpy as np

from reidrisk.base.arrays import Floats

_STEPS = 200
_RECENT = 5.0  # K' is looked at from this part of the largest size on: it changes faster than kappa
_STEEPEST = 3.0


def straight(n: Floats, rates: Floats, population: float) -> float:
    """Return the rate at ``population`` by the mean slope of the curve, from its last point on.

    >>> n = np.array([10.0, 100.0, 1000.0])
    >>> round(straight(n, n**-0.5, 100_000.0), 6)
    0.003162
    """
    slope, _ = _parabola(n, rates)
    return float(rates[-1] * (population / n[-1]) ** -np.clip(slope, 0.0, 1.0))


def bending(n: Floats, rates: Floats, population: float) -> float:
    """Return the rate at ``population`` if the slope goes on changing as it did.

    >>> n = np.geomspace(10, 1000, 9)
    >>> curve = lambda n: np.exp(-0.05 * np.log(n) ** 2)
    >>> round(bending(n, curve(n), 10_000.0) / float(curve(10_000.0)), 2)
    1.0
    """
    slope, change = _parabola(n, rates)
    ahead = np.linspace(0.0, np.log(population / n[-1]), _STEPS)
    return float(rates[-1] * np.exp(-np.trapezoid(np.clip(slope + change * ahead, 0.0, 1.0), ahead)))


def accumulating(n: Floats, rates: Floats, population: float) -> float:
    """Return the rate at ``population`` if ever fewer new people can be told apart, as a power of n.

    >>> n = np.geomspace(10, 1000, 30)
    >>> round(accumulating(n, n**-0.5, 100_000.0), 3)
    0.003
    """
    told_apart, middle = n * rates, np.sqrt(n[1:] * n[:-1])
    new = np.diff(told_apart) / np.diff(n)
    seen = (middle >= n[-1] / _RECENT) & (new > 0.0)
    if seen.sum() < 3:
        return straight(n, rates, population)
    falls, start = np.polyfit(np.log(middle[seen] / n[-1]), np.log(new[seen]), 1)
    ahead = np.linspace(0.0, np.log(population / n[-1]), _STEPS)
    added = np.trapezoid(np.exp(start + (1.0 - np.clip(-falls, 0.0, _STEEPEST)) * ahead), ahead)
    return float(min((rates[-1] + added) * n[-1] / population, rates[-1]))


def _parabola(n: Floats, rates: Floats) -> tuple[float, float]:
    """Return how steeply log kappa falls at its end, and how that changes, by a parabola through the last point."""
    along, level = np.log(n / n[-1]), np.log(np.maximum(rates, 1e-300))
    if len(n) < 3:
        return 0.0, 0.0
    terms = np.column_stack((along, along**2))
    first, second = np.linalg.lstsq(terms, level - level[-1], rcond=None)[0]
    return float(-first), float(-2.0 * second)


WAYS = {"straight": straight, "bending": bending, "accumulating": accumulating}  # the ways by their names
