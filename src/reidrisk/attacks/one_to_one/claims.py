"""What queries claim of targets, where some queries may be nobody's: how many are is learnt from the claims.

With w_qt the likelihood of a pair and w_q that of a query whose person is not among the n targets, a share l of m
queries has a target, and k of them in all. One to one, the k have n! / (n - k)! ways to be told to targets, not n^k:
each further link is n / (n - k) times as likely as it would be alone. So a query is nobody's with odds

    w_q (1 - l) / l (n - k) / n    beside the sum over targets of w_qt / (1 + what others claim of t),

in which l and k are what these odds make of them. Claims are found by passing messages
(:mod:`reidrisk.attacks.rehearsed.settled`). Where all targets are asked for, k nears n and nobody is a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reidrisk.attacks.rehearsed.settled import claimed
from reidrisk.base.arrays import Floats, Ints

_STEPS, _ROUNDS = 12, 5  # how often the share is learnt anew, and rounds of messages between
_PRIOR, _LINKED = 4.0, 0.9  # queries that a share of linked ones counts for before any is seen


class Wishes(NamedTuple):
    """What queries want: the targets ``near`` (m, k) of each, by ``nats`` (m, k) less than its best.

    ``rest`` (m,) is the sum of the likelihoods of all other targets, and ``nobody`` (m,) that of no target at all, both
    relative to the best one's; the latter where as many are linked as not, and 0 where it cannot be. ``linked`` is the
    share of queries that are, as the attack has learnt it of each query alone.
    """

    near: Ints
    nats: Floats
    rest: Floats
    nobody: Floats
    linked: float


@dataclass(frozen=True, eq=False)
class Claims:
    """What was found: ``taken`` (n,) is log(1 + sum of claims) of each target, all queries counted.

    ``back`` (m, k) is what is given back to a query of its ``near`` targets: its own claim is none against it. ``odds``
    is by how much a query is likelier to be nobody's than where as many are linked as not.
    """

    taken: Floats
    near: Ints
    back: Floats
    odds: float
    linked: float

    def chances(self, wanted: Wishes) -> Floats:
        """Return the probability (m, k) that each query is of its near targets."""
        mine = np.exp(wanted.nats - self.taken[self.near] + self.back)
        total = mine.sum(axis=1) + wanted.rest + self.odds * wanted.nobody
        return np.asarray(mine / total[:, None])


def settle(wanted: Wishes, n: int) -> Claims:
    """Return what all queries claim of ``n`` targets.

    Two queries like the first target best; the second has another that it likes nearly as much, and leaves it.

    >>> wanted = Wishes(np.array([[0, 1], [0, 1]]), np.array([[0.0, -5.0], [0.0, -0.2]]), *np.zeros((2, 2)), 1.0)
    >>> found = settle(wanted, n=2)
    >>> (wanted.nats - found.taken[found.near] + found.back).argmax(axis=1).tolist()
    [0, 1]
    """
    m, weights = len(wanted.nats), np.exp(wanted.nats)
    linked, message = wanted.linked, None
    total: Floats = np.zeros(n)
    odds = (1.0 - linked) / linked
    for _ in range(_STEPS):
        nobody = odds * wanted.nobody
        message, total = claimed(wanted.near, weights, wanted.rest, n, nobody, message, _ROUNDS)
        mine = (weights * np.exp(message)).sum(axis=1) + wanted.rest
        found = float((mine / (mine + nobody)).sum())
        linked = (found + _PRIOR * _LINKED) / (m + _PRIOR)
        odds = (1.0 - linked) / linked * max(n - found, 0.5) / n
    assert message is not None
    taken = np.log1p(total)
    return Claims(taken, wanted.near, message + taken[wanted.near], odds, linked)
