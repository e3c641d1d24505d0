"""Cells of one column: whole numbers, labels or user ids, with the row at fault where they are none of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.users import UserIds


class Labels:
    """Text tokens on their way in: each new label gets the next code.

    Examples
    --------
    >>> import pyarrow as pa
    >>> labels = Labels()
    >>> labels.codes(pa.array(["news", None, "music", "news"])).tolist(), labels.seen
    ([0, -1, 1, 0], ['news', 'music'])
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._codes: dict[str, int] = {}

    def codes(self, cells: Any) -> npt.NDArray[np.int64]:
        """Return the code of each cell of an Arrow text array; -1 where it is null or empty."""
        import pyarrow as pa

        if pa.types.is_null(cells.type):
            return np.full(len(cells), -1, dtype=np.int64)
        if not pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_encode()
        of_word = np.full(len(cells.dictionary) + 1, -1, dtype=np.int64)  # the last one, at -1, is for nulls
        used: npt.NDArray[np.int64] = cells.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        for word in np.unique(used[used >= 0]).tolist():
            label = cells.dictionary[word].as_py()
            if label:
                of_word[word] = self._codes.setdefault(label, len(self.seen))
                if of_word[word] == len(self.seen):
                    self.seen.append(label)
        return of_word[used]


class Ids:
    """User ids on their way in: integers into one array, text as Arrow strings."""

    def __init__(self, name: str, column: str, kind: Any, n_rows: int) -> None:
        self._is_text = holds_text(kind)
        if not (self._is_text or holds_integers(kind)):
            raise FormatError(f"{name}: column {column!r} is of type {kind}; user ids are integers or text")
        self._name, self._column = name, column
        self._numbers = np.empty(0 if self._is_text else n_rows, dtype=np.int64)
        self._texts: list[Any] = []

    def add(self, cells: Any, first_row: int) -> None:
        """Take the ids of the rows from ``first_row`` (counted from 0) on."""
        import pyarrow as pa
        import pyarrow.compute as pc  # not loaded with pyarrow itself

        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        lacking = cells.is_null()
        if self._is_text:
            cells = cells.cast(pa.large_string())
            lacking = pc.or_kleene(lacking, pc.equal(cells, ""))
        if cells.null_count or (self._is_text and pc.any(lacking).as_py()):
            row = int(np.argmax(lacking.fill_null(True).to_numpy(zero_copy_only=False)))
            raise DataError(
                f"{cell(self._name, first_row + row, self._column)} has no user id; drop the row or name it"
            )
        if self._is_text:
            self._texts.append(cells)
            return
        numbers = cells.to_numpy(zero_copy_only=False)
        if numbers.dtype == np.uint64 and numbers.size and numbers.max() > np.iinfo(np.int64).max:
            at = cell(self._name, first_row + int(np.argmax(numbers)), self._column)
            raise DataError(
                f"{at} holds {numbers.max()}, which does not fit into 64 signed bits; give such ids as text"
            )
        self._numbers[first_row : first_row + len(numbers)] = numbers

    def collected(self) -> UserIds:
        """Return all ids in one of the two forms of :mod:`reidrisk.base.users`."""
        import pyarrow as pa

        if self._is_text:
            texts, self._texts = self._texts, []
            return pa.concat_arrays(texts) if texts else pa.array([], pa.large_string())
        return self._numbers


def whole_numbers(
    cells: Any, name: str, column: str, first_row: int = 0, what: str = "token", rows: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """Return an Arrow array of numbers as integers from -1 up; nulls become -1, anything else is refused.

    The first cell is of row ``first_row`` (counted from 0); where the cells come from lists, ``rows`` says how many
    rows after it each one is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> whole_numbers(pa.array([3, None, 0]), "weeks.csv", "epoch_0").tolist()
    [3, -1, 0]
    >>> whole_numbers(pa.array([3.0, 0.5]), "weeks.csv", "epoch_0")
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.DataError: weeks.csv: row 2, column 'epoch_0' holds 0.5, a fraction; tokens are whole numbers
    """
    import pyarrow as pa

    def at(position: int) -> str:
        return cell(name, first_row + (position if rows is None else int(rows[position])), column)

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_null(cells.type):
        return np.full(len(cells), -1, dtype=np.int16)
    if pa.types.is_floating(cells.type):
        numbers = _from_floats(cells, at, what)
    elif pa.types.is_integer(cells.type):
        if cells.null_count:
            if pa.types.is_unsigned_integer(cells.type):  # it has no -1
                cells = cells.cast(pa.int64(), safe=False)
            cells = cells.fill_null(-1)
        numbers = cells.to_numpy(zero_copy_only=False)
        if numbers.dtype == np.uint64:
            numbers = numbers.astype(np.int64)  # beyond 2^63 it turns negative and is refused below
    else:
        raise FormatError(f"{name}: column {column!r} is of type {cells.type}; {what}s are integers or text")
    if numbers.dtype.kind == "i" and numbers.size and numbers.min() < -1:
        row = int(np.argmax(numbers < -1))
        raise DataError(
            f"{at(row)} holds {what} {int(numbers[row])}; {what}s are whole numbers "
            "from 0, and -1 or an empty cell means not observed"
        )
    return numbers


def cell(name: str, row: int, column: str) -> str:
    """Say where a cell is; people count rows from 1, without the header.

    Examples
    --------
    >>> cell("weeks.csv", 0, "epoch_3")
    "weeks.csv: row 1, column 'epoch_3'"
    """
    return f"{name}: row {row + 1}, column {column!r}"


def holds_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text, as such or as a dictionary of it."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def holds_integers(kind: Any) -> bool:
    """Tell whether an Arrow type is a whole number, as such or as a dictionary of them."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _from_floats(cells: Any, at: Callable[[int], str], what: str) -> npt.NDArray[np.int64]:
    values: npt.NDArray[np.float64] = cells.fill_null(-1.0).to_numpy(zero_copy_only=False).astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)) | (np.abs(values) > 2.0**53))
    if wrong.size:
        value, where = float(values[wrong[0]]), at(int(wrong[0]))
        if np.isfinite(value):
            kind = "a fraction" if value != np.floor(value) else "too large for a whole number"
            raise DataError(f"{where} holds {value:g}, {kind}; {what}s are whole numbers")
        shown = "NaN" if np.isnan(value) else f"{value:g}"
        raise DataError(f"{where} holds {shown}, which is no {what}; leave the cell empty where nothing was observed")
    return values.astype(np.int64)
