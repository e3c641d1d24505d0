"""Browsing histories: who visited which host when, read from a table and checked once, at the door."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from reidrisk.base import DataError, FormatError, Ints, OptionError, UserIds, first_seen, frozen, one_of
from reidrisk.base.hosts import distinct_values, plain_host
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables import OpenTable, cell, open_table, table_of_frame, typed, user_ids
from reidrisk.topics.histories.times import Moment, as_text, microseconds, moment

_SECOND = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Histories:
    """Visits of many users, grouped by user and in the order of time; made by :func:`read_histories`."""

    name: str  # how messages call the table
    users: UserIds  # ids of the users, in the order of their first row
    user: Ints  # for each visit the index of its user; ascending
    time: Ints  # for each visit its second since 1970, UTC; ascending within a user
    host: Ints  # for each visit the index of its host
    hosts: tuple[str | None, ...]  # the distinct hosts, as they were given

    def __len__(self) -> int:
        return len(self.user)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.users)

    def __repr__(self) -> str:
        days = (int(self.time.max()) - int(self.time.min())) / 86_400
        n, users, hosts = len(self), self.n_users, len(self.hosts)
        return f"Histories({n:,} visits of {users:,} users to {hosts:,} hosts, {days:,.1f} days)"


def read_histories(
    path: PathLike,
    user: str = "user",
    timestamp: str = "timestamp",
    host: str = "host",
    now: Moment | None = None,
    sort: bool = False,
    invalid: Literal["refuse", "count"] = "refuse",
) -> Histories:
    """Read a table of visits, one per row, from a Parquet, CSV, Arrow IPC or NPZ file.

    Times are Arrow times, text such as ``2024-05-31 17:20:00`` or whole seconds since 1970; where no zone is named they
    are UTC. Visits after ``now`` (default: the clock of this machine) are refused, and so is a visit that is earlier
    than the one before it of the same user, unless ``sort`` puts them in order. What is not a host is refused with its
    row, or with ``invalid="count"`` kept as a visit without a topic and counted in the coverage.
    """
    return _histories(open_table(path), (user, timestamp, host), now, sort, invalid)


def histories_from_frame(
    frame: Any,
    user: str = "user",
    timestamp: str = "timestamp",
    host: str = "host",
    now: Moment | None = None,
    sort: bool = False,
    invalid: Literal["refuse", "count"] = "refuse",
) -> Histories:
    """Take visits from any frame with the Arrow interface; everything else as for :func:`read_histories`.

    >>> import polars
    >>> histories_from_frame(polars.DataFrame({"user": [1, 2], "timestamp": [0, 86_400], "host": ["a.com", "b.org"]}))
    Histories(2 visits of 2 users to 2 hosts, 1.0 days)
    """
    return _histories(table_of_frame(frame), (user, timestamp, host), now, sort, invalid)


def _histories(
    table: OpenTable, columns: tuple[str, str, str], now: Moment | None, sort: bool, invalid: str
) -> Histories:
    one_of("invalid", invalid, ("refuse", "count"))
    latest = moment(datetime.now(UTC) if now is None else now, "now")
    user, timestamp, host = columns
    _require(table, columns)
    table = typed(table, ids=[user, timestamp])
    # One column at a time: ten million hosts as text need no company in memory.
    of_user, users = first_seen(user_ids(table.name, user, table.column(user)))
    time = microseconds(table.column(timestamp), table.name, timestamp)
    if not len(of_user) == len(time) == table.n_rows:
        raise FormatError(f"{table.name}: {len(time):,} of {table.n_rows:,} rows are there; the file is truncated")
    late = time > latest
    if late.any():
        first = int(np.argmax(late))
        at, present = as_text(int(time[first]) // _SECOND), as_text(latest // _SECOND)
        where = cell(table.name, first, timestamp)
        raise DataError(f"{where} holds {at}, later than now, {present}; correct it, or say what now is (--now)")
    of_host, hosts = distinct_values(table.column(host))
    for code, value in enumerate(hosts if invalid == "refuse" else ()):  # in the order of their first row
        if fault := plain_host(value)[1]:
            where = cell(table.name, int(np.argmax(of_host == code)), host)
            advice = "give hosts such as 'www.example.org', or count such values (--invalid-hosts count)"
            raise DataError(f"{where} holds {value!r}: {fault}; {advice}")
    order = np.lexsort((time, of_user)) if sort else np.argsort(of_user, kind="stable")
    if not sort:
        _refuse_disorder(table.name, timestamp, of_user, time, order)
    of_user, time, of_host = map(frozen, (of_user[order], time[order] // _SECOND, of_host[order]))
    return Histories(table.name, users, of_user, time, of_host, tuple(hosts))


def _require(table: OpenTable, columns: Iterable[str]) -> None:
    for column in columns:
        if column not in table.types:
            missing = f"there is no column {column!r} in it, only {', '.join(map(repr, table.types))}"
            advice = "name those of user, timestamp and host (--user-column, --timestamp-column, --host-column)"
            raise FormatError(f"{table.name}: {missing}; {advice}")
    if len(set(columns)) < 3:
        raise OptionError("user, timestamp and host must be three different columns")
    if table.n_rows == 0:
        raise DataError(f"{table.name}: the table is empty; give at least one visit")


def _refuse_disorder(name: str, column: str, user: Any, time: Any, order: Ints) -> None:
    back = (np.diff(user[order]) == 0) & (np.diff(time[order]) < 0)
    if back.any():
        rows = order[1:][back]
        row = int(rows.min())
        before = int(order[:-1][back][np.argmin(rows)])
        at, ahead = (as_text(int(time[i]) // _SECOND) for i in (row, before))
        late = f"{cell(name, row, column)} holds {at}, earlier than row {before + 1} of the same user, {ahead}"
        raise DataError(f"{late}; put each user's visits in order, or have them sorted (--sort)")
