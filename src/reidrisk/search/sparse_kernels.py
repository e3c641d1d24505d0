"""The compiled loops of sparse products: targets by block and column, what a query shares with them, what is kept.

The column that most targets hold (a constant of each target, say) is an array of its own. It bounds what a target can
score that shares nothing else with a query, so that most blocks need no look at those.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Bools, njit
from reidrisk.search.answer import FAR, UNIT

_BLOCK = 1 << 14  # targets whose scores are built together, at least: 128 KiB
_POSTINGS = 32  # entries of a column in a block that are aimed at: fewer, and finding them takes longer than adding
_STARTS = 1 << 24  # entries of the table of starts, at most
_FEW = 4  # where fewer than one in this many targets of a block share anything, these are looked at one by one
_LOWEST = int(np.iinfo(np.int64).min)


class ColumnBlocks(NamedTuple):
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


class QueryRows(NamedTuple):
    """Queries row by row, and what each holds of the targets' common column.

    What both sides hold of a column adds the product of their weights, or the ``smaller`` of them.
    """

    row: Any
    column: Any
    weight: Any
    common: Any
    smaller: bool


def laid_out(rows: Any, common_apart: bool) -> ColumnBlocks:
    """Lay rows out by block and column; a column that more than half of them hold is apart, if asked for."""
    n, width = rows.shape
    held = np.bincount(rows.indices, minlength=width)
    apart = int(held.argmax()) if common_apart and held.max(initial=0) > n / 2 else -1
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
    narrow = max(int(rows.data.max(initial=0)), -int(rows.data.min(initial=0))) <= np.iinfo(np.int32).max
    weight = np.empty(rows.nnz, dtype=np.int32 if narrow else np.int64)
    for b, first in enumerate(firsts):
        part = rows[first : first + block].tocsc()
        begin = int(rows.indptr[first])
        start[b] = part.indptr.astype(np.int64) + begin
        member[begin : begin + part.nnz], weight[begin : begin + part.nnz] = part.indices, part.data
    low, high = (f(common, firsts) for f in (np.minimum.reduceat, np.maximum.reduceat))
    return ColumnBlocks(start, member, weight, common, np.stack([low, high], axis=1), apart, block)


def _without(rows: Any, inside: Bools) -> Any:
    """Return the rows without these entries."""
    from scipy import sparse

    start = np.concatenate([[0], np.cumsum(~inside)])[rows.indptr]
    return sparse.csr_array((rows.data[~inside], rows.indices[~inside], start), rows.shape)


def asked_rows(rows: Any, apart: int, smaller: bool) -> QueryRows:
    """Return queries as kernels take them."""
    row, column, weight = rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.int64)
    common = np.zeros(len(row) - 1, dtype=np.int64)
    inside = column == apart
    np.add.at(common, np.repeat(np.arange(len(common)), np.diff(row))[inside], weight[inside])
    return QueryRows(row, column, weight, common, smaller)


@njit(nogil=True, cache=True)
def _add_up(targets: Any, asked: Any, b: Any, i: Any, scores: Any) -> Any:
    """Add what query i shares with the targets of block b to their scores; return how many entries that were."""
    start, entries = targets.start[b], 0
    for place in range(asked.row[i], asked.row[i + 1]):
        column, times = asked.column[place], asked.weight[place]
        first, last = start[column], start[column + 1]
        entries += last - first
        if asked.smaller:
            for at in range(first, last):
                scores[targets.member[at]] += min(times, np.int64(targets.weight[at]))
        else:
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
def best_rows(targets: Any, asked: Any, best: Any, ties: Any, lowest: Any) -> None:
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
def candidate_rows(targets: Any, asked: Any, rows: Any, score: Any) -> None:
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
def posterior_sums(targets: Any, asked: Any, best: Any, total: Any, nats: Any) -> None:
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
def all_scores(targets: Any, asked: Any, out: Any) -> None:
    """Fill in the score of each query with every target; ``out`` is 0 before."""
    n, block = len(targets.common), targets.block
    for b in range(len(targets.start)):
        first, last = b * block, min((b + 1) * block, n)
        for i in range(len(out)):
            _add_up(targets, asked, b, i, out[i, first:last])
            _complete(targets, asked, b, i, out[i, first:last])
