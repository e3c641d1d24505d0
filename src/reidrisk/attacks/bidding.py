"""Queries that bid: where each is of another person, one that wants the same target as others may do with the next.

With s_qt the score and v_t >= 0 the price of a target, query q wants t with probability proportional to
exp(s_qt - v_t), and prices rise until no target is wanted more than once (Sinkhorn and Knopp 1967, with targets that
may stay free). A query goes to its best target at these prices.
"""

from copy import copy
from typing import Self

import numpy as np

from reidrisk.attacks.base import Records
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.notes import Note


class Bidding(ScoredAttack[Records]):
    """An attack whose queries bid for targets where they do so ``jointly``: then it has ``_prices``."""

    jointly: bool
    _prices: Floats | None

    @property
    def compares_queries(self) -> bool:
        """Whether queries bid against each other."""
        return getattr(self, "_prices", None) is not None

    @property
    def setting(self) -> str:
        """``"matching"`` where queries bid against each other."""
        return "matching" if self.compares_queries else "random user"

    @property
    def rests_on(self) -> tuple[Note, ...]:
        """That queries were linked together, where they were."""
        return (Note("linked-together", attack=self.name),) if self.compares_queries else ()

    def one_by_one(self) -> Self:
        """Return this attacker without prices."""
        new = copy(self)
        new.jointly, new._prices = False, None
        return new


def prices(near: Ints, nats: Floats, n: int, rounds: int = 50, room: float = 1.0) -> Floats:
    """Return the price of each of ``n`` targets, for queries that bid ``nats`` (m, k) for the targets ``near`` (m, k).

    Prices change ``rounds`` times; each target has ``room`` for that many.

    Two queries want the first target; one of them has another that it wants nearly as much.

    >>> near, nats = np.array([[0, 1], [0, 1]]), np.array([[0.0, -9.0], [0.0, -0.1]])
    >>> (nats - prices(near, nats, 2)[near]).argmax(axis=1).tolist()
    [0, 1]
    """
    found = np.zeros(n)
    for _ in range(rounds):
        wanted = nats - found[near]
        top = wanted.max(axis=1, keepdims=True)
        share = wanted - top - np.log(np.exp(wanted - top).sum(axis=1, keepdims=True))
        demand = np.bincount(near.ravel(), np.exp(share).ravel(), n)
        found = np.maximum(found + 0.5 * np.log(np.maximum(demand / room, 1e-300)), 0.0)
    return found
