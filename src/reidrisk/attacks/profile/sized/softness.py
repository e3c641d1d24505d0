"""A posterior that is softer for longer queries: the temperature grows with a power of their size."""

from dataclasses import dataclass

import numpy as np

from reidrisk.attacks.profile.sized.rows import QUERY_STEPS, STEPS
from reidrisk.base.arrays import Floats, Ints
from reidrisk.search.sparse import SparseDot, SparseRows


@dataclass(frozen=True)
class Softness:
    """T = ``temperature`` (m / ``size``)^``growth`` for a query of size m.

    >>> Softness(2.0, 0.5, 10.0).at(np.array([10.0, 40.0])).tolist()
    [2.0, 4.0]
    """

    temperature: float = 1.0
    growth: float = 0.0
    size: float = 1.0

    def at(self, sizes: Floats) -> Floats:
        """Return the temperature for queries of these sizes, rounded to the next quarter of a doubling."""
        octaves = np.round(4.0 * np.log2(np.maximum(sizes, 1.0) / self.size)) / 4.0
        return np.asarray(self.temperature * 2.0 ** (self.growth * octaves))


@dataclass(frozen=True)
class SoftDot(SparseDot):
    """A product of sparse rows whose posterior is softened by the size of the query, which stands in a ``column``."""

    column: int = 0
    softness: Softness | None = None

    def temperatures(self, queries: SparseRows) -> Floats:
        """Return the temperature of each query."""
        sizes = queries.rows[:, [self.column]].toarray().ravel() / QUERY_STEPS
        return (self.softness or Softness()).at(sizes)

    def total(self, targets: SparseRows, queries: SparseRows, score: Ints) -> Ints:
        """Add up exp((score of a target - score given) / T) over the targets, in whole steps."""
        found, total = self.temperatures(queries), np.zeros(len(queries), dtype=np.int64)
        for temperature in np.unique(found):
            rows = np.flatnonzero(found == temperature)
            plain = SparseDot(STEPS * float(temperature), self.threads)
            total[rows] = plain.total(targets, queries[rows], score[rows])
        return total
