"""Affinity: link to the target whose items go together with the query's, even where they share none."""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.base import check_comparable
from reidrisk.attacks.profile.counts import one_table
from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.rivals.base import Counted, counts_of, holders, with_data
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import Floats, checked_seed, stream
from reidrisk.records import Bags, Traces
from reidrisk.search.dense import DenseDot, DenseRows

_RECORDS, _ITEMS = 10_000, 100  # records that say which items go together, and items of one that are looked at
_STEPS = 1 << 10  # of a coordinate: far coarser than what the order of a sum can change
_SPARE, _ROUNDS = 16, 5  # of the decomposition: vectors beside those wanted, and rounds
_DENSE = 300  # items up to which the decomposition is of the whole matrix


@register(kinds=(Bags, Traces), cost=per_pair(1e-8, learning=1.5), default=True, whole=True)
class Affinity(ScoredAttack[Counted]):
    """Link to the target with the nearest taste: the cosine of two means of item vectors, where rare items weigh more.

    Item vectors are a truncated singular value decomposition of positive pointwise mutual information,
    max(0, log(n n_ij / (n_i n_j))), where n_i of n targets hold item i and n_ij both items: which items go together is
    learnt from the targets alone (Levy and Goldberg 2014). A record is the mean of the vectors of the items it holds,
    each times log((1 + n) / (1 + n_i)), less the mean over targets. How often an item is held says nothing here, so
    doubling every count changes nothing. A record without items is as far from all.

    >>> attack = Affinity(size=2).fit(Bags([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 0, 1, 0, 0]]))
    >>> attack.link(Bags([[0, 0, 0, 1, 0]])).target.tolist()
    [2]
    """

    description = (
        "Learns from the targets which items go together, and links to the one whose items go best with those of the "
        "query: the two need not share any. It knows nothing of the system (embeddings of items)."
    )

    @classmethod
    def applies(cls, targets: Counted, queries: Counted) -> bool:
        """Whether these are bags: epoch by epoch, other attacks see what traces share.

        >>> bags, traces = Bags([[1, 1]]), Traces([[0]], n_tokens=1)
        >>> Affinity.applies(bags, bags), Affinity.applies(traces, traces)
        (True, False)
        """
        return isinstance(targets, Bags)

    def __init__(self, size: int = 64, seed: int = 0) -> None:
        self.size, self.seed = size, checked_seed(seed)

    def fit(self, targets: Counted) -> Self:
        """Learn which items go together, and place the targets among them."""
        _, table = one_table(targets, self.name)
        counts = counts_of(table)
        self._targets = table.take(np.zeros(1, dtype=np.int64))
        self._rarity = np.log((1 + counts.shape[0]) / (1 + holders(counts)))
        self._items = _item_vectors(counts, self.size, self.seed)
        placed = self._placed(counts)
        # Rounded, so that the order of people does not matter.
        self._mean = np.round(placed.mean(axis=0), 9)
        self._known = self._rounded(placed)
        return self

    def _posed(self, queries: Counted) -> Posed:
        self._refuse_unfitted("_known")
        _, table = one_table(queries, self.name)
        check_comparable(self._targets, table, (0, 0))
        return Posed(DenseDot(), self._known, self._rounded(self._placed(counts_of(table))))

    def _placed(self, counts: Any) -> Floats:
        """Return the sum of the weighted item vectors of each record, divided by the sum of the weights."""
        weights = self._rarity[counts.indices]
        total = np.bincount(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), weights, counts.shape[0])
        return np.asarray(with_data(counts, weights) @ self._items / np.maximum(total, 1e-12)[:, None])

    def _rounded(self, placed: Floats) -> DenseRows:
        less = placed - self._mean
        less[~placed.any(axis=1)] = 0.0
        length = np.sqrt((less**2).sum(axis=1, keepdims=True))
        return DenseRows(np.rint(less / np.maximum(length, 1e-12) * _STEPS).astype(np.int64))


def _item_vectors(counts: Any, size: int, seed: int) -> Floats:
    """Return (n_tokens, d) vectors of length 1, or 0 for an item that goes with none."""
    from scipy import sparse

    held = _few_items(counts, seed)
    together = (held.T @ held).tocoo()
    alone, n = held.sum(axis=0), held.shape[0]
    i, j = together.coords
    apart = i != j
    gain = np.log(together.data[apart] * n / (alone[i[apart]] * alone[j[apart]]))
    more = gain > 1e-9
    width = counts.shape[1]
    matrix = sparse.csr_array((gain[more], (i[apart][more], j[apart][more])), shape=(width, width))
    if not matrix.nnz:
        return np.zeros((width, 1))
    if width <= _DENSE:
        left, strength, _ = np.linalg.svd(matrix.toarray())
        left, strength = left[:, :size], strength[:size]
    else:
        left, strength = _decomposed(matrix, size, seed)
    vectors = left * np.sqrt(np.maximum(strength, 0.0))
    return np.asarray(vectors / np.maximum(np.sqrt((vectors**2).sum(axis=1, keepdims=True)), 1e-9))


def _decomposed(matrix: Any, size: int, seed: int) -> tuple[Floats, Floats]:
    """Return the strongest left singular vectors and their values, by subspace iteration (Halko et al. 2011)."""
    within = stream(seed, "affinity: start").normal(size=(matrix.shape[0], size + _SPARE))
    for _ in range(_ROUNDS):
        within, _ = np.linalg.qr(matrix @ within)  # the matrix is symmetric
    left, strength, _ = np.linalg.svd(np.asarray((matrix @ within).T), full_matrices=False)
    return within @ left[:, :size], strength[:size]


def _few_items(counts: Any, seed: int) -> Any:
    """Return which records hold which items, as 0 and 1: some records, and some items of each, chosen by lot."""
    from scipy import sparse

    rng = stream(seed, "affinity")
    n, width = counts.shape
    rows = np.arange(n) if n <= _RECORDS else np.sort(rng.choice(n, _RECORDS, replace=False))
    part = counts[rows]
    row = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
    order = np.lexsort((rng.random(len(row)), row))
    kept = order[np.arange(len(row)) - part.indptr[row] < _ITEMS]  # row[order] is row
    shape = (len(rows), width)
    return sparse.csr_array((np.ones(len(kept)), (row[kept], part.indices[kept])), shape=shape)
