"""Visits as Chrome grouped them: by registrable domain, and by week."""

import itertools
from typing import Any, Literal

from reidrisk.base.errors import DataError
from reidrisk.base.hosts import registrable


def by_domain(frame: Any, invalid: Literal["refuse", "drop"]) -> tuple[Any, int]:
    """Return visits with registrable domains for hosts, and how many visits were dropped for having none.

    >>> import polars as pl
    >>> kept, dropped = by_domain(pl.DataFrame({"user": ["bo", "al"], "host": ["news.a.org", "localhost"]}), "drop")
    >>> kept["host"].to_list(), dropped
    (['a.org'], 1)
    """
    import polars as pl

    if "host" not in frame.columns:
        raise DataError("tokens have no registrable domain; leave out --registrable, or name the column 'host'")
    distinct = frame["host"].unique(maintain_order=True).to_list()
    domains = registrable(distinct, invalid="none" if invalid == "drop" else "refuse")
    known = pl.DataFrame({"host": distinct, "domain": domains})
    turned = frame.join(known, on="host", how="left", maintain_order="left")
    kept = turned.filter(pl.col("domain").is_not_null()).drop("host").rename({"domain": "host"})
    if not len(kept):
        raise DataError("no visit is left: none of the hosts has a registrable domain")
    return kept, len(frame) - len(kept)


def by_week(frame: Any, weekly: bool) -> tuple[Any, list[Any]]:
    """Return the users, in the order of their first visit, and for each week the domains of all of them.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"user": ["bo", "al", "bo"], "host": ["a.org", "b.org", "c.org"], "week": [1, 1, 2]})
    >>> users, weeks = by_week(visits, weekly=True)
    >>> users.to_list(), [week.to_list() for week in weeks]
    (['bo', 'al'], [[['a.org'], ['b.org']], [['c.org'], []]])
    """
    import polars as pl

    key = "host" if "host" in frame.columns else "token"
    users = frame["user"].unique(maintain_order=True)
    numbers = frame["week"].unique().sort().to_list() if weekly else [None]
    for before, after in itertools.pairwise(numbers):
        if after != before + 1:
            gap = f"there are visits in the weeks {before} and {after} but none between"
            raise DataError(f"{gap}; number the weeks without a gap")
    everyone = pl.DataFrame({"user": users})
    weeks = []
    for number in numbers:
        part = frame if number is None else frame.filter(pl.col("week") == number)
        lists = part.group_by("user").agg(pl.col(key))
        joined = everyone.join(lists, on="user", how="left", maintain_order="left")
        weeks.append(joined[key].fill_null([]))
    return users, weeks
