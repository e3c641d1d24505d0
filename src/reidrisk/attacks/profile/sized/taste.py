"""Taste: what somebody with such a record is likely to have besides, by which items go together among the targets.

Anybody has item i with probability p_i, somebody whose taste is v with p_i exp(v x_i) / Z(v): a log-linear model. Item
vectors x are the strongest eigenvectors of positive pointwise mutual information, max(0, log(n n_ij / (n_i n_j))): n_i
of n targets hold item i and n_ij both (Levy and Goldberg 2014), each of length 1, less their mean under p. The
taste of a record of k different items is the mode of its posterior, if log Z is taken to be quadratic and v normal with
a ``precision``: (k S + precision)^-1 sum x_i over its items, S the covariance of item vectors under p.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.base import Floats, Ints, stream
from reidrisk.records.order import content_keys

PRECISIONS = 1.0, 2.0, 4.0, 8.0
COARSE = 8.0  # sums of item vectors are long and tastes short: of both, about as much is lost on the grid
_AXES, _SPARE, _ROUNDS = 32, 16, 8
_PAIRS, _ITEMS = (
    20_000_000,
    300,
)  # pairs of items that are counted, and items of a record that still says what goes together
_TERMS, _FEWEST = 400_000_000, 2_000  # of Z: in all, and items that are added up one by one, at least


class Placed(NamedTuple):
    """Tastes of records, (n, axes), and log Z of each."""

    taste: Floats
    norm: Floats


class Taste:
    """Item vectors and how sure tastes are; :meth:`learnt` makes one."""

    def __init__(self, vectors: Floats, popularity: Floats, precision: float) -> None:
        self.precision, self.popularity = precision, popularity
        centred = vectors - popularity @ vectors
        self.spread, axes = np.linalg.eigh((centred * popularity[:, None]).T @ centred)
        self.vectors = centred @ axes
        self._kept: tuple[Tally, Placed] | None = None

    @classmethod
    def learnt(cls, table: Tally, popularity: Floats, seed: int, precision: float = PRECISIONS[1]) -> Taste | None:
        """Learn which items go together; ``None`` where none do."""
        vectors = item_vectors(table, seed)
        return None if vectors is None else cls(vectors, popularity, precision)

    def at(self, precision: float) -> Taste:
        """Return the same items with another precision."""
        return Taste(self.vectors, self.popularity, precision)

    def placed(self, table: Tally) -> Placed:
        """Return the tastes of records; those of the last table are kept."""
        if self._kept is None or self._kept[0] is not table:
            each = _once(table) @ self.vectors / (table.variety[:, None] * self.spread + self.precision)
            self._kept = table, Placed(each, np.log(self._total(each)))
        return self._kept[1]

    def tilt(self, table: Tally) -> Floats:
        """Return v x_i for each entry of the table."""
        each, row, item = self.placed(table).taste, table.rows, table.counts.indices
        out = np.empty(len(row))
        for first in range(0, len(row), 1 << 20):
            part = slice(first, first + (1 << 20))
            out[part] = np.einsum("nk,nk->n", each[row[part]], self.vectors[item[part]])
        return out

    def asked(self, table: Tally, times: Floats) -> Floats:
        """Return the sum of item vectors of each record, an entry counted ``times``."""
        return np.asarray(_with(table, times) @ self.vectors)

    def _total(self, tastes: Floats) -> Floats:
        """Return Z: popular items one by one; of the others, where these are too many, by mean and covariance."""
        popular = _popular(self.popularity, max(_FEWEST, _TERMS // max(len(tastes), 1)))
        x, p = self.vectors[popular], self.popularity[popular]
        total = np.concatenate([np.exp(tastes[k : k + 256] @ x.T) @ p for k in range(0, len(tastes), 256)])
        rest = ~popular
        if rest.any():
            share = self.popularity[rest]
            mean = share @ self.vectors[rest] / share.sum()
            off = self.vectors[rest] - mean
            covariance = (off * share[:, None]).T @ off / share.sum()
            total += share.sum() * np.exp(tastes @ mean + 0.5 * np.einsum("nk,nk->n", tastes @ covariance, tastes))
        return np.asarray(total)


def item_vectors(table: Tally, seed: int) -> Floats | None:
    """Return (items, axes) vectors of length 1, or 0 for an item that goes with none; ``None`` if no two go together.

    >>> from reidrisk import Bags
    >>> vectors = item_vectors(Tally.of(Bags([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])), seed=0)
    >>> (vectors @ vectors.T).round(6).tolist()[0]
    [1.0, 1.0, 0.0, 0.0]
    """
    from scipy import sparse

    held = _once(table.take(_telling(table, seed)))
    together = (held.T @ held).tocoo()
    alone, width = np.bincount(held.indices, minlength=held.shape[1]), held.shape[1]
    i, j = together.coords
    gain = np.log(together.data * held.shape[0]) - np.log(alone[i] * alone[j])
    more = (i != j) & (gain > 1e-9)
    if not more.any():
        return None
    matrix = sparse.csr_array((gain[more], (i[more], j[more])), shape=(width, width))
    # Beginning with the most popular items, and not by lot, the names of items do not matter.
    last, _ = content_keys([held])
    first = np.lexsort([last, alone])[::-1][: _AXES + _SPARE]
    within = matrix[:, np.sort(first)].toarray()
    for _ in range(_ROUNDS):
        within, _ = np.linalg.qr(matrix @ within)
    strength, axes = np.linalg.eigh(within.T @ (matrix @ within))
    best = np.argsort(strength)[::-1][:_AXES]
    best = best[strength[best] > 1e-9]
    vectors = within @ axes[:, best] * np.sqrt(strength[best])
    return np.asarray(vectors / np.maximum(np.sqrt((vectors**2).sum(axis=1, keepdims=True)), 1e-9))


def _telling(table: Tally, seed: int) -> Ints:
    """Return the records that say which items go together: in the order of a lot, until there are enough pairs."""
    rows = table.in_order(table.holders)
    rows = rows[(table.variety[rows] > 1) & (table.variety[rows] <= _ITEMS)]
    rows = stream(seed, "profile bayes taste").permutation(rows)
    return np.asarray(rows[np.cumsum(table.variety[rows] ** 2) <= _PAIRS])


def _popular(popularity: Floats, most: int) -> Any:
    if len(popularity) <= most:
        return np.ones(len(popularity), dtype=np.bool_)
    limit = np.partition(popularity, -most)[-most]
    popular = popularity >= limit
    return popular if popular.sum() <= 2 * most else popularity > limit


def _once(table: Tally) -> Any:
    return _with(table, np.ones(table.counts.nnz))


def _with(table: Tally, values: Floats) -> Any:
    from scipy import sparse

    return sparse.csr_array((values, table.counts.indices, table.counts.indptr), shape=table.counts.shape)
