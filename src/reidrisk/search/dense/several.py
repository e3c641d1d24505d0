"""The nearest of records that are several vectors each: two records are as near as the two nearest of their vectors.

All products of two blocks of vectors are made in single precision, and the largest of each pair of records is kept.
Whoever lies within the proved margin (:mod:`reidrisk.search.dense.margin`) of what is wanted is scored again, exactly:
of a pair of records only those of their vectors that may be the nearest two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import OptionError
from reidrisk.base.progress import Progress, silent
from reidrisk.search.answer import Best, ByBlocks, Candidates, k_best
from reidrisk.search.dense.margin import margin
from reidrisk.search.dense.rows import COSINE_STEPS, VectorRows, pair_scores

_PRODUCTS = 1 << 25  # held at once: 128 MiB
_NOBODY = -(1 << 62)
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SeveralRows:
    """Records of several vectors each: those from ``start[i]`` to ``start[i + 1]`` are of record i."""

    rows: VectorRows
    start: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, chosen: Any) -> SeveralRows:
        records = np.arange(len(self))[chosen]
        many = np.diff(self.start)[records]
        start = np.concatenate(([0], np.cumsum(many)))
        place = np.arange(start[-1]) + np.repeat(self.start[records] - start[:-1], many)
        return SeveralRows(self.rows[place], start)

    take = __getitem__

    def blocks(self, size: int) -> Iterator[slice]:
        """Yield records with about ``size`` vectors together, one record at least."""
        first = 0
        while first < len(self):
            last = int(np.searchsorted(self.start, self.start[first] + size, side="right")) - 1
            last = max(last, first + 1)
            yield slice(first, last)
            first = last


@dataclass(frozen=True)
class NearestTwo(ByBlocks):
    """The largest cosine of a vector of the query and one of the target, in steps of 2^-42.

    >>> rows = VectorRows.of(np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32), "cosine")
    >>> one, two = SeveralRows(rows, np.array([0, 2, 3])), SeveralRows(rows[:1], np.array([0, 1]))
    >>> NearestTwo().best(one, two).target.tolist(), bool(NearestTwo().scores(one, two)[0, 0] == COSINE_STEPS)
    ([0], True)
    """

    def best(self, targets: SeveralRows, queries: SeveralRows, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        tell = progress or silent
        score, n_ties, target = (np.zeros(len(queries), dtype=np.int64) for _ in range(3))
        for part, block in self._compared(targets, queries):
            found = block.scored(block.values.max(axis=1))
            score[part], target[part] = found.max(axis=1), found.argmax(axis=1)
            n_ties[part] = (found == score[part, None]).sum(axis=1)
            tell("comparing-vectors", part.stop / len(queries))
        return Best(score, n_ties, target)

    def candidates(self, targets: SeveralRows, queries: SeveralRows, k: int) -> Candidates:
        """Find the k best targets of each query."""
        found = Candidates(*(np.zeros((len(queries), k), dtype=np.int64) for _ in range(2)))
        for part, block in self._compared(targets, queries):
            least = np.partition(block.values, len(targets) - k, axis=1)[:, len(targets) - k]
            for i, one in enumerate(block.scored(least), start=part.start):
                found.target[i] = k_best(one, k)
                found.score[i] = one[found.target[i]]
        return found

    def scores(self, targets: SeveralRows, queries: SeveralRows, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, exact as far as ``reach`` below each query's best; what is below is lower."""
        out = np.empty((len(queries), len(targets)), dtype=np.int64)
        for part, block in self._compared(targets, queries):
            below = np.full(len(block.values), -1) if reach is None else reach[part]
            least = block.values.max(axis=1).astype(np.float64) - below / COSINE_STEPS
            out[part] = block.scored(np.where(below < 0, -np.inf, least))
        return out

    def pairs(self, targets: SeveralRows, queries: SeveralRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        of, some = np.unique(rows, return_inverse=True)
        found, kept = np.empty(len(rows), dtype=np.int64), targets[of]
        for i, place in enumerate(some):
            one, other = (table.rows[table.start[j] : table.start[j + 1]] for table, j in ((kept, place), (queries, i)))
            many = len(one), len(other)
            grid = np.repeat(np.arange(many[0]), many[1]), np.tile(np.arange(many[1]), many[0])
            found[i] = pair_scores("cosine", one[grid[0]], other[grid[1]]).max()
        return found

    def total(self, targets: Any, queries: Any, score: Ints) -> Ints:
        """Refuse: cosines are no likelihoods."""
        raise OptionError("these scores are no likelihoods: they have no posterior")

    def _compared(self, targets: SeveralRows, queries: SeveralRows) -> Iterator[tuple[slice, _Block]]:
        """Yield some queries, and all products of their vectors with those of the targets."""
        known, asked = (_unit(table) for table in (targets, queries))
        for part in queries.blocks(max(1, _PRODUCTS // len(known))):
            some = queries[part]
            products = asked[queries.start[part.start] : queries.start[part.stop]] @ known.T
            largest = np.maximum.reduceat(products, some.start[:-1], axis=0)
            yield part, _Block(targets, some, products, np.maximum.reduceat(largest, targets.start[:-1], axis=1))


class _Block(NamedTuple):
    """Products of vectors in single precision, and the largest of each pair of records."""

    targets: SeveralRows
    queries: SeveralRows
    products: Singles
    values: Singles

    def scored(self, least: Any) -> Ints:
        """Return exact scores of the pairs of records whose true value may reach ``least`` (q,); of others, less."""
        from reidrisk.search.dense import kernels

        # Both what is wanted and what is found may be off by the margin.
        off = 2.0 * (float(margin(self.queries.rows.values.shape[1], 1.0, 1.0)) + 2.0 / COSINE_STEPS)
        out = np.full(self.values.shape, _NOBODY, dtype=np.int64)
        pairs = np.nonzero(self.values >= (least - off)[:, None])
        parts = [(table.rows.values, table.rows.extra, table.start) for table in (self.targets, self.queries)]
        kernels.score_records(self.products, *parts, pairs, self.values[pairs].astype(np.float64) - off, out)
        return out


def _unit(table: SeveralRows) -> Singles:
    return np.asarray(table.rows.values / table.rows.extra[:, None], dtype=np.float32)
