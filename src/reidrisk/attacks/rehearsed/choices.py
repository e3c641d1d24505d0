"""Rehearsed queries with the targets they choose from: what weights make of them, before any real one is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats, Ints

SCALES = np.geomspace(0.02, 50.0, 40)
"""Scales of scores that are tried."""


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

    def explained(self, scores: Floats) -> Floats:
        """Return the log of the sum of all targets' likelihoods, of each query."""
        total = scores + self.more
        top = total.max(axis=1)
        return np.asarray(top + np.log(np.exp(total - top[:, None]).sum(axis=1)))

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
        return np.asarray((scores + self.more)[:, 0] - self.explained(scores))

    def credits(self, scores: Floats) -> Floats:
        """Return 1 where the own target comes first, its share where it ties, else 0."""
        scores = np.where(np.isfinite(self.more), scores, -np.inf)
        best = scores.max(axis=1, keepdims=True) - 1e-9
        return np.asarray((scores[:, 0] >= best[:, 0]) / (scores >= best).sum(axis=1))
