"""Tokens as a file gives them: numbers or codes of its own labels, not yet over a common vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.notes import Note
from reidrisk.base.users import UserIds
from reidrisk.io.periods import ordered_periods
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import Ids, Labels, cell, holds_text, whole_numbers
from reidrisk.io.tables.formats import Table, is_list
from reidrisk.io.tables.layouts import epoch_columns, layout_of, refuse_unknown, require_columns
from reidrisk.io.tables.metadata import Metadata


@dataclass
class RawTokens:
    """Tokens and users of one table, on their way to :class:`reidrisk.Traces` or :class:`reidrisk.TopSets`."""

    name: str
    tokens: npt.NDArray[np.signedinteger[Any]]
    """(n, r) or (n, r, k); -1 where nothing was observed."""
    users: UserIds | None
    labels: list[str] | None
    """What the codes in ``tokens`` stand for; ``None`` where the file holds integers."""
    metadata: Metadata
    place: Callable[..., str]
    """Says to people where the cell at an index is."""
    epochs: list[Any] | None = None
    """The labels of the epochs, where the file names them."""
    notes: tuple[Note, ...] = ()
    """What had to be concluded from the table, in sentences."""


def read_raw(table: Table, layout: str | None, labels: bool) -> RawTokens:
    """Read traces in either layout; ``labels`` says that text cells are labels even where they look like numbers."""
    layout = layout_of(table, layout)
    refuse_empty(table)
    return _read_wide(table, labels) if layout == "wide" else _read_long(table, labels)


def refuse_empty(table: Table) -> None:
    """Refuse a table without a row."""
    if table.n_rows == 0:
        raise DataError(f"{table.name}: the table is empty; give at least one row")


def token_kind(table: Table, columns: Sequence[str], lists: bool = False) -> Labels | None:
    """Tell whether these columns hold text, and refuse a mixture; ``lists`` of tokens are for top sets alone."""
    import pyarrow as pa

    table.refuse_odd_types(columns)
    listed = [] if lists else [column for column in columns if is_list(table.types[column])]
    if listed:
        raise FormatError(f"{table.name}: column {listed[0]!r} holds lists; give one token a row")
    kinds = {column: _of_values(table.types[column]) for column in columns}
    known = [column for column in columns if not pa.types.is_null(kinds[column])]
    text = [holds_text(kinds[column]) for column in known]
    if any(text) and not all(text):
        one, other = known[text.index(True)], known[text.index(False)]
        raise FormatError(
            f"{table.name}: column {one!r} holds text and column {other!r} is of type {kinds[other]}; "
            "tokens are all integers or all labels"
        )
    return Labels() if any(text) else None


def _of_values(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_nested(kind) else kind


def widened(tokens: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return ``tokens`` in a type that also holds ``values``: most vocabularies fit into 16 bits."""
    most = int(values.max(initial=0))
    while most > np.iinfo(tokens.dtype).max:
        tokens = tokens.astype(np.int32 if tokens.dtype == np.int16 else np.int64)
    return tokens


def _read_wide(table: Table, as_labels: bool) -> RawTokens:
    columns = epoch_columns(table)
    named = "user" in table.types
    table = typed(table, columns, ["user"] if named else [], as_labels)
    labels = token_kind(table, columns)
    ids = Ids(table.name, "user", table.types["user"], table.n_rows) if named else None
    sizes.CELLS.check(table.n_rows * len(columns), table.name, "give fewer rows or epochs")
    tokens: npt.NDArray[Any] = np.empty((table.n_rows, len(columns)), dtype=np.int16)
    start = 0
    for batch in table.batches([*(["user"] if named else []), *columns]):
        stop = start + batch.num_rows
        if ids is not None:
            ids.add(batch.column(0), start)
        for epoch, column in enumerate(columns):
            cells = batch.column(epoch + named)
            values = labels.codes(cells) if labels else whole_numbers(cells, table.name, column, start)
            tokens = widened(tokens, values)
            tokens[start:stop, epoch] = values
        start = stop
    if start != table.n_rows:
        raise FormatError(f"{table.name}: {start:,} of {table.n_rows:,} rows are there; the file is truncated")

    def place(row: int, epoch: int) -> str:
        return cell(table.name, row, columns[epoch])

    seen = labels.seen if labels else None
    return RawTokens(table.name, tokens, ids.collected() if ids else None, seen, table.metadata, place)


def _read_long(table: Table, as_labels: bool) -> RawTokens:
    import pyarrow as pa

    needed = ["user", "epoch", "token"]
    require_columns(table, needed, "long")
    refuse_unknown(table, needed, "long", "user, epoch, token")
    table = typed(table, ["token"], ["user", "epoch"], as_labels)
    labels = token_kind(table, ["token"])
    sizes.CELLS.check(table.n_rows * len(needed), table.name, "give fewer rows")
    ids = Ids(table.name, "user", table.types["user"], table.n_rows)
    values: npt.NDArray[Any] = np.empty(table.n_rows, dtype=np.int16)
    weeks = []
    start = 0
    for batch in table.batches(needed):
        ids.add(batch.column(0), start)
        weeks.append(batch.column(1))
        cells = batch.column(2)
        part = labels.codes(cells) if labels else whole_numbers(cells, table.name, "token", start)
        values = widened(values, part)
        values[start : start + len(part)] = part
        start += len(part)
    if start != table.n_rows:
        raise FormatError(f"{table.name}: {start:,} of {table.n_rows:,} rows are there; the file is truncated")
    periods = ordered_periods(table.name, pa.chunked_array(weeks))
    user_of, users = first_seen(ids.collected())
    epochs = periods.names
    r = len(epochs)
    coarser = "put times into periods, such as weeks, so that people have several of them in common"
    sizes.CELLS.check(len(users) * r, f"{table.name}, {len(users):,} users x {r:,} epochs", coarser)
    keys = user_of * r + periods.rank
    _refuse_twice(table.name, keys, users, epochs)
    tokens = np.full(len(users) * r, -1, dtype=values.dtype)
    tokens[keys] = values

    def place(row: int, epoch: int) -> str:
        return cell(table.name, int(np.argmax(keys == row * r + epoch)), "token")

    seen = labels.seen if labels else None
    found = tokens.reshape(-1, r)
    return RawTokens(table.name, found, users, seen, table.metadata, place, epochs, periods.notes)


def first_seen(ids: UserIds) -> tuple[npt.NDArray[np.int64], UserIds]:
    """Return for each id its number in the order of first appearance, and the distinct ids in that order."""
    import pyarrow as pa

    is_number = isinstance(ids, np.ndarray)
    encoded = (pa.array(ids) if is_number else ids).dictionary_encode()
    distinct = encoded.dictionary
    rows = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return rows, distinct.to_numpy() if is_number else distinct


def _refuse_twice(name: str, keys: npt.NDArray[np.int64], users: UserIds, epochs: list[Any]) -> None:
    seen = np.zeros(len(users) * len(epochs), dtype=np.bool_)
    seen[keys] = True
    if int(seen.sum()) == len(keys):
        return
    order = np.argsort(keys, kind="stable")
    twice = order[1:][keys[order[1:]] == keys[order[:-1]]].min()
    first = int(np.argmax(keys == keys[twice]))
    user, epoch = divmod(int(keys[twice]), len(epochs))
    shown = users[user] if isinstance(users, np.ndarray) else repr(users[user].as_py())
    raise DataError(
        f"{name}: rows {first + 1} and {twice + 1} both give user {shown} a token in epoch {epochs[epoch]}; "
        "keep one row for each user and epoch"
    )
