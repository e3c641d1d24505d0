"""Layouts: what the names of the columns say about a table."""

import re
from collections.abc import Collection, Sequence

from reidrisk.base import DataError, FormatError, OptionError
from reidrisk.io.tables.columns import is_list
from reidrisk.io.tables.formats import OpenTable
from reidrisk.records.registry import entry

LAYOUTS = entry("traces").layouts  # a row for each user, or for each observation
SEEDED = "made_with_seed"
"""Column of top sets that says whether a seed decided anything in them; CSV has no other place for it."""

_EPOCH = re.compile(r"epoch_([0-9]{1,9})")
_SLOT = re.compile(r"epoch_([0-9]{1,9})_([0-9]{1,9})")


def check_layout(layout: str | None) -> None:
    """Refuse a layout of traces that there is not, and say what those are that there are."""
    if layout is not None and layout not in LAYOUTS:
        known = "wide (user, epoch_0, epoch_1, …) or long (user, epoch, token)"
        raise OptionError(f"layout must be {known}, not {layout!r}")


def layout_of(table: OpenTable, layout: str | None) -> str:
    """Return the layout of a table of traces: the one that was named, or the one its columns show."""
    check_layout(layout)
    if layout != "wide" and holds_bags(table):
        bags = "these are bags (user, token, and no epoch), and traces are needed here"
        raise FormatError(f"{table.name}: {bags}; add a column 'epoch', or see io.read_bags_pair in Python")
    if layout is not None:
        return layout
    if {"epoch", "token"} & set(table.types):
        return "long"
    if any(_EPOCH.fullmatch(column) or _SLOT.fullmatch(column) for column in table.types):
        return "wide"
    there = f"no layout is recognised in the columns {_listed(table)}"
    raise FormatError(f"{table.name}: {there}; use user, epoch, token (long) or user, epoch_0, … (wide)")


def require_columns(table: OpenTable, needed: Sequence[str], layout: str, optional: Sequence[str] = ()) -> None:
    """Refuse a table that lacks one of the needed columns, has one that is not known, or has no row."""
    for column in needed:
        if column not in table.types:
            wanted = f"the {layout} layout has {', '.join(needed)}, this table has {_listed(table)}"
            raise FormatError(f"{table.name}: column {column!r} is missing; {wanted}")
    _refuse_unknown(table, [*needed, *optional], layout, ", ".join([*needed, *optional]))
    refuse_empty(table)


def refuse_empty(table: OpenTable) -> None:
    """Refuse a table without a row."""
    if table.n_rows == 0:
        raise DataError(f"{table.name}: the table is empty; give at least one row")


def epoch_columns(table: OpenTable) -> list[str]:
    """Return the columns of a wide table in the order of their epochs, from ``epoch_0`` (or ``epoch_1``) on."""
    columns = _numbered(table, ["user"], "wide", "user, epoch_0, epoch_1, …")
    for column in columns:
        if is_list(table.types[column]):
            sets = "holds lists, so this is a table of top sets, not of traces"
            raise FormatError(f"{table.name}: column {column!r} {sets}; read it with read_top_sets")
    return columns


def set_columns(table: OpenTable) -> list[list[str]]:
    """Return the columns of each epoch of a table of top sets: one list column, or one column per slot."""
    slots: dict[int, dict[int, str]] = {}
    for column in table.types:
        if found := _SLOT.fullmatch(column):
            slots.setdefault(int(found[1]), {})[int(found[2])] = column
    if slots:
        names = [column for epoch in slots.values() for column in epoch.values()]
        _refuse_unknown(table, ["user", SEEDED, *names], "top set", "user, epoch_0_0, epoch_0_1, …")
        _refuse_gaps(table, slots, "epoch_{}_0")
        for epoch, columns in slots.items():
            _refuse_gaps(table, columns, f"epoch_{epoch}_{{}}")
        return [[slots[epoch][slot] for slot in sorted(slots[epoch])] for epoch in sorted(slots)]
    lists = _numbered(table, ["user", SEEDED], "top set", "user, epoch_0, epoch_1, … of lists")
    for column in lists:
        if not is_list(table.types[column]):
            kind = f"of type {table.types[column]}, not a list, so this is no table of top sets"
            raise FormatError(f"{table.name}: column {column!r} is {kind}; read it with read_traces")
    return [[column] for column in lists]


def holds_sets(table: OpenTable) -> bool:
    """Tell whether a table is one of top sets: lists, or one column per slot."""
    types = table.types.items()
    return any(_SLOT.fullmatch(name) or (_EPOCH.fullmatch(name) and is_list(kind)) for name, kind in types)


def holds_bags(table: OpenTable) -> bool:
    """Tell whether a table is one of bags: tokens of users without epochs."""
    return "token" in table.types and "epoch" not in table.types


def _numbered(table: OpenTable, beside: list[str], layout: str, shown: str) -> list[str]:
    """Return the columns ``epoch_…`` in order; all others but those ``beside`` them are refused, and so are gaps."""
    numbers = {int(found[1]): column for column in table.types if (found := _EPOCH.fullmatch(column))}
    _refuse_unknown(table, [*beside, *numbers.values()], layout, shown)
    _refuse_gaps(table, numbers, "epoch_{}")
    return [numbers[epoch] for epoch in sorted(numbers)]


def _refuse_unknown(table: OpenTable, known: Sequence[str], layout: str, shown: str) -> None:
    names = set(known)
    for column in table.types:
        if column not in names:
            like_user = re.sub(r"[ _-]", "", column.lower()) in {"userid", "id", "uid", "users", "user"}
            hint = "rename it to 'user'" if like_user and "user" not in table.types else "drop it"
            raise FormatError(f"{table.name}: column {column!r} is not known in the {layout} layout ({shown}); {hint}")


def _refuse_gaps(table: OpenTable, found: Collection[int], pattern: str) -> None:
    first = 1 if found and min(found) == 1 else 0
    # The first that is missing is at most as far as there are columns, whatever number the last one has.
    gap = next((number for number in range(first, first + len(found) + 1) if number not in found), 0)
    if not found or gap <= max(found):
        missing = f"column {pattern.format(gap)!r} is missing; epochs are numbered without gaps"
        raise FormatError(f"{table.name}: {missing}, this table has {_listed(table)}")


def _listed(table: OpenTable) -> str:
    names = list(table.types)
    shown = ", ".join(map(repr, names[:8]))
    return (f"{shown}, … ({len(names)} in all)" if len(names) > 8 else shown) or "none"
