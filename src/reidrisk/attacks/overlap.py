"""The attack on bags: link to the target that has most items in common, whatever their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Attack, Links, check_k
from reidrisk.attacks.registry import per_pair, register
from reidrisk.base.errors import DataError
from reidrisk.base.progress import Progress
from reidrisk.records import Bags
from reidrisk.search import Best
from reidrisk.search.engines import Engine, LocalEngine

_ENTRIES = 20_000_000  # scores held at once: some 240 MB


@register(kinds=(Bags,), cost=per_pair(1e-8))
class Overlap(Attack[Bags]):
    """Link to the target that shares most items: score(q, t) = sum over tokens of min(count in q, count in t).

    The unordered counterpart of the Hamming attack (carey, Section E.2), for systems that hand out samples without
    epochs. A query that shares nothing with anyone ties with everyone.

    Examples
    --------
    >>> targets = Bags([[1, 1, 0], [0, 1, 1]])
    >>> links = Overlap().fit(targets).link(Bags([[0, 1, 2]]))
    >>> links.target.tolist(), links.score.tolist(), links.n_ties.tolist()
    ([1], [2], [1])
    """

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Links a record to the one that has most items in common with it, in whatever order they came. "
            "It knows nothing of the system (the unordered form of carey, Example 1)."
        )

    def fit(self, targets: Bags) -> Self:
        """Lay the targets out by item."""
        if not isinstance(targets, Bags):
            raise DataError(f"{self.name} compares bags, not {type(targets).__name__}")
        self._n, self._n_tokens = len(targets), targets.n_tokens
        self._depth = int(targets.counts.data.max(initial=0))
        self._items = Items(_repeated(targets, self._depth))
        return self

    def link(self, queries: Bags, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to the target it shares most with; there is no model, so no probability."""
        asked = self._asked(queries)
        found = (engine or LocalEngine()).best(CommonItems(), self._items, asked)
        return Links(target=found.target, score=found.score, n_ties=found.n_ties)

    def score(self, queries: Bags, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the number of items each query shares with the given target."""
        asked = self._asked(queries)
        rows = self._rows(target_index, len(queries), self._n)
        return np.asarray(asked.multiply(self._items.rows[rows]).sum(axis=1)).ravel().astype(np.int64)

    def candidates(
        self, queries: Bags, k: int, among: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the k best targets of each query and their scores, best first."""
        among = None if among is None else self._chosen(among, self._n)
        n = self._n if among is None else len(among)
        check_k(k, n)
        rows, scores = (np.zeros((len(queries), k), dtype=np.int64) for _ in range(2))
        for start, block in self._blocks(queries):
            dense = block.toarray() if among is None else block.toarray()[:, among]
            best = np.argsort(-dense, axis=1, kind="stable")[:, :k]
            rows[start : start + len(best)] = best
            scores[start : start + len(best)] = np.take_along_axis(dense, best, axis=1)
        return rows if among is None else among[rows], scores

    def near_best(self, queries: Bags, reach: npt.NDArray[np.int64]) -> npt.NDArray[np.signedinteger[Any]] | None:
        """Return the number of items every query shares with every target."""
        out = np.zeros((len(queries), self._n), dtype=np.int32)
        for start, block in self._blocks(queries):
            out[start : start + block.shape[0]] = block.toarray()
        return out

    def _asked(self, queries: Bags) -> Any:
        self._refuse_unfitted("_items")
        if not isinstance(queries, Bags):
            raise DataError(f"{self.name} compares bags, not {type(queries).__name__}")
        if queries.n_tokens != self._n_tokens:
            raise DataError(
                f"targets have {self._n_tokens} tokens, queries have {queries.n_tokens}; use one vocabulary"
            )
        return _repeated(queries, self._depth)

    def _blocks(self, queries: Bags) -> Iterator[tuple[int, Any]]:
        asked = self._asked(queries)
        return self._items.common(asked)


@dataclass(frozen=True, eq=False)
class Items:
    """The items of the targets, a row a target, a column for each copy of an item."""

    rows: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, rows: npt.NDArray[np.int64]) -> Items:
        """Return the chosen targets, in that order."""
        return Items(self.rows[rows])

    @cached_property
    def _by_item(self) -> Any:
        return self.rows.T.tocsr()

    def common(self, asked: Any) -> Iterator[tuple[int, Any]]:
        """Yield (first query, sparse scores of a block of queries), never more than a bounded number of scores."""
        size = max(1, min(1_024, _ENTRIES // max(len(self), 1)))
        for start in range(0, asked.shape[0], size):
            yield start, (asked[start : start + size] @ self._by_item).tocsr()


@dataclass(frozen=True)
class CommonItems:
    """The score of :class:`Overlap`, for an engine: nothing is learnt."""

    def best(self, targets: Items, queries: Any, progress: Progress | None = None) -> Best:
        """Find the targets that share most items with each query; one that shares nothing ties with everyone."""
        target, score, n_ties = (np.zeros(queries.shape[0], dtype=np.int64) for _ in range(3))
        for start, block in targets.common(queries):
            for i in range(block.shape[0]):
                values = block.data[block.indptr[i] : block.indptr[i + 1]]
                if not values.size:
                    n_ties[start + i] = len(targets)
                    continue
                best = values.max()
                tied = block.indices[block.indptr[i] : block.indptr[i + 1]][values == best]
                target[start + i], score[start + i], n_ties[start + i] = tied.min(), best, tied.size
        return Best(score, n_ties, target)


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
