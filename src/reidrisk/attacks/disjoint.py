"""Disjoint: link to a target of the query's taste that shares nothing with it, as if items had been divided up.

Two tables may be halves of what people have: then no item is on both sides, and whoever looks for what is shared finds
nobody. Attacks that find out how two tables are related see it where it shows
(:mod:`reidrisk.attacks.rehearsed.apart`); of few or short records it does not. This one takes it to be so.
"""

from __future__ import annotations

from typing import Any, Self

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rehearsed.strangers import excess
from reidrisk.attacks.rehearsed.ways import Cutting
from reidrisk.base import DataError
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Bags

_FEWEST = 20  # records on either side
_SEEN = 2.0  # standard errors of what is shared beyond strangers, from which something is


@register(kinds=(Bags,), cost=per_item(1.2e-9, learning=1.5), default=True, whole=True)
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
        """Return the attacker; of a system it makes nothing."""
        return cls(seed=seed)

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether queries are not seen to share more with targets than strangers do."""
        if not isinstance(targets, Bags) or min(len(targets), len(queries)) < _FEWEST:
            return False
        return bool(targets.counts.nnz and queries.counts.nnz) and excess(targets, queries, seed=0).errors <= _SEEN

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Takes it that no item is in both records, as if what people have had been divided up, and links to "
            "somebody of the same taste who shares nothing (our own)."
        )

    def fit(self, targets: Any) -> Self:
        """Lay the targets out; which items go together is learnt with the first queries."""
        if not isinstance(targets, Bags):
            raise DataError(f"{self.name} compares bags, not {type(targets).__name__}; count the items of each person")
        return super().fit(targets)
