"""The attack on bags: link to the target that has most items in common, whatever their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Posed, ScoredAttack
from reidrisk.attacks.registry import per_pair, register
from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError
from reidrisk.records import Bags
from reidrisk.search import ByBlocks


@register(kinds=(Bags,), cost=per_pair(1e-8))
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

    def fit(self, targets: Bags) -> Self:
        """Lay the targets out by item."""
        if not isinstance(targets, Bags):
            raise DataError(f"{self.name} compares bags, not {type(targets).__name__}")
        self._n_tokens = targets.n_tokens
        self._depth = int(targets.counts.data.max(initial=0))
        self._known = Items(_repeated(targets, self._depth))
        return self

    def _posed(self, queries: Bags) -> Posed:
        self._refuse_unfitted("_known")
        if not isinstance(queries, Bags):
            raise DataError(f"{self.name} compares bags, not {type(queries).__name__}")
        if queries.n_tokens != self._n_tokens:
            raise DataError(f"targets have {self._n_tokens} tokens, queries {queries.n_tokens}; use one vocabulary")
        return Posed(CommonItems(), self._known, Items(_repeated(queries, self._depth)))


@dataclass(frozen=True, eq=False)
class Items:
    """The items of each record, a row a record, a column for each copy of an item."""

    rows: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, rows: Any) -> Items:
        return Items(self.rows[rows])

    take = __getitem__

    @cached_property
    def by_item(self) -> Any:
        """The same with a row for each copy of an item."""
        return self.rows.T.tocsr()


@dataclass(frozen=True)
class CommonItems(ByBlocks):
    """The score of :class:`Overlap`, for an engine: nothing is learnt."""

    def scores(self, targets: Items, queries: Items, reach: Ints | None = None) -> npt.NDArray[np.signedinteger[Any]]:
        """Count the items that every query shares with every target."""
        return np.asarray((queries.rows @ targets.by_item).toarray())

    def pairs(self, targets: Items, queries: Items, rows: Ints) -> Ints:
        """Count the items that each query shares with the target row given for it."""
        return np.asarray(queries.rows.multiply(targets.rows[rows]).sum(axis=1)).ravel().astype(np.int64)


def _repeated(bags: Bags, depth: int) -> Any:
    """Give the first, second, … copy of an item columns of their own: then common items are common columns."""
    from scipy import sparse

    counts = np.minimum(bags.counts.data, depth)
    rows = np.repeat(np.arange(len(bags)), np.diff(bags.counts.indptr))
    copies = np.repeat(np.arange(len(counts)), counts)
    ordinal = np.arange(len(copies)) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = bags.counts.indices.astype(np.int64)[copies] + ordinal * bags.n_tokens
    ones = np.ones(len(copies), dtype=np.int32)
    return sparse.csr_array((ones, (rows[copies], columns)), shape=(len(bags), bags.n_tokens * max(depth, 1)))
