"""Tokens as a file gives them: numbers or codes of its own labels, not yet over a common vocabulary."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.base import Array, FormatError, Ints, Note, Signed, UserIds, first_seen, sizes
from reidrisk.io.periods import ordered_periods
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import Labels, cell, holds_text, is_list, refuse_two_tokens, user_ids, whole_numbers
from reidrisk.io.tables.formats import OpenTable
from reidrisk.io.tables.layouts import epoch_columns, layout_of, refuse_empty, require_columns
from reidrisk.io.tables.metadata import Metadata

_LESS = "give fewer rows or epochs, or smaller sets"


@dataclass
class RawTokens:
    """Tokens and users of one table, on their way to traces, top sets or bags."""

    name: str
    tokens: Signed  # (n,), (n, r) or (n, r, k); -1 where nothing was observed
    users: UserIds | None
    labels: list[str] | None  # what the codes in tokens stand for; None where the file holds integers
    metadata: Metadata
    place: Callable[..., str]  # says to people where the cell at an index is
    epochs: list[Any] | None = None  # the labels of the epochs, where the file names them
    notes: tuple[Note, ...] = ()


def read_raw(table: OpenTable, layout: str | None, labels: bool) -> RawTokens:
    """Read traces in either layout; ``labels`` says that text cells are labels even where they look like numbers."""
    if layout_of(table, layout) == "long":
        return _read_long(table, labels)
    raw, _ = read_rows(table, [[column] for column in epoch_columns(table)], labels)
    return replace(raw, tokens=raw.tokens[:, :, 0])


def read_rows(
    table: OpenTable, epochs: Sequence[Sequence[str]], labels: bool, beside: Sequence[str] = (), lists: bool = False
) -> tuple[RawTokens, list[Any]]:
    """Read the (n, epochs, slots) tokens of a table, its users if it names them, and the columns ``beside`` them.

    An epoch is one column per slot, or where ``lists`` are taken one column of lists.
    """
    import pyarrow as pa

    refuse_empty(table)
    name, columns = table.name, [column for epoch in epochs for column in epoch]
    named = ["user"] if "user" in table.types else []
    table = typed(table, columns, named, labels)
    words = _kind_of_tokens(table, columns, lists)
    declared = table.metadata.k or 1 if lists else 1
    shape = (table.n_rows, len(epochs), max(declared, *map(len, epochs)))
    sizes.CELLS.check(math.prod(shape), name, _LESS)
    tokens: Array = np.full(shape, -1, dtype=np.int16)
    others: list[list[Any]] = [[] for _ in (*named, *beside)]
    start = 0
    for batch in table.batches([*named, *beside, *columns]):
        arrays = iter(batch.columns)
        for parts in others:
            parts.append(next(arrays))
        for epoch, slots in enumerate(epochs):
            for slot, column in enumerate(slots):
                cells, rows = next(arrays), None
                index: Any = (slice(start, start + batch.num_rows), epoch, slot)
                if is_list(cells.type):
                    cells, rows, places = _flattened(cells)
                    index = (rows + start, epoch, slot + places)
                    tokens = _longer(tokens, slot + 1 + int(places.max(initial=0)), name)
                values = whole_numbers(cells, name, column, start, rows=rows) if words is None else words.codes(cells)
                # Most vocabularies fit into 16 bits.
                kind = np.promote_types(tokens.dtype, np.min_scalar_type(-1 - int(values.max(initial=0))))
                tokens = tokens.astype(kind, copy=False)
                tokens[index] = values
        start += batch.num_rows
    if start != table.n_rows:
        raise FormatError(f"{name}: {start:,} of {table.n_rows:,} rows are there; the file is truncated")

    def place(row: int, epoch: int = 0, slot: int = 0) -> str:
        return cell(name, row, epochs[epoch][min(slot, len(epochs[epoch]) - 1)])

    columns_beside = [pa.chunked_array(parts) for parts in others]
    users = user_ids(name, "user", columns_beside.pop(0)) if named else None
    raw = RawTokens(name, tokens, users, list(words) if words is not None else None, table.metadata, place)
    return raw, columns_beside


def _kind_of_tokens(table: OpenTable, columns: Sequence[str], lists: bool) -> Labels | None:
    """Tell whether these columns hold text, and refuse a mixture."""
    import pyarrow as pa

    table.refuse_odd_types(columns)
    kinds = {}
    for column in columns:
        kind = table.types[column]
        if is_list(kind) and not lists:
            raise FormatError(f"{table.name}: column {column!r} holds lists; give one token per row")
        kind = kind.value_type if is_list(kind) else kind
        if not pa.types.is_null(kind):
            kinds[column] = kind
    text = {column: holds_text(kind) for column, kind in kinds.items()}
    if any(text.values()) and not all(text.values()):
        one, other = (next(column for column in text if text[column] is wanted) for wanted in (True, False))
        mixed = f"column {one!r} holds text and column {other!r} is of type {kinds[other]}"
        raise FormatError(f"{table.name}: {mixed}; tokens are all integers or all labels")
    return Labels() if any(text.values()) else None


def _flattened(cells: Any) -> tuple[Any, Ints, Ints]:
    """Return the values of lists, the row of each and its place in the list."""
    import pyarrow.compute as pc  # not loaded with pyarrow itself

    lengths = pc.list_value_length(cells).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    rows = np.repeat(np.arange(len(cells), dtype=np.int64), lengths)
    return cells.flatten(), rows, np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _longer(tokens: Array, k: int, name: str) -> Array:
    more = k - tokens.shape[2]
    if more <= 0:
        return tokens
    sizes.CELLS.check(math.prod(tokens.shape[:2]) * k, name, _LESS)
    return np.pad(tokens, ((0, 0), (0, 0), (0, more)), constant_values=-1)


def _read_long(table: OpenTable, labels: bool) -> RawTokens:
    require_columns(table, ["user", "epoch", "token"], "long")
    name = table.name
    raw, (weeks,) = read_rows(typed(table, ids=["epoch"]), [["token"]], labels, ["epoch"])
    periods = ordered_periods(name, weeks)
    user_of, users = first_seen(raw.users)
    r = len(periods.names)
    coarser = "put times into periods, such as weeks, so that people have several of them in common"
    sizes.CELLS.check(len(users) * r, f"{name}, {len(users):,} users x {r:,} epochs", coarser)
    keys = user_of * r + periods.rank
    refuse_two_tokens(name, keys, users, periods.names)
    tokens = np.full(len(users) * r, -1, dtype=raw.tokens.dtype)
    tokens[keys] = raw.tokens.ravel()

    def place(row: int, epoch: int) -> str:
        return cell(name, int(np.argmax(keys == row * r + epoch)), "token")

    found = tokens.reshape(-1, r)
    return RawTokens(name, found, users, raw.labels, table.metadata, place, periods.names, periods.notes)
