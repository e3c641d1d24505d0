"""Scores that are products of dense rows of whole numbers: such as embeddings, rounded once to a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError
from reidrisk.search.answer import ByBlocks

_EXACT = 2.0**53  # up to here whole numbers and their sums are exact in float64, in whatever order they are added


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Records as rows of whole numbers (n, d), small enough that every product of two rows is exact in float64."""

    rows: npt.NDArray[np.signedinteger[Any]]

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or self.rows.dtype.kind != "i":
            raise DataError(f"rows must be whole numbers (n, d), not {self.rows.dtype} {self.rows.shape}")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: Any) -> DenseRows:
        return DenseRows(self.rows[rows])

    take = __getitem__

    @cached_property
    def largest(self) -> float:
        """The largest number, without its sign."""
        return float(np.abs(self.rows.astype(np.int64)).max(initial=0))


@dataclass(frozen=True)
class DenseDot(ByBlocks):
    """The product of a query's row and a target's: score(x, y) = sum_i x_i y_i, exactly.

    >>> DenseDot().scores(DenseRows(np.array([[1, 2], [0, 3]])), DenseRows(np.array([[2, -1]]))).tolist()
    [[0, -3]]
    """

    def scores(self, targets: DenseRows, queries: DenseRows, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        if not targets.largest * queries.largest * targets.rows.shape[1] < _EXACT:
            raise DataError("the numbers of the rows are too large for exact scores; round them to a coarser grid")
        product = queries.rows.astype(np.float64) @ targets.rows.astype(np.float64).T
        return np.asarray(product).astype(np.int64)

    def pairs(self, targets: DenseRows, queries: DenseRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        return np.asarray(np.einsum("ij,ij->i", queries.rows.astype(np.int64), targets.rows[rows].astype(np.int64)))
