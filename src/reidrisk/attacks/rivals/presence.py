"""Presence: link to the target that was there in the same epochs, whatever it showed."""

from typing import Any

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Rival, holders, rows_of, sizes_of, with_data
from reidrisk.base.errors import OptionError
from reidrisk.records import Traces


@register(kinds=(Traces,), cost=per_item(1e-9), default=True)
class Presence(Rival):
    """Link to the target that was observed in the same epochs: gaps tell who somebody is, too.

    Given that a query was observed in m epochs, each is taken for one of the target's with probability ``shared``, else
    for anybody's. With a the number of epochs of the target and p_s the share of all observed tokens that fall in s,
    against p_s alone,

        score = sum over epochs s of the query of log(1 - shared + shared [target observed in s] / (a p_s)),

    less what is the same for all targets. How much was observed on either side is given, not evidence. Tokens are not
    looked at, so that renaming them changes nothing; nor does shuffling people, or epochs on both sides alike. Without
    gaps, and for a query never observed, everybody ties. Observers who pool were there when one of them was.

    >>> attack = Presence().fit(Traces([[4, -1, 1, -1], [-1, 2, -1, 3], [1, 1, 1, 1]], n_tokens=5))
    >>> attack.link(Traces([[0, -1, 0, -1], [-1, -1, -1, -1]], n_tokens=5)).n_ties.tolist()
    [1, 3]
    """

    description = (
        "Looks only at the periods in which anything was seen of a record, and links to the target that was there in "
        "the same ones. It knows nothing of the system, and what was seen makes no difference (our own)."
    )
    kinds = (Traces,)
    same_epochs = True

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether people differ in when they were there, on both sides.

        >>> there, gaps = Traces([[0, 1], [2, 1]], n_tokens=3), Traces([[0, -1], [2, 1]], n_tokens=3)
        >>> Presence.applies(gaps, gaps), Presence.applies(there, gaps)
        (True, False)
        """
        return all(bool((side.observed != side.observed[:1]).any()) for side in (targets, queries))

    def __init__(self, shared: float = 0.5) -> None:
        if not 0.0 < shared < 1.0:
            raise OptionError(f"shared must lie between 0 and 1, not {shared!r}: it is a share of the query's epochs")
        self.shared = shared

    def _counts(self, table: Any, n_epochs: int) -> Any:
        from scipy import sparse

        there = table.observed.reshape(len(table), -1, n_epochs).any(axis=1)
        return sparse.csr_array(there.astype(np.int64))

    def _learn(self, counts: Any) -> None:
        self._often = holders(counts) + 0.5

    def _weigh_targets(self, counts: Any) -> Any:
        odds = self.shared / (1.0 - self.shared)
        rarity = self._often.sum() / self._often[counts.indices]
        return with_data(counts, np.log1p(odds * rarity / sizes_of(counts)[rows_of(counts)]))

    def _weigh_queries(self, counts: Any) -> Any:
        return counts
