"""From visits to sensitive categories: tables of (user, host) and (host, category) become a sparse 0/1 matrix."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reidrisk.base.errors import DataError, OptionError
from reidrisk.io.tables import table_of_frame


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

    if unmatched not in ("refuse", "keep"):
        raise OptionError(f"unmatched must be 'refuse' or 'keep', not {unmatched!r}")
    seen = _frame(visits, "visits")
    key = _key(seen, "visits")
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


def _key(frame: Any, name: str) -> str:
    found = [column for column in ("host", "token") if column in frame.columns]
    if len(found) != 1:
        names = ", ".join(map(repr, frame.columns))
        raise DataError(f"the {name} need one column 'host' or 'token'; they have {names}")
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
        if _key(table, "categories") != key or "category" not in table.columns:
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
