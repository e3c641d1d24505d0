"""Cells: records of real numbers, some of which are not known."""

from typing import Any

import numpy as np

from reidrisk.base import ArrayLike, DataError, Floats, as_users
from reidrisk.records.base import Rows
from reidrisk.records.registry import register


@register("cells of numbers")
class Cells(Rows):
    """Records of real numbers, such as flattened transition matrices; a cell that is not known is NaN.

    ``values`` is (n, m), one record per row; ``users`` are their ids, if any.

    >>> Cells([[0.2, 0.8], [0.5, float("nan")]])
    Cells(2 records x 2 cells, 25 % unknown)
    """

    __slots__ = ()
    _rows: Floats

    def __init__(self, values: ArrayLike, users: Any = None) -> None:
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 2 or not array.shape[1]:
            raise DataError(f"cells must have shape (records, cells), not {array.shape}")
        if np.isinf(array).any():
            raise DataError(f"record {int(np.argwhere(np.isinf(array))[0][0])} has an infinite cell; NaN means unknown")
        self._rows, self._users, self._notes = array, as_users(users, len(array)), ()

    @property
    def values(self) -> Floats:
        """The (n, m) array."""
        return self._rows

    @property
    def n_cells(self) -> int:
        """Number of cells of a record."""
        return int(self.values.shape[1])

    def __repr__(self) -> str:
        unknown = 100.0 * float(np.isnan(self.values).mean()) if self.values.size else 0.0
        return f"Cells({len(self):,} records x {self.n_cells} cells, {unknown:.0f} % unknown)"
