"""The score of a pair less what other queries claim of the target, for an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base.arrays import Bools, Floats, Ints
from reidrisk.search import UNIT, ByBlocks
from reidrisk.search.answer import FAR


@dataclass(frozen=True, eq=False)
class ClaimedTargets:
    """Targets as the attack takes them, how much each is ``taken`` in steps of the score, and its ``place``."""

    records: Any
    taken: Ints
    place: Ints

    def __len__(self) -> int:
        return len(self.taken)

    def take(self, rows: Ints) -> ClaimedTargets:
        """Return the chosen targets, in that order."""
        return ClaimedTargets(self.records.take(rows), self.taken[rows], self.place[rows])


@dataclass(frozen=True, eq=False)
class ClaimingQueries:
    """Queries as the attack takes them, what is given ``back`` of the targets ``near``, and if they were ``met``."""

    records: Any
    near: Ints
    back: Ints
    met: Bools

    def __len__(self) -> int:
        return len(self.met)

    def __getitem__(self, rows: Any) -> ClaimingQueries:
        return ClaimingQueries(self.records[rows], self.near[rows], self.back[rows], self.met[rows])


@dataclass(frozen=True, eq=False)
class LessClaims(ByBlocks):
    """The score of another ``scorer``, less what others claim of the target, in its own steps."""

    scorer: Any

    @property
    def per_nat(self) -> float:
        """Steps of a score in one nat."""
        return float(self.scorer.per_nat)

    def scores(self, targets: ClaimedTargets, queries: ClaimingQueries, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        alone = np.asarray(self.scorer.scores(targets.records, queries.records), dtype=np.int64)
        width = 1 + max(int(queries.near.max(initial=0)), int(targets.place.max(initial=0)))
        given = np.zeros((len(queries), width), dtype=np.int64)
        np.put_along_axis(given, queries.near, queries.back, axis=1)
        return np.where(queries.met[:, None], alone - targets.taken + given[:, targets.place], alone)

    def pairs(self, targets: ClaimedTargets, queries: ClaimingQueries, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        alone = np.asarray(self.scorer.pairs(targets.records, queries.records, rows), dtype=np.int64)
        own = queries.near == targets.place[rows][:, None]
        given = np.where(own, queries.back, 0).sum(axis=1)
        return np.where(queries.met, alone - targets.taken[rows] + given, alone)

    def total(self, targets: ClaimedTargets, queries: ClaimingQueries, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        total = np.zeros(len(queries), dtype=np.int64)
        for part, scores in self._blocks(targets, queries):
            nats: Floats = np.minimum((scores - score[part, None]) / self.per_nat, FAR)
            steps = np.floor(np.exp(nats) * UNIT + 0.5)
            total[part] = np.where(nats > -FAR, steps, 0.0).astype(np.int64).sum(axis=1)
        return total
