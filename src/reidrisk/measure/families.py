r"""Families of curves: the rate of right links as a function of how many people there are, each of few parameters.

``pitman-yor`` (Rocher et al. 2025, doi 10.1038/s41467-024-55296-6): records are drawn from a Pitman-Yor process of
discount d and strength a, and who is one of c people with the same record is found with probability 1/c, so that the
rate is the expected number of different records per person,

    kappa(n) = E[K_n] / n = [Gamma(a + n + d) Gamma(a + 1) / (Gamma(a + n) Gamma(a + d)) - a] / (d n).

``plateau`` (our own): a share p of the people is never confused with anybody. For the others another person scores
better than the truth with a probability that differs from query to query and is drawn from Beta(a, b), so that

    kappa(n) = p + (1 - p) E[(1 - f)^(n - 1)] = p + (1 - p) B(a, b + n - 1) / B(a, b).

``saturating`` (our own): a limited number of people, n0, can be told apart; c says how suddenly that tells,

    kappa(n) = (1 + ((n - 1) / n0)^c)^(-1/c),        which ends as n0 / n.

The first ends as a power of n, the second as p; where what a record can say is limited, both promise too much. The last
ends as steeply as guessing blindly. Real curves lie between them, see docs/explanation/forecast.md.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from reidrisk.base.arrays import Floats

Parameters = Floats
_LEAST = 1e-300


class Family(NamedTuple):
    """A name, the rate at n under some free parameters, and where a fit may begin."""

    name: str
    rate: Callable[[Floats, Parameters], Floats]
    starts: Sequence[tuple[float, ...]]


def pitman_yor(n: Floats, parameters: Parameters) -> Floats:
    """Return E[K_n] / n with discount 1 / (1 + exp(-p0)) and strength exp(p1)."""
    from scipy.special import gammaln

    d, a = 1.0 / (1.0 + np.exp(-np.clip(parameters[0], -30.0, 30.0))), np.exp(np.clip(parameters[1], -30.0, 40.0))
    grown = gammaln(a + n + d) - gammaln(a + n) - (gammaln(a + d) - gammaln(a + 1.0))
    # Of a large strength both terms are large: their difference is taken before the exponential.
    return np.asarray(np.clip(a * np.expm1(grown - np.log(a)) / (d * n), _LEAST, 1.0))


def exceedance(n: Floats, parameters: Parameters) -> Floats:
    """Return E[(1 - f)^(n - 1)] of f drawn from Beta(exp(p0), exp(p1))."""
    from scipy.special import gammaln

    a, b = np.exp(np.clip(parameters, -30.0, 30.0))
    logs = gammaln(b + n - 1.0) - gammaln(a + b + n - 1.0) + gammaln(a + b) - gammaln(b)
    return np.asarray(np.clip(np.exp(logs), _LEAST, 1.0))


def plateau(n: Floats, parameters: Parameters) -> Floats:
    """Return p + (1 - p) exceedance(n) with p = 1 / (1 + exp(-p0)), and a and b by the other two.

    >>> plateau(np.array([1.0, 1e9]), np.array([0.0, 0.0, 0.0])).round(6).tolist()
    [1.0, 0.5]
    """
    share = 1.0 / (1.0 + np.exp(-np.clip(parameters[0], -30.0, 30.0)))
    return np.asarray(share + (1.0 - share) * exceedance(n, parameters[1:]))


def saturating(n: Floats, parameters: Parameters) -> Floats:
    """Return (1 + ((n - 1) / n0)^c)^(-1/c) with n0 = exp(p0) and c = exp(p1)."""
    c = np.exp(np.clip(parameters[1], -8.0, 5.0))
    return np.asarray(np.exp(-np.logaddexp(0.0, c * (np.log(np.maximum(n - 1.0, 1e-9)) - parameters[0])) / c))


_POWERS = ((0.0, 0.0), (-3.0, 5.0), (2.0, -3.0), (-3.0, 0.0), (0.0, 5.0), (3.0, 3.0))
FAMILIES = (
    Family("pitman-yor", pitman_yor, _POWERS),
    Family("plateau", plateau, tuple((share, *power) for share in (-2.0, 1.0) for power in _POWERS[::2])),
    Family("saturating", saturating, ((3.0, 0.0), (8.0, -1.0), (12.0, -2.0), (5.0, -1.0), (2.0, 0.0))),
)


def fitted(family: Family, sizes: Floats, rates: Floats, starts: Sequence[Sequence[float]] = ()) -> Parameters:
    """Return the parameters with the smallest sum of squared differences of log rates.

    >>> sizes = np.array([2.0, 10.0, 100.0, 1000.0])
    >>> found = fitted(FAMILIES[2], sizes, saturating(sizes, np.log([30.0, 2.0])))
    >>> np.exp(found).round(3).tolist()
    [30.0, 2.0]
    """
    from scipy.optimize import least_squares

    seen = np.log(np.maximum(rates, _LEAST))
    tried = [
        least_squares(lambda p: np.log(np.maximum(family.rate(sizes, p), _LEAST)) - seen, start, max_nfev=200)
        for start in (starts or family.starts)
    ]
    return np.asarray(min(tried, key=lambda one: float(one.cost)).x)
