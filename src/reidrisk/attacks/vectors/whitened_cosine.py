"""WhitenedCosine: the cosine where both tables together are spread alike in all directions."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from reidrisk.attacks.registry import register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.attacks.vectors.nearest import checked_vectors, per_product, same_space
from reidrisk.attacks.vectors.spread import Singles, Spread, Turn
from reidrisk.base.arrays import Ints
from reidrisk.base.errors import OptionError
from reidrisk.records import Vectors
from reidrisk.search.dense.rows import VectorRows
from reidrisk.search.dense.scorer import VectorScorer

_MOST = 50_000  # rows of a table that say how it is spread


@register(kinds=(Vectors,), cost=per_product(learning=0.2, each=4e-6), default=True)
class WhitenedCosine(ScoredAttack[Vectors]):
    """Link to the largest cosine after both tables' covariance, each about its own mean, was made the unit matrix.

    Directions in which points spread widely count no more than others: where noise is most of what spreads them, that
    finds people whom no plain distance finds. The covariance is that of the points as they are, without shrinkage.

    >>> rng = np.random.default_rng(0)
    >>> people, noise = rng.normal(size=(200, 9)), [0.1] * 8 + [30.0]
    >>> known, asked = (Vectors(people + rng.normal(size=(200, 9)) * noise) for _ in range(2))
    >>> links = WhitenedCosine().fit(known).look_around(asked).link(asked)
    >>> bool((links.target == np.arange(200)).mean() > 0.5)
    True
    """

    @classmethod
    def applies(cls, targets: Vectors, queries: Vectors) -> bool:
        """Whether both sides are of one space, and there are people enough to learn how they are spread."""
        return targets.n_dimensions == queries.n_dimensions and len(targets) > 2

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Links each vector to the one whose direction differs least, once both tables were turned so that they are "
            "spread alike in all directions. It models nothing (nearest neighbour after whitening)."
        )

    @property
    def compares_queries(self) -> bool:
        """False: all queries together say how they are spread, and none is told from the others."""
        return False

    def fit(self, targets: Vectors) -> Self:
        """Keep the targets; how both tables are spread shows when the queries come."""
        self._targets = checked_vectors(targets, self.name)
        self._chosen_rows: Ints | None = None
        self._known: Any = None
        return self

    def look_around(self, queries: Vectors) -> Self:
        """Learn how both tables are spread."""
        self._refuse_unfitted("_targets")
        same_space(checked_vectors(queries, self.name), self._targets.n_dimensions)
        tables = [table.values[:: 1 + len(table) // _MOST].astype(np.float64) for table in (self._targets, queries)]
        means = [table.mean(axis=0) for table in tables]
        total = sum((table - mean).T @ (table - mean) for table, mean in zip(tables, means, strict=True))
        white = Spread(means[0], np.asarray(total) / sum(map(len, tables))).whitening
        if not white.shape[1]:
            raise OptionError("all vectors of a table are one and the same; there is nothing to tell them apart by")
        self._turns = [Turn(mean, white) for mean in means]
        everyone = _rows(self._turns[0](self._targets.values))
        self._known = everyone if self._chosen_rows is None else everyone.take(self._chosen_rows)
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker looking at these target rows only; its row i is ``rows[i]``."""
        self._refuse_unfitted("_targets")
        chosen = self._chosen(rows, len(self._targets) if self._chosen_rows is None else len(self._chosen_rows))
        new = copy.copy(self)
        new._chosen_rows = chosen if self._chosen_rows is None else self._chosen_rows[chosen]
        new._known = None if self._known is None else self._known.take(chosen)
        return new

    def _posed(self, queries: Vectors) -> Posed:
        self._refuse_unfitted("_targets")
        if self._known is None:
            self.look_around(queries)
        same_space(checked_vectors(queries, self.name), self._targets.n_dimensions)
        return Posed(VectorScorer("cosine"), self._known, _rows(self._turns[1](queries.values)))


def _rows(values: Singles) -> VectorRows:
    """Return rows for a cosine; one at the very mean has no direction, and gets the first."""
    middle = ~values.any(axis=1)
    if middle.any():
        values = values.copy()
        values[middle, 0] = 1e-30
    return VectorRows.of(values, "cosine")
