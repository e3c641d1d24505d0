"""One way to measure levels of items, by roots or by logarithms: what is usual, what goes together, and what lasts.

See :mod:`reidrisk.attacks.profile.sized.levels` for the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.arrays import Floats

DRIFTS = 0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9  # values of a
BURSTS = 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0  # of b
_STRANGERS, _BLOCK = 300, 4_096  # targets in the place of queries, and those that are compared with them at once
_FAR = 2.0  # standard deviations beyond which a number counts by its logarithm
_CLOSEST = 0.02, 0.97  # correlations
_SELF = 1e-6  # distance of a record from itself
_NEVER = -1e9  # score of a record in its own place
_LEAST = 1e-6  # spread of an item that all have alike
_EMPTY = 0.375  # of a count before its root is taken (Anscombe 1948)


class UsualLevels(NamedTuple):
    """Of one table: mean and standard deviation of each item's level, and its scatter by chance in these units."""

    mean: Floats
    spread: Floats
    chance: Floats

    @classmethod
    def of(cls, counts: Floats, floor: float) -> UsualLevels:
        """Learn it from counts (n, items)."""
        each = levels(counts, floor)
        totals, spread = np.maximum(counts.sum(axis=1, keepdims=True), 1.0), np.maximum(each.std(axis=0), _LEAST)
        share = np.maximum((counts / totals).mean(axis=0), _LEAST)
        steep = (share + floor / counts.shape[1]) ** -2 if floor else 0.25 / share
        return cls(each.mean(axis=0), spread, share * steep * np.mean(1.0 / totals) / spread**2)

    def beyond(self, each: Floats) -> Floats:
        """Return what levels have beyond the mean, in units of the standard deviation."""
        return np.asarray((each - self.mean) / self.spread)


@dataclass(frozen=True, eq=False)
class Scale:
    """What is usual of items on both sides, and the ``axes`` to which their levels are turned.

    ``axes`` are divided by the root of c, so that levels become numbers of variance 1; ``chance`` is n / c of each.
    ``floor`` is that of shares, 0 where levels are roots. ``strangers`` are targets, turned. ``noise`` is (a, b).
    """

    floor: float
    known: UsualLevels
    asked: UsualLevels
    axes: Floats
    variance: Floats
    chance: Floats
    strangers: Floats
    noise: tuple[float, float] = (DRIFTS[0], BURSTS[0])

    @classmethod
    def learnt(cls, known: Floats, asked: Floats, floor: float = 0.0) -> Scale:
        """Learn what is usual, and what goes together, from the counts (n, items) of some targets and queries.

        >>> rng = np.random.default_rng(0)
        >>> one, two = (rng.poisson(mean, size=(30, 6)).astype(float) for mean in (50.0, 200.0))
        >>> Scale.learnt(one, two).correlation.round(2).tolist()
        [0.02, 0.4, 0.31, 0.42, 0.49, 0.61]
        """
        sides = tuple(UsualLevels.of(counts, floor) for counts in (known, asked))
        each = [side.beyond(levels(counts, floor)) for counts, side in zip((known, asked), sides, strict=True)]
        variance, axes = _correlations(np.concatenate(each))
        chance = (axes**2).T @ (sides[0].chance + sides[1].chance) / 2.0
        same = np.isclose(variance, variance[0], rtol=1e-6)  # axes of which records say nothing may be any
        chance[same] = chance[same].mean()
        turned = axes / np.sqrt(variance)
        strangers = _calmed(evenly(each[0], _STRANGERS) @ turned)
        return cls(floor, sides[0], sides[1], turned, variance, chance / variance, strangers)

    def at(self, noise: tuple[float, float]) -> Scale:
        """Return the same with another noise."""
        return replace(self, noise=noise)

    @property
    def correlation(self) -> Floats:
        """How far a person keeps to their own, on each axis."""
        return np.asarray(np.clip(1.0 - self.noise[0] - self.noise[1] * self.chance, *_CLOSEST))

    def likeliest(self, targets: Floats, queries: Floats, weight: Floats) -> Scale:
        """Return the noise by which queries are most likely, as one of the targets made each, with its ``weight``."""
        x, y = self._turned(targets, self.known), self._turned(queries, self.asked)
        seen: dict[tuple[int, int], float] = {}

        def gain(place: tuple[int, int]) -> float:
            if place not in seen:
                model = self.at((DRIFTS[place[0]], BURSTS[place[1]]))
                (known, alone), (asked, own) = model._of_turned_targets(x), model._weighed(y)
                seen[place] = float(np.mean(log_mean(asked @ known.T + alone, weight) + own))
            return seen[place]

        grid = len(DRIFTS), len(BURSTS)
        here = max(((a, b) for a in range(0, grid[0], 2) for b in range(0, grid[1], 2)), key=gain)
        while True:
            near = ((here[0] + da, here[1] + db) for da in (-1, 0, 1) for db in (-1, 0, 1))
            best = max((place for place in near if 0 <= place[0] < grid[0] and 0 <= place[1] < grid[1]), key=gain)
            if gain(best) <= gain(here):
                return self.at((DRIFTS[here[0]], BURSTS[here[1]]))
            here = best

    def of_targets(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the weight of each axis (n, axes), and what a target adds to the score of every query."""
        return self._of_turned_targets(self._turned(counts, self.known))

    def of_queries(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the weight of each axis (q, axes), and what a query adds to the score of every target."""
        return self._weighed(self._turned(counts, self.asked))

    def _of_turned_targets(self, x: Floats) -> tuple[Floats, Floats]:
        weight, alone = self._weighed(x)
        alone = alone - 0.5 * np.log1p(-(self.correlation**2)).sum()
        others, rest = self._weighed(self.strangers)
        squares = (self.strangers**2).sum(axis=1)
        norm = np.empty(len(x))
        for first in range(0, len(x), _BLOCK):
            part = slice(first, first + _BLOCK)
            scores = weight[part] @ others.T + rest + alone[part, None]
            far = (x[part] ** 2).sum(axis=1)[:, None] + squares - 2.0 * x[part] @ self.strangers.T
            norm[part] = log_mean(np.where(far > _SELF, scores, _NEVER), np.ones(len(others)))
        return weight, alone - np.maximum(norm, 0.0)

    def _weighed(self, each: Floats) -> tuple[Floats, Floats]:
        r = self.correlation
        return each * np.sqrt(r / (1.0 - r**2)), -(r**2 / (2.0 * (1.0 - r**2)) * each**2).sum(axis=1)

    def _turned(self, counts: Floats, side: UsualLevels) -> Floats:
        return _calmed(side.beyond(levels(counts, self.floor)) @ self.axes)

    def density(self, counts: Floats) -> Floats:
        """Return the log-probability of the counts of each query, its total given, if anybody made it.

        A normal density of levels is one of counts by their derivative.
        """
        y = self.asked.beyond(levels(counts, self.floor)) @ self.axes
        each = -0.5 * (y**2 + np.log(2.0 * np.pi * self.variance)) - np.log(self.asked.spread) + self._slopes(counts)
        return np.asarray(each.sum(axis=1) + self._given_totals(counts))

    def _slopes(self, counts: Floats) -> Floats:
        """Return the logarithm of how fast each level rises with its count."""
        totals = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        if self.floor:
            return np.asarray(-np.log(counts + self.floor * totals / counts.shape[1]))
        return np.asarray(-0.5 * np.log(4.0 * (counts + _EMPTY) * totals))

    def _given_totals(self, counts: Floats) -> Floats:
        """Return what the density gains where totals are given: levels have no freedom in that direction.

        Logarithms have the same mean, and roots the same length. Along it, the density has a height that is left out.
        """
        p, totals = counts.shape[1], np.maximum(counts.sum(axis=1), 1.0)
        along = np.ones(p) if self.floor else self.asked.mean
        height = (along / np.sqrt((along**2).sum()) / self.asked.spread) @ self.axes
        room = totals * (1.0 + self.floor) / np.sqrt(p)
        if not self.floor:
            room = 2.0 * np.sqrt(totals * (totals + _EMPTY * p))
        return np.asarray(np.log(room) + 0.5 * np.log(2.0 * np.pi / (height**2).sum()))


def levels(counts: Floats, floor: float) -> Floats:
    """Return log(p c / m + floor) less the mean over the p items, m events in all; without a floor, the root of c / m.

    >>> levels(np.array([[0.0, 10.0, 20.0]]), floor=0.1).round(2).tolist()
    [[-1.81, 0.58, 1.23]]
    """
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    if not floor:
        return np.asarray(np.sqrt((counts + _EMPTY) / totals))
    logs = np.log(counts * (counts.shape[1] / totals) + floor)
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def log_mean(scores: Floats, weight: Floats) -> Floats:
    """Return the logarithm of the mean of exp(score) over targets, each of a weight, for every query.

    >>> log_mean(np.log([[1.0, 3.0], [2.0, 2.0]]), np.array([1.0, 1.0])).round(3).tolist() == [0.693, 0.693]
    True
    """
    highest = scores.max(axis=1, keepdims=True)
    return np.asarray(highest.ravel() + np.log(np.exp(scores - highest) @ (weight / weight.sum())))


def evenly(rows: Any, most: int) -> Any:
    """Return the rows, or as many of them, evenly from first to last.

    >>> evenly(np.arange(9), 3).tolist()
    [0, 4, 8]
    """
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(np.int64)]


def _calmed(each: Floats) -> Floats:
    """Return the numbers with those far out drawn in: one burst more must not decide."""
    size = np.abs(each)
    return np.asarray(np.sign(each) * np.where(size <= _FAR, size, _FAR + np.log1p(np.maximum(size - _FAR, 0.0))))


def _correlations(each: Floats) -> tuple[Floats, Floats]:
    """Return the variances on their axes, (p,) and (p, p), of correlations drawn towards independence."""
    n, p = each.shape
    found = each.T @ each / n
    usual = np.trace(found) / p
    far = ((found - usual * np.eye(p)) ** 2).sum()
    unsure = ((each**2).sum(axis=1) ** 2).sum() / n**2 - (found**2).sum() / n
    drawn = min(unsure / far, 1.0) if far > 0.0 else 1.0
    variance, axes = np.linalg.eigh(found)
    return np.asarray((1.0 - drawn) * np.maximum(variance, 0.0) + drawn * usual), axes
