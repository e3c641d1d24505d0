"""Reads activity logs: who entered which state when."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.bandits.transitions import Behaviour, matrices_of_events, state_codes
from reidrisk.errors import DataError, FormatError
from reidrisk.io.formats import open_table, table_of_frame

__all__ = ["from_log"]

Floats = npt.NDArray[np.float64]


def from_log(
    log: Any, states: Sequence[str] | None = None, max_gap: float | None = None, origin: str | None = None
) -> Behaviour:
    """Read an activity log: who entered which state when.

    Parameters
    ----------
    log : path or frame
        Columns ``user``, ``timestamp`` (seconds, or date and time as in ISO 8601) and ``state``; with a column
        ``seconds``, that is how long the entry lasted, else it lasted until the user's next one.
    states : sequence of str, optional
        Names of all states, in the order of rows and columns; the states that occur, in order, when missing.
    max_gap : float, optional
        After more seconds of silence, neither time nor a transition is counted.
    origin : str, optional
        Where it comes from, for the result.

    Returns
    -------
    Behaviour
        The profile of a user is the share of time in each state (of entries, where no time is known).

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"user": ["ann"] * 3, "timestamp": [0, 60, 70], "state": ["rest", "run", "rest"]})
    >>> from_log(log).records.round(3).tolist()
    [[[0.984, 0.016], [0.091, 0.909]]]
    """
    is_file = isinstance(log, str | Path)
    table = open_table(log) if is_file else table_of_frame(log, "the log")
    missing = [name for name in ("user", "timestamp", "state") if name not in table.types]
    if missing:
        raise FormatError(
            f"{table.name}: there is no column {missing[0]!r}; an activity log has user, timestamp, state"
        )
    if not table.n_rows:
        raise DataError(f"{table.name}: the log has no entries")
    users, user = np.unique(_texts(table, "user"), return_inverse=True)
    names, state = state_codes(_texts(table, "state"), states)
    time = _seconds(table, "timestamp")
    lasting = _seconds(table, "seconds") if "seconds" in table.types else None
    if lasting is not None and (lasting < 0).any():
        raise DataError(f"{table.name}: row {int(np.argmax(lasting < 0))} lasts a negative number of seconds")
    records, spent = matrices_of_events(user, time, state, len(users), len(names), lasting, max_gap)
    entries = np.zeros(spent.shape)
    np.add.at(entries, (user, state), 1.0)
    weight = np.where(spent.sum(axis=1, keepdims=True) > 0, spent, entries)
    return Behaviour(
        records=records,
        profiles=weight / weight.sum(axis=1, keepdims=True),
        users=tuple(map(str, users)),
        states=names,
        origin=origin or f"An activity log of {table.n_rows:,} entries ({table.name}).",
    )


def _texts(table: Any, column: str) -> npt.NDArray[Any]:
    import polars as pl

    cells = pl.Series(table.column(column)).cast(pl.String)
    if cells.null_count():
        raise DataError(f"{table.name}: row {cells.is_null().arg_max()} has no {column}; fill it in, or take it out")
    return cells.to_numpy().astype(np.str_)


def _seconds(table: Any, column: str) -> Floats:
    """Return numbers, or dates and times as seconds since 1970."""
    import polars as pl

    cells = pl.Series(table.column(column))
    if cells.dtype == pl.String:
        numbers = cells.cast(pl.Float64, strict=False)
        if numbers.null_count():
            try:
                cells = cells.str.to_datetime(strict=False, time_unit="us")
            except pl.exceptions.ComputeError:  # not one of them looks like a time
                cells = numbers
        else:
            cells = numbers
    if cells.dtype.is_temporal():
        cells = cells.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / 1e6
    values = cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise DataError(
            f"{table.name}: row {bad[0]} has no readable {column}; write seconds, or times such as 2024-05-01T12:00:00"
        )
    return np.asarray(values, dtype=np.float64)
