"""Noise for what is really handed out: discrete, from the operating system's entropy through opendp, never seeded."""

import math

import numpy as np

from reidrisk.bandits.sharing.strategies import PrivateClusters
from reidrisk.base import Floats, require
from reidrisk.privacy import add_discrete_gaussian, discrete_gaussian, zcdp_rho

_GRID = 1 << 24
"""Steps between 0 and 1 on which sums of records are rounded before noise: sums of a million records still fit."""

_UNIT = 1 << 30  # scale of the whole-number Laplace noise from which noise of any scale is made


def laplace(scale: Floats) -> Floats:
    """Return Laplace noise of these scales, one draw per cell.

    Whole-number noise of a large scale is drawn and divided. There is no guarantee to lose by that: the strategy
    promises an amount of noise, not privacy (see the threat model).
    """
    modules = [require(f"opendp.{n}", "release", "noise for what is handed out") for n in ("domains", "metrics")]
    require("opendp.mod", "release", "noise for what is handed out").enable_features("contrib")
    domains, metrics = modules
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l1_distance(T="i64")
    drawn = require("opendp.measurements", "release", "noise for what is handed out")
    lots = drawn.make_laplace(*space, scale=float(_UNIT))([0] * scale.size)
    return np.asarray(lots, dtype=np.float64).reshape(scale.shape) / _UNIT * scale


def private_sigma(step: PrivateClusters, publications: int, n: int, d: int) -> float:
    """Return the standard deviation of the noise in a cell of the mean of ``n`` records of ``d`` states.

    The sum of the records on a grid of whole numbers gets discrete Gaussian noise. Replacing one member's record moves
    the sum by at most D = sqrt(2 d) steps of 1 / grid, and d more by rounding, in L2. A publication spends
    rho = D^2 / (2 sigma^2) of zero-concentrated privacy, so sigma is such that all ``publications`` together keep
    (epsilon, delta): rho = zcdp_rho(epsilon, delta) / publications. Who is in the group is taken as known.

    >>> once, often = (private_sigma(PrivateClusters(1, 1.0), many, n=100, d=4) for many in (1, 16))
    >>> round(often / once, 6)
    4.0
    """
    sensitivity = math.sqrt(2.0 * d) * _GRID + d
    return sensitivity / math.sqrt(2.0 * zcdp_rho(step.epsilon, step.delta) / publications) / (_GRID * n)


def private_mean(records: Floats, sigma: float) -> Floats:
    """Return the (d, d) mean of (n, d, d) records with discrete Gaussian noise of this standard deviation."""
    n, d = records.shape[:2]
    total = np.rint(records * _GRID).astype(np.int64).sum(axis=0)
    noisy = add_discrete_gaussian(total.ravel(), discrete_gaussian(sigma * _GRID * n))
    return np.asarray(noisy.reshape(d, d) / (_GRID * n))
