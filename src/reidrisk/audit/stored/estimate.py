"""What an audit of stored tables will take, before it starts: time, memory and disk, from two timed parts."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from reidrisk.audit.spec import AuditSpec, Tables
from reidrisk.audit.stored.opening import LONG as LONG_LAYOUT
from reidrisk.audit.stored.opening import TABLE, columns_of, is_csv, n_rows, table_files
from reidrisk.audit.stored.run import run_stored
from reidrisk.base.errors import OptionError
from reidrisk.base.progress import Progress, silent
from reidrisk.base.results import Result
from reidrisk.search.engines.relational import Relational

LONG = 5_000_000
"""Records of both tables from which a job may take more than a minute."""

_TIMED = 500_000  # people in the larger of the two timed parts, at most; the other has a quarter
_MORE = 0.04  # by which power of the size a row gets dearer: hash tables leave the caches
_SPILLING = 1.4  # by which a search gets dearer that does not fit: measured 1.4 to 1.6, from 1.6 to 100 million people
_BASE = 500_000_000  # bytes of memory that a process takes however small the tables are


@dataclass(frozen=True, eq=False)
class Requirements(Result):
    """Wall seconds, seconds of processors (0 where an engine does not tell), and bytes of memory and disk.

    ``people`` is how many records to identify there are, ``timed`` how many of them were timed, ``spilled`` how much of
    the disk is for what does not fit in the memory given.
    """

    seconds: float
    processor: float
    memory: int
    disk: int
    people: int
    timed: int
    spilled: int = 0


def n_rows_of(inputs: Tables, engine: Relational) -> int:
    """Count the rows of both tables, from the files' footers where there are any."""
    total = 0
    for path in (inputs.targets, inputs.queries):
        if path.startswith(TABLE):
            with engine.session() as session:
                total += int(session.fetch(f"SELECT count(*) AS n FROM {path.removeprefix(TABLE)}")["n"][0])
        else:
            total += n_rows(path)
    return total


def records_of(inputs: Tables, engine: Relational) -> tuple[int, int, int]:
    """Return how many targets, queries and epochs there are, from the files' footers or by counting."""
    sizes, epochs = [], 0
    for path in (inputs.targets, inputs.queries):
        table = path.removeprefix(TABLE)
        with engine.session() as session:
            files = () if path.startswith(TABLE) else table_files(path)
            names = list(session.columns(table)) if not files else columns_of(files[0])
            if set(names) == set(LONG_LAYOUT):
                if files and is_csv(files[0]):
                    raise OptionError(
                        f"{path}: people of a long CSV file are not counted beforehand; save it as Parquet"
                    )
                if files:
                    table = "counted"
                    session.parquet(table, files)
                said = session.fetch(f"SELECT count(DISTINCT user) AS n, count(DISTINCT epoch) AS r FROM {table}")
                sizes.append(int(said["n"][0]))
                epochs = int(said["r"][0])
                continue
            epochs = sum(name.startswith("epoch_") for name in names)
            if files:
                sizes.append(n_rows(path))
            else:
                sizes.append(int(session.fetch(f"SELECT count(*) AS n FROM {table}")["n"][0]))
    return sizes[0], sizes[1], epochs


def estimate(spec: AuditSpec, engine: Relational, tell: Progress | None = None) -> Requirements:
    """Estimate what :func:`reidrisk.audit.run` will take with this engine.

    The same audit runs on about one person in k, and on a quarter of these: with a and b fitted to the two times,
    t = a + b n (n / m)^0.04 for n people, m of whom were timed. A first run, whose time does not count, compiles and
    connects. Memory and disk follow from the rows that a search holds: twice its state, one table of groups, and what
    does not fit is spilled. Where all of it is spilled and the timed part was not, times are 1.4 times as long.
    """
    inputs = spec.inputs
    if not isinstance(inputs, Tables):
        raise OptionError("an estimate is of two stored tables, searched with --engine duckdb or spark")
    targets, queries, epochs = records_of(inputs, engine)
    one_in = max(2, -(-queries // _TIMED))
    small = 4 * one_in
    if queries < 40 * small:
        raise OptionError(f"there are {queries:,} records to identify: too few to time a part of; just run it")
    report = tell or silent
    times = []
    for i, k in enumerate((small, small, one_in)):
        report("timing-a-part", i / 3)
        times.append(_timed(partial(run_stored, spec, inputs, engine, None, -1, k)))
    seconds, processor = (_grown(times[1][i], times[2][i], queries / small, queries / one_in, queries) for i in (0, 1))
    row = 40 + 10 * epochs
    held = 2 * row * queries + 64 * targets
    limit = getattr(engine, "memory", held)
    if held > limit >= held // one_in:  # else the timed part has spilled, too, or nothing does
        seconds, processor = _SPILLING * seconds, _SPILLING * processor
    kept = (6 + 2 * epochs) * targets + (10 + 4 * epochs) * queries
    spilled = max(0, held - limit)
    return Requirements(
        seconds=seconds,
        processor=processor if engine.name == "duckdb" else 0.0,
        memory=min(limit, held) + _BASE,
        disk=kept + spilled,
        spilled=spilled,
        people=queries,
        timed=queries // one_in,
    )


def _timed(work: Callable[[], Any]) -> tuple[float, float]:
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


def _grown(first: float, second: float, few: float, more: float, all_of_them: float) -> float:
    """Return the time of all, from those of two parts."""
    slope = max(second - first, 0.0) / (more - few)
    fixed = max(second - slope * more, 0.0)
    return fixed + slope * all_of_them * float((all_of_them / more) ** _MORE)
