"""The attack on bags: link to the target that has most items in common, whatever their order."""

from typing import Self

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base.errors import DataError
from reidrisk.records import Bags
from reidrisk.search.sparse import SparseMin, SparseRows


@register(kinds=(Bags,), cost=per_item(2e-10), default=True)
class Overlap(ScoredAttack[Bags]):
    """Link to the target that shares most items: score(q, t) = sum over tokens of min(count in q, count in t).

    The unordered counterpart of the Hamming attack (carey, Section E.2), for systems that hand out samples without
    epochs. A query that shares nothing with anyone ties with everyone.

    >>> targets = Bags([[1, 1, 0], [0, 1, 1]])
    >>> links = Overlap().fit(targets).link(Bags([[0, 1, 2]]))
    >>> links.target.tolist(), links.score.tolist(), links.n_ties.tolist()
    ([1], [2], [1])
    """

    description = (
        "Links a record to the one that has most items in common with it, in whatever order they came. "
        "It knows nothing of the system (the unordered form of carey, Example 1)."
    )

    of_parts = "also"

    def fit(self, targets: Bags) -> Self:
        """Look at the items of the targets."""
        if not isinstance(targets, Bags):
            raise DataError(f"{self.name} compares bags, not {type(targets).__name__}")
        self._n_tokens = targets.n_tokens
        self._known = SparseRows(targets.counts)
        return self

    def _posed(self, queries: Bags) -> Posed:
        self._refuse_unfitted("_known")
        if not isinstance(queries, Bags):
            raise DataError(f"{self.name} compares bags, not {type(queries).__name__}")
        if queries.n_tokens != self._n_tokens:
            raise DataError(f"targets have {self._n_tokens} tokens, queries {queries.n_tokens}; use one vocabulary")
        return Posed(SparseMin(), self._known, SparseRows(queries.counts))
