"""A table of counts: one row per person, one column per item, how often in the cells."""

from typing import Any

import numpy as np

from reidrisk.base import DataError, Note, Vocabulary
from reidrisk.base.options import option
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.roles import columns, find_user
from reidrisk.io.exports.source import Source, is_unique
from reidrisk.io.tables.columns import holds_text, user_ids
from reidrisk.records import Bags, RawTable

_FEWEST = 8  # prior: columns of counts from which a table is taken for one unasked; as many as make vectors
_EMPTY = 0.5  # prior: share of cells that are zero or empty: most people have none of most items


def count_columns(source: Source, how: Reading) -> tuple[str, ...]:
    """Return the columns of counts: all but the id, where they are whole numbers from 0 on and mostly zero.

    >>> from reidrisk.io.exports.source import open_source
    >>> table = {"id": [7, 8]} | {f"item {i}": [0, 3 * (i == 2)] for i in range(8)}
    >>> len(count_columns(open_source(table, Reading()), Reading()))
    8
    """
    user = find_user(source, how)
    named = [name for given in how.items for name in columns(source, given)]
    there = named or [name for name in source.columns if name != user]
    if how.layout == "counts":
        return tuple(there)
    if named or len(there) < _FEWEST or not all(source.holds_whole(name) for name in there):  # by the first cells
        return ()
    if user is not None and not is_unique(source, user):
        return ()
    zeros = [None if (cells := _cells(source, name)) is None else float(np.mean(cells == 0.0)) for name in there]
    found = [share for share in zeros if share is not None]
    return tuple(there) if len(found) == len(there) and np.mean(found) >= _EMPTY else ()


def read_counts(source: Source, how: Reading) -> tuple[Bags, str | None, tuple[str, ...], Note]:
    """Return the counts as bags, the column of ids, the columns of items, and what was read; no cell is a zero."""
    from scipy import sparse

    user, used = find_user(source, how), count_columns(source, how)
    if not used:
        raise DataError(f"{source.name}: no column holds counts; name them with {option('items')}")
    found: list[Any] = []
    for name in used:
        cells = _cells(source, name)
        if cells is None:
            raise DataError(
                f"{source.where(name)}: counts are whole numbers from 0 on; leave the column out with {option('items')}"
            )
        found.append(sparse.csc_array(cells.astype(np.int64)[:, None]))
    ids = None if user is None else user_ids(source.name, user, source.column(user))
    order = np.argsort(np.array(used))
    counts = sparse.hstack([found[i] for i in order], format="csr")
    bags = Bags(counts, ids, Vocabulary([used[i] for i in order]))
    raw = RawTable.of(source.cells(but=(user,)), np.arange(len(bags)), len(bags))
    nobody = int((np.diff(bags.counts.indptr) == 0).sum())
    read = Note("counts-read", name=source.name, people=len(bags), items=len(used), nothing=nobody)
    return bags.with_raw(raw), user, used, read


def _cells(source: Source, name: str) -> Any:
    """Return a column as counts, empty cells as 0; ``None`` where some cell is no whole number from 0 on."""
    import pyarrow as pa

    if holds_text(source.types[name]) and not source.holds_whole(name):
        return None
    try:
        cells = source.column(name).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    values = np.nan_to_num(cells.fill_null(0.0).to_numpy(), nan=0.0)
    return values if bool(((values >= 0.0) & (values == np.floor(values)) & (values < 2.0**53)).all()) else None
