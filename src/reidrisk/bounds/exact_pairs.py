"""One pair of rows in exact arithmetic, and logarithms rounded to the safe side.

A floating-point number is a whole number times a power of two, so what a pair of rows needs can be found in whole
numbers, without any rounding. That decides where floating point cannot: at a delta below the rounding of a sum, and
where the mass that one row has to itself is just delta.
"""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np

from reidrisk.base.arrays import ArrayLike

Factor = Fraction | float  # a factor x of at least 1; a float stands for itself, exactly

ROUNDING = 2.0**-53  # largest relative error of one operation in floating point

_LARGEST_EXP, _LARGEST_LOG = 700.0, 750.0  # e to the first is a float; the ratio of two floats is below e to the second
_LOG_ERROR = 16 * ROUNDING  # of math.log, log1p and exp with what is done around them; they are good to 2 or 3


def exact_crossing(p: ArrayLike, q: ArrayLike, delta: float, guess: float = 1.0) -> Factor:
    """Return the smallest ``x >= 1`` with ``sum_o (p[o] - x q[o])_+ <= delta``, exactly; infinite where there is none.

    Every set E of outputs needs ``x >= (p(E) - delta) / q(E)``. From the set that exceeds at one x follows a larger x,
    and so on until nothing changes (Newton's method for the largest of these ratios). It starts at ``guess``.

    >>> exact_crossing([0.75, 0.25], [0.25, 0.75], 0.25), exact_crossing([1e-16, 1.0], [0.0, 1.0], 1e-20)
    (Fraction(2, 1), inf)
    """
    (above, below), limit = _whole_numbers(p, q, delta)
    if sum(a for a, b in zip(above, below, strict=True) if not b) > limit:
        return math.inf
    best_up, best_down = 1, 1
    guessed = math.isfinite(guess) and guess > 1.0
    up, down = guess.as_integer_ratio() if guessed else (1, 1)
    while True:
        chosen = [(a, b) for a, b in zip(above, below, strict=True) if a * down > b * up]
        up, down = sum(a for a, _ in chosen) - limit, sum(b for _, b in chosen)
        if up * best_down > best_up * down:
            best_up, best_down = up, down
        elif not guessed:
            return Fraction(best_up, best_down)
        guessed, up, down = False, best_up, best_down


def exact_excess(p: ArrayLike, q: ArrayLike, x: Factor) -> Fraction:
    """Return ``sum_o (p[o] - x q[o])_+`` exactly.

    >>> exact_excess([0.75, 0.25], [0.25, 0.75], 2.0)
    Fraction(1, 4)
    """
    (above, below), unit = _whole_numbers(p, q, 1.0)
    if x == math.inf:
        return Fraction(sum(a for a, b in zip(above, below, strict=True) if not b), unit)
    up, down = Fraction(x).as_integer_ratio()
    terms = (a * down - b * up for a, b in zip(above, below, strict=True))
    return Fraction(sum(term for term in terms if term > 0), down * unit)


def rounded_ends(value: Fraction) -> tuple[float, float]:
    """Return the largest float that is at most ``value`` and the smallest that is at least it.

    >>> rounded_ends(Fraction(1, 4)), rounded_ends(Fraction(1, 3))[0] < rounded_ends(Fraction(1, 3))[1]
    ((0.25, 0.25), True)
    """
    near = float(value)
    exact = Fraction(near)
    low = near if exact <= value else math.nextafter(near, -math.inf)
    high = near if exact >= value else math.nextafter(near, math.inf)
    return low, high


def float_ends(value: Fraction | float) -> tuple[float, float]:
    """Return two floats with a number between them: twice itself where it is one.

    >>> float_ends(0.1), float_ends(Fraction(1, 10))[0] < Fraction(1, 10) < float_ends(Fraction(1, 10))[1]
    ((0.1, 0.1), True)
    """
    if not isinstance(value, Fraction):
        return float(value), float(value)
    try:
        return rounded_ends(value)
    except OverflowError:
        return sys.float_info.max, math.inf


def log_ends(x: Factor) -> tuple[float, float]:
    """Return two floats with ``log x`` between them, for ``x >= 1``; equal for 1 and for infinity.

    >>> low, high = log_ends(Fraction(3))
    >>> low < 1.0986122886681098 < high < low * (1 + 1e-14)
    True
    """
    if x == math.inf:
        return math.inf, math.inf
    exact = Fraction(x)
    if exact == 1:
        return 0.0, 0.0
    if exact < Fraction(3, 2):
        log = math.log1p(float(exact - 1))
    else:
        up, down = exact.as_integer_ratio()
        power = up.bit_length() - down.bit_length()  # x itself may be larger than any float
        log = math.log(float(exact / Fraction(2) ** power)) + power * math.log(2.0)
    return _ends(log)


def exp_ends(epsilon: float) -> tuple[Factor, Factor]:
    """Return two factors with ``e^epsilon`` between them, for ``epsilon >= 0``; equal for 0 and for infinity.

    Beyond ``e^750`` infinity does as well: no two floats above 0 and up to 1 are that far apart.

    >>> low, high = exp_ends(1.0)
    >>> low < math.e < high
    True
    """
    if epsilon == 0.0:
        return 1.0, 1.0
    if epsilon > _LARGEST_LOG:
        return math.inf, math.inf
    if epsilon > _LARGEST_EXP:
        few, many = exp_ends(epsilon / 2)
        return Fraction(few) ** 2, Fraction(many) ** 2
    low, high = _ends(math.exp(epsilon))
    return max(low, 1.0), high


def _ends(value: float) -> tuple[float, float]:
    low, high = value * (1.0 - _LOG_ERROR), value * (1.0 + _LOG_ERROR)
    return max(math.nextafter(low, -math.inf), 0.0), math.nextafter(high, math.inf)


def _whole_numbers(p: ArrayLike, q: ArrayLike, limit: float) -> tuple[tuple[list[int], list[int]], int]:
    """Return p, q where p is above 0, and ``limit``, as whole numbers on one scale."""
    above, below = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    above, below = above[above > 0.0], below[above > 0.0]
    values = np.concatenate([above, below, [limit]])
    mantissa, power = np.frexp(values)
    digits = (mantissa * 2.0**53).astype(np.int64).tolist()
    least = int(power[values > 0.0].min(initial=0))
    shifts: list[Any] = np.where(values > 0.0, power - least, 0).tolist()
    numbers = [digit << shift for digit, shift in zip(digits, shifts, strict=True)]
    n = len(above)
    return (numbers[:n], numbers[n : 2 * n]), numbers[-1]
