"""Vectors in an export: a column of lists of numbers, or one column per dimension; and arrays of NumPy."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import Array, DataError, FormatError, OptionError, sizes
from reidrisk.base.options import option
from reidrisk.io.documents import read_array
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import Roles, columns, find_time, find_user
from reidrisk.io.exports.source import Source, is_unique
from reidrisk.io.exports.times import read_times
from reidrisk.io.tables.columns import holds_text, is_list, user_ids
from reidrisk.io.tables.formats import OpenTable, table_of_frame
from reidrisk.io.tables.opening import while_reading
from reidrisk.records import RawTable, Vectors

_NUMBERED = re.compile(r"(.*?)[0-9]{1,6}")
_FEWEST = 8  # columns of one name and a number that are taken for dimensions without being asked
COLUMN = "vector"  # the column of vectors where an array has no names


def vector_columns(source: Source, how: Reading) -> tuple[str, ...]:
    """Return the column of lists, or the columns of single dimensions, that hold vectors; none where there are none.

    >>> from reidrisk.io.exports.source import open_source
    >>> table = {"id": [1, 2], "face": [[0.1, 0.2], [0.3, 0.4]]}
    >>> import pyarrow as pa
    >>> vector_columns(open_source(pa.table(table), Reading()), Reading())
    ('face',)
    """
    named = [name for given in how.items for name in columns(source, given)]
    there = named or source.columns
    lists = [name for name in there if is_list(source.types[name])]
    if how.layout != "vectors":
        lists = [name for name in lists if _is_real(source.types[name].value_type)]
    if len(lists) == 1:
        return tuple(lists)
    groups: dict[str, list[str]] = {}
    for name in there:
        if (found := _NUMBERED.fullmatch(name)) and (how.layout == "vectors" or _is_real(source.types[name])):
            groups.setdefault(found[1], []).append(name)
    longest = max(groups.values(), key=len, default=[])
    if how.layout == "vectors":
        beside = find_user(source, how), find_time(source, how, [*longest, *named])
        return tuple(name for name in there if name not in beside and not is_list(source.types[name]))
    if len(longest) < _FEWEST:
        return ()
    rest = [name for name in there if name not in longest]
    if len(rest) == 2 and find_user(source, how) in rest:  # and when
        rest = [name for name in rest if name != find_time(source, how, longest)]
    return tuple(longest) if len(rest) <= 1 else ()


def read_vectors(source: Source, how: Reading) -> tuple[Vectors, Roles, tuple[str, str] | None]:
    """Return the vectors, which column is what, and the form of their times, if they have any.

    Where ids repeat, all vectors of an id are one record, in the order of their times.
    """
    used = vector_columns(source, how)
    if not used:
        listed = ", ".join(map(repr, source.columns[:20]))
        raise OptionError(
            f"{source.name}: no column holds numbers of vectors, only {listed}; name them with {option('items')}"
        )
    user = find_user(source, how)
    user = None if user in used else user
    lists = len(used) == 1 and is_list(source.types[used[0]])
    values = _of_lists(source, used[0]) if lists else _of_columns(source, used)
    ids = None if user is None else user_ids(source.name, user, source.column(user))
    try:
        if user is None or is_unique(source, user):
            vectors = Vectors(values, ids)
            raw = RawTable.of(source.cells(but=(user,)), np.arange(len(vectors)), len(vectors))
            return vectors.with_raw(raw if raw.names else None), Roles(user, items=used), None
        time = find_time(source, how, [user, *used])
        moments, form = (None, None) if time is None else _moments(source, time, how)
        return Vectors.of_several(values, ids, moments), Roles(user, time, used), form
    except DataError as error:
        raise _in_file(source.name, values, error) from error


def _in_file(name: str, values: Array, error: DataError) -> DataError:
    """Return what is wrong with the vectors of a file, whose rows count from 1."""
    wrong = np.argwhere(~(np.abs(values) <= np.finfo(np.float32).max))
    if not wrong.size:
        return DataError(f"{name}: {error}")
    row, place = wrong[0]
    held = f"row {row + 1} holds {values[row, place]} at dimension {place + 1}"
    return DataError(f"{name}: {held}; a vector has finite numbers only")


def _moments(source: Source, name: str, how: Reading) -> tuple[Array, tuple[str, str]]:
    """Return when each vector was made, and the form of the times; one without is refused."""
    times = read_times(source.column(name), source.where(name), how.dates)
    missing = np.flatnonzero(times.values.is_null().to_numpy(zero_copy_only=False))
    row = min((int(part[0]) for part in (missing, times.bad) if len(part)), default=None)
    if row is not None:
        raise DataError(
            f"column {name!r} holds no time in row {row + 1}; correct it, or leave times out ({option('time', 'none')})"
        )
    return times.values.to_numpy(zero_copy_only=False), (times.form, times.proof)


def _of_lists(source: Source, name: str) -> Array:
    import pyarrow.compute as pc

    cells = source.column(name)
    if not len(cells):
        raise DataError(f"{source.where(name)}: there is not a single vector in it")
    length = pc.list_value_length(cells).to_numpy()
    wrong = np.flatnonzero(~(length == length[0]))  # nothing equals a gap, which is NaN here
    if wrong.size:
        row = int(wrong[0])
        held = "nothing" if np.isnan(float(length[row] if length[row] is not None else np.nan)) else int(length[row])
        first = f"row 1 has {length[0]} numbers, row {row + 1} has {held}"
        raise DataError(f"{source.where(name)}: {first}; vectors must be of one length")
    flat = pc.list_flatten(cells).to_numpy()
    return np.asarray(flat, dtype=np.float64 if flat.dtype != np.float32 else np.float32).reshape(len(cells), -1)


def _of_columns(source: Source, names: tuple[str, ...]) -> Array:
    found = np.empty((source.table.n_rows, len(names)), dtype=np.float64)
    for place, name in enumerate(names):
        cells = source.column(name)
        if holds_text(source.types[name]):
            if not source.holds_figures(name):
                raise DataError(f"{source.where(name)}: it does not hold numbers; leave it out with {option('items')}")
            cells = _numbers(source, name)
        found[:, place] = cells.to_numpy()
    return found


def _numbers(source: Source, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(source.column(name))
    if source.dialect is not None and source.dialect.delimiter != ",":
        text = pc.replace_substring(text, ",", ".")
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise DataError(f"{source.where(name)}: a cell is no number; correct it") from error


def _is_real(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind))


def table_of_vectors(given: Any) -> OpenTable:
    """Return vectors, or a plain array (records, dimensions), as a table with one column of lists."""
    import pyarrow as pa

    found = given if isinstance(given, Vectors) else Vectors(given)
    made: dict[str, Any] = {} if found.users is None else {"user": pa.array(found.users)}
    values = found.values
    if found.several is not None:
        values, several = found.several.values, found.several
        made["user"] = made["user"].take(pa.array(several.owner))
        made |= {} if several.time is None else {"time": several.time}
    made[COLUMN] = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), found.n_dimensions)
    return table_of_frame(pa.table(made), "the array")


def table_of_npy(file: Path, name: str) -> OpenTable:
    """Return the array of an NPY file, (records, dimensions), as a table with one column of lists."""
    with while_reading(name, "NPY"), open(file, "rb") as raw:
        sizes.BYTES.check(file.stat().st_size, name, "store less in one file")
        array = read_array(raw, file.stat().st_size, name, "the array")
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        shape = f"{array.dtype} {array.shape}"
        raise FormatError(f"{name}: it holds {shape}; vectors are numbers, (records, dimensions)")
    try:
        table = table_of_vectors(array)
    except DataError as error:
        raise _in_file(name, array, error) from error
    return OpenTable(name, table.title, table.types, table.n_rows, table.metadata, table.source)
