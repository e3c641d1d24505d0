"""Reads annotated sensor logs of smart homes (CASAS): activities are the states, sensor graphs the profiles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.bandits.transitions import Behaviour, matrices_of_events, state_codes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.extras import require
from reidrisk.io.tables import check_bytes, existing_file, while_reading
from reidrisk_studies.galozy.graph2vec import graph2vec, neighbourhood_words
from reidrisk_studies.galozy.lines import line_of_text

__all__ = ["OTHER", "read_casas", "read_home"]

OTHER = "Other_Activity"
"""State of an event that no annotation covers; the data set uses this name itself."""

_MIN_COUNT = 5  # of the karateclub package, which the paper used
_MARK = re.compile(r'^(?P<activity>[^="]+)(?:="?(?P<edge>begin|end)"?)?$')


def read_casas(
    homes: str | Path | Sequence[str | Path],
    states: Sequence[str] | None = None,
    max_gap: float | None = None,
    dimensions: int = 128,
    min_count: int | None = None,
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
        Names of all activities; default: those that occur.
    max_gap : float, optional
        After more seconds of silence, neither time nor a transition is counted.
    dimensions, seed
        Of :func:`graph2vec`.
    min_count : int, optional
        Words of the graphs that occur less often are left out. Default: 5, as in the paper, or as many as
        leave every home a word, where logs are small: a home without any would have a profile of chance. Then
        ``origin`` says so.
    """
    files = _files(homes)
    events = [read_home(path) for path in files]
    users = tuple(path.name.split(".")[0] for path in files)
    if len(set(users)) != len(users):
        twice = next(name for name in users if users.count(name) > 1)
        raise DataError(f"there are two logs of the home {twice!r}; give each home once")
    labels = np.array([activity for home in events for _, _, activity in home], dtype=np.object_)
    user = np.repeat(np.arange(len(files)), [len(home) for home in events])
    time = np.array([at for home in events for at, _, _ in home])

    def place(row: int) -> str:
        return f"{files[user[row]]}: the event of {datetime.fromtimestamp(time[row], UTC):%Y-%m-%d %H:%M:%S}"

    names, state = state_codes(labels, states, place)
    records, _ = matrices_of_events(user, time, state, len(files), len(names), max_gap=max_gap)
    graphs = [sensor_graph(home) for home in events]
    count = _least_count(graphs) if min_count is None else min_count
    lowered = min_count is None and count < _MIN_COUNT
    remark = f" Small logs: the least count of a word in their graphs is {count}, not {_MIN_COUNT}." if lowered else ""
    return Behaviour(
        records=records,
        profiles=graph2vec(graphs, dimensions, min_count=count, seed=seed),
        users=users,
        states=names,
        origin=f"Annotated sensor logs of {len(files)} homes, {len(labels):,} events (CASAS).{remark}",
    )


def read_home(path: str | Path) -> list[tuple[float, str, str]]:
    """Read one log: (seconds since 1970, sensor, activity) of each event, in the order of time.

    A line holds date, time, sensor, message, and perhaps an annotation, separated by blanks, tabs or commas::

        2012-07-20 10:38:54.512364 OutsideDoor ON Step_Out="begin"

    ``X="begin"`` to ``X="end"`` covers the events in between, a plain ``X`` its own event; what nothing covers is
    :data:`OTHER`. Where activities overlap, the one that began last counts.
    """
    file = existing_file(path)
    events: list[tuple[float, str, str]] = []
    running: list[str] = []
    check_bytes(file, str(path))
    with while_reading(str(path), "a sensor log"):
        lines = file.read_bytes().splitlines()
    for number, raw in enumerate(lines, start=1):
        line = line_of_text(raw, path, number)
        if not line.strip():
            continue
        fields = [part for part in re.split(r"[,\s]+", line.strip()) if part]
        if len(fields) < 4:
            count = f"{len(fields)} field{'s' * (len(fields) > 1)}"
            raise DataError(f"{path}: line {number} has {count}; a log line is date, time, sensor, message")
        at = _time(fields[0], fields[1])
        if at is None:
            given = f"{fields[0]} {fields[1]}"
            raise DataError(
                f"{path}: line {number} has the time {given!r:.60}; it should look like 2012-07-20 10:38:54.512364"
            )
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
        raise DataError(f"{path}: the log has no events; leave it out, or write it again")
    return sorted(events, key=lambda event: event[0])


def sensor_graph(events: list[tuple[float, str, str]]) -> Any:
    """Join every two sensors that fired one after the other."""
    graph = require("networkx", "all", "a graph of sensors", folder="./studies").Graph()
    graph.add_nodes_from(sorted({sensor for _, sensor, _ in events}))
    pairs = {(a[1], b[1]) for a, b in pairwise(events) if a[1] != b[1]}
    graph.add_edges_from(sorted(pairs))
    return graph


def _least_count(graphs: Sequence[Any]) -> int:
    """Return how often a word must occur: 5 times, or fewer where a graph would be left without one."""
    spelled = [neighbourhood_words(graph) for graph in graphs]
    counts = Counter(word for words in spelled for word in words)
    return min(_MIN_COUNT, *(max(counts[word] for word in words) for words in spelled))


def _time(date: str, time: str) -> float | None:
    """Return seconds since 1970, or nothing for what is no time.

    The digits of a fraction of a second are filled up: the logs write as many as there are, and some none.
    """
    whole, dot, fraction = time.partition(".")
    try:
        at = datetime.fromisoformat(f"{date} {whole}.{fraction[:6]:0<6}" if dot else f"{date} {whole}")
    except ValueError:
        return None
    return at.replace(tzinfo=UTC).timestamp() if at.tzinfo is None else None


def _files(homes: str | Path | Sequence[str | Path]) -> list[Path]:
    if not isinstance(homes, str | Path):
        return [Path(home) for home in homes]
    folder = Path(homes)
    if folder.is_file():
        return [folder]
    if not folder.exists():
        raise FormatError(f"{homes}: there is no such folder or file; check the path")
    found = sorted(folder.rglob("*.ann.txt")) or sorted(folder.rglob("*.csv"))
    if not found:
        raise FormatError(f"{homes}: there is no annotated log (*.ann.txt, or *.csv) in this folder")
    return found
