"""The worst pair of rows of a channel, proven where the work allows it and certified where it does not.

The smallest delta of an (epsilon, delta) guarantee is a maximum over all ordered pairs of rows,

    delta(x) = max_{i, j} D_ij(x),      D_ij(x) = sum_o (P[i, o] - x P[j, o])_+,      x = e^epsilon.

Identical rows are merged first. Row ``i`` can do no better than against the envelope of all rows, ``U_i(x) = sum_o
(P[i, o] - x min_j P[j, o])_+ >= D_ij(x)``. Rows are tried in descending order of ``U_i``, each against all others; once
the best pair found reaches the next ``U_i`` it is the maximum, proven. If the work runs out before, the pair found so
far is a lower end and the next ``U_i`` an upper end.

Rounding is on the safe side: entries are scaled so that none is subnormal, and x is rounded down, so that a sum in
floating point, raised by its largest relative error, is never below the true one. Pairs that this leaves undecided are
looked at in whole numbers (:mod:`reidrisk.bounds.exact_pairs`); where they are too many, the ends move apart.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from reidrisk.base.arrays import Array, ArrayLike, Floats, Ints, UInts
from reidrisk.bounds.columns import column_min
from reidrisk.bounds.exact_pairs import ROUNDING, Factor, exact_crossing, exact_excess, log_ends, rounded_ends
from reidrisk.records import Channel

WORK = 1_000_000_000  # entries that may be visited in search of the worst pair: a second or two

_MAX_STEPS = 200
_EXACT_ENTRIES = 200_000  # looked at in whole numbers for one answer: about a second
_SCALE = 2.0**500
_WIDER = (2.0**-46, 2.0**-40, 2.0**-30, 2.0**-20, 2.0**-10)  # steps to an upper end where undecided pairs are too many

_NO_PAIRS = np.empty((0, 2), dtype=np.int64)

Pair = tuple[int, int]


class RowPairs:
    """The distinct rows of a channel, ready to be compared pair by pair.

    One search visits at most ``work`` entries before it settles for a certified interval.

    >>> pairs = RowPairs(Channel([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]))
    >>> pairs.n_rows, pairs.delta(1.0), pairs.delta(3.0)
    (2, (0.5, 0.5), (0.0, 0.0))
    """

    def __init__(self, channel: Channel, work: int = WORK) -> None:
        from scipy import sparse

        matrix = channel.matrix if channel.is_sparse else sparse.csr_array(channel.matrix)
        kept = _distinct_rows(matrix.indptr.astype(np.int64), matrix.indices, matrix.data.view(np.uint64))
        if kept.size < channel.n_users:
            matrix = matrix[kept]
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        self._indptr, self._indices, self._data = indptr, indices, matrix.data.astype(np.float64) * _SCALE
        self._n_outputs, self._smallest, self._work = channel.n_outputs, column_min(channel), work
        longest = int(np.diff(indptr).max())
        # A sum of that many terms, each rounded, and whatever is done with it.
        self._error = 2.0 * (longest + 8) * ROUNDING
        self._room = max(4, _EXACT_ENTRIES // longest)

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return int(self._indptr.size - 1)

    def delta(self, x: Factor, x_high: Factor | None = None) -> tuple[float, float]:
        """Return a lower and an upper end of ``max_ij D_ij(x)``, equal where it is a float and was proven.

        Where x is known to lie between ``x`` and ``x_high`` only, the ends hold for all of these.
        """
        found, rest, pair = self._search(x)
        ceiling = max(found, rest) * (1.0 + self._error)
        high = math.nextafter(ceiling / _SCALE, math.inf) if ceiling else 0.0
        near = self._above(x, ceiling * (1.0 - 4.0 * self._error)) if rest <= found else None
        if near:
            high = rounded_ends(max(exact_excess(*self._rows(pair), x) for pair in near))[1]
        low = max(exact_excess(*self._rows(pair), x if x_high is None else x_high) for pair in near or [pair])
        return min(rounded_ends(low)[0], 1.0), min(high, 1.0)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return a lower and an upper end of the smallest ``log x >= 0`` with ``max_ij D_ij(x) <= delta``.

        From x = 1 upwards: the worst pair at x, if it exceeds delta, needs a larger x, and which one has a
        closed form (:func:`crossing`). Each step solves one more pair for good, so the steps end.
        """
        if delta >= 1.0:
            return 0.0, 0.0  # no probability exceeds 1
        low, high = self._factor(delta)
        if high == math.inf and low < math.inf:
            high = self._envelope_factor(delta, low)
        return log_ends(low)[0], log_ends(high)[1]

    def _factor(self, delta: float) -> tuple[Factor, Factor]:
        """Return the x that a pair needs, and one that suffices for all pairs: infinite where that was not proven."""
        low: Factor = Fraction(1)
        solved: set[Pair] = set()
        for _ in range(_MAX_STEPS):
            found, rest, pair = self._search(low)
            if pair not in solved:
                rows = self._rows(pair)
                low = max(low, exact_crossing(*rows, delta, crossing(*rows, delta)))
                solved.add(pair)
                if low == math.inf:
                    return low, low
                continue
            if max(found, rest) <= self._limit(delta):
                return low, low
            if rest > found:
                return low, math.inf
            near = self._above(low, self._limit(delta))
            if near is None:
                break
            for pair in set(near) - solved:
                low = max(low, exact_crossing(*self._rows(pair), delta))
            if low == math.inf or set(near) <= solved:
                return low, low
            solved.update(near)
        for wider in _WIDER:
            high = low * (1 + Fraction(wider))
            found, rest, pair = self._search(high)
            if max(found, rest) <= self._limit(delta):
                return low, high
            low = max(low, exact_crossing(*self._rows(pair), delta))
            if low == math.inf:
                return low, low
        return low, math.inf

    def _envelope_factor(self, delta: float, low: Factor) -> Factor:
        """Return an x with ``max_i U_i(x) <= delta``, an upper end that needs no pairs."""
        high, solved = low, set[int]()
        for _ in range(_MAX_STEPS):
            ceiling = self._ceilings(high)
            largest = np.argsort(-ceiling, kind="stable")[: self._room]
            over = [int(i) for i in largest if ceiling[i] > self._limit(delta)]
            if set(over) <= solved:
                if len(over) < self._room:
                    return high
                break
            i = next(i for i in over if i not in solved)
            row = self._row(i)
            high = max(high, exact_crossing(row, self._smallest, delta, crossing(row, self._smallest, delta)))
            solved.add(i)
            if high == math.inf:
                return high
        for wider in _WIDER:
            if self._ceilings(high * (1 + Fraction(wider))).max() <= self._limit(delta):
                return high * (1 + Fraction(wider))
        return math.inf

    def _limit(self, delta: float) -> float:
        """Return the sum up to which a pair is proven to be within delta."""
        return delta * _SCALE * (1.0 - 2.0 * self._error)

    def _search(self, x: Factor) -> tuple[float, float, Pair]:
        """Return the largest sum found, the largest there can be among rows not looked at, and the pair found."""
        ceiling, times = self._ceilings(x), self._times(self._data, x)
        order = np.argsort(-ceiling, kind="stable")
        sizes = np.diff(self._indptr)
        best, pair = -1.0, (0, 0)
        done, batch, visited = 0, 1, 0
        while done < order.size and best < ceiling[order[done]]:
            some = order[done : done + batch]
            visited += self._data.size + self.n_rows * int(sizes[some].sum())
            if done and visited > self._work:
                break
            value, i, j, _ = self._compare(times, some)
            if value > best:
                best, pair = float(value), (int(i), int(j))
            done, batch = done + some.size, min(2 * batch, 256)
        rest = float(ceiling[order[done]]) if done < order.size else 0.0
        return best, rest, pair

    def _above(self, x: Factor, limit: float) -> list[Pair] | None:
        """Return the pairs whose sum is above ``limit``; None where they are too many to be looked at one by one."""
        rows = np.flatnonzero(self._ceilings(x) > limit)
        if self._data.size + self.n_rows * int(np.diff(self._indptr)[rows].sum()) > self._work:
            return None
        found = np.empty((self._room, 2), dtype=np.int64)
        n = self._compare(self._times(self._data, x), rows, limit, found)[3]
        return None if n > self._room else [(int(i), int(j)) for i, j in found[:n]]

    def _compare(self, times: Floats, rows: Any, limit: float = math.inf, found: Any = _NO_PAIRS) -> Any:
        from reidrisk.bounds.kernels import compare_rows

        return compare_rows(self._indptr, self._indices, self._data, times, self._n_outputs, rows, limit, found)

    def _ceilings(self, x: Factor) -> Floats:
        """Return ``U_i(x)`` of each distinct row, scaled."""
        floor = self._times(self._smallest * _SCALE, x)[self._indices]
        # Every row adds up to 1, so none is empty and every segment has a start.
        return np.asarray(np.add.reduceat(np.maximum(self._data - floor, 0.0), self._indptr[:-1]), dtype=np.float64)

    @staticmethod
    def _times(values: Floats, x: Factor) -> Floats:
        """Return the values x times as large, or less in the last digits, never more."""
        if x == 1:
            return values
        if x == math.inf:
            return np.where(values > 0.0, np.inf, 0.0)
        up, down = Fraction(x).as_integer_ratio()
        power = up.bit_length() - down.bit_length()  # x itself may be larger than any float
        factor = float(Fraction(x) / Fraction(2) ** power) * (1.0 - 4.0 * ROUNDING)
        with np.errstate(over="ignore"):
            return np.ldexp(values, power) * factor

    def _rows(self, pair: Pair) -> tuple[Floats, Floats]:
        return self._row(pair[0]), self._row(pair[1])

    def _row(self, i: int) -> Floats:
        row = np.zeros(self._n_outputs)
        entries = slice(self._indptr[i], self._indptr[i + 1])
        row[self._indices[entries]] = self._data[entries] / _SCALE
        return row


def _distinct_rows(indptr: Ints, indices: Array, bits: UInts) -> Any:
    """Return the first of each group of identical rows; a row of the same hash by chance stays, at the cost of work."""
    rows, sizes = np.arange(indptr.size - 1), np.diff(indptr)
    mixed = (bits ^ indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    _, first, group = np.unique(np.add.reduceat(mixed, indptr[:-1]), return_index=True, return_inverse=True)
    twin = first[group]
    ahead = np.repeat(indptr[:-1] - indptr[twin], sizes)  # from an entry back to that of the row it may equal
    entry = np.arange(indices.size) - ahead
    equal = (indices[entry] == indices) & (bits[entry] == bits)
    same = (sizes == sizes[twin]) & np.logical_and.reduceat(equal, indptr[:-1])
    return np.flatnonzero((twin == rows) | ~same)


def crossing(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """Return the smallest ``x >= 1`` with ``sum_o (p[o] - x q[o])_+ <= delta``, to rounding; infinite if there is none.

    The sum is the largest of ``p(E) - x q(E)`` over sets E of outputs, and sets of the largest ratios p/q suffice, so
    ``x = max_E (p(E) - delta) / q(E)`` over those.

    >>> crossing([0.75, 0.25], [0.25, 0.75], 0.25), crossing([0.5, 0.5], [0.0, 1.0], 0.25)
    (2.0, inf)
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    p, q = p[p > 0.0], q[p > 0.0]
    sure = float(p[q == 0.0].sum())
    if sure > delta:
        return math.inf
    p, q = p[q > 0.0], q[q > 0.0]
    if not p.size:
        return 1.0
    with np.errstate(over="ignore"):
        order = np.argsort(-(p / q), kind="stable")
        return float(max(1.0, np.max((sure + np.cumsum(p[order]) - delta) / np.cumsum(q[order]))))
