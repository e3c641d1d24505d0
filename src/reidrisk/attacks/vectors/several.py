"""Attacks on records of several vectors: the nearest two of them, and all of them on average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.attacks.vectors.nearest import checked_vectors, per_product, same_space
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Vectors
from reidrisk.search.dense import NearestTwo, SeveralRows, VectorRows, VectorScorer

_PER_PAIR = 3e-9  # reference seconds for looking at a pair of vectors, beside their product
_FINE = 2.0**10  # by which both sides of a mean cosine are multiplied: its steps are then 2^-36


def all_vectors(table: Vectors) -> tuple[Any, Ints]:
    """Return all vectors of a table, and where those of each record begin."""
    if table.several is None:
        return table.values, np.arange(len(table) + 1)
    return table.several.values, table.several.start


class _AllPairs(ScoredAttack[Vectors]):
    """An attack that compares every vector of one record with every vector of another."""

    @classmethod
    def applies(cls, targets: Vectors, queries: Vectors) -> bool:
        """Whether some record is of several vectors, all have a direction, and both sides are of one space."""
        if targets.n_dimensions != queries.n_dimensions or all(table.several is None for table in (targets, queries)):
            return False
        return all(bool(all_vectors(table)[0].any(axis=1).all()) for table in (targets, queries))


def _per_pair(targets: Vectors) -> Callable[[int], float]:
    """Return the cost where every vector of the target is compared with every one of a query, taken to have as many."""
    n = len(all_vectors(targets)[0])
    each = per_product()(targets)
    times = (n / len(targets)) ** 2
    return lambda n_queries: n_queries * times * ((each(1) - each(0)) + len(targets) * _PER_PAIR)


@register(kinds=(Vectors,), cost=_per_pair, default=True)
class NearestPair(_AllPairs):
    """Link to the record with the vector that is nearest to one of the query's: the largest cosine over all pairs.

    It finds people whose vectors fall into several kinds, such as one per device or pose, of which the mean is like
    none. Where every record is one vector it is :class:`Nearest`.

    >>> known = Vectors.of_several([[1, 0], [0, 1], [3, 4]], users=["ann", "ann", "bob"])
    >>> NearestPair().fit(known).link(Vectors([[0, 2], [4, 5]])).target.tolist()
    [0, 1]
    """

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Compares every vector of one record with every vector of another, and links by the two whose directions "
            "differ least. It knows nothing of how vectors were made, and models nothing (nearest neighbour)."
        )

    def fit(self, targets: Vectors) -> Self:
        """Look at the targets."""
        self._n_dimensions = checked_vectors(targets, self.name).n_dimensions
        self._known = _rows(targets)
        return self

    def _posed(self, queries: Vectors) -> Posed:
        self._refuse_unfitted("_known")
        same_space(checked_vectors(queries, self.name), self._n_dimensions)
        return Posed(NearestTwo(), self._known, _rows(queries))


def _rows(table: Vectors) -> SeveralRows:
    values, start = all_vectors(table)
    return SeveralRows(VectorRows.of(values, "cosine"), start)


@register(kinds=(Vectors,), cost=per_product(), default=True)
class MeanPair(_AllPairs):
    """Link to the record whose vectors have the largest cosine with the query's on average over all pairs.

    That is the product of two means of vectors of length 1, in which the size of vectors does not count.

    >>> known = Vectors.of_several([[1, 0], [0, 9], [3, 4]], users=["ann", "ann", "bob"])
    >>> MeanPair().fit(known).link(Vectors([[0.0, 2.0]])).target.tolist()
    [1]
    """

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Compares every vector of one record with every vector of another by direction, and links by the mean over "
            "all of these. It knows nothing of how vectors were made, and models nothing."
        )

    def fit(self, targets: Vectors) -> Self:
        """Look at the targets."""
        self._n_dimensions = checked_vectors(targets, self.name).n_dimensions
        self._known = _mean_directions(targets)
        # No likelihoods, so nothing to be sure by: at temperature 0 a scorer gives no posterior.
        self._scorer = replace(VectorScorer.of("likelihood", self._known), temperature=0.0)
        return self

    def _posed(self, queries: Vectors) -> Posed:
        self._refuse_unfitted("_known")
        same_space(checked_vectors(queries, self.name), self._n_dimensions)
        return Posed(self._scorer, self._known, _mean_directions(queries))


def _mean_directions(table: Vectors) -> VectorRows:
    """Return the mean of each record's vectors, each of these divided by its length before."""
    values, start = all_vectors(table)
    lengths: Floats = VectorRows.of(values, "cosine").extra
    means = np.empty((len(table), table.n_dimensions), dtype=np.float32)
    for place, column in enumerate(values.T):
        means[:, place] = np.add.reduceat(column / lengths, start[:-1]) * (_FINE / np.diff(start))
    return VectorRows.of(means, "likelihood")
