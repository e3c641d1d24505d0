"""Local differential privacy: what it implies, and the epsilon and delta of a given channel (carey, Section 5)."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from reidrisk.base import Floats, OptionError, from_0_to_1, whole
from reidrisk.bounds.columns import column_max, column_min
from reidrisk.bounds.exact_pairs import ROUNDING, Factor, exp_ends, float_ends, log_ends
from reidrisk.bounds.row_pairs import WORK, RowPairs
from reidrisk.records import Channel

Exact = float | Fraction
"""A number that is taken as it is, digit for digit: a fraction need not be a float."""

_LARGEST_EXPONENT = math.log(np.finfo(np.float64).max)


def from_ldp(n: int, m: int, epsilon: Exact, delta: Exact = 0.0) -> float:
    """Return the bound ``(e^epsilon + min(n, m) delta) / n`` on the random-user accuracy of any attacker.

    It holds for n users and m outputs where ``P(E | i) <= e^epsilon P(E | j) + delta`` for all users i, j and sets E of
    outputs (carey, Lemma 3). The plain value is returned: above 1 it says nothing, and it is infinite where
    ``e^epsilon`` is. For ``n = 1`` the bound is 1.

    >>> from_ldp(n=1000, m=50, epsilon=0.0), from_ldp(n=1000, m=50, epsilon=0.0, delta=0.02)
    (0.001, 0.002)
    """
    n, m = whole("n", n), whole("m", m)
    _check(epsilon, delta)
    factor = math.exp(epsilon) if epsilon <= _LARGEST_EXPONENT else math.inf
    return (factor + min(n, m) * float(delta)) / n if n > 1 else 1.0


def ldp_epsilon(P: Any, delta: Exact = 0.0) -> float:
    """Return the smallest epsilon for which the channel is (epsilon, delta)-LDP.

    For ``delta = 0`` it is ``max_o log(max_i P[i, o] / min_j P[j, o])``, infinite where an output is possible for one
    user and impossible for another. For ``delta > 0`` all pairs of rows are compared; where there are too many the
    *upper* end of :func:`ldp_epsilon_interval` is returned, which is on the safe side. So is rounding: it is never
    below the epsilon of the matrix as given, digit for digit, however small delta is.

    >>> P = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(ldp_epsilon(P), 4), round(ldp_epsilon(P, delta=0.25), 4), ldp_epsilon(P, delta=0.5)
    (1.0986, 0.6931, 0.0)
    """
    return ldp_epsilon_interval(P, delta)[1]


def ldp_epsilon_interval(P: Any, delta: Exact = 0.0, work: int = WORK) -> tuple[float, float]:
    """Return a certified lower and upper end of :func:`ldp_epsilon`.

    The lower end is needed by a pair of rows that was found. The upper end suffices for every pair, or, where there are
    too many for ``work`` entries visited in one search, for every row against the smallest entry of each column. Where
    the worst pair was proven, the ends are equal at 0 and at infinity and differ in the last digits elsewhere: a
    logarithm is no float.

    >>> ldp_epsilon_interval([[0.75, 0.25], [0.25, 0.75]], delta=0.5)
    (0.0, 0.0)
    """
    _check(0.0, delta)
    channel, (less, more) = Channel(P), float_ends(delta)
    if less < more:  # a fraction that is no float: a smaller delta needs a larger epsilon
        return ldp_epsilon_interval(channel, more, work)[0], ldp_epsilon_interval(channel, less, work)[1]
    if less > 0.0:
        return RowPairs(channel, work).epsilon(less)
    largest, smallest = column_max(channel), column_min(channel)
    if ((smallest == 0.0) & (largest > 0.0)).any():
        return math.inf, math.inf
    low, high = _largest_ratio(largest[largest > 0.0], smallest[largest > 0.0])
    return log_ends(low)[0], log_ends(high)[1]


def ldp_delta(P: Any, epsilon: Exact) -> float:
    """Return the smallest delta for which the channel is (epsilon, delta)-LDP.

    ``max_{i, j} sum_o (P[i, o] - e^epsilon P[j, o])_+`` over all ordered pairs of rows; epsilon may be infinite. Where
    the pairs are too many, the *upper* end of :func:`ldp_delta_interval` is returned, which is on the safe side.

    >>> ldp_delta([[0.75, 0.25], [0.25, 0.75]], epsilon=0.0), ldp_delta([[1, 0], [0.5, 0.5]], epsilon=math.inf)
    (0.5, 0.5)
    """
    return ldp_delta_interval(P, epsilon)[1]


def ldp_delta_interval(P: Any, epsilon: Exact, work: int = WORK) -> tuple[float, float]:
    """Return a certified lower and upper end of :func:`ldp_delta`; they differ in the last digits where it was proven.

    The lower end is reached by a pair of rows that was found. The upper end is ``max_i sum_o (P[i, o] - e^epsilon min_j
    P[j, o])_+`` over the rows i not yet compared with all others when ``work`` entries had been visited.

    >>> ldp_delta_interval([[0.75, 0.25], [0.25, 0.75]], epsilon=0.0)
    (0.5, 0.5)
    """
    _check(epsilon, 0.0)
    less, more = float_ends(epsilon)
    return RowPairs(Channel(P), work).delta(exp_ends(less)[0], exp_ends(more)[1])


def _largest_ratio(largest: Floats, smallest: Floats) -> tuple[Factor, Factor]:
    """Return two factors with ``max largest / smallest`` between them; it may be larger than any float."""
    (above, up), (below, down) = np.frexp(largest), np.frexp(smallest)
    ratio, power = np.frexp(above / below)
    power = power + (up - down)
    top = int(power.max())
    found = Fraction(float(ratio[power == top].max())) * Fraction(2) ** top
    if found == 1 and (largest == smallest).all():
        return found, found
    rounding = 2 * Fraction(ROUNDING)
    return max(Fraction(1), found * (1 - rounding)), found * (1 + rounding)


def _check(epsilon: Exact, delta: Exact) -> None:
    if not epsilon >= 0.0:
        raise OptionError(f"epsilon must be a number of at least 0, not {epsilon!r}")
    from_0_to_1("delta", float(delta) if isinstance(delta, Fraction) else delta)
