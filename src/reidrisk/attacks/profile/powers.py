"""Exponentials and logarithms from tables, with the same integers in the end.

What they are for is rounded to whole steps. Where the error of a table could decide which, it is done anew as it is
defined: by :func:`reidrisk.attacks.profile.kernel.combined`, or by ``math.exp``.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.kernels import njit
from reidrisk.search.answer import FAR, UNIT
from reidrisk.search.weights import GRID

_BITS, _LAST_BITS = (
    np.uint64(10),
    np.uint64(1023),
)  # a difference is cut into its last ten bits, 1 / 64 nat, and the rest
# S(x) = log(1 + exp(-x)) by its values and first two derivatives in the middle of pieces of 1 / 64 nat. Rounding of a
# sum is in doubt this near a half: a piece is off by less than (1 / 128)^3 / 6 * 0.1 nats, 6e-4 steps of the grid.
_END = 20.0 * GRID  # beyond, S is less than 2e-4 steps
_CENTRE = (np.arange(20 * 64 + 1) + 0.5) * (GRID // 64)
_SOFT = np.log1p(np.exp(-_CENTRE / GRID)) * GRID
_SLOPE = -1.0 / (1.0 + np.exp(_CENTRE / GRID))
_BEND = -0.5 * _SLOPE * (1.0 + _SLOPE) / GRID
_DOUBT_SOFT = 2e-3
# A product of two tables, each entry of which is exp of a rounded number, is off by less than (2 x + 8) 2^-53 of
# itself at exp(-x): less than 1e-4 steps of the fixed point.
_DOUBT = 1e-3


class Powers(NamedTuple):
    """exp(-k nats) in steps of the fixed point as a product of two tables, up to ``reach`` steps below the best."""

    coarse: Any
    detail: Any
    nats: float
    reach: int


def powers_of(nats: float) -> Powers:
    """Return the tables as far as anything is added."""
    reach = int(FAR / nats)
    coarse = np.exp(-nats * (np.arange((reach >> 10) + 2) << 10)) * UNIT
    return Powers(coarse, np.exp(-nats * np.arange(1024)), nats, reach)


@njit(nogil=True, cache=True)
def _exact(below: Any, nats: Any) -> Any:
    return np.int64(math.exp(-(below * nats)) * UNIT + 0.5) if below * nats < FAR else np.int64(0)


@njit(nogil=True, cache=True)
def likelihoods(best: Any, scores: Any, powers: Any) -> Any:
    """Add up exp((score - best) nats) in whole steps of the fixed point; 0 from ``FAR`` nats on."""
    coarse, detail, nats, reach = powers
    total = np.int64(0)
    for j in range(len(scores)):
        below = best - np.int64(scores[j])
        whole, doubt = np.int64(0), True
        if 0 <= below <= reach:
            k = np.uint64(below)
            value = coarse[k >> _BITS] * detail[k & _LAST_BITS] + 0.5
            whole = np.int64(value)
            doubt = abs(value - whole - 0.5) >= 0.5 - _DOUBT
        total += _exact(below, nats) if doubt else whole
    return total


@njit(nogil=True, cache=True)
def joined(one: Any, two: Any) -> Any:
    """Return the logarithm of the sum of two likelihoods, in steps of the grid, about."""
    apart = abs(one - two)
    below = min(apart, _END)
    k = np.uint64(np.int64(below)) >> _BITS
    x = below - _CENTRE[k]
    # The larger of the two, without a branch that nobody can predict.
    return 0.5 * (one + two + apart) + (_SOFT[k] + x * (_SLOPE[k] + x * _BEND[k]))


@njit(nogil=True, cache=True)
def in_doubt(total: Any) -> Any:
    """Tell whether the error of :func:`joined` may decide to which whole number this is rounded."""
    return abs(total - np.floor(total) - 0.5) <= _DOUBT_SOFT
