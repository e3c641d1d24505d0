"""RawTable: the rows of a file as they came, by person, so that an attack can compare every cell of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, Ints, frozen
from reidrisk.records.parts import InParts


class RawTable(InParts):
    """Every cell of every column of a file, used or not, the id apart; its rows lie by person.

    ``columns`` are Arrow columns of one length, by name. Row ``row[j]`` of them, j from ``start[i]`` to
    ``start[i + 1]``, is person i's; a person may have none, and rows of nobody are not listed.

    >>> import pyarrow as pa
    >>> raw = RawTable.of({"price": pa.chunked_array([[5, 7, 9]])}, owner=np.array([1, 0, 1]), n=2)
    >>> raw, raw.column("price").to_pylist(), raw.owner.tolist()
    (RawTable(3 rows of 2 people, 1 column), [7, 5, 9], [0, 1, 1])
    >>> raw.take(np.array([1])).column("price").to_pylist()
    [5, 9]
    """

    __slots__ = ("columns", "row", "start")

    def __init__(self, columns: Mapping[str, Any], row: Ints, start: Ints) -> None:
        self.columns, self.row, self.start = columns, frozen(row), frozen(start)

    @classmethod
    def of(cls, columns: Mapping[str, Any], owner: Ints, n: int) -> Self:
        """Return the rows of ``n`` people; row i of the columns is of person ``owner[i]``, -1 = of nobody."""
        lengths = {name: len(cells) for name, cells in columns.items() if len(cells) != len(owner)}
        if lengths or (len(owner) and int(owner.max()) >= n):
            raise DataError(f"there are {len(owner):,} rows of {n:,} people, and columns of other lengths: {lengths}")
        order = np.argsort(owner, kind="stable")[int(np.count_nonzero(owner < 0)) :]
        return cls(columns, order, np.searchsorted(owner[order], np.arange(n + 1)).astype(np.int64))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def column(self, name: str) -> Any:
        """Return the cells of a column as an Arrow array, person by person."""
        return self.columns[name].take(self.row)

    def without(self, names: tuple[str, ...]) -> Self:
        """Return the same rows without these columns."""
        return type(self)(
            {name: cells for name, cells in self.columns.items() if name not in names}, self.row, self.start
        )

    def take(self, people: Ints | slice) -> Self:
        """Return the rows of the chosen people, in that order."""
        place, start = self.places(people)
        return type(self)(self.columns, self.row[place], start)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __repr__(self) -> str:
        columns = f"{len(self.columns)} column{'s' * (len(self.columns) != 1)}"
        return f"RawTable({len(self.row):,} rows of {len(self):,} people, {columns})"
