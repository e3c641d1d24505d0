"""Vectors: records that are points, such as embeddings of people, faces, voices or texts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.streams import stream
from reidrisk.base.users import UserIds, as_users, take_users
from reidrisk.records.base import frozen

Values = npt.NDArray[np.float32]


class Vectors:
    """Records that are points: ``values`` is (n, d), one row per record, kept in single precision.

    ``users`` are the ids of the rows, if any. What is not a finite number is refused: a vector with a gap cannot be
    compared (:class:`reidrisk.records.Cells` may have gaps).

    >>> Vectors([[0.2, 0.8], [0.5, 0.1]], users=["ann", "bob"])
    Vectors(2 records x 2 dimensions)
    """

    __slots__ = ("_notes", "_users", "_values")

    def __init__(self, values: Any, users: Any = None) -> None:
        self._values: Values = frozen(_checked(values))
        self._users: UserIds | None = as_users(users, len(self._values))
        self._notes: tuple[Note, ...] = ()

    @property
    def values(self) -> Values:
        """The read-only (n, d) array."""
        return self._values

    @property
    def users(self) -> UserIds | None:
        """User ids (``int64`` array or Arrow strings), or ``None`` when the rows are not named."""
        return self._users

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out, or assumed, when the records were made; they go with the rows that are taken."""
        return self._notes

    @property
    def n_users(self) -> int:
        """Number of rows."""
        return len(self)

    @property
    def n_dimensions(self) -> int:
        """Number of coordinates."""
        return int(self._values.shape[1])

    def __len__(self) -> int:
        return len(self._values)

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Self:
        """Return the chosen rows, in that order."""
        return self._with(self._values[rows], take_users(self._users, rows))

    def with_users(self, users: Any) -> Self:
        """Return the same rows under these names."""
        return self._with(self._values, as_users(users, len(self)))

    def with_notes(self, notes: tuple[Note, ...]) -> Self:
        """Return the same rows with these notes on how they were made."""
        new = self._with(self._values, self._users)
        new._notes = tuple(notes)
        return new

    def with_values(self, values: npt.ArrayLike) -> Self:
        """Return other points of the same people, of whatever dimension.

        >>> Vectors([[1.0, 2.0]], users=["ann"]).with_values([[3.0]]).users.to_pylist()
        ['ann']
        """
        changed = _checked(values)
        if len(changed) != len(self):
            raise DataError(f"there are {len(changed):,} points for {len(self):,} records; give one for each")
        return self._with(changed, self._users)

    def sample(self, n: int, seed: int) -> Self:
        """Return ``n`` rows drawn without replacement, in their old order."""
        if not 1 <= n <= len(self):
            raise OptionError(f"cannot sample {n} of {len(self):,} records; choose from 1 to {len(self):,}")
        rows = stream(seed, "sample users").choice(len(self), size=n, replace=False, shuffle=False)
        return self.take(np.sort(rows))

    def _with(self, values: Values, users: UserIds | None) -> Self:
        new = object.__new__(type(self))
        new._values, new._users, new._notes = frozen(values), users, self._notes
        return new

    def __repr__(self) -> str:
        return f"Vectors({len(self):,} records x {self.n_dimensions} dimensions)"


def _checked(values: Any) -> Values:
    """Return finite single-precision points; a copy, unless they are read-only already."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind == "O" or array.ndim != 2:
        raise DataError(_not_a_table(values, array))
    if not array.shape[0]:
        raise DataError("the table is empty: there is not a single vector in it")
    if not array.shape[1] or array.dtype.kind not in "fiub":
        raise DataError(f"vectors are numbers, (records, dimensions), not {array.dtype} {array.shape}")
    with np.errstate(over="ignore"):
        points = array.astype(np.float32, order="C", copy=array.flags.writeable)
    wrong = ~np.isfinite(points)
    if wrong.any():
        row, place = (int(i) for i in np.argwhere(wrong)[0])
        raise DataError(f"row {row} holds {array[row, place]} at dimension {place}; a vector has finite numbers only")
    return points


def _not_a_table(values: Any, array: npt.NDArray[Any]) -> str:
    """Say what is wrong with points that are no table: as a rule, one is longer or shorter than the first."""
    try:
        lengths = [len(row) for row in values]
    except TypeError:
        return f"vectors must have the shape (records, dimensions), not {array.shape}"
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            return f"row {row} has {length} numbers and row 0 has {lengths[0]}; vectors must be of one length"
    return f"vectors are numbers, (records, dimensions), not {array.dtype} {array.shape}"
