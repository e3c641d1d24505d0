"""Reads the Fitbit data of 2016 (Zenodo 53894): 4 intensity states by the minute, 24-hour profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.bandits.transitions import LARGEST, Behaviour, matrices_of_events
from reidrisk.base.errors import DataError, FormatError
from reidrisk.io.tables import open_table

__all__ = ["STATES", "read_fitbit"]

STATES = ("sedentary", "light", "moderate", "very active")
"""Names of the intensities 0 to 3."""

_MINUTES, _HOURS = "minuteIntensitiesWide_merged", "hourlyIntensities_merged"


def read_fitbit(folder: str | Path, hours: str | Path | None = None) -> Behaviour:
    """Read minute intensities and hourly means.

    A minute in a state is 60 seconds of it; two minutes that follow each other in different states are a transition.
    After a missing hour nothing is counted. The profile of a user holds the mean intensity of each hour of the day
    over all days (galozy, Section 6.1).

    Parameters
    ----------
    folder : path
        The folder that holds ``minuteIntensitiesWide_merged.csv`` and ``hourlyIntensities_merged.csv`` (or
        ``.csv.gz``), or the first of the two files.
    hours : path, optional
        The second file, where it lies elsewhere.

    Returns
    -------
    Behaviour
        4 states, profiles of 24 numbers.
    """
    import polars as pl

    given = Path(folder)
    if not given.exists():
        raise FormatError(f"{folder}: there is no such folder or file; check the path")
    columns = [f"Intensity{minute:02d}" for minute in range(60)]
    minutes = _file(given, _MINUTES) if given.is_dir() else given
    wide = _frame(minutes, columns)
    hourly = Path(hours) if hours is not None else _file(minutes.parent, _HOURS)
    hour = _frame(hourly, ["AverageIntensity"])
    states = wide.select(pl.col(columns).cast(pl.Int64, strict=False)).fill_null(-1).to_numpy()
    bad = np.argwhere((states < 0) | (states > 3))
    if bad.size:
        row, column = bad[0]
        raise DataError(
            f"{minutes}: row {row}, {columns[column]} is {wide[columns[column]][int(row)]!r}; "
            "intensities are 0, 1, 2, 3"
        )
    users, code = np.unique(wide["Id"].to_numpy(), return_inverse=True)
    start = wide["ActivityHour"].dt.timestamp("ms").to_numpy() / 1000.0
    time = (start[:, None] + 60.0 * np.arange(60)).ravel()
    user, state = np.repeat(code, 60).astype(np.int64), states.ravel()
    minute = np.full(len(user), 60.0)
    records, _ = matrices_of_events(user, time, state, len(users), len(STATES), lasting=minute, max_gap=0.0)
    return Behaviour(
        records=records,
        profiles=_profiles(hour, users, hourly),
        users=tuple(map(str, users)),
        states=STATES,
        origin=f"Fitbit data of {len(users)} people, {len(user):,} minutes (Zenodo 53894).",
    )


def _profiles(hour: Any, users: Any, path: Path) -> Any:
    import polars as pl

    values = hour["AverageIntensity"].cast(pl.Float64, strict=False)
    bad = ~values.is_between(0.0, LARGEST).fill_null(value=False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        given = hour["AverageIntensity"][row]
        raise DataError(f"{path}: row {row} has the AverageIntensity {given!r}; it must be a number of at least 0")
    by_hour = (
        pl.DataFrame({"user": hour["Id"], "hour": hour["ActivityHour"].dt.hour(), "value": values})
        .group_by("user", "hour")
        .agg(pl.col("value").mean())
    )
    profiles = np.full((len(users), 24), np.nan)
    rows = np.searchsorted(users, by_hour["user"].to_numpy())
    known = (rows < len(users)) & (users[np.minimum(rows, len(users) - 1)] == by_hour["user"].to_numpy())
    profiles[rows[known], by_hour["hour"].to_numpy()[known]] = by_hour["value"].to_numpy()[known]
    missing = np.argwhere(np.isnan(profiles))
    if missing.size:
        user, at = missing[0]
        raise DataError(f"{path}: user {users[user]} has no intensity at hour {at} on any day; leave the user out")
    return profiles


def _file(folder: Path, name: str) -> Path:
    for ending in (".csv", ".csv.gz"):
        if (folder / (name + ending)).is_file():
            return folder / (name + ending)
    raise FormatError(f"{folder}: there is no {name}.csv or .csv.gz; unpack the published data there")


def _frame(path: Path, columns: list[str]) -> Any:
    """Read these columns of a file, the people and the hours: one row for each person and hour."""
    import polars as pl

    table = open_table(path)
    needed = ["Id", "ActivityHour", *columns]
    missing = [name for name in needed if name not in table.types]
    if missing:
        raise FormatError(f"{path}: there is no column {missing[0]!r}; this is not the published Fitbit file")
    if not table.n_rows:
        raise DataError(f"{path}: the file has no rows; unpack the published data again")
    frame = pl.DataFrame({name: pl.Series(table.column(name)) for name in needed})
    frame = frame.with_columns(pl.col("Id").cast(pl.String), _times(frame["ActivityHour"], path))
    if frame["Id"].null_count():
        raise DataError(f"{path}: row {frame['Id'].is_null().arg_max()} has no Id; fill it in, or take it out")
    again = ~frame.select(pl.struct("Id", "ActivityHour").is_first_distinct()).to_series()
    if again.any():
        row = int(again.arg_max() or 0)
        who, when = frame["Id"][row], frame["ActivityHour"][row]
        raise DataError(
            f"{path}: row {row} is the second one of user {who!r} at {when:%Y-%m-%d %H:%M}; keep one of them"
        )
    return frame


def _times(given: Any, path: Path) -> Any:
    """Read times such as 4/12/2016 0:00 or 4/12/2016 12:00:00 AM: both are about."""
    import polars as pl

    text = given.cast(pl.String)
    plain = text.str.to_datetime("%m/%d/%Y %H:%M", strict=False)
    times = plain.fill_null(text.str.to_datetime("%m/%d/%Y %I:%M:%S %p", strict=False)) if plain.null_count() else plain
    bad = (times != times.dt.truncate("1h")).fill_null(value=True)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise DataError(
            f"{path}: row {row} has the time {text[row]!r}; it should be a full hour such as 4/12/2016 13:00"
        )
    return times.alias("ActivityHour")
