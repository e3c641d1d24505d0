"""Learning the two-covariance model: from people known in both tables, or from the tables alone.

Without known pairs, who is whom is a hidden variable: each query is any of the n targets, a priori with probability
1/n. Expectation maximisation then alternates between the posterior of every query over all targets and the covariance
of the differences it implies, D = sum over queries and targets of p (x - y) (x - y)^T / q, and climbs the likelihood

    L = mean over queries of log ( (1/n) sum over targets of P(x, y | one person) / P(x, y | two people) ).

It starts from the best of several plain guesses. As many numbers as D has would be learnt too well from few queries:
D is shrunk towards that guess, and how far, L of queries decides that were not learnt from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.vectors.counted import Counted, within
from reidrisk.attacks.vectors.spread import Singles, Spread, spread
from reidrisk.attacks.vectors.two_covariances import TwoCovariances, Weighed, beyond_chance
from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream
from reidrisk.records import Vectors

_PAIRS, _FEWEST, _MOST = 40_000_000, 300, 6_000  # pairs compared in a round; queries at least, and at most
_BLOCK = 8_000_000  # ratios held at once
_FEW_PAIRS = 3_000_000  # pairs compared with few queries
_ROUNDS, _MANY, _STILL = 6, 40, 1e-3  # rounds, with few queries, and gain in nats per query below which it stops
_EVER = 1_000_000_000  # pairs compared in all rounds with few queries
_ENOUGH = 100  # queries from which on their own spread is known
_POWERS, _PARTS = (0.5, 1.0, 1.5, 2.0, 3.0), (0.02, 0.1, 0.25, 0.45, 0.7, 0.85)  # other noise, as parts of the spread
_PLAIN = (0.002, 0.02, 0.1, 0.25, 0.45, 0.7)  # first guesses of a noise that is round in the space of the vectors
_TRIFLE = 0.02  # nats per query below which a model of many numbers is not worth its risk
_FINER = (1.5, 1.2, 1.1)  # steps by which the best guess is made better
_SHRINK = (0.0, 0.1, 0.3, 0.6, 0.9)
_WIDEN = (1.0, 1.1, 1.3)
_LARGER = (1.0, 1.15, 1.3, 1.6, 2.0, 3.0, 5.0, 10.0, 30.0)  # how much more two tables may differ than vectors of one
_ERRORS = 0.5  # standard errors by which one guess must be likelier than another
_SMALL = 20_000  # targets up to which many shapes are tried
_SOFTER = np.geomspace(1.0, 4.0, 29)


class LearntVectors(NamedTuple):
    """A model, what it was learnt from, how likely it makes the queries, and how much too sure it is of these.

    ``pairs`` were known in both tables, and ``within`` differences of vectors in one table; both are 0 where there were
    none. ``softer`` is the temperature at which queries are as sure as they were when nothing was learnt from them.
    """

    model: TwoCovariances | Counted
    pairs: int
    likelihood: float
    within: int = 0
    softer: float = 1.0


def learn(targets: Vectors, queries: Vectors, pairs: tuple[Singles, Singles] | None, seed: int) -> LearntVectors:
    """Learn the model of these tables, with ``pairs`` of targets and queries that are the same people, if any."""
    known = spread(targets.values, seed)
    asked = spread(queries.values, seed) if len(queries) >= _ENOUGH else known
    spreads = known, asked
    white = Spread(known.mean, (known.covariance + asked.covariance) / 2.0).whitening
    if pairs is not None and len(pairs[0]) > 1:
        gap = pairs[1].astype(np.float64) - pairs[0]
        found = spread((gap @ white).astype(np.float32), seed)
        drift = gap.mean(axis=0)
        return LearntVectors(TwoCovariances.of(white, found.covariance, spreads, drift), len(gap), 0.0)
    return _Climb(targets, queries, spreads, white, seed).learnt()


class _Guess(NamedTuple):
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


class _Climb:
    """Expectation maximisation on a sample of the queries and all targets."""

    def __init__(
        self, targets: Vectors, queries: Vectors, spreads: tuple[Spread, Spread], white: Floats, seed: int
    ) -> None:
        self.targets, self.spreads, self.white = targets.values, spreads, white
        self.within = within(targets, queries, seed)
        n = int(np.clip(_PAIRS // len(targets), _FEWEST, _MOST))
        order = stream(seed, "gaussian bayes: queries").permutation(len(queries))[:n]
        cut = max(1, len(order) * 2 // 3)
        self.first, self.held_out = queries.values[order[:cut]], queries.values[order[cut:]]
        self.all_seen = 2 * len(order) > len(queries)
        self.drift = spreads[1].mean - spreads[0].mean

    def learnt(self) -> LearntVectors:
        """Climb from the best guess, then go back towards it as far as other queries ask for."""
        guess = self._guess()
        start = self._model(guess.difference, self.drift)
        if not len(self.held_out):
            return self._guessed(guess, start, self.first)
        # First with few queries, many times; then with all of them, a few times.
        few = self._few()
        often = int(np.clip(_EVER // (len(few) * len(self.targets)), _ROUNDS, _MANY))
        model, difference = self._climbed(start, few, often)
        if len(self.first) > len(few):
            model, difference = self._climbed(model, self.first, _ROUNDS)
        ways = [(w, widen) for w in _SHRINK for widen in _WIDEN]
        tried = [self._model(_back(difference, guess, *way), model.drift) for way in ways]
        likelihoods = [self._likelihoods(one, self.held_out) for one in tried]
        best = max(range(len(tried)), key=lambda i: float(likelihoods[i].mean()))
        if not clearly_more(likelihoods[best], self._likelihoods(start, self.held_out)):
            return self._guessed(guess, start, self.held_out)
        # Now from everybody; whoever was learnt from is linked too surely, as those held out show.
        last, difference = self._climbed(tried[best], np.concatenate([self.first, self.held_out]), _ROUNDS)
        final = self._model(_back(difference, guess, *ways[best]), last.drift)
        # Half of it, in logarithms: what was learnt from everybody also is the better model.
        softer = self._softer(tried[best], final) ** 0.5 if self.all_seen else 1.0
        return LearntVectors(final, 0, float(likelihoods[best].mean()), 0, softer)

    def _guessed(self, guess: _Guess, start: TwoCovariances, queries: Singles) -> LearntVectors:
        likelihood = float(self._likelihoods(start, queries).mean())
        if guess.apart is None or self.within is None:
            return LearntVectors(start, 0, likelihood)
        counted = Counted.of(self.within, self.spreads, guess.apart, self.drift)
        return LearntVectors(counted, 0, likelihood, self.within.n)

    def _climbed(self, model: TwoCovariances, queries: Singles, rounds: int) -> tuple[TwoCovariances, Floats]:
        """Return the model after this many rounds, or after fewer where they gain nothing any more."""
        last = -np.inf
        for _ in range(rounds):
            likelihood, difference, drift = self._round(model, queries)
            model = self._model(difference, drift)
            if likelihood - last < _STILL:
                break
            last = likelihood
        return model, difference

    def _softer(self, before: TwoCovariances, after: TwoCovariances) -> float:
        """Return the temperature at which queries are no surer than before they were learnt from, on the whole."""
        some = self.held_out[: max(_FEWEST, _FEW_PAIRS // len(self.targets))]
        honest = self._sureness(before, some, 1.0)
        return next((float(t) for t in _SOFTER if self._sureness(after, some, float(t)) <= honest), float(_SOFTER[-1]))

    def _sureness(self, model: TwoCovariances, queries: Singles, temperature: float) -> float:
        """Return the mean posterior of the best target."""
        sure = []
        for _, _, ratios, _ in self._posteriors(model, queries):
            sure.append(1.0 / (ratios ** np.float32(1.0 / temperature)).sum(axis=1, dtype=np.float64))
        return float(np.concatenate(sure).mean())

    def _guess(self) -> _Guess:
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

    def _tried(self, made: Callable[[float], Floats], size: float) -> _Guess:
        """Return how a few queries fare by a guess."""
        difference, queries = made(size), self._few()
        model = self._model(difference, self.drift)
        known, asked = model.weighed(self.targets, 0), model.weighed(queries, 1)
        found = [
            (np.log(total / len(self.targets)) + best, out) for best, total, out in _looked_at(model, known, asked)
        ]
        likelihoods, gaps = (np.concatenate(part) for part in zip(*found, strict=True))
        if len(queries) < 3:  # which say nothing of one another
            return _Guess(size, difference, likelihoods, 0.0)
        some = np.linspace(0, len(self.targets) - 1, min(len(queries), len(self.targets))).astype(np.int64)
        others = []
        for side in (Weighed(known.values[some], known.extra[some]), asked):  # who are not there, for certain
            others.append(np.concatenate([out for _, _, out in _looked_at(model, side, side, others=True)]))
        error = (gaps.var() / len(gaps) + sum(gap.var() / len(gap) for gap in others) / 4.0) ** 0.5
        nearer = (gaps.mean() - (others[0].mean() + others[1].mean()) / 2.0) / max(float(error), 1e-300)
        return _Guess(size, difference, likelihoods, float(nearer))

    def _most_between(self) -> Floats:
        """Return the root of 1 - E^2, as far as the tables differ by more than chance."""
        half = self.white.T @ (self.spreads[0].covariance - self.spreads[1].covariance) @ self.white / 2.0
        values, vectors = np.linalg.eigh(beyond_chance(half, min(one.n for one in self.spreads)))
        return np.asarray(vectors * np.clip(1.0 - values**2, 0.0, 1.0) ** 0.5 @ vectors.T)

    def _few(self) -> Singles:
        return self.first[: max(_FEWEST, _FEW_PAIRS // len(self.targets))]

    def _model(self, difference: Floats, drift: Floats) -> TwoCovariances:
        return TwoCovariances.of(self.white, difference, self.spreads, drift)

    def _posteriors(self, model: TwoCovariances, queries: Singles) -> Any:
        """Yield blocks of queries, their log mean likelihood ratio, and their posteriors over all targets."""
        known = model.weighed(self.targets, 0)
        size = max(1, _BLOCK // len(self.targets))
        for start in range(0, len(queries), size):
            part = queries[start : start + size]
            ratios = model.ratios(known, model.weighed(part, 1))
            best = ratios.max(axis=1, keepdims=True)
            ratios -= best
            np.exp(ratios, out=ratios)
            total = ratios.sum(axis=1, dtype=np.float64)
            yield part, best[:, 0] + np.log(total / len(self.targets)), ratios, total

    def _likelihoods(self, model: TwoCovariances, queries: Singles) -> Floats:
        return np.concatenate([mean for _, mean, _, _ in self._posteriors(model, queries)])

    def _round(self, model: TwoCovariances, queries: Singles) -> tuple[float, Floats, Floats]:
        """Return the likelihood, and difference and drift that the posteriors imply."""
        white, means = self.white.astype(np.float32), []
        y = (self.targets - self.spreads[0].mean.astype(np.float32)) @ white
        k = white.shape[1]
        squares, cross, off = np.zeros((k, k)), np.zeros((k, k)), np.zeros(k)
        weight = np.zeros(len(y))
        for part, mean, ratios, total in self._posteriors(model, queries):
            means.append(mean)
            ratios /= total.astype(np.float32)[:, None]
            x = (part - self.spreads[0].mean.astype(np.float32)) @ white
            expected = ratios @ y
            weight += ratios.sum(axis=0)
            squares += x.T @ x
            cross += x.T @ expected
            off += (x - expected).sum(axis=0)
        n = len(queries)
        told = weight > 1e-6
        squares += (y[told] * weight[told, None]).T @ y[told]
        off /= n
        difference = (squares - cross - cross.T) / n - np.outer(off, off)
        back = np.linalg.pinv(self.white)
        return float(np.mean(np.concatenate(means))), difference, off @ back


def _looked_at(model: TwoCovariances, known: Weighed, asked: Weighed, others: bool = False) -> Any:
    """Yield of blocks of queries the best ratio, the sum of all relative to it, and how far it is above the second."""
    size = max(1, _BLOCK // len(known.values))
    for start in range(0, len(asked.values), size):
        part = Weighed(asked.values[start : start + size], asked.extra[start : start + size])
        ratios = model.ratios(known, part)
        if others:
            rows = np.arange(len(ratios))
            ratios[rows, start + rows] = -np.inf
        two = np.partition(ratios, ratios.shape[1] - 2, axis=1)[:, -2:].astype(np.float64)
        ratios -= two[:, 1:].astype(np.float32)
        yield two[:, 1], np.exp(ratios).sum(axis=1, dtype=np.float64), two[:, 1] - two[:, 0]


def _back(difference: Floats, guess: _Guess, share: float, widen: float) -> Floats:
    """Return a difference that is led back to the guess by a share, and widened."""
    return widen * ((1.0 - share) * difference + share * guess.difference)


def clearly_more(one: Floats, other: Floats, errors: float = 2.0) -> bool:
    """Whether queries are likelier by the first: by more than some standard errors, and by more than a trifle.

    >>> clearly_more(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.1, 2.0])), clearly_more(np.ones(3), np.ones(3))
    (True, False)
    """
    gap = one - other
    return bool(len(gap) > 2 and gap.mean() > errors * gap.std(ddof=1) / len(gap) ** 0.5 and gap.mean() > _TRIFLE)
