"""The tables of an audit of cohorts: visits, categories and who is in which cohort; read, checked, joined, written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from reidrisk.base import DataError, FormatError, Ints, OptionError, ReidRiskError, one_of, reason
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.tables import format_of, is_list, open_table, table_of_frame

__all__ = ["CategoryVisits", "category_visits", "fitted_to_users", "read_assignment", "read_categories"]
__all__ += ["read_visits", "write_assignment"]

_RULE, _FITTED = "rule", "fitted to these users"


@dataclass(frozen=True, eq=False)
class CategoryVisits:
    """Who visited which category: ``visited`` (n, c) is a sparse matrix of bool, its rows ``users``."""

    visited: Any
    users: Any
    categories: tuple[str, ...]
    covered: float  # share of the visits whose host has a category
    unseen: tuple[str, ...] = ()  # categories without a visit, of which nothing can be found


def category_visits(
    visits: Any, categories: Any, users: Any = None, unmatched: Literal["refuse", "keep"] = "refuse"
) -> CategoryVisits:
    """Look up the sensitive categories of all visits; a user counts once per category, however often they came.

    ``visits`` is a frame (anything with the Arrow interface) with the columns ``user`` and ``host`` (or ``token``), one
    row per visit; ``categories`` one with ``host`` (or ``token``) and ``category``, one row for each category of a
    host, or a mapping of hosts to a category or a list of them. Capitals in hosts do not count. ``users`` are all with
    a history, in the order of the assignment; default: those who occur in ``visits``, sorted. Where no visit has a
    category at all, it is refused unless ``unmatched`` says ``"keep"``, as a private measurement must.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"user": ["ann", "bob", "bob"], "host": ["news.org", "clinic.org", "clinic.org"]})
    >>> found = category_visits(visits, {"clinic.org": "health", "vote.org": ["politics", "opinion"]})
    >>> found.users.to_pylist(), found.categories, found.visited.toarray().astype(int).tolist()
    (['ann', 'bob'], ('health', 'opinion', 'politics'), [[0, 0, 0], [1, 0, 0]])
    """
    import polars as pl
    from scipy import sparse

    one_of("unmatched", unmatched, ("refuse", "keep"))
    seen = _frame(visits, "visits")
    key = _key(seen.columns, "the table of visits", DataError)
    if "user" not in seen.columns:
        raise DataError("the visits have no column 'user'; name the columns 'user' and 'host'")
    for column in ("user", key):
        if seen[column].null_count():
            raise DataError(f"row {seen[column].is_null().arg_max()} of the visits has no {column}; leave it out")
    rows = _population(seen, users)
    labels = _labels(categories, key)
    if labels[key].dtype != seen[key].dtype:
        kinds = f"{seen[key].dtype} in the visits and {labels[key].dtype} in the categories"
        raise DataError(f"the column {key!r} holds {kinds}; give both the same type")
    if key == "host" and seen[key].dtype == pl.String:
        seen, labels = (table.with_columns(pl.col(key).str.to_lowercase()) for table in (seen, labels))
    names = labels["category"].unique().sort()
    numbered = pl.DataFrame({"category": names, "column": np.arange(len(names), dtype=np.int32)})
    labels = labels.join(numbered, on="category").select(key, "column").unique()
    covered = seen[key].is_in(labels[key].unique().implode()).mean() if len(seen) else 0.0
    if not covered and unmatched == "refuse":
        none = f"none of the {labels[key].n_unique():,} listed {key}s occurs in the visits"
        raise DataError(f"{none} (the first listed: {labels[key].sort()[0]!r}); write {key}s in both tables alike")
    located = seen.lazy().select("user", key).join(labels.lazy(), on=key).join(rows.lazy(), on="user")
    cells = located.select("row", "column").collect()
    # Counting sort by row; cells that occur more than once become one.
    shape, ones = (len(rows), len(names)), np.ones(len(cells), dtype=bool)
    matrix = sparse.coo_array((ones, (cells["row"].to_numpy(), cells["column"].to_numpy())), shape=shape).tocsr()
    unseen = tuple(numbered.filter(~pl.col("column").is_in(cells["column"].unique().implode()))["category"])
    return CategoryVisits(matrix, rows["user"].to_arrow(), tuple(names.to_list()), float(covered), unseen)


def _frame(frame: Any, name: str) -> Any:
    import polars as pl
    import pyarrow as pa

    if isinstance(frame, pl.DataFrame):
        return frame
    table = table_of_frame(frame, f"the table of {name}")
    return pl.DataFrame(pa.table({column: table.column(column) for column in table.types}))


def _key(columns: Iterable[str], what: str, error: type[ReidRiskError] = FormatError) -> str:
    """Return which of the columns names what was visited."""
    found = [column for column in ("host", "token") if column in columns]
    if len(found) != 1:
        raise error(f"{what} needs one column 'host' or 'token', and has {', '.join(map(repr, columns))}")
    return found[0]


def _population(seen: Any, users: Any) -> Any:
    import polars as pl

    if users is None:
        everyone = seen["user"].unique().sort()
    else:
        everyone = users if isinstance(users, pl.Series) else pl.Series("user", list(users), dtype=seen["user"].dtype)
        if everyone.n_unique() != len(everyone):
            raise DataError(f"user {everyone.filter(everyone.is_duplicated())[0]!r} is listed twice in users")
        known = seen["user"].is_in(everyone.implode())
        if not known.all():
            user = seen["user"].filter(~known).min()
            raise DataError(f"user {user!r} has visits but is not among users; add them, with the cohort -1 for none")
    return pl.DataFrame({"user": everyone, "row": np.arange(len(everyone), dtype=np.int32)})


def _labels(categories: Any, key: str) -> Any:
    import polars as pl

    if isinstance(categories, Mapping):
        rows = []
        for host, given in categories.items():
            if not isinstance(given, Iterable) or (not isinstance(given, str) and any(c is None for c in given)):
                raise DataError(f"the category of {host!r} is {given!r}; give a name, or a list of names")
            rows += [(host, str(category)) for category in ([given] if isinstance(given, str) else given)]
        table = pl.DataFrame(rows, schema=[key, "category"], orient="row")
    else:
        table = _frame(categories, "categories")
        if _key(table.columns, "the table of categories", DataError) != key or "category" not in table.columns:
            names = ", ".join(map(repr, table.columns))
            raise DataError(f"the categories need the columns {key!r} and 'category'; they have {names}")
        if table["category"].null_count():
            row = table["category"].is_null().arg_max()
            raise DataError(f"row {row} of the categories names no category; leave it out")
        table = table.select(key, pl.col("category").cast(pl.String))
    if not len(table):
        raise DataError("there is no category in the table; give at least one host with its category")
    without = table.filter(pl.col(key).is_null() | (pl.col(key).cast(pl.String) == ""))
    if len(without):
        raise DataError(f"the category {without['category'][0]!r} has no {key}; name one, or leave the category out")
    return table


def read_visits(path: PathLike, week: str | None = None) -> Any:
    """Read visits: columns ``user`` and ``host`` or ``token`` as text, and the one that ``week`` names as numbers."""
    import polars as pl

    key = _key(open_table(path).types, str(path))
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
    return _text(path, [_key(open_table(path).types, str(path)), "category"], missing=True)


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
