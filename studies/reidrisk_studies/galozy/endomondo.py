"""Reads workouts (Endomondo, FitRec): sports are the states; frequencies, time, heart rate and distance the profile."""

from __future__ import annotations

import ast
import gzip
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.bandits.transitions import LARGEST, Behaviour, matrices_of_events, state_codes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.io.tables import existing_file, while_reading
from reidrisk_studies.galozy.lines import bounded_lines, line_of_text

__all__ = ["Workout", "read_endomondo", "read_workouts"]

_LONGEST_LITERAL = 1 << 19
"""Characters of a line that is read as a Python literal, which takes 500 bytes of memory for each."""

Floats = npt.NDArray[np.float64]

_EARTH = 6_371.0  # km


@dataclass(frozen=True)
class Workout:
    """One line of the file, in brief: ``start`` and ``seconds`` in seconds, ``distance`` in km."""

    user: str
    sport: str
    start: float
    seconds: float
    heart_rate: float
    distance: float


def read_endomondo(path: str | Path, states: Sequence[str] | None = None) -> Behaviour:
    """Read workouts into transition matrices between sports.

    The time in a sport is that of its workouts; one workout after another of a different sport is a transition. The
    profile holds the frequency of each sport, and the mean time (hours), heart rate (beats a minute) and distance
    (km) of a workout: 42 numbers for 39 sports, where the paper says 43. A mean over nothing is 0.

    Parameters
    ----------
    path : path
        ``endomondoHR_proper.json`` (or ``.gz``): one workout per line, as JSON or as the Python literal of the
        published file, with ``userId``, ``sport``, ``timestamp`` and, where measured, ``heart_rate``, ``longitude``
        and ``latitude``.
    states : sequence of str, optional
        Names of all sports; default: those that occur.
    """
    workouts = list(read_workouts(path))
    if not workouts:
        raise DataError(f"{path}: the file has no workouts; write one per line, with userId, sport and timestamp")
    # As objects: an array of text would make all of them as long as the longest.
    people = np.array([w.user for w in workouts], dtype=np.object_)
    sports = np.array([w.sport for w in workouts], dtype=np.object_)
    users, user = np.unique(people, return_inverse=True)
    names, state = state_codes(sports, states, lambda row: f"{path}: workout {row + 1}")
    start, seconds = np.array([w.start for w in workouts]), np.array([w.seconds for w in workouts])
    records, _ = matrices_of_events(user, start, state, len(users), len(names), lasting=seconds)
    times = np.zeros((len(users), len(names)))
    np.add.at(times, (user, state), 1.0)
    means = [
        _mean(np.array(values), user, len(users))
        for values in (seconds / 3600.0, [w.heart_rate for w in workouts], [w.distance for w in workouts])
    ]
    return Behaviour(
        records=records,
        profiles=np.column_stack([times / times.sum(axis=1, keepdims=True), *means]),
        users=tuple(map(str, users)),
        states=names,
        origin=f"{len(workouts):,} workouts of {len(users):,} people (Endomondo).",
    )


def read_workouts(path: str | Path) -> Iterator[Workout]:
    """Yield the workouts of a file, one line at a time; the file may be larger than memory."""
    file = existing_file(path)
    opened = gzip.open if file.suffix == ".gz" else open
    with while_reading(str(path), "workouts"), opened(file, "rb") as lines:
        for number, line in enumerate(bounded_lines(lines, str(path)), start=1):  # type: ignore[arg-type]
            text = line_of_text(line, path, number)
            if text.strip():
                yield _workout(_parsed(text, path, number), path, number)


def _parsed(line: str, path: str | Path, number: int) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        if len(line) > _LONGEST_LITERAL:
            raise FormatError(
                f"{path}: line {number} is no JSON, and its {len(line):,} characters are too many for a Python "
                f"literal, {_LONGEST_LITERAL:,} at most; write it as JSON"
            ) from None
        try:
            with warnings.catch_warnings(action="ignore"):  # of Python's parser, about the style of damaged numbers
                values = ast.literal_eval(line.strip())
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            raise FormatError(
                f"{path}: line {number} is neither JSON nor a Python literal; it may be cut off"
            ) from error
    if not isinstance(values, dict):
        raise FormatError(f"{path}: line {number} is no workout; a line is an object with userId, sport and timestamp")
    return values


def _workout(values: dict[str, Any], path: str | Path, number: int) -> Workout:
    missing = [name for name in ("userId", "sport", "timestamp") if name not in values]
    if missing:
        raise DataError(
            f"{path}: line {number} has no {missing[0]!r}; a workout has userId, sport and timestamp: mend or drop it"
        )
    for name in ("userId", "sport"):
        if not isinstance(values[name], str | int | float) or not str(values[name]).strip():
            raise DataError(
                f"{path}: line {number} has the {name} {values[name]!r:.40}; write text or a number, or drop it"
            )
    times = _numbers(values, "timestamp", path, number)
    if not times.size or not np.isfinite(times).all():
        raise DataError(f"{path}: line {number} has no readable timestamp; it is a list of seconds since 1970")
    beats = _numbers(values, "heart_rate", path, number)
    return Workout(
        user=str(values["userId"]),
        sport=str(values["sport"]),
        start=float(times.min()),
        seconds=float(times.max() - times.min()),
        heart_rate=float(beats.mean()) if beats.size else float("nan"),
        distance=_distance(_numbers(values, "longitude", path, number), _numbers(values, "latitude", path, number)),
    )


def _numbers(values: dict[str, Any], name: str, path: str | Path, number: int) -> Floats:
    """Return a list of measurements, empty where it is missing."""
    given = values.get(name)
    try:
        numbers = np.asarray([] if given is None else given, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: line {number} has a {name!r} that is no list of numbers; mend or drop it") from error
    large = np.flatnonzero(np.abs(numbers) > LARGEST)
    if large.size:
        raise DataError(f"{path}: line {number} has {numbers[large[0]]:g} in {name!r}; mend or drop it")
    return numbers


def _distance(longitude: Floats, latitude: Floats) -> float:
    """Return the length of a track in km, by great circles between its points; NaN without a track."""
    if len(longitude) < 2 or len(longitude) != len(latitude):
        return float("nan")
    x, y = np.radians(longitude), np.radians(latitude)
    inner = np.sin(np.diff(y) / 2) ** 2 + np.cos(y[1:]) * np.cos(y[:-1]) * np.sin(np.diff(x) / 2) ** 2
    return float(2 * _EARTH * np.arcsin(np.sqrt(np.minimum(inner, 1.0))).sum())


def _mean(values: Any, user: Any, n_users: int) -> Any:
    """Return the mean of the known values of each user, 0 where there are none."""
    known = np.isfinite(values)
    sums = np.bincount(user[known], weights=values[known], minlength=n_users)
    return sums / np.maximum(np.bincount(user[known], minlength=n_users), 1)
