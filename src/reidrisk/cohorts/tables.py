"""The tables of an audit of cohorts: visits, categories and who is in which cohort; read, checked, written."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.base.foreign import reason
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.tables import format_of, is_list, open_table

_RULE, _FITTED = "rule", "fitted to these users"


def read_visits(path: PathLike, week: str | None = None) -> Any:
    """Read visits: columns ``user`` and ``host`` or ``token`` as text, and the one that ``week`` names as numbers."""
    import polars as pl

    key = _key(path)
    if week in ("user", key):
        raise OptionError(f"the column {week!r} cannot number the weeks: it holds {week}s; name another column")
    frame = _text(path, ["user", key] + ([] if week is None else [week]))
    if week is None:
        return frame
    numbers = frame[week].cast(pl.Int64, strict=False)
    if numbers.null_count():
        row = numbers.is_null().arg_max()
        raise DataError(f"{Path(path)}: row {row} is of the week {frame[week][row]!r}; number the weeks")
    return frame.with_columns(numbers.alias("week")).select("user", frame.columns[1], "week")


def read_categories(path: PathLike) -> Any:
    """Read categories: columns ``host`` or ``token`` and ``category``, one row for each category of a host."""
    return _text(path, [_key(path), "category"], missing=True)


def read_assignment(path: PathLike) -> tuple[Any, Ints]:
    """Read who is in which cohort: columns ``user`` and ``cohort``; no value or -1 is no cohort."""
    import polars as pl

    table = _text(path, ["user", "cohort"], missing=True)
    users, given = table["user"], table["cohort"].str.strip_chars()
    if users.null_count():
        raise DataError(f"{path}: row {users.is_null().arg_max()} has no user; leave it out")
    # Tables with empty cells often come with whole numbers written as 1.0.
    cohort = given.str.replace(r"^(-?\d+)\.0*$", "$1").cast(pl.Int64, strict=False)
    wrong = (cohort.is_null() & given.is_not_null() & (given != "")) | (cohort.fill_null(-1) < -1)
    if wrong.any():
        row = wrong.arg_max()
        raise DataError(f"{path}: the cohort of user {users[row]!r} is {given[row]!r}; give a whole number, or -1")
    if users.n_unique() != len(users):
        raise DataError(f"{path}: user {users.filter(users.is_duplicated())[0]!r} is in two cohorts")
    return users, cohort.fill_null(-1).to_numpy().astype(np.int64)


def fitted_to_users(path: PathLike) -> bool:
    """Tell whether a table of cohorts says that they were fitted to its own users."""
    columns = [name for name in open_table(path).types if name.strip().lower() == _RULE]
    if not columns:
        return False
    said = _text(path, columns, missing=True)
    return any(bool((said[name].str.strip_chars().str.to_lowercase() == _FITTED).any()) for name in columns)


def write_assignment(path: PathLike, users: Any, cohorts: Ints, fitted: bool = False) -> None:
    """Write who is in which cohort, as Parquet or CSV; a column ``rule`` says if it was ``fitted`` to these users."""
    import polars as pl

    frame = pl.DataFrame({"user": users, "cohort": cohorts})
    if fitted:
        frame = frame.with_columns(pl.lit(_FITTED).alias(_RULE))
    kind = format_of(path)
    if kind not in ("csv", "parquet") or str(path).endswith(".gz"):
        raise OptionError(f"{path}: cohorts are written as .csv or .parquet; choose another ending")
    with write_atomically(path) as temporary:
        try:
            frame.write_csv(temporary) if kind == "csv" else frame.write_parquet(temporary)
        except pl.exceptions.PolarsError as error:  # a full disk, as polars tells it
            raise OSError(f"{path}: cannot be written ({reason(error, 120)})") from error


def _key(path: PathLike) -> str:
    names = list(open_table(path).types)
    found = [name for name in ("host", "token") if name in names]
    if len(found) != 1:
        raise FormatError(f"{path}: it needs one column 'host' or 'token', and has {', '.join(map(repr, names))}")
    return found[0]


def _text(path: PathLike, columns: Sequence[str], missing: bool = False) -> Any:
    import polars as pl
    import pyarrow as pa

    table = open_table(path)
    absent = [column for column in columns if column not in table.types]
    if absent:
        raise FormatError(f"{path}: it has no column {absent[0]!r}; it has {', '.join(map(repr, table.types))}")
    lists = [column for column in columns if is_list(table.types[column])]
    if lists:
        raise FormatError(f"{path}: column {lists[0]!r} holds lists; give one value per row")
    try:
        frame = pl.DataFrame(pa.table({column: table.column(column) for column in columns}))
        if not len(frame):
            raise DataError(f"{path}: the table has no rows")
        frame = frame.select(pl.col(column).cast(pl.String) for column in columns)
    except (pl.exceptions.PolarsError, pa.ArrowException) as error:
        raise FormatError(f"{path}: a column is neither text nor numbers ({reason(error, 120)})") from error
    for column in [] if missing else columns:
        if frame[column].null_count():
            raise DataError(f"{path}: row {frame[column].is_null().arg_max()} has no {column}; leave it out")
    return frame
