"""Exact best matches for short traces, without comparing pairs: all users against all users in seconds.

A score depends only on *which* epochs agree, and there are 2^r such patterns. For a set S of epochs, targets are
grouped by their tokens in S. Where every gain (match - mismatch) is positive, sets are visited from the largest to the
smallest: when S is reached with a score not below the best so far, no larger set had a member, so that the members of
the query's group agree on S *exactly*. An epoch whose gain is 0 for a query is left out for it. Targets with missing
tokens form one lattice for each pattern of missingness; their scores differ by a constant.

For most sets most queries have no group at all. Two small bitmaps of hashed tokens, one over the queries still in
question, one over the targets that it lets through, settle that within the processor's cache; only what both let
through meets in a hash table, of which each thread fills its own part.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Crew, Ints, Progress, UInts, njit, silent
from reidrisk.search.answer import Best
from reidrisk.search.hashing import count_groups, find_group, key_of, mark, marked, mixed, part_of, table_for
from reidrisk.search.index import Index, Tokens, Unsigned, unsigned
from reidrisk.search.weights import Weights

_WORST = np.iinfo(np.int64).min
_WORDS = 20  # at most 2^20 words (8 MiB) a bitmap: larger ones pass fewer strangers, but miss the cache


def best(
    index: Index, queries: Tokens, weights: Weights, threads: int | None = None, progress: Progress | None = None
) -> Best:
    """Find best score, number of ties and lowest tied target of each query (q, r); no gain may be negative."""
    total = sum(2 ** len(epochs) for epochs, _ in index.patterns)
    done, tell = 0, progress or silent
    with Crew(threads) as crew:
        lattice = _Lattice(index, unsigned(queries, index.n_tokens), weights, crew)
        for epochs, members in index.patterns:
            lattice.start(epochs)
            for subset in _subsets(epochs):
                lattice.visit(members, subset)
                done += 1
                tell("searching", done / total)
    return Best(lattice.score, lattice.ties, lattice.first)


def _subsets(epochs: Ints) -> Iterator[Ints]:
    """Yield all sets of epochs, larger ones first, the empty one last."""
    for size in range(len(epochs), -1, -1):
        for chosen in combinations(epochs.tolist(), size):
            yield np.array(chosen, dtype=np.int64)


class _Found(NamedTuple):
    """What a query gets from a target that agrees nowhere, and the best so far."""

    base: Any
    score: Any
    ties: Any
    first: Any


class _Lattice:
    """The state of one search: the best of each query so far, and the tables it is looked up in."""

    def __init__(self, index: Index, queries: Unsigned, weights: Weights, crew: Crew) -> None:
        q, r = queries.shape
        shape = (r, index.n_tokens)
        self.targets, self.queries, self.missing, self.crew = index.rows, queries, index.missing, crew
        self.n_tokens = index.n_tokens
        self.gain = np.ascontiguousarray(np.broadcast_to(weights.match - weights.mismatch, shape))
        self.mismatch = np.ascontiguousarray(np.broadcast_to(weights.mismatch, shape))
        self.score = np.full(q, _WORST, dtype=np.int64)
        self.ties, self.first = np.zeros(q, dtype=np.int64), np.full(q, -1, dtype=np.int64)
        self.base = np.empty(q, dtype=np.int64)
        self.found = _Found(self.base, self.score, self.ties, self.first)

    def over(self, n: int, work: Callable[[int, int], Any], per_part: int = 4) -> list[Any]:
        """Cut work into ranges and hand them to the threads; results come back in order."""
        cuts = np.linspace(0, n, per_part * self.crew.size + 1).astype(int)
        return self.crew.each(lambda i: work(cuts[i], cuts[i + 1]), range(len(cuts) - 1))

    def chosen(self, n: int, work: Callable[[int, int], Ints]) -> Ints:
        return np.concatenate(self.over(n, work))

    def start(self, epochs: Ints) -> None:
        """Begin with the targets that were observed in exactly these epochs."""
        work = lambda a, b: _bases(self.queries[a:b], self.missing, self.mismatch, epochs, self.base[a:b])  # noqa: E731
        self.over(len(self.queries), work)

    def visit(self, members: Ints, subset: Ints) -> None:
        """Let one set of epochs speak: find the groups of the queries for which it can still matter."""
        queries, targets, parts = self.queries, self.targets, self.crew.size
        active = self.chosen(
            len(queries),
            lambda a, b: a + _active(queries[a:b], self.missing, self.gain, self.base[a:b], subset, self.score[a:b]),
        )
        if not active.size:
            return
        if not subset.size:
            _claim_all(active, self.found, len(members), members[0])
            return
        # How tokens become one number: of which epochs, the width of a digit, and whether it is exact.
        how = (subset, np.uint64(self.n_tokens), self.n_tokens ** len(subset) < 2**64)
        # What the queries' bitmap does not know has no query; what the targets' one does not know has no target.
        known = self._bitmap(queries, active, how)
        members = self.chosen(len(members), lambda a, b: marked(targets, members[a:b], *how, known))
        if not members.size:
            return
        if members.size < active.size:
            known = self._bitmap(targets, members, how)
            active = self.chosen(len(active), lambda a, b: marked(queries, active[a:b], *how, known))
        table = table_for(min(members.size, self.n_tokens ** len(subset)), parts)
        self.crew.each(lambda p: count_groups(targets, members, *how, table[p], p, parts), range(parts))
        claim = lambda a, b: _claim(table, targets, queries, active[a:b], *how, self.gain, self.found)  # noqa: E731
        self.over(len(active), claim)

    def _bitmap(self, rows: Unsigned, chosen: Ints, how: tuple[Any, ...]) -> UInts:
        """Mark the hashed tokens of the chosen rows; about one bit in sixteen is set."""
        words = 1 << min(max((len(chosen) // 4).bit_length(), 4), _WORDS)
        parts = self.over(len(chosen), lambda a, b: mark(rows, chosen[a:b], *how, words), per_part=1)
        return np.asarray(np.bitwise_or.reduce(parts))


@njit(cache=True, nogil=True)
def _bases(queries: Any, missing: Any, mismatch: Any, epochs: Any, base: Any) -> None:
    """Add up what a query gets from a target that agrees nowhere."""
    for i in range(queries.shape[0]):
        total = np.int64(0)
        for s in epochs:
            if queries[i, s] != missing:
                total += mismatch[s, queries[i, s]]
        base[i] = total


@njit(cache=True, nogil=True)
def _active(queries: Any, missing: Any, gain: Any, base: Any, subset: Any, score: Any) -> Any:
    """Return the queries whose score with this set of epochs would not be below their best so far."""
    found = np.empty(queries.shape[0], dtype=np.int64)
    n = 0
    for i in range(queries.shape[0]):
        total = base[i]
        fits = True
        for s in subset:
            token = queries[i, s]
            if token == missing or gain[s, token] == 0:
                fits = False
                break
            total += gain[s, token]
        if fits and total >= score[i]:
            found[n] = i
            n += 1
    return found[:n].copy()


@njit(cache=True, nogil=True, inline="always")
def _offer(i: Any, total: Any, count: Any, row: Any, found: Any) -> None:
    """Let a group of targets compete for query i."""
    _, score, ties, first = found
    if total > score[i]:
        score[i], ties[i], first[i] = total, count, row
    elif total == score[i]:
        ties[i] += count
        first[i] = min(first[i], row)


@njit(cache=True, nogil=True)
def _claim_all(active: Any, found: Any, count: Any, row: Any) -> None:
    for i in active:
        _offer(i, found.base[i], count, row, found)


@njit(cache=True, nogil=True)
def _claim(
    table: Any, targets: Any, queries: Any, active: Any, subset: Any, width: Any, exact: Any, gain: Any, found: Any
) -> None:
    """Look the active queries up in a table of targets."""
    batch = 32
    keys = np.empty(batch, dtype=np.uint64)
    spreads = np.empty(batch, dtype=np.uint64)
    parts = np.uint64(table.shape[0])
    mask = np.uint64(table.shape[1] - 1)
    for start in range(0, active.shape[0], batch):
        stop = min(start + batch, active.shape[0])
        fetched = np.uint64(0)
        for b in range(stop - start):
            keys[b] = key_of(queries[active[start + b]], subset, width, exact)
            spreads[b] = mixed(keys[b])
            fetched |= table[part_of(spreads[b], parts), spreads[b] & mask, 1]
        if fetched == np.uint64(0):
            continue
        for b in range(stop - start):
            i = active[start + b]
            entry = find_group(table, targets, queries[i], keys[b], spreads[b], subset, exact)
            if entry == np.uint64(0):
                continue
            total = found.base[i]
            for s in subset:
                total += gain[s, queries[i, s]]
            _offer(i, total, np.int64(entry & np.uint64(0xFFFFFFFF)), np.int64(entry >> np.uint64(32)), found)
