"""Scores of pairs learnt by rehearsal: a weighted sum of what a panel of attacks says (conditional logit).

    P(target t | query q) = exp(w . x_qt) / sum over targets u of exp(w . x_qu)

with features x (:mod:`reidrisk.attacks.rehearsed.panel`). Weights are learnt on pairs whose truth is known, with a
penalty on the distance from the best single feature: what cannot be learnt stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.rehearsed.panel import READINGS, Side
from reidrisk.base.arrays import Floats, Ints
from reidrisk.search import UNIT, ByBlocks
from reidrisk.search.answer import FAR

GRID = 1 << 24  # steps of a nat: fine enough that different scores of one attack stay different
SCALES = np.geomspace(0.02, 50.0, 40)
_STEPS = 100
_HALF = 0.5  # of what the best attack finds: one that finds less has no equal say
_NEARLY = 0.75  # of what the best attack finds: a model that finds less has no say in the start


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
            total = total + queries.hours @ targets.hours.T
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
            total = total + (queries.hours * targets.hours[rows]).sum(axis=1)
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


@dataclass(frozen=True, eq=False)
class Choices:
    """Rehearsed queries, each with its own target first and then others: ``features`` (m, c, F).

    Others that come close are all there. Of the rest a few stand for all: ``more`` (m, c) is the logarithm of how many
    each of them stands for, 0 for those that stand for themselves, and minus infinity where there is none. Each query
    counts ``weight`` (m,).
    """

    features: npt.NDArray[Any]
    more: Floats
    weight: Floats

    def take(self, rows: Any) -> Choices:
        """Return the chosen queries."""
        return Choices(self.features[rows], self.more[rows], self.weight[rows])

    @property
    def spread(self) -> Floats:
        """How much each feature varies."""
        there = np.isfinite(self.more)
        return np.asarray(self.features[there].std(axis=0, dtype=np.float64) + 1e-9)

    def over(self, spread: Floats) -> Choices:
        """Return the choices with each feature divided by its spread."""
        return Choices(self.features / spread.astype(self.features.dtype), self.more, self.weight)

    def beside(self, other: Choices, share: float) -> Choices:
        """Return both together, the others counting for this share of all."""
        width = max(self.more.shape[1], other.more.shape[1])
        parts = [one._as_wide(width) for one in (self, other)]
        total = self.weight.sum() + other.weight.sum()
        each = zip(parts, (1.0 - share, share), strict=True)
        weights = [one.weight * (part * total / one.weight.sum()) for one, part in each]
        features, more = (np.concatenate([getattr(one, name) for one in parts]) for name in ("features", "more"))
        return Choices(features, more, np.concatenate(weights))

    def _as_wide(self, width: int) -> Choices:
        lacking = width - self.more.shape[1]
        features = np.pad(self.features, ((0, 0), (0, lacking), (0, 0)))
        return Choices(features, np.pad(self.more, ((0, 0), (0, lacking)), constant_values=-np.inf), self.weight)

    def among(self, crowd: float) -> Choices:
        """Return the choices where each target but the own stands for this many times more."""
        more = self.more.copy()
        more[:, 1:] += math.log(crowd)
        return Choices(self.features, more, self.weight)

    def farther(self, scores: Floats, crowd: float, rate: float) -> float:
        """Return by how many logits a rate is lower where each target stands for ``crowd``, as probabilities tell.

        Probabilities are taken on the scale at which their mean is the rate without the crowd.
        """
        if crowd == 1.0:
            return 0.0
        here = np.array([self.said(scores * scale) for scale in SCALES])
        place = int(np.argmin(np.abs(here - rate)))
        there = self.among(crowd).said(scores * SCALES[place])
        odds = [math.log(max(one, 1e-6) / max(1.0 - one, 1e-6)) for one in (here[place], there)]
        return odds[0] - odds[1]

    def said(self, scores: Floats) -> float:
        """Return the mean probability of each query's best target among all."""
        return float(self.sure(scores).mean())

    def sure(self, scores: Floats) -> Floats:
        """Return the probability of each query's best target among all."""
        scores = np.where(np.isfinite(self.more), scores, -np.inf)
        best = scores.argmax(axis=1)
        below = scores - scores.max(axis=1, keepdims=True) + self.more
        below[np.arange(len(best)), best] = 0.0
        return np.asarray(1.0 / np.exp(below).sum(axis=1))

    def strangers(self) -> Choices:
        """Return the choices without the own target: all are other people's."""
        more = self.more.copy()
        more[:, 0] = -np.inf
        return Choices(self.features, more, self.weight)

    def own_first(self, places: Ints) -> Choices:
        """Return the choices with the one in this place (m,) of each query put first, as its own."""
        features, more, rows = self.features.copy(), self.more.copy(), np.arange(len(places))
        features[rows, 0], features[rows, places] = self.features[rows, places], self.features[:, 0]
        more[rows, places] = self.more[:, 0]
        more[:, 0] = 0.0
        return Choices(features, more, self.weight)

    def scores(self, weights: Floats) -> Floats:
        """Return the (m, c) scores."""
        return np.asarray(self.features @ weights.astype(self.features.dtype), dtype=np.float64)

    def gains(self, scores: Floats) -> Floats:
        """Return the log-probability of each query's own target among all."""
        total = scores + self.more
        top = total.max(axis=1)
        return np.asarray(total[:, 0] - top - np.log(np.exp(total - top[:, None]).sum(axis=1)))

    def credits(self, scores: Floats) -> Floats:
        """Return 1 where the own target comes first, its share where it ties, else 0."""
        scores = np.where(np.isfinite(self.more), scores, -np.inf)
        best = scores.max(axis=1, keepdims=True) - 1e-9
        return np.asarray((scores[:, 0] >= best[:, 0]) / (scores >= best).sum(axis=1))


def learnt_weights(choices: Choices, start: Floats, penalty: float, signed: bool, at: Floats | None = None) -> Floats:
    """Return the weights under which the first of the choices is most likely, less a penalty.

    They maximise the sum over queries of the log-probability of the own target among all, less
    penalty |w - start|^2 / 2; ``at`` is where to begin, default: the start. Unless ``signed``, weights are 0 at least:
    that an attack likes a target never speaks against it.
    """
    from scipy.optimize import minimize

    if np.isinf(penalty):
        return start
    features, more, counts = choices.features, choices.more, choices.weight
    m, c, width = features.shape
    flat = features.reshape(m * c, width)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = (flat @ weights.astype(flat.dtype)).reshape(m, c) + more
        top = scores.max(axis=1, keepdims=True)
        chance = np.exp(scores - top)
        sums = chance.sum(axis=1)
        gain = float(counts @ (scores[:, 0] - top[:, 0] - np.log(sums)))
        chance /= -sums[:, None]
        chance[:, 0] += 1.0
        chance *= counts[:, None]
        away = weights - start
        slope = chance.reshape(m * c).astype(flat.dtype) @ flat
        return (penalty * float(away @ away) / 2 - gain) / m, (penalty * away - slope) / m

    least = None if signed else 0.0
    bounds = [(least, None)] * len(start)
    begin = start if at is None else at
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _STEPS})
    return np.asarray(found.x)


def starting_weights(choices: Choices, credits: Sequence[Floats], model: int | None = None) -> Floats:
    """Return what to start from: equal say of the good attacks, unless one feature alone is clearly better.

    Good are those that find about as many as the best, within two standard errors of the difference, and at least half
    as many: where hardly anybody is found, all are within the error. ``credits`` are each attack's. Clearly better is
    what gives the true target a higher mean log-probability by two standard errors, each on the scale that fits best.
    Equal say, of the first reading of each score, is what holds where a rehearsal teaches little. The attack in place
    ``model``, if any, learns from real queries too how both sides relate, which a rehearsal may have wrong: unless it
    finds clearly less than three quarters of what the best one does, it keeps half the say beside a feature alone.
    """
    best = max(credits, key=lambda one: float(one.mean()))
    width = choices.features.shape[2]
    equal = np.zeros(width)
    equal[::READINGS] = [one.mean() >= _HALF * best.mean() and not clearly_above(best - one, 2.0) for one in credits]
    weights, gains = _scaled(choices, equal)
    alone = [_scaled(choices, one) for one in np.eye(width)]
    found = max(alone, key=lambda one: float(one[1].mean()))
    if not clearly_above(found[1] - gains, 2.0):
        return weights
    if model is None or clearly_above(_NEARLY * best - credits[model], 2.0):
        return found[0]
    return _scaled(choices, found[0] + alone[READINGS * model + READINGS - 1][0])[0]


def clearly_above(more: Floats, errors: float) -> bool:
    """Whether a mean is above 0 by more than this many standard errors."""
    return bool(more.mean() > errors * more.std() / math.sqrt(len(more)))


def _scaled(choices: Choices, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights on the scale that fits best, and the log-probability of each true target."""
    scale, gains = fitting_scale(choices, choices.scores(weights))
    return weights * scale, gains


def fitting_scale(choices: Choices, scores: Floats) -> tuple[float, Floats]:
    """Return by how much to multiply scores so that own targets are most likely, and their log-probabilities then.

    The mean log-probability is concave in the scale: one climb over the grid finds the best of it.
    """
    low, high = 0, len(SCALES) - 1
    tried: dict[int, Floats] = {}

    def gains(place: int) -> float:
        if place not in tried:
            tried[place] = choices.gains(scores * SCALES[place])
        return float(tried[place].mean())

    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if gains(middle + 1) > gains(middle) else (low, middle)
    gains(low)
    return float(SCALES[low]), tried[low]
