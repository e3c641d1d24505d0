"""What a change leaves of the cells of a file, for attacks that read all of them, and which columns tell most."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reidrisk.attacks import AllCells
from reidrisk.base import DataError, Ints
from reidrisk.mitigations.base import View
from reidrisk.records import Attributes, Bags, Case, RawTable, Vectors


def with_cells(case: Case, view: View, items: Mapping[str, tuple[str, ...]]) -> View:
    """Return the view with the cells that its files would have after the change.

    ``items`` are the columns of each file that the items are made of. Rows go with their events, and show what these
    are called now. Where it is not known which row an event is, as of traces and of parts of one log, all rows stay as
    they are: no change then seems safer than it is. Of attributes, columns that changed show their new values.
    """
    of = {"queries": view.part_of, "targets": view.known_as}
    tables = {}
    for side in ("targets", "queries"):
        before, after = getattr(case, side), getattr(view.case, side)
        owner = of[side]
        owner = np.arange(len(after)) if owner is None or after is before else owner
        tables[side] = after if after is before else _cells(before, after, owner, items.get(side, ()))
    return replace(view, case=replace(view.case, **tables))


def _cells(before: Any, after: Any, owner: Ints, items: tuple[str, ...]) -> Any:
    raw = before.raw
    if raw is None or isinstance(after, Vectors):
        return after
    if isinstance(after, Attributes):
        kept = raw.take(owner) if after.raw is None else after.raw
        moved = np.flatnonzero((before.tokens[owner] != after.tokens).any(axis=0)).tolist()
        names = [after.names[place] for place in moved]
        shown = {after.names[place]: _values(after, place) for place in moved if (after.tokens[:, place] >= 0).any()}
        return after.with_raw(_replaced(kept, tuple(names), shown if len(kept.row) == len(after) else {}))
    when = after.timeline if isinstance(after, Bags) else None
    if after.raw is None or when is None or len(after.raw.row) != len(when) or after.vocabulary is None:
        return after.with_raw(raw.take(owner) if after.raw is None else after.raw)
    labels = np.array(after.vocabulary.labels, dtype=object)
    return after.with_raw(_replaced(after.raw, items, {items[0]: labels[when.item]} if items else {}))


def _values(table: Attributes, place: int) -> Any:
    """Return what stands in a column, as text; nothing where a cell is empty."""
    column, held = table.columns[place], table.tokens[:, place].astype(np.int64)
    labels = np.array([*column.labels, None], dtype=object)
    return labels[np.where(held >= 0, held - table.start[place], len(column))]


def _replaced(raw: RawTable, gone: tuple[str, ...], new: Mapping[str, Any]) -> RawTable:
    """Return the same rows without some columns, and with others in their place."""
    import pyarrow as pa

    left = raw.without(gone)
    columns = {name: left.column(name) for name in left.names}
    columns |= {name: pa.chunked_array([pa.array(cells.tolist(), type=pa.string())]) for name, cells in new.items()}
    return RawTable(columns, np.arange(len(raw.row)), raw.start)


def telling(case: Case, names: tuple[str, ...]) -> list[str]:
    """Return those of these columns of the records to identify that share anything with the known ones, most first."""
    if case.truth is None or case.raw is None or not names:
        return []
    truth = case.truth.target
    rows = np.flatnonzero(truth >= 0)
    try:
        share = AllCells[Any]().fit(case.queries).shared_by(case.targets.take(truth[rows]), rows)
    except DataError:
        return []
    return sorted((name for name in names if share.get(name, 0.0) > 0.0), key=lambda name: (-share[name], name))
