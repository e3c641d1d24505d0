"""Vectors: records that are points, such as embeddings of people, faces, voices or texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk.base import frozen
from reidrisk.base.errors import DataError
from reidrisk.base.users import UserIds, as_users, first_seen, formed, take_users
from reidrisk.records.base import Rows
from reidrisk.records.registry import register
from reidrisk.records.several import Several, Values


@register("vectors of people", layouts=("vectors",))
class Vectors(Rows):
    """Records that are points: ``values`` is (n, d), one row per record, kept in single precision.

    ``users`` are the ids of the rows, if any. What is not a finite number is refused: a vector with a gap cannot be
    compared (:class:`reidrisk.records.Cells` may have gaps). Where people have more than one vector,
    :meth:`of_several` makes one record of all that a person has.

    >>> Vectors([[0.2, 0.8], [0.5, 0.1]], users=["ann", "bob"])
    Vectors(2 records x 2 dimensions)
    """

    __slots__ = ("_several",)
    _rows: Values
    _several: Several | None

    def __init__(self, values: Any, users: Any = None) -> None:
        self._rows = frozen(_checked(values))
        self._users = as_users(users, len(self._rows))
        self._notes = ()
        self._several = None

    @classmethod
    def of_several(cls, values: Any, users: Any, time: Any = None) -> Self:
        """Return one record per id, where ids repeat: ``values`` is then the mean of each, and ``several`` has all.

        ``time``, a number of each vector, says in which order they were made. People come in the order of their first
        vector.

        >>> table = Vectors.of_several([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]], users=["ann", "bob", "ann"])
        >>> table
        Vectors(2 records x 2 dimensions, of 3 vectors)
        >>> table.values.tolist(), table.several.per_record.tolist()
        ([[2.0, 0.0], [0.0, 1.0]], [2, 1])
        """
        points = _checked(values)
        owner, ids = first_seen(formed(users, len(points)))
        moments = None if time is None else _moments(time, len(points))
        order = np.lexsort((owner,) if moments is None else (moments, owner))
        start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(ids)))))
        several = Several(points[order], start, None if moments is None else moments[order])
        return cls(several.means(), ids)._of(several)

    @property
    def values(self) -> Values:
        """The read-only (n, d) array; of records of several vectors, their means."""
        return self._rows

    @property
    def several(self) -> Several | None:
        """All vectors of each record, where they may have more than one."""
        return self._several

    @property
    def n_dimensions(self) -> int:
        """Number of coordinates."""
        return int(self._rows.shape[1])

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Self:
        """Return the chosen rows, in that order, with all their vectors."""
        return super().take(rows)._of(None if self._several is None else self._several.take(rows))

    def only(self, vectors: npt.NDArray[np.bool_]) -> tuple[Self, npt.NDArray[np.int64]]:
        """Return the records that these of the ``several`` vectors make up, and whose row each was: some may be gone.

        >>> table = Vectors.of_several([[1.0], [3.0], [5.0]], users=[7, 7, 8])
        >>> part, rows = table.only(np.array([False, True, False]))
        >>> part.values.tolist(), part.users.tolist(), rows.tolist()
        ([[3.0]], [7], [0])
        """
        if self._several is None:
            raise DataError("each of these records is one vector; choose among them with take")
        several, rows = self._several.keep(vectors)
        return self._with(several.means(), take_users(self._users, rows))._of(several), rows

    def with_values(self, values: npt.ArrayLike) -> Self:
        """Return other points of the same people, one each, of whatever dimension.

        >>> Vectors([[1.0, 2.0]], users=["ann"]).with_values([[3.0]]).users.to_pylist()
        ['ann']
        """
        changed = _checked(values)
        if len(changed) != len(self):
            raise DataError(f"there are {len(changed):,} points for {len(self):,} records; give one for each")
        return self._with(changed, self._users)._of(None)

    def mapped(self, change: Callable[[Values], npt.ArrayLike]) -> Self:
        """Return each vector changed, of records of several each of theirs; ``change`` takes and returns (n, d) points.

        >>> Vectors.of_several([[1.0], [3.0]], users=[7, 7]).mapped(lambda points: -points).values.tolist()
        [[-2.0]]
        """
        if self._several is None:
            return self.with_values(change(self._rows))
        several = self._several.mapped(lambda points: _checked(change(points)))
        return self._with(several.means(), self._users)._of(several)

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        return super()._with(frozen(rows), users)._of(self._several if rows is self._rows else None)

    def _of(self, several: Several | None) -> Self:
        self._several = several
        return self

    def __repr__(self) -> str:
        of = "" if self._several is None else f", of {len(self._several):,} vectors"
        return f"Vectors({len(self):,} records x {self.n_dimensions} dimensions{of})"


def _moments(time: Any, n: int) -> npt.NDArray[np.float64]:
    moments = np.asarray(time)
    if moments.dtype.kind == "M":
        moments = moments.astype("datetime64[us]").astype(np.int64)
    if moments.shape != (n,) or moments.dtype.kind not in "fiu" or not np.isfinite(moments).all():
        raise DataError(f"time must be one number for each of the {n:,} vectors, not {moments.dtype} {moments.shape}")
    return moments.astype(np.float64)


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
    if array.dtype == np.uint16 or array.dtype.kind == "V":
        held = f"the array holds {array.dtype}, in which bfloat16 numbers are often stored"
        raise DataError(f"{held}; convert it to float32 where it was made, or to int32 if these are whole numbers")
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
