"""Each stored table as one relation of rows with a number: from files in their order, a long table, or an engine's."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.audit.stored.opening import (
    LONG,
    TABLE,
    StoredTable,
    columns_of,
    described,
    is_csv,
    open_files,
    table_files,
)
from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.io.periods import ordered_periods
from reidrisk.io.tables.streaming import to_parquet
from reidrisk.search.engines.relational import Session

_TOGETHER = 1_000_000  # rows of a long table among which people are numbered by one task
_MOST_EPOCHS = 200  # of a long table, which becomes one column for each


class Opened:
    """A table as the relation ``all_SIDE``: epochs, ``id`` and, if it names people, ``user``."""

    def __init__(self, table: StoredTable, periods: list[Any] | None = None, notes: tuple[Note, ...] = ()) -> None:
        self.table, self.periods, self.notes = table, periods, notes


def open_relation(
    session: Session, side: str, path: str, folder: Path, layout: str | None = None, labels: bool = False
) -> Opened:
    """Make ``all_SIDE`` of a path or the name of a table; what must be rewritten for that is put into the folder.

    A CSV file is written as Parquet first, its tokens as ``labels`` if that is said.
    """
    source = f"filed_{side}"
    if path.startswith(TABLE):
        name = path.removeprefix(TABLE)
        table = described(path, (), session.columns(name), None, layout)
        if not table.named:
            raise DataError(f"{path}: a table has no order of its own; give it a column 'user'")
        if not table.long:
            # The same on every engine, whatever the order in which it keeps rows.
            _dense(session, f"all_{side}", name, "substr(md5(CAST(r.user AS STRING)), 1, 3)", "CAST(r.user AS STRING)")
            return Opened(table)
        session.view(source, f"SELECT user, epoch, token, CAST(0 AS BIGINT) AS id FROM {name}")
    else:
        files = table_files(path)
        if is_csv(files[0]):
            tokens = [name for name in columns_of(files[0]) if name not in LONG[:2]]
            files = to_parquet(files, fresh(folder / f"rewritten_{side}"), path, tokens, labels)
        table = open_files(path, files, layout)
        _in_order(session, side, table.files, source if table.long else f"all_{side}")
    return _widened(session, side, table, folder) if table.long else Opened(table)


def remove_rewritten(folder: Path) -> None:
    """Remove what was rewritten, once nothing reads it any more."""
    for place in folder.glob("rewritten_*"):
        shutil.rmtree(place, ignore_errors=True)


def fresh(place: Path) -> Path:
    """Return a folder that is not there: a job that was killed may have left it."""
    shutil.rmtree(place, ignore_errors=True)
    return place


def _in_order(session: Session, side: str, files: tuple[str, ...], name: str) -> None:
    """Give the rows of files numbers by their place: files by name, and rows as they stand."""
    session.parquet(f"rows_{side}", files, numbered=True)
    found = session.fetch(f"SELECT file_name, count(*) AS n FROM rows_{side} GROUP BY file_name")
    order = np.argsort(found["file_name"])
    sizes_of = found["n"][order].astype(np.int64)
    starts = np.cumsum(sizes_of) - sizes_of
    session.put(f"files_{side}", {"file_name": [str(one) for one in found["file_name"][order]], "start": starts})
    session.view(
        name,
        f"SELECT r.*, f.start + r.file_row AS id FROM rows_{side} r JOIN files_{side} f ON r.file_name = f.file_name",
    )


def _dense(session: Session, name: str, source: str, bucket: str, order: str) -> None:
    """Give rows numbers from 0 on, by bucket and then by order within: no task has to sort them all."""
    found = session.fetch(f"SELECT {bucket} AS bucket, count(*) AS n FROM {source} r GROUP BY 1")
    place = np.argsort(found["bucket"])
    n = found["n"][place].astype(np.int64)
    session.put(f"starts_{name}", {"bucket": found["bucket"][place].tolist(), "start": np.cumsum(n) - n})
    session.view(
        name,
        f"SELECT r.*, b.start + row_number() OVER (PARTITION BY b.bucket ORDER BY {order}) - 1 AS id "
        f"FROM {source} r JOIN starts_{name} b ON {bucket} = b.bucket",
    )


def _widened(session: Session, side: str, table: StoredTable, folder: Path) -> Opened:
    """Make one row per person of a long table, in the order of their first rows, and one column per epoch."""
    import pyarrow as pa

    source, name = f"filed_{side}", table.name
    found = session.fetch(
        "SELECT count(*) AS n, count(user) AS users, count(epoch) AS epochs, "
        f"count(DISTINCT epoch) AS periods FROM {source}"
    )
    rows, users, dated, n_periods = (int(found[key][0]) for key in ("n", "users", "epochs", "periods"))
    if not rows:
        raise DataError(f"{name}: the table is empty; give at least one row")
    if min(users, dated) < rows:
        what = f"{rows - users:,} rows have no user" if users < rows else f"{rows - dated:,} rows have no epoch"
        raise DataError(f"{name}: {what}; every observation has both")
    if n_periods > _MOST_EPOCHS:
        much = f"there are {n_periods:,} epochs, and {_MOST_EPOCHS} at most can be compared where tables are stored"
        raise DataError(f"{name}: {much}; put times into periods, such as weeks")
    twice = session.fetch(
        f"SELECT count(*) AS n FROM (SELECT 1 FROM {source} GROUP BY user, epoch HAVING count(*) > 1) d"
    )
    if int(twice["n"][0]):
        both = f"{int(twice['n'][0]):,} times a user has several tokens in an epoch"
        raise DataError(f"{name}: {both}; keep one row for each user and epoch")
    values = pa.array(session.fetch(f"SELECT DISTINCT epoch FROM {source}")["epoch"])
    periods = ordered_periods(name, pa.chunked_array([values]))
    session.put(f"periods_{side}", {"epoch": values, "place": periods.rank})
    epochs = tuple(f"epoch_{s}" for s in range(n_periods))
    columns = ", ".join(f"max(CASE WHEN p.place = {s} THEN r.token END) AS {e}" for s, e in enumerate(epochs))
    place = folder / f"rewritten_wide_{side}"
    session.write(
        f"SELECT r.user, min(r.id) AS first, {columns} FROM {source} r "
        f"JOIN periods_{side} p ON r.epoch = p.epoch GROUP BY r.user",
        str(fresh(place)),
    )
    session.parquet(f"wide_{side}", table_files(str(place)))
    if table.files:
        _dense(session, f"all_{side}", f"wide_{side}", f"CAST(floor(r.first / {_TOGETHER}) AS BIGINT)", "r.first")
    else:
        text = "CAST(r.user AS STRING)"
        _dense(session, f"all_{side}", f"wide_{side}", f"substr(md5({text}), 1, 3)", text)
    wide = StoredTable(name, table.files, epochs, True, table.labels, table.metadata, long=True)
    return Opened(wide, periods.names, periods.notes)
