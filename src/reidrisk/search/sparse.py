"""Scores that are products of sparse rows of whole numbers: what a query and a target both hold, weighed and added up.

    score(query x, target y) = sum over columns i of  x_i y_i

Targets are laid out by block and column, so that a query reads only what it shares with somebody, and the sums of a
block stay in the cache. The column that most targets hold (a constant of each target, say) is an array of its own: it
bounds what a target can score that shares nothing else, and most blocks need no look at those.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.kernels import njit
from reidrisk.base.parallel import each, n_threads
from reidrisk.base.progress import Progress
from reidrisk.search.answer import FAR, UNIT, Best, Candidates, check_k
from reidrisk.search.blocks import ByBlocks

_BLOCK = 1 << 14  # targets whose scores are built together, at least: 128 KiB
_POSTINGS = 32  # entries of a column in a block that are aimed at: fewer, and finding them takes longer than adding
_STARTS = 1 << 24  # entries of the table of starts, at most
_QUERIES = 64, 512  # queries handed to a thread at a time: many, so that a block is read once for all of them
_FEW = 4  # where fewer than one in so many targets of a block shares anything, these are looked at one by one
_INSERTED = 256  # candidates up to which each is put in its place as it is found
_LARGEST = 2.0**62
_LOWEST = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Records as rows of whole numbers: ``rows`` is a ``scipy.sparse.csr_array``, a row a record.

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
    def by_item(self) -> Any:
        """The same as a csr_array with a row for each column."""
        return self.rows.T.tocsr()

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
    def layout(self) -> Layout:
        """The rows by block and column."""
        return _laid_out(self.rows)


class Layout(NamedTuple):
    """Targets by block and column, the column that most of them hold apart.

    In block b, the targets ``member`` (places in the block) hold column i with ``weight``, from ``start[b, i]`` to
    ``start[b, i + 1]``. ``common`` (n,) is the column ``apart`` (-1: there is none); within each block, it lies between
    the two ``bounds`` (blocks, 2).
    """

    start: Any
    member: Any
    weight: Any
    common: Any
    bounds: Any
    apart: int
    block: int


class Asked(NamedTuple):
    """Queries row by row, and what each holds of the targets' common column."""

    row: Any
    column: Any
    weight: Any
    common: Any


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

    def best(self, targets: SparseRows, queries: SparseRows, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        found = Best(*(np.zeros(len(queries), dtype=np.int64) for _ in range(3)))
        self._over_queries(_best_rows, targets, queries, found, progress=progress)
        return found

    def candidates(self, targets: SparseRows, queries: SparseRows, k: int) -> Candidates:
        """Find the k best targets of each query."""
        check_k(k, len(targets))
        if k > _INSERTED:
            return super().candidates(targets, queries, k)
        found = Candidates(*(np.zeros((len(queries), k), dtype=np.int64) for _ in range(2)))
        self._over_queries(_candidate_rows, targets, queries, found)
        return found

    def total(self, targets: SparseRows, queries: SparseRows, score: Ints) -> Ints:
        """Add up exp(score of a target - score given) over the targets, in whole steps of 1 / UNIT."""
        if not self.per_nat:
            raise OptionError("these scores are no likelihoods: they have no posterior")
        total = np.zeros(len(queries), dtype=np.int64)
        self._over_queries(_posterior_sums, targets, queries, (score, total), 1.0 / self.per_nat)
        return total

    def scores(self, targets: SparseRows, queries: SparseRows, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        out = np.zeros((len(queries), len(targets)), dtype=np.int64)
        self._over_queries(_all_scores, targets, queries, (out,))
        return out

    def pairs(self, targets: SparseRows, queries: SparseRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        check_fit(targets, queries)
        asked = queries.rows.astype(np.int64)
        return np.asarray(asked.multiply(targets.rows[rows].astype(np.int64)).sum(axis=1)).ravel().astype(np.int64)

    def _over_queries(
        self,
        kernel: Callable[..., None],
        targets: SparseRows,
        queries: SparseRows,
        by_query: tuple[npt.NDArray[Any], ...],
        *options: float,
        progress: Progress | None = None,
    ) -> None:
        """Run a kernel over parts of the queries; it fills the arrays that have an entry for each query."""
        check_fit(targets, queries)
        known = targets.layout

        def work(part: slice) -> None:
            kernel(known, _asked(queries.rows[part], known.apart), *(values[part] for values in by_query), *options)

        few, many = _QUERIES
        size = min(many, max(few, -(-len(queries) // n_threads(self.threads))))
        parts = [slice(start, start + size) for start in range(0, len(queries), size)]
        each(work, parts, self.threads, progress, "searching")


def check_fit(targets: SparseRows, queries: SparseRows) -> None:
    """Refuse rows of different widths, and weights whose sums do not fit in 64 bits."""
    one, two = targets.rows.shape[1], queries.rows.shape[1]
    if one != two:
        raise DataError(f"targets have {one} columns, queries {two}; both must be the same")
    if not len(targets):
        raise DataError("there is no target to find")
    if not queries.heaviest * targets.largest < _LARGEST:
        held = f"a query's weights add up to {queries.heaviest:g}, a target's reach {targets.largest:g}"
        raise DataError(f"{held}: too large for exact scores; divide the counts by a common number")


def _laid_out(rows: Any) -> Layout:
    n, width = rows.shape
    held = np.bincount(rows.indices, minlength=width)
    apart = int(held.argmax()) if held.max(initial=0) > n / 2 else -1
    common = np.zeros(n, dtype=np.int64)
    if apart >= 0:
        inside = rows.indices == apart
        at = np.repeat(np.arange(n), np.diff(rows.indptr))[inside]
        np.add.at(common, at, rows.data[inside].astype(np.int64))
        rows = _without(rows, inside)
    aim = _POSTINGS * n * max(int(np.count_nonzero(held)), 1) / max(rows.nnz, 1)
    block = int(max(_BLOCK, min(aim, 4 * _BLOCK), n / max(_STARTS // (width + 1), 1)))
    firsts = range(0, n, block)
    start = np.empty((len(firsts), width + 1), dtype=np.int64)
    member = np.empty(rows.nnz, dtype=np.int32)
    narrow = SparseRows(rows).largest <= np.iinfo(np.int32).max
    weight = np.empty(rows.nnz, dtype=np.int32 if narrow else np.int64)
    for b, first in enumerate(firsts):
        part = rows[first : first + block].tocsc()
        begin = int(rows.indptr[first])
        start[b] = part.indptr.astype(np.int64) + begin
        member[begin : begin + part.nnz], weight[begin : begin + part.nnz] = part.indices, part.data
    low, high = (f(common, firsts) for f in (np.minimum.reduceat, np.maximum.reduceat))
    return Layout(start, member, weight, common, np.stack([low, high], axis=1), apart, block)


def _without(rows: Any, inside: npt.NDArray[np.bool_]) -> Any:
    """Return the rows without these entries."""
    from scipy import sparse

    start = np.concatenate([[0], np.cumsum(~inside)])[rows.indptr]
    return sparse.csr_array((rows.data[~inside], rows.indices[~inside], start), rows.shape)


def _asked(rows: Any, apart: int) -> Asked:
    row, column, weight = rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.int64)
    common = np.zeros(len(row) - 1, dtype=np.int64)
    inside = column == apart
    np.add.at(common, np.repeat(np.arange(len(common)), np.diff(row))[inside], weight[inside])
    return Asked(row, column, weight, common)


@njit(nogil=True, cache=True)
def _add_up(targets: Any, asked: Any, b: Any, i: Any, scores: Any) -> Any:
    """Add what query i shares with the targets of block b to their scores; return how many entries that were."""
    start, entries = targets.start[b], 0
    for place in range(asked.row[i], asked.row[i + 1]):
        column, times = asked.column[place], asked.weight[place]
        first, last = start[column], start[column + 1]
        entries += last - first
        for at in range(first, last):
            scores[targets.member[at]] += times * targets.weight[at]
    return entries


@njit(nogil=True, cache=True)
def _reaches(targets: Any, asked: Any, b: Any, i: Any, scores: Any, entries: Any, limit: Any) -> Any:
    """Whether a target of block b may score ``limit`` or more; if not, the scores are set back to 0."""
    times, start, first = asked.common[i], targets.start[b], b * targets.block
    if max(targets.bounds[b, 0] * times, targets.bounds[b, 1] * times) >= limit or entries * _FEW > len(scores):
        return True
    # One walk to look and to set back: a target met again counts as if it shared nothing, which is below the limit.
    top = limit - 1
    for place in range(asked.row[i], asked.row[i + 1]):
        column = asked.column[place]
        if times == 0:
            for at in range(start[column], start[column + 1]):
                j = targets.member[at]
                top = max(top, scores[j])
                scores[j] = 0
        else:
            for at in range(start[column], start[column + 1]):
                j = targets.member[at]
                top = max(top, scores[j] + targets.common[first + j] * times)
                scores[j] = 0
    if top >= limit:
        _add_up(targets, asked, b, i, scores)
    return top >= limit


@njit(nogil=True, cache=True)
def _complete(targets: Any, asked: Any, b: Any, i: Any, scores: Any) -> None:
    """Add what the common column is worth."""
    times, first = asked.common[i], b * targets.block
    if times != 0:
        for j in range(len(scores)):
            scores[j] += times * targets.common[first + j]


@njit(nogil=True, cache=True)
def _best_rows(targets: Any, asked: Any, best: Any, ties: Any, lowest: Any) -> None:
    """Fill in the best score of each query, how many targets share it, and the first of them."""
    n, block = len(targets.common), targets.block
    room = np.zeros(min(block, n), dtype=np.int64)
    best[:], ties[:] = _LOWEST, 0
    for b in range(len(targets.start)):
        scores = room[: min(block, n - b * block)]
        for i in range(len(best)):
            entries = _add_up(targets, asked, b, i, scores)
            if not _reaches(targets, asked, b, i, scores, entries, best[i]):
                continue
            _complete(targets, asked, b, i, scores)
            here = scores[0]
            for j in range(len(scores)):
                here = max(here, scores[j])
            if here > best[i]:
                best[i], ties[i] = here, 0
            if here == best[i]:
                if ties[i] == 0:
                    j = 0
                    while scores[j] != here:
                        j += 1
                    lowest[i] = b * block + j
                for j in range(len(scores)):
                    ties[i] += scores[j] == here
            scores[:] = 0


@njit(nogil=True, cache=True)
def _candidate_rows(targets: Any, asked: Any, rows: Any, score: Any) -> None:
    """Fill in the best targets of each query and their scores, best first, lower row first among equals."""
    n, block, k = len(targets.common), targets.block, rows.shape[1]
    room = np.zeros(min(block, n), dtype=np.int64)
    score[:] = _LOWEST
    for b in range(len(targets.start)):
        scores = room[: min(block, n - b * block)]
        for i in range(len(rows)):
            entries = _add_up(targets, asked, b, i, scores)
            if not _reaches(targets, asked, b, i, scores, entries, score[i, k - 1] + 1):
                continue
            _complete(targets, asked, b, i, scores)
            for j in range(len(scores)):
                place = k - 1
                if scores[j] <= score[i, place]:
                    continue
                while place > 0 and score[i, place - 1] < scores[j]:
                    score[i, place], rows[i, place] = score[i, place - 1], rows[i, place - 1]
                    place -= 1
                score[i, place], rows[i, place] = scores[j], b * block + j
            scores[:] = 0


@njit(nogil=True, cache=True)
def _posterior_sums(targets: Any, asked: Any, best: Any, total: Any, nats: Any) -> None:
    """Fill in, for each query, the sum over targets of exp((score - best) * nats) in fixed point."""
    n, block = len(targets.common), targets.block
    room = np.zeros(min(block, n), dtype=np.int64)
    for b in range(len(targets.start)):
        scores = room[: min(block, n - b * block)]
        for i in range(len(best)):
            entries = _add_up(targets, asked, b, i, scores)
            if not _reaches(targets, asked, b, i, scores, entries, best[i] - np.int64(FAR / nats) - 1):
                continue
            _complete(targets, asked, b, i, scores)
            for j in range(len(scores)):
                below = (best[i] - scores[j]) * nats
                if below < FAR:
                    total[i] += np.int64(math.exp(-below) * UNIT + 0.5)
            scores[:] = 0


@njit(nogil=True, cache=True)
def _all_scores(targets: Any, asked: Any, out: Any) -> None:
    """Fill in the score of each query with every target; ``out`` is 0 before."""
    n, block = len(targets.common), targets.block
    for b in range(len(targets.start)):
        first, last = b * block, min((b + 1) * block, n)
        for i in range(len(out)):
            _add_up(targets, asked, b, i, out[i, first:last])
            _complete(targets, asked, b, i, out[i, first:last])
