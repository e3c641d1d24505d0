"""Confidence intervals for means of values in [0, 1] that are not binary, right near 0 too.

A credit of an attack is 1/t when the truth is among t tied targets, so neither the binomial interval nor
the normal one fits: the first is too wide where credits are tiny and even, the second fails where the mean
is near 0. Used here is the bound of Gaffke (2005), found again by Learned-Miller and Thomas (2020), whose
coverage is conjectured, and tested here by simulation: the upper end is the (1 + level) / 2 quantile of

    T = sum_i D_i x_i + D_{n+1},        D ~ Dirichlet(1, ..., 1) on n + 1 points,

that is, of the mean under random weights after one more observation of the worst kind (a 1); the lower
end adds a 0 instead. On binary values it *is* the Clopper-Pearson interval; on others it adapts to their
spread. It does not depend on the order of the values. The quantile is found by the saddlepoint
approximation of Lugannani and Rice, so no random numbers are drawn.

Values that depend on each other tell less than their number says. A design effect of v makes each count for 1/v (D ~
Dirichlet(1/v, ..., 1/v, 1)), as Korn and Graubard (1998) do for binary values in surveys.
"""

import math

import numpy as np

from reidrisk.base.arrays import ArrayLike, Ends, Floats
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.options import between_0_and_1


def mean_interval(values: ArrayLike, level: float = 0.95, design_effect: float = 1.0) -> Ends:
    """Return the interval of the mean of values in [0, 1], independent ones unless a design effect is given.

    See :func:`design_effect`, which must be at least 1.

    >>> low, high = mean_interval([0] * 100)
    >>> low, round(high, 4)                       # Clopper-Pearson for 0 of 100
    (0.0, 0.0362)
    """
    level = between_0_and_1("level", level)
    if not 1.0 <= design_effect < math.inf:
        raise OptionError(f"a design effect is a finite number of at least 1, not {design_effect!r}")
    x = np.asarray(values, dtype=np.float64).ravel()
    if not x.size:
        raise DataError("there are no values to take an interval of")
    if not (np.isfinite(x).all() and x.min() >= 0.0 and x.max() <= 1.0):
        raise DataError(f"values must lie in [0, 1], but range from {x.min()} to {x.max()}")
    points, counts = np.unique(x, return_counts=True)
    return counted_interval(points, counts.astype(np.float64), level, design_effect)


def counted_interval(points: Floats, counts: Floats, level: float = 0.95, design_effect: float = 1.0) -> Ends:
    """Return what :func:`mean_interval` does, of values that were counted: ascending, and how often each came.

    >>> counted_interval(np.array([0.0, 1.0]), np.array([90.0, 10.0])) == mean_interval([0] * 90 + [1] * 10)
    True
    """
    tail, came = (1.0 - level) / 2.0, counts > 0.0
    points, counts = points[came], counts[came]
    low, high = _ends(points, counts, tail)
    if design_effect > 1.0:  # the wider at each end
        wide = _ends(points, counts / design_effect, tail)
        low, high = min(low, wide[0]), max(high, wide[1])
    return low, high


def design_effect(values: ArrayLike, variance: float) -> float:
    """Return how many times the variance of the mean is that of independent values; at least 1.

    ``variance`` is that of their mean, by a method that allows for dependence, such as a jackknife. That of the values
    is taken after one more 0 and one more 1: where all are equal, little is known of their spread.

    >>> values = [0, 1] * 50
    >>> design_effect(values, 0.25 / 100), design_effect(values, 0.75 / 100)
    (1.0, 3.0)
    """
    x = np.asarray(values, dtype=np.float64).ravel()
    spread = np.sort(np.append(x, (0.0, 1.0))).var()  # sorted: the order of the values must not matter
    return max(1.0, variance * x.size / float(spread))


def difference_interval(a: ArrayLike, b: ArrayLike, level: float = 0.95, design_effect: float = 1.0) -> Ends:
    """Return the interval of mean(a - b) for paired values in [0, 1]; the design effect is that of (a - b + 1) / 2.

    >>> low, high = difference_interval([1, 1, 0, 1] * 50, [0, 1, 0, 0] * 50)
    >>> low < 0.5 < high
    True
    """
    gap = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    low, high = mean_interval((gap + 1.0) / 2.0, level, design_effect)
    return 2.0 * low - 1.0, 2.0 * high - 1.0


def _ends(points: Floats, counts: Floats, tail: float) -> Ends:
    # The lower end is the mirror image of the upper one.
    return 1.0 - _upper(1.0 - points[::-1], counts[::-1], tail), _upper(points, counts, tail)


def _upper(points: Floats, counts: Floats, tail: float) -> float:
    """Return the m with P(T <= m) = 1 - tail; ``points`` ascend."""
    if points[0] == 1.0:
        return 1.0
    if ((points == 0.0) | (points == 1.0)).all():
        from scipy.special import betaincinv

        ones = float(counts[points == 1.0].sum())
        return float(betaincinv(ones + 1.0, float(counts.sum()) - ones, 1.0 - tail))
    if points[-1] == 1.0:
        shapes = counts.copy()
        shapes[-1] += 1.0
    else:
        points, shapes = np.append(points, 1.0), np.append(counts, 1.0)
    return _quantile(points, shapes, tail)


def _quantile(points: Floats, shapes: Floats, tail: float) -> float:
    """Return the m with P(sum_v G_v (v - m) > 0) = tail, of independent G_v ~ Gamma(shapes_v); the last point is 1.

    The saddlepoint s of K(s) = -sum shapes log(1 - s (v - m)) has K'(s) = 0, that is, m is the mean of the points,
    weighed by shapes / (c - v) with c = m + 1 / s. So m and s are looked up for a c above 1, which is what is searched
    for, on a logarithmic scale: c - 1 goes from 0, where m is 1, to infinity, where m is the mean.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    short = 1.0 - points  # of the last one, 0 exactly
    total = float(shapes.sum())
    mean_short = float(shapes @ short) / total
    spread = math.sqrt(float(shapes @ (short - mean_short) ** 2))
    guess = spread / max(float(ndtri(1.0 - tail)), 0.1) - mean_short  # as if T were normal
    start = math.log(max(guess, 0.1 * mean_short))

    def above(at: float) -> float:
        return _exceedance(short, shapes, math.exp(at))[1] - tail

    ends = {start: above(start)}
    step = -0.25 if ends[start] > 0.0 else 0.25
    other = start
    while ends[other] * ends[start] > 0.0:
        other += step
        step *= 2.0
        loss, found = _exceedance(short, shapes, math.exp(other))
        if loss < 1e-17:
            return 1.0
        ends[other] = found - tail
    # It asks for both ends again.
    at = brentq(lambda at: ends[at] if at in ends else above(at), start, other, xtol=1e-14, rtol=4e-15, maxiter=200)
    return 1.0 - _exceedance(short, shapes, math.exp(at))[0]


def _exceedance(short: Floats, shapes: Floats, beyond: float) -> Ends:
    """Return 1 - m and P(T > m) for the m that belongs to c = 1 + beyond; points are 1 - ``short``."""
    far = short + beyond
    weights = shapes / far
    loss = float(weights @ short) / float(weights.sum())
    s, gaps = 1.0 / (beyond + loss), loss - short
    left, share = far * s, s * gaps  # 1 - s (v - m), exactly where it is small, and what it lacks of 1
    with np.errstate(divide="ignore"):
        k = -float(shapes @ np.where(share < 0.5, np.log1p(-share), np.log(left)))
    w, u = math.sqrt(max(-2.0 * k, 0.0)), s * math.sqrt(float(shapes @ (gaps / left) ** 2))
    if w < 1e-5 or u == 0.0:
        return loss, 0.5
    density = math.exp(-w * w / 2.0) / math.sqrt(2.0 * math.pi)
    return loss, 0.5 * math.erfc(w / math.sqrt(2.0)) + density * (1.0 / u - 1.0 / w)
