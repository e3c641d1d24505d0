"""One record of each person: what all queries together say of who is taken, by belief propagation.

Where every query is of another person, a target that belongs to one query belongs to no other. With w_qt = exp(score),
the probability of all links together is proportional to the product of their w over links of which no two have the
same target. Its marginals are found by passing messages (Bayati et al. 2008; Chertkov and Yedidia 2013):

    a_qt = w_qt / (1 + sum over other queries p of r_pt),   r_qt = w_qt / (sum over other targets u of a_qu),

and the probability that q belongs to t is a_qt / sum over u of a_qu. So the score of a pair is less by the logarithm of
how much others claim the target. That is no longer the attacker who is given one record (random user): it is the one
who holds both tables (matching), as two releases or a leaked table make them.

Claims are only as good as probabilities are. Where more sure links share a target than can be wrong, likelihoods are
too bold, or a few people have several queries: then likelihoods are taken to the largest power at which it is not so,
and claims are weaker. Where hardly a link is sure at that power, people have several, and each is linked by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.rehearsed.estimate import Estimate, lifted, logit
from reidrisk.attacks.rehearsed.nearest import largest
from reidrisk.attacks.rehearsed.panel import Side, fingerprints
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags

PAIRS = 16_000_000
"""Pairs above which queries are not weighed against each other."""
WhyAlone = Literal["few", "more-queries", "too-many", "several"]
"""Why each query is linked by itself: there is one, or too few records to practise on; there are more queries than
targets, or more pairs than :data:`PAIRS`; or links show that people have several queries."""
_NEAR, _ROUNDS = 256, 30  # claims of a query that count, and rounds of messages
_OLD = 0.5  # how much of the old messages stays
_COOLER = tuple(0.7**i for i in range(1, 17))  # powers of likelihoods that are tried where they are too bold
_STAY = 0.5  # of sure links: where fewer stay sure, they were no bolder than they may be, and people have several
_SURE = 0.5  # probability of links that tell whether two queries may be of one person


@dataclass(frozen=True, eq=False)
class Settled:
    """What queries claim: ``taken`` (n,) is log(1 + sum of claims) of each target, all queries counted.

    ``back`` (m, k) is what is given back to a query of the target rows ``near`` (m, k): its own claim is none against
    it. Queries are known again by their ``keys``, sorted. ``lift`` is by how many logits more links are right. ``cool``
    is the power of the likelihoods, and ``times`` is how much more often sure links shared their target before than
    they may be wrong.
    """

    taken: Floats
    keys: npt.NDArray[np.uint64]
    near: Ints
    back: Floats
    lift: float
    cool: float = 1.0
    times: float = 1.0

    def known(self, targets: Side) -> Side:
        """Return the targets with what is claimed of them."""
        return replace(targets, taken=self.taken, place=np.arange(len(targets)))

    def asked(self, queries: Side, records: Bags) -> Side:
        """Return the queries with what is given back to them; one that was not looked at is linked by itself."""
        keys = fingerprints(records)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return replace(queries, near=self.near[place], back=self.back[place], met=self.keys[place] == keys)

    def lifted(self, estimate: Estimate) -> Estimate:
        """Return the estimate for links that were settled; a part of the difference is in doubt."""
        return lifted(_doubted(estimate, self.times), self.lift, len(self.keys))


@dataclass(frozen=True)
class LinkedAlone:
    """Queries that are linked each by itself, and ``why``.

    Where several may be of one person, sure links have the same target ``times`` as often as wrong ones may; or else
    they are wrong so much more often than the probabilities say.
    """

    why: WhyAlone
    times: float = 1.0

    def lifted(self, estimate: Estimate) -> Estimate:
        """Return the estimate with a lower end that allows for that many wrong links."""
        return _doubted(estimate, self.times)


def settle(scorer: Any, known: Side, asked: Side, records: Bags) -> Settled | LinkedAlone:
    """Weigh all queries against each other, unless people have several.

    That is seen without truth: of links with probability p about the sum of 1 - p is wrong, and if more of them than
    that have a target twice, some targets have two queries, or probabilities are too bold. Either way claims must be
    weaker, and likelihoods are taken to a power below 1. If none will do, or there are more queries than targets, each
    is linked by itself.
    """
    m, n = len(asked), len(known)
    if m > n or m * n > PAIRS or m < 2:
        return LinkedAlone("few" if m < 2 else "more-queries" if m > n else "too-many")
    near, scores, rest = _nearest(scorer, known, asked, (1.0,))
    cool, left = 1.0, rest[0]
    times, sure = _crowded(near, np.exp(scores), left)
    if times > 1.0:
        _, _, rest = _nearest(scorer, known, asked, _COOLER)
        place = _cooler(near, scores, rest, sure)
        if place is None:
            return LinkedAlone("several", times)
        cool, left = _COOLER[place], rest[place]
    weights = np.exp(cool * scores)
    message, total = claimed(near, weights, left, n)
    taken = np.log1p(total)
    keys = fingerprints(records)
    order = np.argsort(keys, kind="stable")
    back = (message + taken[near])[order]
    return Settled(taken, keys[order], near[order], back, _lift(weights, message, left), cool, times)


def _cooler(near: Ints, scores: Floats, rest: Floats, sure: int) -> int | None:
    """Return the place of the largest power at which sure links share no more targets than they may; None if few stay.

    If people have several queries, right links share targets: that ends only where hardly a link is sure.
    """
    for place, (cool, left) in enumerate(zip(_COOLER, rest, strict=True)):
        times, still = _crowded(near, np.exp(cool * scores), left)
        if times == 1.0:
            return place if still >= _STAY * sure else None
    return None


def _nearest(scorer: Any, known: Side, asked: Side, powers: tuple[float, ...]) -> tuple[Ints, Floats, Floats]:
    """Return the best targets of each query (m, k), their scores below the best one's in nats, and what all others add.

    The latter is (p, m): the sum of their likelihoods relative to the best one's, to each of the ``powers``.
    """
    m, k = len(asked), min(_NEAR, len(known))
    near, scores, rest = np.empty((m, k), dtype=np.int64), np.empty((m, k)), np.empty((len(powers), m))
    for part, whole in scorer._blocks(known, asked):
        nats = whole / scorer.per_nat
        near[part] = largest(nats, k)
        some = np.take_along_axis(nats, near[part], axis=1)
        top = some.max(axis=1, keepdims=True)
        scores[part] = some - top
        for i, power in enumerate(powers):
            rest[i, part] = np.exp(power * (nats - top)).sum(axis=1) - np.exp(power * scores[part]).sum(axis=1)
    return near, scores, np.maximum(rest, 0.0)


def claimed(
    near: Ints,
    weights: Floats,
    rest: Floats,
    n: int,
    nobody: Floats | float = 0.0,
    message: Floats | None = None,
    rounds: int = _ROUNDS,
) -> tuple[Floats, Floats]:
    """Return the log of the messages from targets to queries (m, k), and what is claimed of each target (n,).

    What ``rest`` holds, a query claims of all targets that are not ``near``, of each as much. ``nobody`` is how likely
    it is that a query is of none. ``message`` is where to begin, default: no target is claimed.

    Two queries like the first target best; the second has another that it likes nearly as much, and leaves it.

    >>> near, weights = np.array([[0, 1], [0, 1]]), np.array([[1.0, 0.01], [1.0, 0.8]])
    >>> message, _ = claimed(near, weights, np.zeros(2), n=2)
    >>> (weights * np.exp(message)).argmax(axis=1).tolist()
    [0, 1]
    """
    message = np.zeros(weights.shape) if message is None else message
    total, far = np.zeros(n), rest[:, None] / max(n - near.shape[1], 1)
    for _ in range(rounds):
        wanted = weights * np.exp(message)
        left = rest * float((1.0 / (1.0 + np.maximum(total, 0.0))).mean())  # those that are far are claimed, too
        others = wanted.sum(axis=1, keepdims=True) + (left + nobody)[:, None]
        claims, each = weights / np.maximum(others - wanted, 1e-9 * others), far / others
        total = each.sum() + np.bincount(near.ravel(), (claims - each).ravel(), n)
        message = _OLD * message - (1.0 - _OLD) * np.log1p(np.maximum(total[near] - claims, 0.0))
    return message, np.maximum(total, 0.0)


def _crowded(near: Ints, weights: Floats, rest: Floats) -> tuple[float, int]:
    """Return how many times more sure links share their target than can be wrong, 1 unless clear; and how many are."""
    sure = 1.0 / (weights.sum(axis=1) + rest)
    best = near[np.arange(len(near)), weights.argmax(axis=1)]
    some = sure > _SURE
    wrong = float((1.0 - sure[some]).sum())
    twice = int(some.sum()) - len(np.unique(best[some]))
    clear = twice > wrong + 3.0 * math.sqrt(wrong) + 3.0
    return twice / max(wrong, 0.5) if clear else 1.0, int(some.sum())


def _doubted(estimate: Estimate, times: float) -> Estimate:
    """Return the estimate with a lower end that allows for as many times more wrong links."""
    return replace(estimate, low=max(1.0 - times * (1.0 - estimate.low), 0.0))


def _lift(weights: Floats, message: Floats, rest: Floats) -> float:
    """Return by how many logits settled links are better than those before, as the marginals see both."""
    wanted = weights * np.exp(message)
    chance = wanted / (wanted.sum(axis=1) + rest)[:, None]
    best = weights >= weights.max(axis=1, keepdims=True)
    before = float(((chance * best).sum(axis=1) / best.sum(axis=1)).mean())
    return logit(float(chance.max(axis=1).mean())) - logit(before)
