"""Reads behaviour: activity logs (who entered which state when), and matrices that somebody has made already."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.bandits.sharing.weights import LEAST_ALPHA
from reidrisk.bandits.transitions import LARGEST, PAPER_TOLERANCE, Behaviour, matrices_of_events, state_codes
from reidrisk.base import Array, DataError, Floats, FormatError, Ints, Note, OptionError, is_number
from reidrisk.io.documents import read_npz
from reidrisk.io.tables import existing_file, open_table, table_of_frame

UNITS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}  # units of time by name, in seconds


def from_log(
    log: Any,
    states: Sequence[str] | None = None,
    max_gap: float | None = None,
    origin: str | None = None,
    unit: str | float = "second",
) -> Behaviour:
    """Read an activity log: who entered which state when.

    A path or frame has the columns ``user``, ``timestamp`` (seconds, or ISO 8601) and ``state``; an entry lasts as long
    as a column ``seconds`` says, else until the user's next one. Rows of a user at the same time follow each other as
    they stand, and the same entry twice is refused. After more than ``max_gap`` seconds of silence
    (:func:`matrices_of_events`) nothing is counted. ``states`` names rows and columns, default: those that occur.

    A stay of one ``unit``, by name or in seconds, counts as much as one transition. The ``tolerance`` goes with it:
    0.001, or half of what one transition changes in the row with the most time, if less; a coarser one would take a
    record that nobody changed for hidden. The profile of a user is the share of time (else of entries) in each state.

    >>> import polars as pl
    >>> log = pl.DataFrame({"user": ["ann"] * 3, "timestamp": [0, 60, 70], "state": ["rest", "run", "rest"]})
    >>> from_log(log, unit="minute").records.round(3).tolist()
    [[[0.5, 0.5], [0.857, 0.143]]]
    """
    seconds, named = _unit(unit), {length: name for name, length in UNITS.items()}
    table = open_table(log) if isinstance(log, str | Path) else table_of_frame(log, "the log")
    missing = [name for name in ("user", "timestamp", "state") if name not in table.types]
    if missing:
        raise FormatError(f"{table.name}: there is no column {missing[0]!r}; a log has user, timestamp, state")
    if not table.n_rows:
        raise DataError(f"{table.name}: the log has no entries; each row is one: user, timestamp, state")
    users, user = _coded(table, "user")
    found, code = _coded(table, "state")
    names, known = state_codes(found, states, lambda i: f"{table.name}: row {int(np.argmax(code == i))}")
    state, time = known[code], _seconds(table, "timestamp")
    _check_distinct(table, user, time, state)
    lasting = _seconds(table, "seconds") if "seconds" in table.types else None
    if lasting is not None and (lasting < 0).any():
        row = int(np.argmax(lasting < 0))
        raise DataError(f"{table.name}: row {row} lasts {lasting[row]:g} seconds; write how long it lasted, 0 or more")
    records, spent = matrices_of_events(user, time, state, len(users), len(names), lasting, max_gap, seconds)
    entries = np.zeros(spent.shape)
    np.add.at(entries, (user, state), 1.0)
    weight = np.where(spent.sum(axis=1, keepdims=True) > 0, spent, entries)
    return Behaviour(
        records=records,
        profiles=weight / weight.sum(axis=1, keepdims=True),
        users=tuple(map(str, users)),
        states=names,
        origin=origin or Note("log-read", entries=table.n_rows, name=table.name, unit=named.get(seconds, seconds)),
        tolerance=_tolerance(records, spent / seconds),
    )


def read_matrices(path: str | Path) -> Behaviour:
    """Read an NPZ file of ``records`` (n, d, d), ``profiles`` (n, p), and optional names ``users`` and ``states``."""
    name = str(path)
    arrays = read_npz(existing_file(path), name, store="'records' (n, d, d) and 'profiles' (n, p)")
    for key in ("records", "profiles"):
        if key not in arrays:
            raise FormatError(f"{name}: there is no array {key!r}; store 'records' (n, d, d) and 'profiles' (n, p)")
        if arrays[key].dtype.kind not in "fiu":
            raise FormatError(f"{name}: the array {key!r} is of type {arrays[key].dtype}; it must hold numbers")
    for key, array in arrays.items():
        if not array.ndim:
            raise FormatError(f"{name}: the array {key!r} is a single value; store a list, or an array")
        if key in ("users", "states") and array.ndim > 1:
            raise FormatError(f"{name}: the array {key!r} has shape {array.shape}; store a list of names")
    records = arrays["records"]
    shape = records.shape if records.ndim == 3 else (0, 0, 0)  # a wrong shape is refused below, by name
    users = tuple(map(str, arrays.get("users", range(shape[0]))))
    states = tuple(map(str, arrays.get("states", range(shape[1]))))
    origin = Note("matrices-read", users=len(records), name=name)
    try:
        return Behaviour(records, arrays["profiles"], users, states, origin)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def _unit(unit: str | float) -> float:
    if isinstance(unit, str) and unit in UNITS:
        return UNITS[unit]
    if is_number(unit) and 0.0 < float(unit) <= LARGEST:
        return float(unit)
    raise OptionError(f"unit must be one of {', '.join(UNITS)}, or a number of seconds above 0, not {unit!r}")


def _tolerance(records: Floats, time: Floats) -> float:
    """Return the paper's tolerance, or half of what one transition changes in the row that adds up to most."""
    staying = np.diagonal(records, axis1=1, axis2=2)
    stayed = time > 0.0
    most = float((time[stayed] / staying[stayed]).max(initial=0.0))
    return max(LEAST_ALPHA, min(PAPER_TOLERANCE, 0.5 / most)) if most else PAPER_TOLERANCE


def _coded(table: Any, column: str) -> tuple[Array, Ints]:
    """Return the distinct texts of a column in order, and for each row which of them it holds."""
    import polars as pl

    given = _plain(table, column)
    try:
        cells = given.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise FormatError(f"{table.name}: column {column!r} holds {given.dtype}; give text or numbers") from error
    empty = cells.is_null() | (cells.str.strip_chars() == "").fill_null(value=False)
    if empty.any():
        raise DataError(f"{table.name}: row {empty.arg_max()} has no {column}; fill it in, or take it out")
    distinct = cells.unique().sort()
    codes = cells.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
    # As objects: an array of text would make all of them as long as the longest.
    return np.array(distinct.to_list(), dtype=np.object_), codes.to_numpy()


def _seconds(table: Any, column: str) -> Floats:
    """Return numbers, or dates and times as seconds since 1970."""
    import polars as pl

    given = cells = _plain(table, column)
    if cells.dtype == pl.String:
        cells = cells.cast(pl.Float64, strict=False)
        # What most rows hold decides which of the others are at fault.
        if column != "seconds" and 2 * cells.null_count() > len(cells):
            cells = _times(given)
    if cells.dtype in (pl.Date, pl.Datetime):
        cells = cells.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / 1e6
    if cells.dtype == pl.Duration:
        cells = cells.dt.total_microseconds(fractional=True) / 1e6
    numeric = cells.dtype.is_numeric()
    values = cells.cast(pl.Float64).fill_null(np.nan).to_numpy() if numeric else np.full(len(cells), np.nan)
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if bad.size:
        cell = given[int(bad[0])]
        what = f"no {column}" if cell is None else f"the {column} {str(cell)!r}"
        wanted = "seconds" if column == "seconds" else "seconds, or times such as 2024-05-01T12:00:00"
        raise DataError(f"{table.name}: row {bad[0]} has {what}; write {wanted}, the same way in all rows")
    return np.asarray(values, dtype=np.float64)


def _times(cells: Any) -> Any:
    """Read dates and times as in ISO 8601; null where a cell is none. Without an offset they are in UTC."""
    import polars as pl

    # 5/1/2024 is the first of May here and the fifth of January there: not one of these is guessed.
    dated = cells.set(~cells.str.contains(r"^\s*\d{4}-\d{2}-\d{2}").fill_null(value=True), None)
    for zone in (None, "UTC"):
        try:
            return dated.str.to_datetime(strict=False, time_unit="us", time_zone=zone).dt.replace_time_zone(None)
        except pl.exceptions.PolarsError:  # none of the cells looks like a time of this kind
            continue
    return cells.cast(pl.Float64, strict=False)


def _plain(table: Any, column: str) -> Any:
    """Return a column of text, numbers or times; lists and the like are refused."""
    import polars as pl

    cells = pl.Series(table.column(column))
    if cells.dtype.is_nested() or cells.dtype in (pl.Binary, pl.Object):
        raise FormatError(f"{table.name}: column {column!r} holds {cells.dtype}; it must hold text, numbers or times")
    return cells


def _check_distinct(table: Any, user: Ints, time: Floats, state: Ints) -> None:
    """Refuse the same entry twice; nobody enters a state again at the moment of entering it."""
    order = np.lexsort((np.arange(len(user)), time, user))
    same = np.flatnonzero((np.diff(user[order]) == 0) & (np.diff(time[order]) == 0) & (np.diff(state[order]) == 0))
    if same.size:
        rows = f"rows {order[same[0]]} and {order[same[0] + 1]}"
        raise DataError(f"{table.name}: {rows} are the same entry: one user, one time, one state; take one out")
