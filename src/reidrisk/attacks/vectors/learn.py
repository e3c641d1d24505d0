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

from reidrisk.attacks.vectors.spread import Singles, Spread, spread
from reidrisk.attacks.vectors.two_covariances import TwoCovariances
from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream

_PAIRS, _FEWEST, _MOST = 40_000_000, 300, 6_000  # pairs compared in a round; queries at least, and at most
_BLOCK = 8_000_000  # ratios held at once
_FEW_PAIRS = 3_000_000  # pairs compared with few queries
_ROUNDS, _MANY, _STILL = 6, 40, 1e-3  # rounds, with few queries, and gain in nats per query below which it stops
_EVER = 1_000_000_000  # pairs compared in all rounds with few queries
_ENOUGH = 100  # queries from which on their own spread is known
_WHITE = (0.01, 0.05, 0.15, 0.4, 0.8, 1.3)  # first guesses of delta, equal in all directions
_PLAIN = (0.002, 0.02, 0.1, 0.25, 0.45, 0.7)  # first guesses of a noise that is round in the space of the vectors
_TRIFLE = 0.02  # nats per query below which a model of many numbers is not worth its risk
_FINER = (1.5, 1.2, 1.1)  # steps by which the best guess is made better
_SHRINK = (0.0, 0.1, 0.3, 0.6, 0.9)
_WIDEN = (1.0, 1.1, 1.3)


class Learnt(NamedTuple):
    """A model, from how many ``pairs`` it was learnt (0: none were known), and how likely it makes the queries."""

    model: TwoCovariances
    pairs: int
    likelihood: float


def learn(targets: Singles, queries: Singles, pairs: tuple[Singles, Singles] | None, seed: int) -> Learnt:
    """Learn the model of these tables, with ``pairs`` of targets and queries that are the same people, if any."""
    known = spread(targets, seed)
    asked = spread(queries, seed) if len(queries) >= _ENOUGH else known
    spreads = known, asked
    white = Spread(known.mean, (known.covariance + asked.covariance) / 2.0).whitening
    if pairs is not None and len(pairs[0]) > 1:
        gap = pairs[1].astype(np.float64) - pairs[0]
        found = spread((gap @ white).astype(np.float32), seed)
        drift = gap.mean(axis=0)
        return Learnt(TwoCovariances.of(white, found.covariance, spreads, drift), len(gap), 0.0)
    return _Climb(targets, queries, spreads, white, seed).learnt()


class _Climb:
    """Expectation maximisation on a sample of the queries and all targets."""

    def __init__(
        self, targets: Singles, queries: Singles, spreads: tuple[Spread, Spread], white: Floats, seed: int
    ) -> None:
        self.targets, self.spreads, self.white = targets, spreads, white
        n = int(np.clip(_PAIRS // len(targets), _FEWEST, _MOST))
        order = stream(seed, "gaussian bayes: queries").permutation(len(queries))[:n]
        cut = max(1, len(order) * 2 // 3)
        self.first, self.held_out = queries[order[:cut]], queries[order[cut:]]
        self.drift = spreads[1].mean - spreads[0].mean

    def learnt(self) -> Learnt:
        """Climb from the best guess, then go back towards it as far as other queries ask for."""
        guess = self._guess()
        model, difference = self._model(guess, self.drift), guess
        # First with few queries, many times; then with all of them, a few times.
        few = self._few()
        often = int(np.clip(_EVER // (len(few) * len(self.targets)), _ROUNDS, _MANY))
        for queries, rounds in ((few, often), (self.first, _ROUNDS if len(self.first) > len(few) else 0)):
            last = -np.inf
            for _ in range(rounds):
                likelihood, difference, drift = self._round(model, queries)
                model = self._model(difference, drift)
                if likelihood - last < _STILL:
                    break
                last = likelihood
        first = self._model(guess, self.drift)
        if not len(self.held_out):
            return Learnt(first, 0, self._likelihood(first, self.first))
        shrunk = [(1.0 - w) * difference + w * guess for w in _SHRINK]
        tried = [self._model(widen * one, model.drift) for one in shrunk for widen in _WIDEN]
        likelihoods = [self._likelihoods(one, self.held_out) for one in tried]
        best = max(range(len(tried)), key=lambda i: float(likelihoods[i].mean()))
        plain = self._likelihoods(first, self.held_out)
        if clearly_more(likelihoods[best], plain):
            return Learnt(tried[best], 0, float(likelihoods[best].mean()))
        return Learnt(first, 0, float(plain.mean()))

    def _guess(self) -> Floats:
        """Return the likeliest difference of two shapes: equal in all directions of the spread, or of the vectors."""
        unit, both = np.eye(self.white.shape[1]), self.spreads[0].covariance + self.spreads[1].covariance
        plain = self.white.T @ self.white * float(np.trace(both)) / len(both)
        found = []
        for shape, sizes in ((plain, _PLAIN), (unit, _WHITE)):
            tried = {size: self._sized(shape, size) for size in sizes}
            for step in _FINER:
                best = max(tried, key=lambda size: float(tried[size].mean()))
                tried |= {size: self._sized(shape, size) for size in (best / step, best * step)}
            best = max(tried, key=lambda size: float(tried[size].mean()))
            found.append((tried[best], best * shape))
        # Round differences are what noise is made of by default: the other shape must be clearly likelier.
        return np.asarray(found[1][1] if clearly_more(found[1][0], found[0][0]) else found[0][1])

    def _sized(self, shape: Floats, size: float) -> Floats:
        return self._likelihoods(self._model(size * shape, self.drift), self._few())

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

    def _likelihood(self, model: TwoCovariances, queries: Singles) -> float:
        return float(self._likelihoods(model, queries).mean())

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


def clearly_more(one: Floats, other: Floats) -> bool:
    """Whether queries are likelier by the first: by more than twice the standard error, and by more than a trifle.

    >>> clearly_more(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.1, 2.0])), clearly_more(np.ones(3), np.ones(3))
    (True, False)
    """
    gap = one - other
    return bool(len(gap) > 2 and gap.mean() > 2.0 * gap.std(ddof=1) / len(gap) ** 0.5 and gap.mean() > _TRIFLE)
