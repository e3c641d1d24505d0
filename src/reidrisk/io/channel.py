"""Channels in files: a matrix of probabilities, one row per user."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats, FormatError, checked_csr, reason, sizes
from reidrisk.io.atomic import PathLike
from reidrisk.io.documents import read_npz
from reidrisk.io.tables.columns import cell, is_number_text, number_matrix, refuse_repeated_users, user_ids
from reidrisk.io.tables.csv_files import read_cells
from reidrisk.io.tables.formats import format_of, open_table
from reidrisk.io.tables.opening import existing_file, while_reading
from reidrisk.records.channel import Channel, first_fault

_COMPRESSED = ("indices", "indptr")
_PLACES = {"csr": _COMPRESSED, "csc": _COMPRESSED, "bsr": _COMPRESSED, "coo": ("row", "col"), "dia": ("offsets",)}
"""Arrays that say where the values of a sparse matrix are, by the format in which SciPy saved it."""

_LESS = "give fewer users, or save a sparse matrix in NPZ"


def read_channel(path: PathLike) -> Channel:
    r"""Read a representation matrix P.

    NPZ holds the array ``matrix``, or the first one, or what ``scipy.sparse.save_npz`` stores. CSV holds numbers, with
    or without a header row and a first column of user ids that are text (or that the header calls ``user``). Parquet
    and Arrow IPC hold numeric columns, and an optional column ``user``.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "matrix.csv"
    >>> _ = file.write_text("user,red,blue\nann,0.25,0.75\nbob,1,0\n")
    >>> read_channel(file).matrix.tolist()
    [[0.25, 0.75], [1.0, 0.0]]
    """
    read, name = {"npz": _from_npz, "csv": _from_csv}.get(format_of(path), _from_table), str(path)
    matrix, columns = read(existing_file(path), name)
    try:
        return Channel(matrix)
    except DataError as error:
        fault = first_fault(matrix)
        if fault is None:
            raise DataError(f"{name}: {error}") from error
        row, column, value = fault
        if column is None:
            wrong = f"row {row + 1} adds up to {value:.9g}; every row of a channel must add up to 1"
            raise DataError(f"{name}: {wrong}") from error
        where = cell(name, row, columns[column]) if columns else f"{name}: row {row + 1}, column {column + 1}"
        shown = "NaN" if np.isnan(value) else f"{value:g}"
        raise DataError(f"{where} is {shown}; probabilities are numbers in [0, 1]") from error


def _from_npz(file: Path, name: str) -> tuple[Any, None]:
    arrays = read_npz(file, name)
    if "format" in arrays and "shape" in arrays:
        return _sparse_matrix(arrays, name), None
    if not arrays:
        raise FormatError(f"{name}: there is no array in it; save the matrix under the name 'matrix'")
    matrix = arrays.get("matrix", next(iter(arrays.values())))
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        found = f"its array is of shape {matrix.shape} and type {matrix.dtype}"
        raise FormatError(f"{name}: {found}; a channel is a matrix of numbers (users, outputs)")
    return matrix, None


def _sparse_matrix(arrays: Mapping[str, Any], name: str) -> Any:
    """Return the matrix by rows that ``save_npz`` stored, checked in full before a compiled loop sees it."""
    from scipy import sparse

    value = arrays["format"].item() if arrays["format"].ndim == 0 else None
    kind = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if kind not in _PLACES:
        raise FormatError(f"{name}: its sparse format is {kind!r}; save the matrix as one of {', '.join(_PLACES)}")
    for part in ("data", *_PLACES[kind]):
        if part not in arrays:
            raise FormatError(f"{name}: a sparse matrix ({kind}) needs an array {part!r}; save it with save_npz")
    sides, data = arrays["shape"], arrays["data"]
    if sides.shape != (2,) or sides.dtype.kind not in "iu" or int(sides.min()) < 0:
        raise FormatError(f"{name}: the shape of its matrix is damaged; save it with scipy.sparse.save_npz")
    shape = (int(sides[0]), int(sides[1]))
    sizes.OUTPUTS.check(max(shape), name, "leave out what nobody has")
    if data.dtype.kind not in "fiu":
        raise FormatError(f"{name}: the values of its matrix are of type {data.dtype}; a channel holds numbers")
    wrong, places = f"{name} is no valid sparse matrix:", {part: arrays[part] for part in _PLACES[kind]}
    for part, numbers in places.items():
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise DataError(f"{wrong} {part} must be a list of whole numbers; build it anew")
        # The library may take a number that is too large for its own type for another one.
        if (np.abs(numbers.astype(np.float64)) > max(*shape, data.size)).any():
            raise DataError(f"{wrong} {part} leads outside it; build it anew")
    try:
        given = (data, tuple(places.values())) if kind == "coo" else (data, *places.values())
        matrix = getattr(sparse, f"{kind}_array")(given, shape=shape)
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(f"{wrong} {reason(error)}; build it anew") from error
    return checked_csr(matrix.tocoo() if kind == "dia" else matrix, name)


def _from_csv(file: Path, name: str) -> tuple[Floats, list[str]]:
    with while_reading(name, "CSV"):
        table = read_cells(file, name, None)
    first = [column[0].as_py().strip() for column in table.columns]
    has_header = not all(map(is_number_text, first[1:] or first))
    rows = table.slice(1) if has_header else table
    names = first if has_header else [str(i + 1) for i in range(len(first))]
    if rows.num_rows == 0:
        raise DataError(f"{name}: the table is empty; give at least one row of numbers")
    columns = rows.columns
    if len(names) > 1 and (names[0].lower() == "user" or not is_number_text(columns[0][0].as_py())):
        refuse_repeated_users(name, user_ids(name, "user", columns[0]))
        columns, names = columns[1:], names[1:]
    sizes.NUMBERS.check(rows.num_rows * len(columns), name, _LESS)
    return number_matrix(columns, names, name, "a channel is a matrix of numbers"), names


def _from_table(file: Path, name: str) -> tuple[Floats, list[str]]:
    import pyarrow as pa

    table = open_table(name)
    columns = [column for column in table.types if column != "user"]
    if table.n_rows == 0 or not columns:
        raise DataError(f"{table.name}: the table is empty; give at least one row and one column of numbers")
    for column in columns:
        kind = table.types[column]
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            allowed = "a channel has columns of numbers, and its user ids are in a column 'user'"
            raise FormatError(f"{table.name}: column {column!r} is of type {kind}; {allowed}")
    if "user" in table.types:
        refuse_repeated_users(table.name, user_ids(table.name, "user", table.column("user")))
    sizes.NUMBERS.check(table.n_rows * len(columns), table.name, _LESS)
    matrix = np.empty((table.n_rows, len(columns)))
    start = 0
    for batch in table.batches(columns):
        rows = slice(start, start + batch.num_rows)
        for j, values in enumerate(batch.columns):
            # A null becomes NaN and is refused with its row below.
            matrix[rows, j] = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        start = rows.stop
    return matrix, columns
