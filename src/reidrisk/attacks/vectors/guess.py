"""First guesses of how records of one person differ, and a sample of queries by which they are judged.

A guess is a covariance D of few numbers: noise that is round, or larger where the spread is, or as vectors of one
person differ within a table. Queries say which makes them likeliest; by it the nearest target must stand out as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.vectors.counted import within
from reidrisk.attacks.vectors.spread import Singles, Spread
from reidrisk.attacks.vectors.two_covariances import TwoCovariances, Weighed, beyond_chance
from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream
from reidrisk.records import Vectors

FEWEST = 300  # queries that are compared with all targets, at least
BLOCK = 8_000_000  # ratios held at once
FEW_PAIRS = 3_000_000  # pairs compared with few queries
_PAIRS, _MOST = 40_000_000, 6_000  # pairs compared in a round, and queries at most
_POWERS, _PARTS = (0.5, 1.0, 1.5, 2.0, 3.0), (0.02, 0.1, 0.25, 0.45, 0.7, 0.85)  # other noise, as parts of the spread
_PLAIN = (0.002, 0.02, 0.1, 0.25, 0.45, 0.7)  # first guesses of a noise that is round in the space of the vectors
_TRIFLE = 0.02  # nats per query below which a model of many numbers is not worth its risk
_FINER = (1.5, 1.2, 1.1)  # steps by which the best guess is made better
_LARGER = (1.0, 1.15, 1.3, 1.6, 2.0, 3.0, 5.0, 10.0, 30.0)  # how much more two tables may differ than vectors of one
_ERRORS = 0.5  # standard errors by which one guess must be likelier than another
_SMALL = 20_000  # targets up to which many shapes are tried


class Guess(NamedTuple):
    """A first guess of D, how likely it makes each of a few queries, and c where its shape is that within people.

    ``nearer`` is by how much more the nearest target stands out (how far the best ratio is above the second best) for
    queries than for people who are not there, in standard errors. These are targets among the other targets and queries
    among the other queries: what is due to the few points that there are hits them alike.
    """

    size: float
    difference: Floats
    likelihoods: Floats
    nearer: float
    apart: float | None = None

    @property
    def likelihood(self) -> float:
        """The mean over queries."""
        return float(self.likelihoods.mean())


class Sampled:
    """All targets and a sample of the queries, cut in two: to learn from, and to judge by."""

    def __init__(
        self, targets: Vectors, queries: Vectors, spreads: tuple[Spread, Spread], white: Floats, seed: int
    ) -> None:
        self.targets, self.spreads, self.white = targets.values, spreads, white
        self.within = within(targets, queries, seed)
        n = int(np.clip(_PAIRS // len(targets), FEWEST, _MOST))
        order = stream(seed, "gaussian bayes: queries").permutation(len(queries))[:n]
        cut = max(1, len(order) * 2 // 3)
        self.first, self.held_out = queries.values[order[:cut]], queries.values[order[cut:]]
        self.all_seen = 2 * len(order) > len(queries)
        self.drift = spreads[1].mean - spreads[0].mean

    def guess(self) -> Guess:
        """Return the best D of some shapes: that within people, or noise that is larger where the spread is.

        Noise of s^g in a direction of spread s is round at g = 0 and leaves all directions equally telling at g = 1;
        above, noise is most of what spreads points. Round noise is taken unless another makes queries likelier, and
        the nearest target stands out more by it: with few people for the dimensions, the likelihood alone may err.
        """
        best = None
        for made, sizes in self._shapes():
            first = max((self._tried(made, size) for size in sizes), key=lambda one: one.likelihood)
            for step in _FINER:
                near = (self._tried(made, size) for size in (first.size / step, first.size * step))
                first = max(first, *near, key=lambda one: one.likelihood)
            better = best is None or clearly_more(first.likelihoods, best.likelihoods, _ERRORS)
            if better and (best is None or first.nearer > best.nearer):
                best = first
        assert best is not None
        if self.within is None:
            return best
        each = 2.0 * self.within.share * self.white.T @ self.within.covariance @ self.white
        known = max((self._tried(lambda size: size * each, size) for size in _LARGER), key=lambda one: one.likelihood)
        if best.nearer > known.nearer + 2.0:
            return best
        return known._replace(apart=(known.size - 1.0) * self.within.share)

    def _shapes(self) -> list[tuple[Callable[[float], Floats], tuple[float, ...]]]:
        """Return what makes a D of a size, and the sizes to try."""
        unit, both = np.eye(self.white.shape[1]), self.spreads[0].covariance + self.spreads[1].covariance
        round_noise = self.white.T @ self.white * float(np.trace(both)) / len(both)
        # The white coordinates are the directions of the spread. In them tables have the covariances 1 + E and 1 - E:
        # between people there is at most 1 - E^2.
        spread_by = 1.0 / (self.white**2).sum(axis=0)
        relative, most = spread_by / np.median(spread_by), self._most_between()

        def by_power(power: float) -> Callable[[float], Floats]:
            def made(size: float) -> Floats:
                left = 1.0 - np.minimum(size * relative ** (power - 1.0), 1.0)
                return np.asarray(2.0 * (unit - (most * left) @ most))

            return made

        powers = _POWERS if len(self.targets) <= _SMALL else (1.0,)  # with many people, what is off is soon learnt
        return [(lambda size: size * round_noise, _PLAIN), *((by_power(power), _PARTS) for power in powers)]

    def _tried(self, made: Callable[[float], Floats], size: float) -> Guess:
        """Return how a few queries fare by a guess."""
        difference, queries = made(size), self.few()
        model = self.model_of(difference, self.drift)
        known, asked = model.weighed(self.targets, 0), model.weighed(queries, 1)
        found = [
            (np.log(total / len(self.targets)) + best, out) for best, total, out in _looked_at(model, known, asked)
        ]
        likelihoods, gaps = (np.concatenate(part) for part in zip(*found, strict=True))
        if len(queries) < 3:  # which say nothing of one another
            return Guess(size, difference, likelihoods, 0.0)
        some = np.linspace(0, len(self.targets) - 1, min(len(queries), len(self.targets))).astype(np.int64)
        others = []
        for side in (Weighed(known.values[some], known.extra[some]), asked):  # who are not there, for certain
            others.append(np.concatenate([out for _, _, out in _looked_at(model, side, side, others=True)]))
        error = (gaps.var() / len(gaps) + sum(gap.var() / len(gap) for gap in others) / 4.0) ** 0.5
        nearer = (gaps.mean() - (others[0].mean() + others[1].mean()) / 2.0) / max(float(error), 1e-300)
        return Guess(size, difference, likelihoods, float(nearer))

    def _most_between(self) -> Floats:
        """Return the root of 1 - E^2, as far as the tables differ by more than chance."""
        half = self.white.T @ (self.spreads[0].covariance - self.spreads[1].covariance) @ self.white / 2.0
        values, vectors = np.linalg.eigh(beyond_chance(half, min(one.n for one in self.spreads)))
        return np.asarray(vectors * np.clip(1.0 - values**2, 0.0, 1.0) ** 0.5 @ vectors.T)

    def few(self) -> Singles:
        """Return a few of the queries to learn from, for what is done often."""
        return self.first[: max(FEWEST, FEW_PAIRS // len(self.targets))]

    def model_of(self, difference: Floats, drift: Floats) -> TwoCovariances:
        """Return the model by which two records of one person differ so."""
        return TwoCovariances.of(self.white, difference, self.spreads, drift)


def _looked_at(model: TwoCovariances, known: Weighed, asked: Weighed, others: bool = False) -> Any:
    """Yield of blocks of queries the best ratio, the sum of all relative to it, and how far it is above the second."""
    size = max(1, BLOCK // len(known.values))
    for start in range(0, len(asked.values), size):
        part = Weighed(asked.values[start : start + size], asked.extra[start : start + size])
        ratios = model.ratios(known, part)
        if others:
            rows = np.arange(len(ratios))
            ratios[rows, start + rows] = -np.inf
        two = np.partition(ratios, ratios.shape[1] - 2, axis=1)[:, -2:].astype(np.float64)
        ratios -= two[:, 1:].astype(np.float32)
        yield two[:, 1], np.exp(ratios).sum(axis=1, dtype=np.float64), two[:, 1] - two[:, 0]


def clearly_more(one: Floats, other: Floats, errors: float = 2.0) -> bool:
    """Whether queries are likelier by the first: by more than some standard errors, and by more than a trifle.

    >>> clearly_more(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.1, 2.0])), clearly_more(np.ones(3), np.ones(3))
    (True, False)
    """
    gap = one - other
    return bool(len(gap) > 2 and gap.mean() > errors * gap.std(ddof=1) / len(gap) ** 0.5 and gap.mean() > _TRIFLE)
