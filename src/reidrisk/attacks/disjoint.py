"""Disjoint: link to a target of the query's taste that shares nothing with it, as if items had been divided up.

Two tables may be halves of what people have: then no item is on both sides, and whoever looks for what is shared finds
nobody. Attacks that find out how two tables are related see it where it shows
(:mod:`reidrisk.attacks.rehearsed.apart`); of few or short records it does not. This one takes it to be so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.profile.sized import Model
from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.panel import fingerprints, reference
from reidrisk.attacks.rehearsed.strangers import excess
from reidrisk.attacks.rehearsed.ways import separable
from reidrisk.base import DataError
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Bags

_FEWEST, _LOOKED_AT = 20, 200  # records on either side, and queries that must share nothing with somebody
_SEEN = 2.0  # standard errors of what is shared beyond strangers, from which something is


def _cost(targets: Any) -> Callable[[int], float]:
    """Return what it costs: most of it is to learn which items go together."""
    return per_item(1.2e-9, learning=min(20.0, 1.0 + 2e-5 * targets.counts.nnz))(targets)


@register(kinds=(Bags,), cost=_cost, default=True, whole=True)
class Disjoint(ProfileBayes):
    """Link as :class:`ProfileBayes` does if no item is on both sides: by taste, and what is shared counts against.

    The log of prod over the query's items i of p_i(t) / p_i: p_i is how common i is, and p_i(t) how likely somebody of
    the target's taste has it besides what the target has, which is a hundred times rarer
    (:mod:`reidrisk.attacks.profile.sized.taste`).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> likes, side = rng.random((300, 40)) < 0.6, rng.random((300, 40)) < 0.5
    >>> one, two = (Bags((likes & part).astype(int)) for part in (side, ~side))
    >>> links = Disjoint().fit(one).look_around(two).link(two)
    >>> bool(np.mean(links.target == np.arange(300)) > 0.2)
    True
    """

    rehearses = True  # no part of a rehearsal: ProfileBayes is, and finds out whether anything is shared

    def __init__(self, seed: int = 0, threads: int | None = None) -> None:
        super().__init__(seed=seed, threads=threads, volume=False)
        self._given = Cutting("apart", nothing=True, borne_out=True), None

    @classmethod
    def knowing(cls, mechanism: TopKNoise, seed: int = 0) -> Self:
        """Return the attacker; what the system does is of no use to it."""
        return cls(seed=seed)

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether most queries share nothing with somebody, and no more with targets than strangers do."""
        if not isinstance(targets, Bags) or min(len(targets), len(queries)) < _FEWEST:
            return False
        known, asked = (bags.take(np.argsort(fingerprints(bags), kind="stable")) for bags in (targets, queries))
        if not known.counts.nnz or not separable(known, asked.take(reference(asked, _LOOKED_AT))):
            return False
        return excess(known, asked, seed=0).errors <= _SEEN

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Assumes that no item is in both records, as if each person's items had been split between the tables. "
            "Links to somebody of the same taste who shares nothing (our own)."
        )

    def practising(self, cutting: Cutting, like: Model | None = None) -> Self:
        """Return self: it knows how the tables are related."""
        return self

    def fit(self, targets: Any) -> Self:
        """Lay the targets out; which items go together is learnt with the first queries."""
        if not isinstance(targets, Bags):
            raise DataError(f"{self.name} compares bags, not {type(targets).__name__}; count the items of each person")
        return super().fit(targets)
