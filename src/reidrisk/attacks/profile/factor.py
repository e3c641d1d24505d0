"""The best targets by Bayes factor: what ProfileBayes hands to an engine, and the targets laid out for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from reidrisk.attacks.profile import kernel, sweep
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.device import search
from reidrisk.attacks.profile.device_targets import DeviceTargets, Unsuited
from reidrisk.attacks.profile.kernel import LOWEST, Likelihoods
from reidrisk.attacks.profile.layout import Layout, lay_out
from reidrisk.attacks.profile.powers import Powers, likelihoods, powers_of
from reidrisk.attacks.profile.worth import MIDDLE, SAFE, Worth, fitted, grouped, worth_of
from reidrisk.base import Ints, OptionError, Progress, each
from reidrisk.search import Best, ByBlocks, gpu, merged
from reidrisk.search.plan import Device

_QUERIES = 32  # queries handed to a thread at a time; each block of targets stays in the cache for all of them
_KEPT = 1 << 20  # scores near the best kept for each of them, at most: 4 MiB; with more, a second sweep adds them up

_PAIR, _WORTH_A_GPU = 8e-9, 5.0  # seconds on two cores for a pair, and from how many on a GPU pays off
_NOTHING = np.zeros(1, dtype=np.int64)  # the score of a pair that tells nothing


@dataclass(frozen=True, eq=False)
class Known:
    """Records as counts, with the log-probability of each alone; laid out in blocks when first asked."""

    counts: Counts
    alone: Ints
    _layouts: dict[bool, Layout] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Ints) -> Known:
        """Return the chosen records, in that order."""
        return Known(self.counts.take(rows), self.alone[rows])

    def __getitem__(self, rows: slice) -> Known:
        return self.take(np.arange(len(self))[rows])

    @property
    def records(self) -> kernel.HeldRecords:
        """The records row by row."""
        c = self.counts
        return kernel.HeldRecords(*c.held, c.rung, c.epochs, self.alone)

    @property
    def silent(self) -> Ints:
        """Rows that hold nothing: they tell nothing, and score 0 with everybody."""
        return np.flatnonzero(np.diff(self.counts.start) == 0)

    def layout(self, same_epoch: bool) -> Layout:
        """Return the records by block and token, and by epoch where that counts."""
        if same_epoch not in self._layouts:
            self._layouts[same_epoch] = lay_out(self.counts, same_epoch)
        return self._layouts[same_epoch]

    def facing(self, tables: Likelihoods, rung: int) -> sweep.FacingTargets:
        """Return the records as all queries on this rung meet them."""
        c, layout, kinds = self.counts, self.layout(tables.per_pair > 0), tables.nothing.shape[1]
        holds = np.zeros((len(c), kinds), dtype=np.int64)
        kernel.holdings(*c.held, c.rung + rung, tables.group, tables.joint, tables.depth, tables.per_pair, holds)
        holds, alone = holds[layout.order], self.alone[layout.order]
        packed = max(np.abs(holds).max(initial=0), np.abs(alone).max(initial=0)) < SAFE
        by_group = grouped(holds, packed, MIDDLE if packed else 0)
        alone = alone.astype(np.int32 if packed else np.int64)
        return sweep.FacingTargets(layout, by_group, alone, kinds, tables.per_pair, packed)


@dataclass(frozen=True, eq=False)
class BayesFactor(ByBlocks):
    """Log Bayes factors on the score grid, by the tables of evidence that were learnt.

    ``per_nat`` steps make a nat of the posterior, softened by its temperature; 0 where none was learnt. The device
    ``"auto"`` is a GPU where there is one and the search is long enough to be worth it.
    """

    tables: Likelihoods
    threads: int | None = None
    per_nat: float = 0.0
    device: Device = "auto"

    def best(self, targets: Known, queries: Known, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        return self._found(targets, queries, None)[0]

    def best_and_total(self, targets: Known, queries: Known, progress: Progress | None = None) -> tuple[Best, Ints]:
        """Find the best, and add up the likelihoods of all targets relative to it, in one sweep."""
        return self._found(targets, queries, powers_of(1.0 / self.per_nat))

    def total(self, targets: Known, queries: Known, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        powers, given = powers_of(1.0 / self.per_nat), np.asarray(score, dtype=np.int64)
        nothing = np.array([likelihoods(value, _NOTHING, powers) for value in given], dtype=np.int64)
        total = nothing * len(targets)  # of queries that tell nothing
        silent = nothing * len(targets.silent)

        def work(known: sweep.FacingTargets, rows: Ints) -> None:
            summed = given[rows], silent[rows]
            self._meet(known, queries, rows).sweep(sweep.total_blocks, summed, powers)
            total[rows] = summed[1]

        def elsewhere(known: DeviceTargets, rows: Ints) -> None:
            asked = queries.counts.take(rows), queries.alone[rows]
            total[rows] = silent[rows] + search(known, *asked, self.per_nat, given[rows])[1]

        self._by_rung(work, elsewhere, targets, queries)
        return total

    def scores(self, targets: Known, queries: Known, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, exact as far as ``reach`` below the best."""
        out = np.full((len(queries), len(targets)), LOWEST, dtype=np.int64)
        far = np.full(len(queries), -1) if reach is None else np.asarray(reach, dtype=np.int64)

        def work(known: sweep.FacingTargets, rows: Ints) -> None:
            best = np.full(len(rows), LOWEST, dtype=np.int64)
            self._meet(known, queries, rows).sweep(sweep.score_blocks, (rows, far[rows], best, out))

        self._by_rung(work, None, targets, queries)
        out[:, targets.silent] = 0
        out[queries.silent] = 0
        return out

    def pairs(self, targets: Known, queries: Known, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        out = np.empty(len(queries), dtype=np.int64)

        def work(part: Ints) -> None:
            out[part] = np.diagonal(self.scores(targets.take(rows[part]), queries.take(part)))

        each(work, _parts(np.arange(len(queries)), _QUERIES), self.threads)
        return out

    def _found(self, targets: Known, queries: Known, powers: Powers | None) -> tuple[Best, Ints]:
        """Find the best, and with ``powers`` the total, too."""
        n, silent = len(queries), targets.silent
        found = Best(np.zeros(n, dtype=np.int64), np.full(n, len(targets)), np.zeros(n, dtype=np.int64))
        total = np.full(n, 0 if powers is None else likelihoods(0, _NOTHING, powers) * len(targets))

        def with_silent(rows: Ints, best: Best) -> Ints:
            """Take in the targets that tell nothing, and return the best scores."""
            if len(silent):
                nothing = np.zeros(len(rows), dtype=np.int64)
                best = merged(best, Best(nothing, nothing + len(silent), nothing + silent[0]))
            for values, mine in zip(found, best, strict=True):
                values[rows] = mine
            if powers is not None:
                total[rows] = [likelihoods(score, _NOTHING, powers) * len(silent) for score in best.score]
            return best.score

        def work(known: sweep.FacingTargets, rows: Ints) -> None:
            best = Best(*(np.full(len(rows), value) for value in (LOWEST, 0, -1)))
            meeting = self._meet(known, queries, rows)
            if powers is None:
                meeting.sweep(sweep.link_blocks, best)
                with_silent(rows, best)
                return
            kept = meeting.room(len(targets))
            meeting.sweep(sweep.link_and_keep, best, kept, powers)
            score = with_silent(rows, best)
            total[rows] += self._added(known, queries, rows, score, kept, powers)

        def elsewhere(known: DeviceTargets, rows: Ints) -> None:
            asked, per_nat = (queries.counts.take(rows), queries.alone[rows]), None if powers is None else self.per_nat
            best, added = search(known, *asked, per_nat)
            score = with_silent(rows, best)
            # Where nothing scores better than a target that tells nothing, all are counted relative to that.
            moved = score > best.score
            if per_nat is not None and moved.any():
                again = asked[0].take(np.flatnonzero(moved)), asked[1][moved]
                added[moved] = search(known, *again, per_nat, score[moved])[1]
            total[rows] += added

        self._by_rung(work, elsewhere, targets, queries)
        return found, total

    def _added(
        self, known: sweep.FacingTargets, queries: Known, rows: Ints, score: Ints, kept: Any, powers: Powers
    ) -> Ints:
        """Add up the likelihoods of the scores kept, in a second sweep where there were too many."""
        total = np.zeros(len(rows), dtype=np.int64)
        sweep.total_kept(kept, score, powers, total)
        again = np.flatnonzero(kept[1] < 0)
        if len(again):
            summed = score[again], np.zeros(len(again), dtype=np.int64)
            self._meet(known, queries, rows[again]).sweep(sweep.total_blocks, summed, powers)
            total[again] = summed[1]
        return total

    def _by_rung(
        self,
        work: Callable[[sweep.FacingTargets, Ints], None],
        elsewhere: Callable[[DeviceTargets, Ints], None] | None,
        targets: Known,
        queries: Known,
    ) -> None:
        """Let work be done for parts of the queries that stand on the same rung and hold something.

        On a GPU ``elsewhere`` does it for all of them at once.
        """
        rungs = queries.counts.rung.copy()
        rungs[queries.silent] = -1
        rows_of = {int(rung): np.flatnonzero(rungs == rung) for rung in np.unique(rungs[rungs >= 0])}
        if elsewhere is not None and self._on_gpu(len(targets) - len(targets.silent), len(queries)):
            with suppress(Unsuited):
                there = DeviceTargets(targets.counts, targets.alone, self.tables)
                for rows in rows_of.values():
                    elsewhere(there, rows)
                return
        for rung, rows in rows_of.items():
            each(partial(work, targets.facing(self.tables, rung)), _parts(rows, _QUERIES), self.threads)

    def _on_gpu(self, n_targets: int, n_queries: int) -> bool:
        if self.device == "cuda" and not gpu.available():
            raise OptionError("there is no GPU here, or torch is not installed; use device='cpu' or 'auto'")
        if self.device == "cpu" or not n_targets:
            return False
        return self.device == "cuda" or (_PAIR * n_targets * n_queries > _WORTH_A_GPU and gpu.available())

    def _meet(self, known: sweep.FacingTargets, queries: Known, rows: Ints) -> _Meeting:
        """Work out what these query rows, all on one rung, make of the targets of every rung."""
        layout, away, parts = known.layout, queries.alone[rows], []
        edges = np.flatnonzero(np.diff(layout.rung, prepend=-1, append=-1))
        for begin, end in pairwise(edges):
            level = int(layout.rung[begin]) + int(queries.counts.rung[rows[0]])
            parts.append(((int(begin), int(end)), *worth_of(queries.records, rows, level, self.tables, layout)))
        largest = max([np.abs(away).max(), *(part[2] for part in parts)])
        facing = _unpacked(known) if known.packed and largest >= SAFE else known
        return _Meeting(facing, [(part[0], fitted(part[1], facing.packed)) for part in parts], away)


@dataclass(frozen=True, eq=False)
class _Meeting:
    """A few queries and all targets: blocks of one rung after the other, and what shared tokens are worth there."""

    targets: sweep.FacingTargets
    parts: list[tuple[tuple[int, int], Worth]]
    away: Ints

    def sweep(self, work: Callable[..., None], *to: Any) -> None:
        """Let a kernel go through all blocks."""
        size = int(np.diff(self.targets.layout.first).max(initial=0))
        room = sweep.Work(
            np.empty((len(self.targets.holds), 2 * size), dtype=np.int64),
            np.zeros(size, dtype=np.int32),
            np.empty((self.epochs + 1, 2), dtype=np.int64),
            np.empty(size + 1, dtype=np.int32),
            np.empty(size, dtype=np.int64),
        )
        for blocks, worth in self.parts:
            work(self.targets, blocks, worth, self.away, *to, room)

    @property
    def epochs(self) -> int:
        """Epochs in which a query may show one token, at most."""
        return max((int(np.diff(worth.shown).max(initial=0)) for _, worth in self.parts), default=0)

    def room(self, n_targets: int) -> tuple[Any, Ints]:
        """Return room for the scores kept of each query, and how many there are."""
        shape, dtype = (len(self.away), min(n_targets, _KEPT)), np.int32 if self.targets.packed else np.int64
        return np.empty(shape, dtype=dtype), np.zeros(len(self.away), dtype=np.int64)


def _unpacked(known: sweep.FacingTargets) -> sweep.FacingTargets:
    """Return the same with room for larger sums."""
    n = len(known.alone)
    by_kind = known.holds.view(np.int32).reshape(-1, n, 4).swapaxes(0, 1).reshape(n, -1)[:, : known.kinds]
    holds = grouped(by_kind.astype(np.int64) - MIDDLE, packed=False)
    return known._replace(holds=holds, alone=known.alone.astype(np.int64), packed=False)


def _parts(rows: Ints, size: int) -> list[Ints]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
