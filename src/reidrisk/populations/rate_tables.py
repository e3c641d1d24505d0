"""Rate matrices at the door: read from a file, checked once, the first bad rate named by row and column."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.foreign import reason
from reidrisk.base.indices import checked_csr
from reidrisk.io.tables.opening import check_bytes, existing_file, is_packed

Floats = npt.NDArray[np.float64]


def read_rates(path: str | Path, n_topics: int | None = None) -> Floats:
    r"""Read a rate matrix from a CSV file (``.gz`` or not): no header, a line a user, a column a topic.

    Parameters
    ----------
    path : str or Path
        The file.
    n_topics : int, optional
        Refuse a file with another number of columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("0.5,0\n0,2\n")
    ...     _ = file.seek(0)
    ...     read_rates(file.name).tolist()
    [[0.5, 0.0], [0.0, 2.0]]
    """
    path = existing_file(path)
    check_bytes(path, path.name)
    rows: list[Floats] = []
    try:
        with (gzip.open if is_packed(path) else open)(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    rows.append(_numbers(line.split(","), f"{path.name}, line {number}"))
                    wanted = n_topics or len(rows[0])
                    if len(rows[-1]) != wanted:
                        raise DataError(
                            f"{path.name}, line {number} has {len(rows[-1])} columns, not {wanted}: one rate a topic"
                        )
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise FormatError(f"cannot read rates from {path}: {reason(error)}") from error
    if not rows:
        raise DataError(f"{path.name} is empty: there is not a single user in it")
    return np.stack(rows)


def _numbers(cells: list[str], place: str) -> Floats:
    """Return the numbers of one line, or name the first cell that is not a rate."""
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        values = np.array([_number(cell) for cell in cells])
    wrong = np.flatnonzero(~(values >= 0) | np.isinf(values))
    if wrong.size:
        cell = cells[wrong[0]].strip()
        raise DataError(
            f"{place}, column {wrong[0] + 1} holds {cell!r}; rates are finite numbers of at least 0, without header"
        )
    return values


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def checked_rates(matrix: Any) -> Floats:
    """Return a rate matrix as a read-only dense array, or name the row and column of the first bad rate."""
    given = checked_csr(matrix, "rates").toarray() if hasattr(matrix, "tocsr") else matrix
    try:
        rates = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"rates must be one table of numbers (users, topics): {reason(error)}") from error
    if rates.ndim != 2:
        raise DataError(f"rates must have 2 dimensions (users, topics), but have shape {rates.shape}")
    if 0 in rates.shape:
        raise DataError(f"rates of shape {rates.shape} are empty; give at least one user and one topic")
    wrong = np.argwhere(~(rates >= 0) | np.isinf(rates))
    if len(wrong):
        row, column = (int(i) for i in wrong[0])
        raise DataError(
            f"row {row}, column {column} holds the rate {rates[row, column]}; rates are finite numbers of at least 0"
        )
    rates.flags.writeable = False
    return rates
