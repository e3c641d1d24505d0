"""Scores that are products of sparse rows of whole numbers: what a query and a target both hold, weighed and added up.

    score(query x, target y) = sum over columns i of  x_i y_i

or min(x_i, y_i) instead of the product. Targets are laid out by block and column, so that a query reads only what it
shares with somebody, and the sums of a block stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from reidrisk.base import Array, DataError, Ints, OptionError, Progress, each, n_threads, slices
from reidrisk.search import sparse_kernels as kernels
from reidrisk.search.answer import Best, ByBlocks, Candidates, check_k

_QUERIES = 64, 512  # queries handed to a thread at a time: many, so that a block is read once for all of them
_INSERTED = 256  # candidates up to which each is put in its place as it is found
_LARGEST = 2.0**62


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Records as rows of whole numbers: ``rows`` is a ``scipy.sparse.csr_array``, a row per record.

    >>> from scipy import sparse
    >>> len(SparseRows(sparse.csr_array([[0, 2], [1, 0], [0, 0]])).take(np.array([2, 0])))
    2
    """

    rows: Any

    def __post_init__(self) -> None:
        if self.rows.dtype.kind not in "iu":
            raise DataError(f"weights are {self.rows.dtype}; round them to whole numbers once, with to_grid")

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, rows: Any) -> SparseRows:
        return SparseRows(self.rows[rows])

    def take(self, rows: Ints) -> SparseRows:
        """Return the chosen rows, in that order."""
        return SparseRows(self.rows[rows])

    @cached_property
    def largest(self) -> float:
        """The largest weight, without its sign."""
        return max(float(self.rows.data.max(initial=0)), -float(self.rows.data.min(initial=0)))

    @cached_property
    def heaviest(self) -> float:
        """The largest sum of weights, without their signs, of a row."""
        from scipy import sparse

        sizes = np.abs(self.rows.data.astype(np.float64))
        return float(sparse.csr_array((sizes, self.rows.indices, self.rows.indptr), self.rows.shape).sum(axis=1).max())

    @cached_property
    def layout(self) -> kernels.ColumnBlocks:
        """The rows by block and column, the column that most of them hold apart."""
        return kernels.laid_out(self.rows, True)

    @cached_property
    def plain_layout(self) -> kernels.ColumnBlocks:
        """The rows by block and column."""
        return kernels.laid_out(self.rows, False)


@dataclass(frozen=True)
class SparseDot(ByBlocks):
    """The product of a query's row and a target's, exactly, for an engine.

    ``per_nat`` steps make a nat where scores are logarithms of likelihoods; 0 where they are not.

    >>> from scipy import sparse
    >>> targets, queries = (SparseRows(sparse.csr_array(rows)) for rows in ([[1, 2], [0, 3], [3, 1]], [[2, 1], [0, 0]]))
    >>> SparseDot().scores(targets, queries).tolist()
    [[4, 3, 7], [0, 0, 0]]
    >>> SparseDot().best(targets, queries).n_ties.tolist()
    [1, 3]
    """

    per_nat: float = 0.0
    threads: int | None = None
    _smaller: ClassVar[bool] = False

    def best(self, targets: SparseRows, queries: SparseRows, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        found = Best(*(np.zeros(len(queries), dtype=np.int64) for _ in range(3)))
        self._over_queries(kernels.best_rows, targets, queries, found, progress=progress)
        return found

    def candidates(self, targets: SparseRows, queries: SparseRows, k: int) -> Candidates:
        """Find the k best targets of each query."""
        check_k(k, len(targets))
        if k > _INSERTED:
            return super().candidates(targets, queries, k)
        found = Candidates(*(np.zeros((len(queries), k), dtype=np.int64) for _ in range(2)))
        self._over_queries(kernels.candidate_rows, targets, queries, found)
        return found

    def total(self, targets: SparseRows, queries: SparseRows, score: Ints) -> Ints:
        """Add up exp(score of a target - score given) over the targets, in whole steps of 1 / UNIT."""
        if not self.per_nat:
            raise OptionError("these scores are no likelihoods: they have no posterior")
        total = np.zeros(len(queries), dtype=np.int64)
        self._over_queries(kernels.posterior_sums, targets, queries, (score, total), 1.0 / self.per_nat)
        return total

    def scores(self, targets: SparseRows, queries: SparseRows, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        out = np.zeros((len(queries), len(targets)), dtype=np.int64)
        self._over_queries(kernels.all_scores, targets, queries, (out,))
        return out

    def pairs(self, targets: SparseRows, queries: SparseRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        self._check(targets, queries)
        asked = queries.rows.astype(np.int64)
        return np.asarray(asked.multiply(targets.rows[rows].astype(np.int64)).sum(axis=1)).ravel().astype(np.int64)

    def _check(self, targets: SparseRows, queries: SparseRows) -> None:
        """Refuse rows of different widths, and weights whose sums do not fit in 64 bits."""
        one, two = targets.rows.shape[1], queries.rows.shape[1]
        if one != two:
            raise DataError(f"targets have {one} columns, queries {two}; both must be the same")
        if not len(targets):
            raise DataError("there is no target to find")
        if not queries.heaviest * (1.0 if self._smaller else targets.largest) < _LARGEST:
            held = f"a query's weights add up to {queries.heaviest:g}, a target's reach {targets.largest:g}"
            raise DataError(f"{held}: too large for exact scores; divide the counts by a common number")

    def _over_queries(
        self,
        kernel: Callable[..., None],
        targets: SparseRows,
        queries: SparseRows,
        by_query: tuple[Array, ...],
        *options: float,
        progress: Progress | None = None,
    ) -> None:
        """Run a kernel over parts of the queries; it fills the arrays that have an entry for each query."""
        self._check(targets, queries)
        known = targets.plain_layout if self._smaller else targets.layout

        def work(part: slice) -> None:
            asked = kernels.asked_rows(queries.rows[part], known.apart, self._smaller)
            kernel(known, asked, *(values[part] for values in by_query), *options)

        few, many = _QUERIES
        size = min(many, max(few, -(-len(queries) // n_threads(self.threads))))
        parts = slices(len(queries), size)
        each(work, parts, self.threads, progress, "searching")


@dataclass(frozen=True)
class SparseMin(SparseDot):
    """The sum over columns of the smaller weight of a query's row and a target's, neither below 0: what both hold.

    >>> from scipy import sparse
    >>> targets, queries = (SparseRows(sparse.csr_array(rows)) for rows in ([[1, 2], [0, 3]], [[2, 3], [0, 0]]))
    >>> SparseMin().scores(targets, queries).tolist()
    [[3, 3], [0, 0]]
    """

    _smaller: ClassVar[bool] = True

    def pairs(self, targets: SparseRows, queries: SparseRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        self._check(targets, queries)
        both = queries.rows.astype(np.int64).minimum(targets.rows[rows].astype(np.int64))
        return np.asarray(both.sum(axis=1)).ravel().astype(np.int64)
