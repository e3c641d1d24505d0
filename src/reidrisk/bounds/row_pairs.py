"""The worst pair of rows of a channel, exact where the work allows it and certified where it does not.

The smallest delta of an (epsilon, delta) guarantee is a maximum over all ordered pairs of rows,

    delta(x) = max_{i, j} D_ij(x),      D_ij(x) = sum_o (P[i, o] - x P[j, o])_+,      x = e^epsilon.

Identical rows are merged first. Row ``i`` can do no better than against the envelope of all rows,
``U_i(x) = sum_o (P[i, o] - x min_j P[j, o])_+ >= D_ij(x)``, which costs one pass over the matrix. Rows are
tried in descending order of ``U_i``, each against all others; once the best pair found reaches the next
``U_i`` it is the maximum, proven. If the work runs out before, the pair found so far is a lower end and the
next ``U_i`` an upper end.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from reidrisk.bounds.columns import Floats, column_min
from reidrisk.channel import Channel

__all__ = ["WORK", "RowPairs", "crossing"]

WORK = 1_000_000_000
"""Entries that may be visited in search of the worst pair: a second or two."""

_MAX_STEPS = 200


class RowPairs:
    """The distinct rows of a channel, ready to be compared pair by pair.

    Parameters
    ----------
    channel : Channel
    work : int
        How many entries one search may visit before it settles for a certified interval.

    Examples
    --------
    >>> pairs = RowPairs(Channel([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]))
    >>> pairs.n_rows, pairs.delta(1.0), pairs.delta(3.0)
    (2, (0.5, 0.5), (0.0, 0.0))
    """

    def __init__(self, channel: Channel, work: int = WORK) -> None:
        from scipy import sparse

        from reidrisk.bounds.hockey_kernels import distinct_rows

        matrix = channel.matrix if channel.is_sparse else sparse.csr_array(channel.matrix)
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        bits = matrix.data.view(np.uint64)
        bits.flags.writeable = False  # as a channel's are: one compiled version for both
        kept = distinct_rows(indptr, indices, bits)
        if kept.size < channel.n_users:
            matrix = matrix[kept]
            indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        self._indptr, self._indices, self._data = indptr, indices, matrix.data.astype(np.float64)
        self._n_outputs = channel.n_outputs
        self._smallest = column_min(channel)
        self._work = work

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return int(self._indptr.size - 1)

    def delta(self, x: float) -> tuple[float, float]:
        """Return a lower and an upper end of ``max_ij D_ij(x)``; they are equal where it is exact."""
        low, high, _, _ = self._search(x)
        return low, high

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return a lower and an upper end of the smallest ``log x >= 0`` with ``max_ij D_ij(x) <= delta``.

        From x = 1 upwards: the worst pair at x, if it exceeds delta, needs a larger x, and which one has a
        closed form (:func:`crossing`). Each step solves one more pair for good, so the steps end.
        """
        slack = 1e-15 + 1e-12 * delta
        x = 1.0
        for _ in range(_MAX_STEPS):
            low, high, i, j = self._search(x)
            if low <= delta + slack:
                if high <= delta + slack:
                    return math.log(x), math.log(x)
                break
            larger = crossing(self._row(i), self._row(j), delta)
            if math.isinf(larger):
                return math.inf, math.inf
            if larger <= x:  # it satisfies delta up to the last digit
                break
            x = larger
        return math.log(x), max(math.log(x), self._envelope_epsilon(delta, x, slack))

    def _search(self, x: float) -> tuple[float, float, int, int]:
        from reidrisk.bounds.hockey_kernels import worst_pair

        ceiling = self._ceilings(x)
        order = np.argsort(-ceiling, kind="stable")
        sizes = np.diff(self._indptr)
        best, best_i, best_j = -1.0, 0, 0
        done, batch, visited = 0, 1, 0
        while done < order.size and best < ceiling[order[done]]:
            some = order[done : done + batch]
            visited += self._data.size + self.n_rows * int(sizes[some].sum())
            if done and visited > self._work:
                break
            value, i, j = worst_pair(self._indptr, self._indices, self._data, self._n_outputs, some, x)
            if value > best:
                best, best_i, best_j = float(value), int(i), int(j)
            done, batch = done + some.size, min(2 * batch, 256)
        rest = float(ceiling[order[done]]) if done < order.size else 0.0
        return min(best, 1.0), min(max(best, rest), 1.0), best_i, best_j

    def _ceilings(self, x: float) -> Floats:
        """Return ``U_i(x)`` of each distinct row."""
        floor = self._smallest[self._indices]
        with np.errstate(invalid="ignore"):
            excess = np.where(floor > 0.0, self._data - x * floor, self._data)
        # Every row adds up to 1, so none is empty and every segment has a start.
        return np.asarray(np.add.reduceat(np.maximum(excess, 0.0), self._indptr[:-1]), dtype=np.float64)

    def _envelope_epsilon(self, delta: float, x: float, slack: float) -> float:
        """Return the smallest log x with ``max_i U_i(x) <= delta``: an upper end that needs no pairs."""
        for _ in range(_MAX_STEPS):
            ceiling = self._ceilings(x)
            i = int(np.argmax(ceiling))
            if ceiling[i] <= delta + slack:
                return math.log(x)
            larger = crossing(self._row(i), self._smallest, delta)
            if larger <= x:
                return math.log(x)
            if math.isinf(larger):
                break
            x = larger
        return math.inf

    def _row(self, i: int) -> Floats:
        row = np.zeros(self._n_outputs)
        entries = slice(self._indptr[i], self._indptr[i + 1])
        row[self._indices[entries]] = self._data[entries]
        return row


def crossing(p: npt.ArrayLike, q: npt.ArrayLike, delta: float) -> float:
    """Return the smallest ``x >= 1`` with ``sum_o (p[o] - x q[o])_+ <= delta``; infinite where there is none.

    The sum is the largest of ``p(E) - x q(E)`` over sets E of outputs, and sets of the largest ratios p/q
    suffice, so ``x = max_E (p(E) - delta) / q(E)`` over those.

    Examples
    --------
    >>> crossing([0.75, 0.25], [0.25, 0.75], 0.0), crossing([0.75, 0.25], [0.25, 0.75], 0.25)
    (3.0, 2.0)
    >>> crossing([0.5, 0.5], [0.0, 1.0], 0.25)
    inf
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
