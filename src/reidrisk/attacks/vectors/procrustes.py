"""Procrustes: bring the vectors of one model into the space of another, from people known in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.vectors.spread import Turn
from reidrisk.base.arrays import Floats
from reidrisk.base.errors import DataError
from reidrisk.records import Vectors


@dataclass(frozen=True, eq=False)
class Procrustes:
    """The rotation that brings queries of known people closest to their targets (Schönemann 1966).

    Row i of ``targets`` and of ``queries`` are one person, s of them in all. With M = sum over pairs of
    (x - mean) (y - mean)^T = U S V^T, a query x becomes (x - mean of x) U V^T + mean of y. Fewer pairs than dimensions
    say nothing of the other directions, which are then left out. The two spaces may be of different dimensions. With
    no pair at all (``Procrustes()``), or one, queries stay as they are.

    >>> known = Vectors([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    >>> turned = Vectors(known.values @ np.array([[0.0, 1.0], [-1.0, 0.0]], dtype=np.float32))
    >>> bool(np.allclose(Procrustes(known, turned).moved(turned).values, known.values, atol=1e-6))
    True
    """

    targets: Vectors | None = None
    queries: Vectors | None = None

    def __post_init__(self) -> None:
        if (self.targets is None) != (self.queries is None):
            raise DataError("known pairs are two tables of vectors, row by row the same people; give both or neither")
        if self.targets is None or self.queries is None:
            return
        for table in (self.targets, self.queries):
            if not isinstance(table, Vectors):
                raise DataError(f"known pairs are Vectors, not {type(table).__name__}; wrap the numbers in Vectors")
        if len(self.targets) != len(self.queries):
            sizes = f"{len(self.targets):,} targets and {len(self.queries):,} queries"
            raise DataError(f"known pairs have {sizes}; row by row they must be the same people")

    @property
    def n_pairs(self) -> int:
        """Number of people known in both."""
        return 0 if self.targets is None else len(self.targets)

    def moved(self, queries: Vectors) -> Vectors:
        """Return queries in the space of the targets."""
        if self.targets is None or self.queries is None or self.n_pairs < 2:
            return queries
        if queries.n_dimensions != self.queries.n_dimensions:
            there, here = self.queries.n_dimensions, queries.n_dimensions
            raise DataError(f"the known pairs have queries of {there} dimensions, these have {here}; give the same")
        y, x = (table.values.astype(np.float64) for table in (self.targets, self.queries))
        mean_y, mean_x = y.mean(axis=0), x.mean(axis=0)
        turn = _rotation(x - mean_x, y - mean_y)
        # The mean is added in single precision, which is all that the rows have.
        return queries.mapped(lambda points: Turn(mean_x, turn)(points) + mean_y.astype(np.float32))


def _rotation(x: Floats, y: Floats) -> Floats:
    u, strength, v = np.linalg.svd(x.T @ y, full_matrices=False)
    kept = strength > max(float(strength.max(initial=0.0)), 1e-300) * 1e-9
    return np.asarray(u[:, kept] @ v[kept])


def moved(align: Any, queries: Vectors) -> Vectors:
    """Return queries aligned, where there is something to align by."""
    if align is None:
        return queries
    if not isinstance(align, Procrustes):
        raise DataError(f"align is a Procrustes of known pairs or None, not {type(align).__name__}")
    return align.moved(queries)
