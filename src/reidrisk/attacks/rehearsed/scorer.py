"""Scores of pairs learnt by rehearsal: a weighted sum of what a panel of attacks says (conditional logit).

    P(target t | query q) = exp(w . x_qt) / sum over targets u of exp(w . x_qu)

with features x (:mod:`reidrisk.attacks.rehearsed.panel`) and weights w (:mod:`reidrisk.attacks.rehearsed.weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.profile.hours import STEPS
from reidrisk.attacks.rehearsed.panel import READINGS, Side
from reidrisk.base.arrays import Floats, Ints
from reidrisk.search import UNIT, ByBlocks
from reidrisk.search.answer import FAR
from reidrisk.search.sparse import SparseDot

GRID = 1 << 24  # steps of a nat: fine enough that different scores of one attack stay different


@dataclass(frozen=True, eq=False)
class WeighedPanel(ByBlocks):
    """The weighted sum of the features of a pair, on the score grid, less what others claim of the target.

    ``agreeing`` is the correlation of sizes, where they count. Where claims were settled, likelihoods are to the power
    ``cool``. It depends on the two records, and on what was learnt of all queries before: not on which of them are
    asked at once.
    """

    scorers: tuple[Any, ...]
    typical: Floats
    weights: Floats
    per_nat: float = float(GRID)
    agreeing: float = 0.0
    cool: float = 1.0

    def scores(self, targets: Side, queries: Side, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores; each attack without weight is left out."""
        total = np.zeros((len(queries), len(targets)))
        for k, scorer in enumerate(self.scorers):
            mine = self.weights[READINGS * k : READINGS * (k + 1)]
            if mine.any():
                raw = np.asarray(scorer.scores(targets.parts[k], queries.parts[k]), dtype=np.float64)
                total = total + self._read(raw, k, targets.mean[:, k], targets.spread[:, k], queries)
        if targets.hours is not None and queries.hours is not None:
            total = total + SparseDot().scores(targets.hours, queries.hours) / STEPS
        if targets.size is not None and queries.size is not None:
            total = total + self._sized(targets.size[None, :], queries.size[:, None])
        if targets.taken is not None and targets.place is not None and queries.near is not None:
            assert queries.back is not None
            assert queries.met is not None
            given = np.zeros((len(queries), 1 + max(int(queries.near.max()), int(targets.place.max()))))
            np.put_along_axis(given, queries.near, queries.back, axis=1)
            total = self.cool * total
            total = np.where(queries.met[:, None], total - targets.taken + given[:, targets.place], total)
        return np.asarray(np.rint(total * self.per_nat), dtype=np.int64)

    def pairs(self, targets: Side, queries: Side, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        total = np.zeros(len(queries))
        for k, scorer in enumerate(self.scorers):
            if self.weights[READINGS * k : READINGS * (k + 1)].any():
                raw = np.asarray(scorer.pairs(targets.parts[k], queries.parts[k], rows), dtype=np.float64)
                # As a column: the same operations in the same order as for all pairs.
                mean, spread = targets.mean[rows, k][:, None], targets.spread[rows, k][:, None]
                total = total + self._read(raw[:, None], k, mean, spread, queries)[:, 0]
        if targets.hours is not None and queries.hours is not None:
            total = total + SparseDot().pairs(targets.hours, queries.hours, rows) / STEPS
        if targets.size is not None and queries.size is not None:
            total = total + self._sized(targets.size[rows], queries.size)
        if targets.taken is not None and targets.place is not None and queries.near is not None:
            assert queries.back is not None
            assert queries.met is not None
            own = queries.near == targets.place[rows][:, None]
            given = np.where(own, queries.back, 0.0).sum(axis=1)
            total = self.cool * total
            total = np.where(queries.met, total - targets.taken[rows] + given, total)
        return np.asarray(np.rint(total * self.per_nat), dtype=np.int64)

    def total(self, targets: Side, queries: Side, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        total = np.zeros(len(queries), dtype=np.int64)
        for part, scores in self._blocks(targets, queries):
            below = (score[part, None] - scores) / self.per_nat
            total[part] = np.where(below < FAR, np.floor(np.exp(-below) * UNIT + 0.5), 0.0).astype(np.int64).sum(axis=1)
        return total

    def _sized(self, known: Floats, asked: Floats) -> Floats:
        """Return what agreeing sizes add."""
        r = self.agreeing
        return np.asarray((r * asked * known - 0.5 * r * r * known * known) / (1.0 - r * r))

    def _read(self, raw: Floats, k: int, mean: Floats, spread: Floats, queries: Side) -> Floats:
        z, t, s = self.weights[READINGS * k : READINGS * (k + 1)]
        less = raw - queries.mean[:, k, None]
        standard = less / queries.spread[:, k, None]
        return np.asarray(z * standard + t * ((standard - mean) / spread) + s * (less / self.typical[k]))
