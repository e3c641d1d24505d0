"""What the simple attacks share: records as counts of items, weighed on both sides, scored by a sparse product."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from reidrisk.attacks.base import check_comparable
from reidrisk.attacks.pooled import Pooled
from reidrisk.attacks.profile.counts import one_table
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import DataError, Ints
from reidrisk.records import Bags, Traces
from reidrisk.search import GRID
from reidrisk.search.sparse import SparseDot, SparseRows

Counted = Traces | Bags | Pooled | Sequence[Traces]

UNIT_STEPS = 1 << 26  # steps of the grid for weights of rows of length 1: their products stay below 2^53


class Rival(ScoredAttack[Counted]):
    """An attack whose score is a sum, over the items that both records hold, of a weight of each side multiplied.

    A subclass learns from the counts of the targets, if it has something to learn, and weighs targets and queries.
    Weights in floats are rounded once, to whole multiples of 1 / ``steps``; whole numbers stay as they are. Columns may
    be added, such as one that every target holds: then a constant of the target times a number of the query is part
    of the score. A ``likelihood`` has probabilities, if target weights are in nats and query weights whole.

    By default order says nothing: traces are counted, a missing token adds nothing, and the counts of observers who
    pool what they saw add up. What else is counted of traces, ``_counts`` says; where that goes by epoch
    (``same_epochs``), both sides must have the same number of them.
    """

    kinds: ClassVar[tuple[type, ...]] = (Bags, Traces)
    steps: ClassVar[int] = GRID
    likelihood: ClassVar[bool] = False
    same_epochs: ClassVar[bool] = False
    of_parts: ClassVar[Literal["no", "also", "only"]] = "also"

    def fit(self, targets: Counted) -> Self:
        """Count and weigh the items of the targets."""
        self._n_epochs, table = self._table(targets)
        counts = self._counts(table, self._n_epochs)
        self._targets = table.take(np.zeros(1, dtype=np.int64))  # its vocabulary is all that is asked for later
        self._learn(counts)
        self._known = self._rounded(self._weigh_targets(counts))
        return self

    def _laid_out(self, targets: Counted) -> SparseRows:
        n_epochs, table = self._table(targets)
        check_comparable(self._targets, table, (self._n_epochs, n_epochs))
        return self._rounded(self._weigh_targets(self._counts(table, n_epochs)))

    def _counts(self, table: Any, n_epochs: int) -> Any:
        """Return the csr_array of what is counted; the epochs of pooled observers stand side by side."""
        return counts_of(table)

    def _learn(self, counts: Any) -> None:
        """Learn from the counts of the targets."""
        return

    @abstractmethod
    def _weigh_targets(self, counts: Any) -> Any:
        """Return the csr_array of the targets' weights."""

    @abstractmethod
    def _weigh_queries(self, counts: Any) -> Any:
        """Return the csr_array of the queries' weights."""

    def _posed(self, queries: Counted) -> Posed:
        self._refuse_unfitted("_known")
        n_epochs, table = self._table(queries)
        if type(table) is not type(self._targets):
            one, two = type(self._targets).__name__, type(table).__name__
            raise DataError(f"the targets are {one}, the queries {two}; give both as one or the other")
        check_comparable(self._targets, table, (self._n_epochs, n_epochs) if self.same_epochs else (0, 0))
        asked = self._rounded(self._weigh_queries(self._counts(table, n_epochs)))
        return Posed(SparseDot(float(self.steps) if self.likelihood else 0.0), self._known, asked)

    def _table(self, records: Counted) -> tuple[int, Traces | Bags]:
        """Return the number of epochs, and all that was seen as one table of a kind that this attack compares."""
        n_epochs, table = one_table(records, self.name)
        if not isinstance(table, self.kinds):
            raise DataError(f"{self.name} compares traces, not {type(table).__name__}: it asks when tokens were seen")
        return n_epochs, table

    def _rounded(self, weights: Any) -> SparseRows:
        if weights.dtype.kind == "f":
            weights = with_data(weights, np.rint(weights.data * self.steps).astype(np.int64))
        return SparseRows(weights)


def counts_of(records: Traces | Bags) -> Any:
    """Return how often each record holds each item: an (n, n_tokens) ``csr_array`` of whole numbers.

    >>> counts_of(Traces([[2, 0, 2], [1, -1, -1]], n_tokens=3)).toarray().tolist()
    [[1, 0, 2], [0, 1, 0]]
    """
    if isinstance(records, Bags):
        return records.counts.astype(np.int64)
    from scipy import sparse

    seen = records.observed
    start = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    held = records.tokens[seen].astype(np.int64)
    counts = sparse.csr_array((np.ones(len(held), dtype=np.int64), held, start), (len(records), records.n_tokens))
    counts.sum_duplicates()
    return counts


def with_data(counts: Any, data: Any) -> Any:
    """Return the csr_array with other values at the same places."""
    from scipy import sparse

    return sparse.csr_array((data, counts.indices, counts.indptr), counts.shape)


def with_column(counts: Any, column: Any) -> Any:
    """Return the csr_array with one more column, which every row holds."""
    from scipy import sparse

    n, width = counts.shape
    start = counts.indptr.astype(np.int64)
    data, indices = np.insert(counts.data, start[1:], column), np.insert(counts.indices, start[1:], width)
    return sparse.csr_array((data, indices, start + np.arange(n + 1)), (n, width + 1))


def rows_of(counts: Any) -> Ints:
    """Return the row of each entry."""
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def sizes_of(counts: Any) -> Ints:
    """Return how much each row holds."""
    return np.asarray(counts.sum(axis=1), dtype=np.int64).ravel()


def holders(counts: Any) -> Ints:
    """Return how many rows hold each item."""
    return np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.int64)
