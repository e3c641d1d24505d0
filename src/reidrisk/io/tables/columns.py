"""Cells of one column: whole numbers or labels, with the row at fault where they are neither."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError, FormatError


class Labels(dict[str, int]):
    """Text tokens on their way in: each new label gets the next code."""

    def codes(self, cells: Any) -> Ints:
        """Return the code of each cell of an Arrow text array; -1 where it is null or empty."""
        import pyarrow as pa

        if pa.types.is_null(cells.type):
            return np.full(len(cells), -1, dtype=np.int64)
        if not pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_encode()
        of_word = np.full(len(cells.dictionary) + 1, -1, dtype=np.int64)  # the last one, at -1, is for nulls
        used: Ints = cells.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        for word in np.unique(used[used >= 0]).tolist():
            if label := cells.dictionary[word].as_py():
                of_word[word] = self.setdefault(label, len(self))
        return of_word[used]


def whole_numbers(
    cells: Any, name: str, column: str, first_row: int = 0, what: str = "token", rows: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """Return an Arrow array of numbers as integers from -1 up; nulls become -1, anything else is refused.

    The first cell is of row ``first_row`` (counted from 0); where the cells come from lists, ``rows`` says how many
    rows after it each one is.
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
        allowed = f"{what}s are whole numbers from 0, and -1 or an empty cell means not observed"
        raise DataError(f"{at(row)} holds {what} {int(numbers[row])}; {allowed}")
    return numbers


def _from_floats(cells: Any, at: Callable[[int], str], what: str) -> Ints:
    values: Floats = cells.fill_null(-1.0).to_numpy(zero_copy_only=False).astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)) | (np.abs(values) > 2.0**53))
    if wrong.size:
        value, where = float(values[wrong[0]]), at(int(wrong[0]))
        if np.isfinite(value):
            kind = "a fraction" if value != np.floor(value) else "too large for a whole number"
            raise DataError(f"{where} holds {value:g}, {kind}; {what}s are whole numbers")
        shown = "NaN" if np.isnan(value) else f"{value:g}"
        raise DataError(f"{where} holds {shown}, which is no {what}; leave the cell empty where nothing was observed")
    return values.astype(np.int64)


def cell(name: str, row: int, column: str) -> str:
    """Say where a cell is; people count rows from 1, without the header."""
    return f"{name}: row {row + 1}, column {column!r}"


def plain_kind(kind: Any) -> Any:
    """Return the Arrow type of the values, also where a dictionary holds them."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def holds_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text, as such or as a dictionary of it."""
    import pyarrow as pa

    types, plain = pa.types, plain_kind(kind)
    return bool(types.is_string(plain) or types.is_large_string(plain) or types.is_string_view(plain))


def is_list(kind: Any) -> bool:
    """Tell whether an Arrow type is a plain list, of any kind of length."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
