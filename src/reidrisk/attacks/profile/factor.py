"""The best targets by Bayes factor: what ProfileBayes hands to an engine, and the targets laid out for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reidrisk.attacks.profile import kernel
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.kernel import Tables
from reidrisk.base.arrays import Ints
from reidrisk.base.kernels import njit
from reidrisk.base.parallel import each
from reidrisk.base.progress import Progress
from reidrisk.search import Best, ByBlocks

_QUERIES = 64  # queries handed to a thread at a time
_PAIRS = 32  # the same where each meets one target: it meets those of the others, too
_BLOCK = 4_096  # targets whose sums are built together: some 100 KiB for three kinds
_STARTS = 50_000_000  # entries of the table of starts, at most


@dataclass(frozen=True, eq=False)
class Known:
    """Records as counts, with the log-probability of each alone; laid out by token when first asked."""

    counts: Counts
    alone: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Ints) -> Known:
        """Return the chosen records, in that order."""
        return Known(self.counts.take(rows), self.alone[rows])

    def __getitem__(self, rows: slice) -> Known:
        return self.take(np.arange(len(self))[rows])

    @property
    def records(self) -> kernel.Records:
        """The records row by row."""
        c = self.counts
        return kernel.Records(*c.held, c.rung, c.epochs, self.alone)

    @cached_property
    def layout(self) -> kernel.Layout:
        """The records by block and token."""
        c, width = self.counts, self.counts.n_tokens
        block = max(_BLOCK, -(-len(c) // max(_STARTS // (width + 1), 1)))
        start = np.zeros((-(-len(c) // block), width + 1), dtype=np.int64)
        member, times = np.empty(len(c.token), dtype=np.int32), np.empty(len(c.token), dtype=np.uint8)
        _lay_out(*c.held, block, start, member, times)
        return kernel.Layout(start, member, times, np.ascontiguousarray(c.epochs.T), block)

    def facing(self, tables: Tables, rung: int) -> kernel.LaidOut:
        """Return the records as all queries on this rung meet them."""
        c = self.counts
        holds = np.zeros((len(c), tables.nothing.shape[1]), dtype=np.int64)
        kernel.holdings(*c.held, c.rung + rung, tables.group, tables.joint, tables.depth, tables.per_pair, holds)
        return kernel.LaidOut(self.layout, c.rung, self.alone, holds, c.start[1:] == c.start[:-1])


@dataclass(frozen=True, eq=False)
class BayesFactor(ByBlocks):
    """Log Bayes factors on the score grid, by the tables of evidence that were learnt.

    ``per_nat`` steps make a nat of the posterior, softened by its temperature; 0 where none was learnt.
    """

    tables: Tables
    threads: int | None = None
    per_nat: float = 0.0

    def best(self, targets: Known, queries: Known, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        found = Best(*(np.zeros(len(queries), dtype=np.int64) for _ in range(3)))
        self._by_rung(kernel.link_rows, targets, queries, *found)
        return found

    def total(self, targets: Known, queries: Known, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        total = np.zeros(len(queries), dtype=np.int64)
        self._by_rung(kernel.sum_rows, targets, queries, score, total, 1.0 / self.per_nat)
        return total

    def scores(self, targets: Known, queries: Known, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, exact as far as ``reach`` below the best."""
        out = np.empty((len(queries), len(targets)), dtype=np.int64)
        self._by_rung(kernel.all_rows, targets, queries, np.full(len(queries), -1) if reach is None else reach, out)
        return out

    def pairs(self, targets: Known, queries: Known, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        out = np.empty(len(queries), dtype=np.int64)

        def work(part: Ints) -> None:
            out[part] = np.diagonal(self.scores(targets.take(rows[part]), queries.take(part)))

        each(work, _parts(np.arange(len(queries)), _PAIRS), self.threads)
        return out

    def _by_rung(self, work: Callable[..., None], targets: Known, queries: Known, *others: Any) -> None:
        """Let work be done for parts of the queries that stand on the same rung."""
        records = queries.records
        for rung in np.unique(queries.counts.rung):
            known, rows = targets.facing(self.tables, int(rung)), np.flatnonzero(queries.counts.rung == rung)
            parts = [(known, part) for part in _parts(rows, _QUERIES)]
            each(lambda part: work(part[0], records, self.tables, part[1], *others), parts, self.threads)


def _parts(rows: Ints, size: int) -> list[Ints]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@njit(nogil=True, cache=True)
def _lay_out(row: Any, token: Any, count: Any, block: Any, start: Any, member: Any, times: Any) -> None:
    n = len(row) - 1
    for b in range(len(start)):
        first, last = b * block, min((b + 1) * block, n)
        at = start[b]
        at[0] = row[first]
        for place in range(row[first], row[last]):
            at[token[place] + 1] += 1
        for o in range(1, len(at)):
            at[o] += at[o - 1]
        free = at[:-1].copy()
        for i in range(first, last):
            for place in range(row[i], row[i + 1]):
                where = free[token[place]]
                free[token[place]] += 1
                member[where] = i - first
                times[where] = count[place]
