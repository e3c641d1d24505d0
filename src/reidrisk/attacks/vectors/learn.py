"""Learning the two-covariance model: from people known in both tables, or from the tables alone.

Without known pairs, who is whom is a hidden variable: each query is any of the n targets, a priori with probability
1/n. Expectation maximisation then alternates between the posterior of every query over all targets and the covariance
of the differences it implies, D = sum over queries and targets of p (x - y) (x - y)^T / q, and climbs the likelihood

    L = mean over queries of log ( (1/n) sum over targets of P(x, y | one person) / P(x, y | two people) ).

It starts from the best of several plain guesses. As many numbers as D has would be learnt too well from few queries:
D is shrunk towards that guess, and how far, L of queries decides that were not learnt from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.vectors.counted import Counted
from reidrisk.attacks.vectors.guess import BLOCK, FEW_PAIRS, FEWEST, Guess, Sampled, clearly_more
from reidrisk.attacks.vectors.spread import Singles, Spread, spread
from reidrisk.attacks.vectors.two_covariances import TwoCovariances
from reidrisk.base.arrays import Floats
from reidrisk.records import Vectors

_ROUNDS, _MANY, _STILL = 6, 40, 1e-3  # rounds, with few queries, and gain in nats per query below which it stops
_EVER = 1_000_000_000  # pairs compared in all rounds with few queries
_ENOUGH = 100  # queries from which on their own spread is known
_SHRINK = (0.0, 0.1, 0.3, 0.6, 0.9)
_WIDEN = (1.0, 1.1, 1.3)
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


class _Climb(Sampled):
    """Expectation maximisation on a sample of the queries and all targets."""

    def learnt(self) -> LearntVectors:
        """Climb from the best guess, then go back towards it as far as other queries ask for."""
        guess = self.guess()
        start = self.model_of(guess.difference, self.drift)
        if not len(self.held_out):
            return self._guessed(guess, start, self.first)
        # First with few queries, many times; then with all of them, a few times.
        few = self.few()
        often = int(np.clip(_EVER // (len(few) * len(self.targets)), _ROUNDS, _MANY))
        model, difference = self._climbed(start, few, often)
        if len(self.first) > len(few):
            model, difference = self._climbed(model, self.first, _ROUNDS)
        ways = [(w, widen) for w in _SHRINK for widen in _WIDEN]
        tried = [self.model_of(_back(difference, guess, *way), model.drift) for way in ways]
        likelihoods = [self._likelihoods(one, self.held_out) for one in tried]
        best = max(range(len(tried)), key=lambda i: float(likelihoods[i].mean()))
        if not clearly_more(likelihoods[best], self._likelihoods(start, self.held_out)):
            return self._guessed(guess, start, self.held_out)
        # Now from everybody; whoever was learnt from is linked too surely, as those held out show.
        last, difference = self._climbed(tried[best], np.concatenate([self.first, self.held_out]), _ROUNDS)
        final = self.model_of(_back(difference, guess, *ways[best]), last.drift)
        # Half of it, in logarithms: what was learnt from everybody also is the better model.
        softer = self._softer(tried[best], final) ** 0.5 if self.all_seen else 1.0
        return LearntVectors(final, 0, float(likelihoods[best].mean()), 0, softer)

    def _guessed(self, guess: Guess, start: TwoCovariances, queries: Singles) -> LearntVectors:
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
            model = self.model_of(difference, drift)
            if likelihood - last < _STILL:
                break
            last = likelihood
        return model, difference

    def _softer(self, before: TwoCovariances, after: TwoCovariances) -> float:
        """Return the temperature at which queries are no surer than before they were learnt from, on the whole."""
        some = self.held_out[: max(FEWEST, FEW_PAIRS // len(self.targets))]
        honest = self._sureness(before, some, 1.0)
        return next((float(t) for t in _SOFTER if self._sureness(after, some, float(t)) <= honest), float(_SOFTER[-1]))

    def _sureness(self, model: TwoCovariances, queries: Singles, temperature: float) -> float:
        """Return the mean posterior of the best target."""
        sure = []
        for _, _, ratios, _ in self._posteriors(model, queries):
            sure.append(1.0 / (ratios ** np.float32(1.0 / temperature)).sum(axis=1, dtype=np.float64))
        return float(np.concatenate(sure).mean())

    def _posteriors(self, model: TwoCovariances, queries: Singles) -> Any:
        """Yield blocks of queries, their log mean likelihood ratio, and their posteriors over all targets."""
        known = model.weighed(self.targets, 0)
        size = max(1, BLOCK // len(self.targets))
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


def _back(difference: Floats, guess: Guess, share: float, widen: float) -> Floats:
    """Return a difference that is led back to the guess by a share, and widened."""
    return widen * ((1.0 - share) * difference + share * guess.difference)
