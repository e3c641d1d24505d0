"""The best targets by Bayes factor: what ProfileBayes hands to an engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.profile import kernel
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.layout import Layout, lay_out
from reidrisk.attacks.profile.tables import Tables
from reidrisk.base.parallel import each
from reidrisk.base.progress import Progress
from reidrisk.search import Best

Ints = npt.NDArray[np.int64]

QUERIES = 64  # queries handed to a thread at a time


@dataclass(frozen=True, eq=False)
class Known:
    """Targets as counts, with the log-probability of each alone; laid out when first asked."""

    counts: Counts
    alone: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Ints) -> Known:
        """Return the chosen targets, in that order."""
        return Known(self.counts.take(rows), self.alone[rows])

    @cached_property
    def layout(self) -> Layout:
        """The targets by block and token."""
        return lay_out(self.counts)

    @property
    def records(self) -> kernel.Records:
        """The targets row by row."""
        return self.counts.beside(self.alone)

    def facing(self, tables: Tables, rung: int) -> kernel.LaidOut:
        """Return the targets as all queries on this rung meet them."""
        c, at = self.counts, self.layout
        holds = np.empty((len(c), tables.nothing.shape[1]), dtype=np.int64)
        kernel.holdings(self.records, rung, tables.evidence, holds)
        empty = c.start[1:] == c.start[:-1]
        return kernel.LaidOut(at.start, at.member, at.times, at.columns, at.block, c.rung, self.alone, holds, empty)


@dataclass(frozen=True, eq=False)
class BayesFactor:
    """Log Bayes factors on the score grid, by the tables of evidence that were learnt."""

    tables: Tables
    threads: int | None = None

    def best(self, targets: Known, queries: tuple[Counts, Ints], progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        return self.summed(targets, *queries, nats=0.0)[0]

    def summed(self, targets: Known, asked: Counts, alone: Ints, nats: float) -> tuple[Best, Ints]:
        """Find the best of each query and, with ``nats`` above 0, the sum of the posterior relative to it."""
        records = asked.beside(alone)
        best, ties, first, total = (np.zeros(len(asked), dtype=np.int64) for _ in range(4))
        for rung, rows in asked.by_rung():
            known = targets.facing(self.tables, rung)

            def work(part: Ints, known: kernel.LaidOut = known) -> None:
                kernel.link_rows(known, records, self.tables.evidence, part, nats, best, ties, first, total)

            each(work, [rows[start : start + QUERIES] for start in range(0, len(rows), QUERIES)], self.threads)
        return Best(best, ties, first), total
