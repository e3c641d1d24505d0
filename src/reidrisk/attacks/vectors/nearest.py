"""Nearest: link to the closest vector; the plainest attack on embeddings, and the one that everybody tries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.attacks.vectors.procrustes import Procrustes, moved
from reidrisk.attacks.vectors.spread import Turn, spread
from reidrisk.base.errors import DataError
from reidrisk.base.options import one_of
from reidrisk.records import Vectors
from reidrisk.search.dense.rows import Form, VectorRows
from reidrisk.search.dense.scorer import VectorScorer

Metric = Literal["cosine", "euclidean", "whitened"]
_PER_PRODUCT = 2.5e-11  # reference seconds for a multiplication and addition of two dimensions


def per_product(learning: float = 0.0, each: float = 0.0) -> Callable[[Any], Callable[[int], float]]:
    """Return the cost of a search among vectors: learning, ``each`` target's part of it, and all products."""

    def cost(targets: Vectors) -> Callable[[int], float]:
        start = learning + each * len(targets)
        work = len(targets) * (targets.n_dimensions + 8) * _PER_PRODUCT
        return lambda n_queries: start + n_queries * work

    return cost


def checked_vectors(records: Any, name: str) -> Vectors:
    """Return vectors, or refuse what is none."""
    if not isinstance(records, Vectors):
        raise DataError(f"{name} compares vectors, not {type(records).__name__}; wrap the numbers in records.Vectors")
    return records


def same_space(queries: Vectors, n_dimensions: int) -> None:
    """Refuse queries of another dimension than the targets have."""
    if queries.n_dimensions != n_dimensions:
        two = f"targets have {n_dimensions} dimensions, queries {queries.n_dimensions}"
        raise DataError(f"{two}; align the two spaces by known pairs (attacks.Procrustes)")


@register(kinds=(Vectors,), cost=per_product(), default=True)
class Nearest(ScoredAttack[Vectors]):
    """Link to the nearest vector: by the largest cosine, or the smallest Euclidean or whitened distance.

    ``metric="whitened"`` is the Euclidean distance after the targets' covariance was made the unit matrix
    (Mahalanobis); the covariance is learnt from the targets alone. ``align`` brings queries of another model into the
    targets' space first (:class:`Procrustes`). The answer is exact, ties and all (:mod:`reidrisk.search.dense`). A
    vector of zeros has no direction and is refused under cosine.

    >>> known = Vectors([[1.0, 0.0], [0.0, 1.0], [0.0, 9.0]])
    >>> links = Nearest().fit(known).link(Vectors([[0.1, 1.0]]))
    >>> links.target.tolist(), links.n_ties.tolist()                # two vectors of one direction tie
    ([1], [2])
    >>> Nearest("euclidean").fit(known).link(Vectors([[0.1, 1.0]])).n_ties.tolist()
    [1]
    """

    usual: ClassVar[Metric] = "cosine"

    @classmethod
    def applies(cls, targets: Vectors, queries: Vectors) -> bool:
        """Whether every vector has a direction, where that is what is compared, and both sides are of one space."""
        comparable = targets.n_dimensions == queries.n_dimensions
        return comparable and (cls.usual != "cosine" or all(t.values.any(axis=1).all() for t in (targets, queries)))

    def __init__(self, metric: Metric | None = None, align: Procrustes | None = None) -> None:
        self.metric, self.align = self.usual if metric is None else metric, align
        one_of("metric", self.metric, get_args(Metric))

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        by = {
            "cosine": "the one whose direction differs least",
            "euclidean": "the one at the smallest distance",
            "whitened": "the one at the smallest distance, each direction measured by how far the targets spread there",
        }[self.metric]
        pairs = 0 if self.align is None else self.align.n_pairs
        known = f"knows {pairs:,} people in both tables" if pairs else "knows nothing of how vectors were made"
        return f"Links each vector to {by}. It {known}, and models nothing (nearest neighbour)."

    def fit(self, targets: Vectors) -> Self:
        """Look at the targets; for the whitened distance, learn how they are spread."""
        known = checked_vectors(targets, self.name)
        self._turn: Turn | None = None
        self._n_dimensions = known.n_dimensions
        if self.metric == "whitened":
            found = spread(known.values)
            self._turn = Turn(found.mean, found.whitening)
        self._form: Form = "cosine" if self.metric == "cosine" else "distance"
        self._known = self._points(known)
        self._scorer = VectorScorer.of(self._form, self._known)
        return self

    def _posed(self, queries: Vectors) -> Posed:
        self._refuse_unfitted("_known")
        asked = moved(self.align, checked_vectors(queries, self.name))
        same_space(asked, self._n_dimensions)
        return Posed(self._scorer, self._known, self._points(asked))

    def _points(self, vectors: Vectors) -> VectorRows:
        values = vectors.values if self._turn is None else self._turn(vectors.values)
        return VectorRows.of(np.asarray(values), self._form)


@register(kinds=(Vectors,), cost=per_product(), default=True)
class NearestEuclidean(Nearest):
    """Link to the vector at the smallest Euclidean distance.

    >>> NearestEuclidean().fit(Vectors([[1.0, 0.0], [0.0, 5.0]])).link(Vectors([[0.0, 1.0]])).target.tolist()
    [0]
    """

    usual = "euclidean"


@register(kinds=(Vectors,), cost=per_product(learning=0.2, each=2e-6), default=True)
class NearestWhitened(Nearest):
    """Link to the vector at the smallest distance where all directions have the same spread.

    >>> rng = np.random.default_rng(0)
    >>> points = Vectors(rng.normal(size=(50, 2)) * [9.0, 0.1])
    >>> NearestWhitened().fit(points).link(points).target.tolist() == list(range(50))
    True
    """

    usual = "whitened"
