"""Scores of pairs learnt by rehearsal: a weighted sum of what a panel of attacks says (conditional logit).

    P(target t | query q) = exp(w . x_qt) / sum over targets u of exp(w . x_qu)

with features x (:mod:`reidrisk.attacks.rehearsed.panel`). Weights are learnt on pairs whose truth is known, with a
penalty on the distance from the best single feature: what cannot be learnt stays as it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.rehearsed.panel import READINGS, Side
from reidrisk.base.arrays import Floats, Ints
from reidrisk.search import UNIT, ByBlocks
from reidrisk.search.answer import FAR

GRID = 1 << 24  # steps of a nat: fine enough that different scores of one attack stay different
_SCALES = np.geomspace(0.02, 50.0, 60)


@dataclass(frozen=True, eq=False)
class WeighedPanel(ByBlocks):
    """The weighted sum of the features of a pair, on the score grid; it depends on the two records alone."""

    scorers: tuple[Any, ...]
    typical: Floats
    weights: Floats
    per_nat: float = float(GRID)

    def scores(self, targets: Side, queries: Side, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores; each attack without weight is left out."""
        total = np.zeros((len(queries), len(targets)))
        for k, scorer in enumerate(self.scorers):
            mine = self.weights[READINGS * k : READINGS * (k + 1)]
            if mine.any():
                raw = np.asarray(scorer.scores(targets.parts[k], queries.parts[k]), dtype=np.float64)
                total = total + self._read(raw, k, targets.mean[:, k], targets.spread[:, k], queries)
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
        return np.asarray(np.rint(total * self.per_nat), dtype=np.int64)

    def total(self, targets: Side, queries: Side, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        total = np.zeros(len(queries), dtype=np.int64)
        for part, scores in self._blocks(targets, queries):
            below = (score[part, None] - scores) / self.per_nat
            total[part] = np.where(below < FAR, np.floor(np.exp(-below) * UNIT + 0.5), 0.0).astype(np.int64).sum(axis=1)
        return total

    def _read(self, raw: Floats, k: int, mean: Floats, spread: Floats, queries: Side) -> Floats:
        z, t, s = self.weights[READINGS * k : READINGS * (k + 1)]
        less = raw - queries.mean[:, k, None]
        standard = less / queries.spread[:, k, None]
        return np.asarray(z * standard + t * ((standard - mean) / spread) + s * (less / self.typical[k]))


def learnt_weights(choices: Floats, start: Floats, penalty: float, signed: bool) -> Floats:
    """Return the weights under which the first of the choices (m, c, F) is most likely, less a penalty.

    They maximise sum over m of log softmax(choices . w)[0]  -  penalty |w - start|^2 / 2. Unless ``signed``, weights
    are 0 at least: that an attack likes a target never speaks against it.
    """
    from scipy.optimize import minimize

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = choices @ weights
        scores -= scores.max(axis=1, keepdims=True)
        chance = np.exp(scores)
        sums = chance.sum(axis=1)
        expected = ((chance / sums[:, None])[:, None] @ choices)[:, 0]
        gain = float((scores[:, 0] - np.log(sums)).sum())
        away = weights - start
        slope = (choices[:, 0] - expected).sum(axis=0)
        return (penalty * float(away @ away) / 2 - gain) / len(choices), (penalty * away - slope) / len(choices)

    least = None if signed else 0.0
    bounds = [(least, None)] * len(start)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return np.asarray(found.x)


def starting_weights(choices: Floats) -> Floats:
    """Return what to start from: all attacks with equal say, unless one feature alone is clearly better.

    Better by two standard errors of the mean log-probability of the true target, each on the scale that fits best.
    Equal say, of the first reading of each score, is what holds where a rehearsal teaches little.
    """
    equal = np.zeros(choices.shape[2])
    equal[::READINGS] = 1.0
    weights, gains = _scaled(choices, equal)
    best = weights, gains
    for j in range(choices.shape[2]):
        one = np.zeros(choices.shape[2])
        one[j] = 1.0
        found = _scaled(choices, one)
        if found[1].mean() > best[1].mean():
            best = found
    more = best[1] - gains
    return best[0] if more.mean() > 2.0 * more.std() / math.sqrt(len(more)) else weights


def _scaled(choices: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights on the scale that fits best, and the log-probability of each true target."""
    scores = choices @ weights
    gains = [log_shares(scores * scale) for scale in _SCALES]
    best = max(range(len(gains)), key=lambda i: float(gains[i].mean()))
    return weights * _SCALES[best], gains[best]


def log_shares(scores: Floats) -> Floats:
    """Return the log-probability of the first of each row of scores (m, c)."""
    top = scores.max(axis=1)
    return np.asarray(scores[:, 0] - top - np.log(np.exp(scores - top[:, None]).sum(axis=1)))


def best_scale(own: Floats, others: npt.NDArray[np.float64]) -> float:
    """Return by how much to multiply scores so that the true target is most likely; (m,) and (m, n) scores in nats."""
    gains = []
    for scale in _SCALES:
        top = np.maximum(others.max(axis=1), own)
        sums = np.exp(scale * (others - top[:, None])).sum(axis=1)
        gains.append(float((scale * (own - top) - np.log(sums)).mean()))
    return float(_SCALES[int(np.argmax(gains))])
