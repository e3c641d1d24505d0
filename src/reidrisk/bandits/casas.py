"""Reads annotated sensor logs of smart homes (CASAS): activities are the states, sensor graphs the profiles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.bandits.graph2vec import graph2vec
from reidrisk.bandits.transitions import Behaviour, matrices_of_events, state_codes
from reidrisk.errors import DataError, FormatError
from reidrisk.extras import require

__all__ = ["OTHER", "read_casas", "read_home"]

OTHER = "Other_Activity"
"""State of an event that no annotation covers; the data set uses this name itself."""

_MARK = re.compile(r'^(?P<activity>[^="]+)(?:="?(?P<edge>begin|end)"?)?$')


def read_casas(
    homes: str | Path | Sequence[str | Path],
    states: Sequence[str] | None = None,
    max_gap: float | None = None,
    dimensions: int = 128,
    min_count: int = 5,
    seed: int = 0,
) -> Behaviour:
    """Read the annotated logs of several homes, each one user.

    An activity lasts from an event to the next one; two events in a row with different activities are a transition.
    Sensors that fire one after the other are joined in the home's graph, and the graphs become profiles by Graph2Vec
    (galozy, Section 6.1).

    Parameters
    ----------
    homes : folder or sequence of files
        Annotated logs, such as ``csh101/csh101.ann.txt`` (or ``hh101.csv``); from a folder, every ``*.ann.txt`` in or
        below it, or, where there is none, every ``*.csv``.
    states : sequence of str, optional
        Names of all activities; those that occur when missing.
    max_gap : float, optional
        After more seconds of silence, neither time nor a transition is counted.
    dimensions, min_count, seed
        Of :func:`graph2vec`.
    """
    files = _files(homes)
    events = [read_home(path) for path in files]
    users = tuple(path.name.split(".")[0] for path in files)
    if len(set(users)) != len(users):
        twice = next(name for name in users if users.count(name) > 1)
        raise DataError(f"there are two logs of the home {twice!r}; give each home once")
    labels = np.array([activity for home in events for _, _, activity in home])
    names, state = state_codes(labels, states)
    user = np.repeat(np.arange(len(files)), [len(home) for home in events])
    time = np.array([at for home in events for at, _, _ in home])
    records, _ = matrices_of_events(user, time, state, len(files), len(names), max_gap=max_gap)
    return Behaviour(
        records=records,
        profiles=graph2vec([sensor_graph(home) for home in events], dimensions, min_count=min_count, seed=seed),
        users=users,
        states=names,
        origin=f"Annotated sensor logs of {len(files)} homes, {len(labels):,} events (CASAS).",
    )


def read_home(path: str | Path) -> list[tuple[float, str, str]]:
    """Read one log: (seconds since 1970, sensor, activity) of each event, in the order of time.

    A line holds date, time, sensor, message, and perhaps an annotation, separated by blanks, tabs or commas::

        2012-07-20 10:38:54.512364 OutsideDoor ON Step_Out="begin"

    ``X="begin"`` to ``X="end"`` covers the events in between, a plain ``X`` its own event; what nothing covers is
    :data:`OTHER`. Where activities overlap, the one that began last counts.
    """
    file = Path(path)
    if not file.is_file():
        raise FormatError(f"{path}: there is no such file; check the path")
    events: list[tuple[float, str, str]] = []
    running: list[str] = []
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        fields = [part for part in re.split(r"[,\s]+", line.strip()) if part]
        if len(fields) < 4:
            raise DataError(
                f"{path}: line {number} has {len(fields)} fields; a log line is date, time, sensor, message"
            )
        try:
            at = datetime.fromisoformat(f"{fields[0]} {_microseconds(fields[1])}").replace(tzinfo=UTC).timestamp()
        except ValueError as error:
            raise DataError(f"{path}: line {number} has the time '{fields[0]} {fields[1]}', which is none") from error
        activity = running[-1] if running else OTHER
        mark = _MARK.match(fields[4]) if len(fields) > 4 else None
        if len(fields) > 4 and mark is None:
            raise DataError(
                f'{path}: line {number} has the annotation {fields[4]!r}; write Name, Name="begin" or Name="end"'
            )
        if mark is not None:
            activity = mark["activity"]
            if mark["edge"] == "begin":
                running.append(activity)
            elif mark["edge"] == "end" and activity in running:
                running.reverse()
                running.remove(activity)  # the one that began last
                running.reverse()
        events.append((at, fields[2], activity))
    if not events:
        raise DataError(f"{path}: the log has no events")
    return sorted(events, key=lambda event: event[0])


def sensor_graph(events: list[tuple[float, str, str]]) -> Any:
    """Join every two sensors that fired one after the other."""
    graph = require("networkx", "bandits", "a graph of sensors").Graph()
    graph.add_nodes_from(sorted({sensor for _, sensor, _ in events}))
    pairs = {(a[1], b[1]) for a, b in pairwise(events) if a[1] != b[1]}
    graph.add_edges_from(sorted(pairs))
    return graph


def _microseconds(time: str) -> str:
    """Fill up the digits of a fraction of a second: the logs write as many as there are, and some none."""
    whole, dot, fraction = time.partition(".")
    return f"{whole}.{fraction[:6]:0<6}" if dot else whole


def _files(homes: str | Path | Sequence[str | Path]) -> list[Path]:
    if not isinstance(homes, str | Path):
        return [Path(home) for home in homes]
    folder = Path(homes)
    if folder.is_file():
        return [folder]
    found = sorted(folder.rglob("*.ann.txt")) or sorted(folder.rglob("*.csv"))
    if not found:
        raise FormatError(f"{homes}: there is no annotated log (*.ann.txt, or *.csv) in this folder")
    return found
