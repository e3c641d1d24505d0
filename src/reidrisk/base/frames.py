"""Columns of any frame, by way of the Arrow interface: codes of distinct values, moments, and whole numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError
from reidrisk.base.foreign import reason

Codes = npt.NDArray[np.int32]
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class Coded(NamedTuple):
    """The distinct values of a column in their order, and which of them stands in each row; -1 = none."""

    codes: Codes
    values: Any  # an Arrow array of 64-bit integers or text


class Moments(NamedTuple):
    """When: plain numbers, or seconds since 1970 on the clock of the place; NaN where nothing is said."""

    values: Floats
    is_calendar: bool


def columns_of(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return columns of a frame of polars, pandas, pyarrow or DuckDB, or of a mapping of arrays, as Arrow arrays.

    >>> columns_of({"who": ["ann", None], "n": np.array([3, 4])}, ["n"])["n"].to_pylist()
    [3, 4]
    """
    import pyarrow as pa

    there = names_of(frame)
    missing = [name for name in names if name not in there]
    if missing:
        raise DataError(f"there is no column {missing[0]!r}; choose from {', '.join(map(repr, there[:20]))}")
    try:
        if isinstance(frame, Mapping):
            table = pa.table({name: _array(frame[name]) for name in names})
        else:
            table = pa.table(frame).select(list(names))
        return {name: plain(table.column(name), name) for name in names}
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise DataError(f"the columns cannot be read: {reason(error)}") from error


def coded(cells: Any, name: str, fractions: bool = True) -> Coded:
    """Give the distinct values of a column numbers from 0 on in their order; null, NaN and empty text are none.

    Whole numbers stay numbers, whatever their type; all else becomes text. Without ``fractions`` they are refused.

    >>> coded(columns_of({"x": ["b", "", "a", "b"]}, ["x"])["x"], "x").codes.tolist()
    [1, -1, 0, 1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(cells.type):
        cells = _without_nan(cells)
        whole = pc.equal(pc.floor(cells), cells)
        if bool(pc.all(pc.and_(whole, pc.less(pc.abs(cells), 2.0**53)), min_count=0).as_py()):
            cells = cells.cast(pa.int64())
        elif not fractions:
            found = cells.filter(pc.invert(whole))
            raise DataError(f"column {name!r} holds {(found or cells)[0].as_py()}; give whole numbers or text")
    if not pa.types.is_integer(cells.type):
        cells = cells.cast(pa.large_string())
        cells = pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)
    found = cells.combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(found.dictionary)
    rank = np.full(len(order) + 1, -1, dtype=np.int32)  # the last one, at -1, is for nulls
    rank[order.to_numpy(zero_copy_only=False)] = np.arange(len(order), dtype=np.int32)
    return Coded(rank[found.indices.fill_null(-1).to_numpy(zero_copy_only=False)], found.dictionary.take(order))


def joined(parts: Sequence[Coded]) -> Coded:
    """Make one value of several columns: the same where all agree; none where all have none.

    Its text is that of the parts with a slash in between, or as many slashes as no part holds.

    >>> columns = columns_of({"a": ["x", "x", None], "b": ["1/2", None, None]}, ["a", "b"])
    >>> found = joined([coded(cells, name) for name, cells in columns.items()])
    >>> found.codes.tolist(), found.values.to_pylist()
    ([1, 0, -1], ['x // ', 'x // 1/2'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(parts) == 1:
        return parts[0]
    some = np.any([part.codes >= 0 for part in parts], axis=0)
    codes = parts[0].codes
    for part in parts[1:]:
        keys = (codes + np.int64(1)) * (len(part.values) + 1) + part.codes + 1
        # Numbered again each time, so that no product can overflow.
        codes = coded(pa.chunked_array([pa.array(keys, mask=~some)]), "items").codes
    one_of = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    one_of[codes[some]] = np.flatnonzero(some)
    texts = [pa.array(as_text(part.values), pa.large_string()) for part in parts]
    slashes = "/"
    while any(bool(pc.any(pc.match_substring(text, slashes), min_count=0).as_py()) for text in texts):
        slashes += "/"
    chosen = [
        text.take(pa.array(part.codes[one_of], mask=part.codes[one_of] < 0)).fill_null("")
        for text, part in zip(texts, parts, strict=True)
    ]
    values = pc.binary_join_element_wise(*chosen, pa.scalar(f" {slashes} ", pa.large_string()))
    return Coded(codes, values)


def as_text(values: Any) -> list[str]:
    """Return Arrow values as Python text."""
    import pyarrow as pa

    return list(values.cast(pa.large_string()).to_pylist())


def text_column(values: Any, what: str, kind: str = "large_string") -> Any:
    """Return a sequence of text, or a column of Arrow or polars, as one Arrow array; messages call it ``what``.

    Its Arrow type is of this ``kind``; ``"large_binary"`` takes bytes as well.

    >>> text_column("example.org", "hosts")
    Traceback (most recent call last):
    reidrisk.base.errors.DataError: hosts is one string; give a list of hosts
    """
    import pyarrow as pa

    if isinstance(values, str | bytes):
        raise DataError(f"{what} is one string; give a list of {what}")
    try:
        column = values.to_arrow() if hasattr(values, "to_arrow") else values
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column, type=pa.type_for_alias(kind))
        column = column.cast(pa.type_for_alias(kind))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"{what} must be strings ({reason(error, 120)})") from error
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def moments(cells: Any, name: str) -> Moments:
    """Read a column of numbers, dates or times; text is refused, since what it means must be read first.

    >>> moments(columns_of({"t": np.array(["1970-01-02"], dtype="M8[D]")}, ["t"])["t"], "t").values.tolist()
    [86400.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    is_calendar = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if is_calendar:
        if pa.types.is_date(kind):
            cells = cells.cast(pa.timestamp("ms") if pa.types.is_date64(kind) else pa.timestamp("s"))
        elif kind.tz is not None:
            cells = pc.local_timestamp(cells)  # a day ends at midnight of the place
        divisor = _PER_SECOND[cells.type.unit]
        cells = cells.cast(pa.int64())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        divisor = 1
    else:
        held = _first(cells)
        raise DataError(f"column {name!r} holds {held!r}, of type {kind}; times are dates, datetimes or numbers")
    values = cells.cast(pa.float64(), safe=False).combine_chunks().to_numpy(zero_copy_only=False) / divisor
    endless = np.flatnonzero(np.isinf(values))
    if endless.size:
        raise DataError(f"row {endless[0]}, column {name!r} holds {values[endless[0]]}; times are finite numbers")
    return Moments(values, is_calendar)


def whole_amounts(cells: Any, name: str) -> Ints:
    """Read a column of whole numbers of at least 0; -1 where there is none.

    >>> whole_amounts(columns_of({"n": [2, None, 0]}, ["n"])["n"], "n").tolist()
    [2, -1, 0]
    """
    import pyarrow as pa

    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type) or pa.types.is_null(cells.type)):
        raise DataError(f"column {name!r} holds {_first(cells)!r}, of type {cells.type}; amounts are whole numbers")
    values = cells.cast(pa.float64(), safe=False).combine_chunks().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((values < 0) | (values != np.floor(values)) & ~np.isnan(values) | (values > 2.0**53))
    if wrong.size:
        held = f"row {wrong[0]}, column {name!r} holds {values[wrong[0]]:g}"
        raise DataError(f"{held}; amounts are whole numbers from 0 on: leave such rows out, or do without amounts")
    return np.where(np.isnan(values), -1, values).astype(np.int64)


def names_of(frame: Any) -> list[str]:
    """Return the names of the columns of a frame or mapping, or refuse what is neither.

    >>> names_of({"who": ["ann"], "n": [3]})
    ['who', 'n']
    """
    import pyarrow as pa

    if isinstance(frame, Mapping):
        return list(frame)
    if not hasattr(frame, "__arrow_c_stream__"):
        kinds = "a frame of polars, pandas or pyarrow, or a mapping of arrays"
        raise DataError(f"a {type(frame).__name__} has no Arrow interface; give {kinds}")
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return list(frame.schema.names)
    return [str(name) for name in frame.columns] if hasattr(frame, "columns") else list(pa.table(frame).schema.names)


def _array(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray) or hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values) if not isinstance(values, pa.Array | pa.ChunkedArray) else values
    return pa.array(values)


def plain(cells: Any, name: str) -> Any:
    """Return an Arrow column without dictionaries and views; refuse lists and the like."""
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        parts = [(plain(part.dictionary, name), part.indices) for part in cells.chunks]
        cells = pa.chunked_array([words.take(places) for words, places in parts], None if parts else kind)
    if pa.types.is_string_view(kind) or pa.types.is_string(kind):
        return cells.cast(pa.large_string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise DataError(f"column {name!r} is of type {str(kind)[:80]}; give numbers, dates or text")
    return cells


def _without_nan(cells: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_nan(cells), pa.scalar(None, cells.type), cells)


def _first(cells: Any) -> Any:
    there = cells.drop_null()
    return there[0].as_py() if len(there) else None
