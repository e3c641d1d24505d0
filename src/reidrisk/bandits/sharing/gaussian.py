"""How much Gaussian noise makes a mean of records (epsilon, delta)-differentially private."""

from __future__ import annotations

import math

__all__ = ["delta_of", "mean_sensitivity", "sigma_for"]


def mean_sensitivity(n_states: int, size: int) -> float:
    """Return how far replacing one record can move the mean of ``size`` transition matrices: sqrt(2 d) / size in L2.

    Each of the d rows is a distribution, and two distributions are at most sqrt(2) apart.

    Examples
    --------
    >>> mean_sensitivity(8, 4)
    1.0
    """
    return math.sqrt(2.0 * n_states) / size


def delta_of(sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the exact delta of Gaussian noise (Balle and Wang, 2018, Theorem 8).

    delta = Phi(D / 2s - eps s / D) - e^eps Phi(-D / 2s - eps s / D), D the sensitivity, s the standard deviation.

    Examples
    --------
    >>> round(delta_of(1.0, 1.0), 4)
    0.1269
    """
    from scipy.special import ndtr

    ratio = sensitivity / sigma
    return float(ndtr(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * ndtr(-ratio / 2 - epsilon / ratio))


def sigma_for(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the smallest standard deviation with at most this delta.

    Examples
    --------
    >>> round(delta_of(sigma_for(0.5, 1e-5), 0.5), 8)
    1e-05
    """
    from scipy.optimize import brentq

    low, high = 1e-6, 1.0
    while delta_of(high, epsilon) > delta:
        high *= 2.0
    while delta_of(low, epsilon) <= delta:
        low /= 2.0
    found = brentq(lambda s: delta_of(s, epsilon) - delta, low, high, xtol=1e-12, rtol=1e-12)
    return float(found) * sensitivity
