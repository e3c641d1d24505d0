"""Top sets in files: one row a user, one list a user and epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.users import take_users
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import Ids, Labels, cell, whole_numbers
from reidrisk.io.tables.encoding import Declared, encode, refuse_repeated_users, settle
from reidrisk.io.tables.formats import Table, format_of, open_table
from reidrisk.io.tables.layouts import SEEDED, set_columns
from reidrisk.io.tables.metadata import to_json
from reidrisk.io.tables.raw import RawTokens, refuse_empty, token_kind, widened
from reidrisk.io.tables.writing import CHUNK, check_ids, tokens_as_arrow, users_as_numpy, write_arrays, write_batches
from reidrisk.records import TopSets

_LESS = "give fewer users or epochs, or smaller sets"


def read_top_sets(path: PathLike, n_tokens: int | None = None, vocabulary: Declared | None = None) -> TopSets:
    r"""Read the sets of tokens that a system holds for each user and epoch.

    Parameters
    ----------
    path : str or path
        A table with an optional column ``user`` and either list columns ``epoch_0, epoch_1, …`` or one column a
        slot, ``epoch_0_0, epoch_0_1, …`` (the only form that CSV can hold).
    n_tokens, vocabulary
        As for :func:`read_traces`.

    Returns
    -------
    TopSets
        Shorter sets are filled with -1 up to the length of the longest.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "sets.csv"
    >>> _ = file.write_text("user,epoch_0_0,epoch_0_1\nann,3,1\nbob,0,\n")
    >>> read_top_sets(file, n_tokens=5).tokens.tolist()
    [[[3, 1]], [[0, -1]]]
    """
    raw = _read_raw(open_table(path), labels=vocabulary is not None)
    encoding = settle([raw], n_tokens, vocabulary)
    tokens = encode(raw, encoding)
    try:
        return TopSets(tokens, encoding.n_tokens, raw.users, encoding.vocabulary, raw.metadata.made_with_seed)
    except DataError as error:
        _refuse_repeats(raw, tokens)
        refuse_repeated_users(raw.name, raw.users)
        raise DataError(f"{raw.name}: {error}") from error


def write_top_sets(top_sets: TopSets, path: PathLike) -> None:
    """Write top sets so that :func:`read_top_sets` gives them back.

    Parameters
    ----------
    top_sets : TopSets
        What to write: as list columns ``epoch_0, epoch_1, …`` of token numbers with the vocabulary in the metadata;
        in CSV as one column a slot, of labels where there is a vocabulary. That sets were made with a seed is in the
        metadata too, in CSV in a column ``made_with_seed``.
    path : str or path
        The file; its ending tells the format. It is written under a temporary name and moved into place.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "sets.parquet"
    >>> write_top_sets(TopSets([[[3, 1], [2, -1]]], n_tokens=5), file)
    >>> read_top_sets(file).tokens.tolist()
    [[[3, 1], [2, -1]]]
    """
    kind = format_of(path)
    check_ids(path, top_sets.users, top_sets.vocabulary)
    metadata = to_json(top_sets.n_tokens, top_sets.vocabulary, top_sets.made_with_seed)
    if kind == "npz":
        arrays = {} if top_sets.users is None else {"user": users_as_numpy(top_sets.users)}
        write_arrays(path, arrays | {"tokens": top_sets.tokens}, metadata)
    else:
        write_batches(path, _batches(top_sets, kind == "csv"), metadata)


def _batches(top_sets: TopSets, as_slots: bool) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, len(top_sets), CHUNK):
        part = slice(start, min(start + CHUNK, len(top_sets)))
        columns = {} if top_sets.users is None else {"user": pa.array(take_users(top_sets.users, part))}
        for epoch in range(top_sets.n_epochs):
            sets = top_sets.tokens[part, epoch]
            if as_slots:
                columns |= {
                    f"epoch_{epoch}_{slot}": tokens_as_arrow(sets[:, slot], top_sets.vocabulary)
                    for slot in range(top_sets.k)
                }
            else:
                ends = np.arange(0, sets.size + 1, top_sets.k, dtype=np.int32)
                columns[f"epoch_{epoch}"] = pa.ListArray.from_arrays(ends, tokens_as_arrow(sets.ravel()))
        if as_slots and top_sets.made_with_seed:
            columns[SEEDED] = pa.array(["true"] * (part.stop - part.start))
        yield pa.RecordBatch.from_pydict(columns)


def _read_raw(table: Table, labels: bool) -> RawTokens:
    epochs = set_columns(table)
    refuse_empty(table)
    columns = [column for epoch in epochs for column in epoch]
    metadata = replace(table.metadata, made_with_seed=table.metadata.made_with_seed or _says_seeded(table))
    named = "user" in table.types
    table = typed(table, columns, ["user"] if named else [], labels)
    words = token_kind(table, columns, lists=True)
    ids = Ids(table.name, "user", table.types["user"], table.n_rows) if named else None
    shape = (table.n_rows, len(epochs), max(map(len, epochs)))
    sizes.CELLS.check(math.prod(shape), table.name, _LESS)
    tokens: npt.NDArray[Any] = np.full(shape, -1, dtype=np.int16)
    start = 0
    for batch in table.batches([*(["user"] if named else []), *columns]):
        if ids is not None:
            ids.add(batch.column(0), start)
        for epoch, slots in enumerate(epochs):
            for slot, column in enumerate(slots):
                row, place, values = _cells(batch.column(column), table.name, column, start, words)
                longest = int(place.max(initial=-1)) + 1
                if slot + longest > tokens.shape[2]:
                    sizes.CELLS.check(math.prod(tokens.shape[:2]) * (slot + longest), table.name, _LESS)
                    tokens = _longer(tokens, slot + longest)
                tokens = widened(tokens, values)
                tokens[row + start, epoch, slot + place] = values
        start += batch.num_rows
    if start != table.n_rows:
        raise FormatError(f"{table.name}: {start:,} of {table.n_rows:,} rows are there; the file is truncated")

    def place_of(row: int, epoch: int, slot: int) -> str:
        return cell(table.name, row, epochs[epoch][slot if len(epochs[epoch]) > 1 else 0])

    seen = words.seen if words else None
    return RawTokens(table.name, tokens, ids.collected() if ids else None, seen, metadata, place_of)


def _says_seeded(table: Table) -> bool:
    """Tell whether the column of the mark, where there is one, says that any set was made with a seed."""
    if SEEDED not in table.types:
        return False
    said = {str(value).strip().lower() for value in table.column(SEEDED).unique().to_pylist()}
    unknown = sorted(said - {"true", "false"})
    if unknown:
        raise FormatError(f"{table.name}: column {SEEDED!r} says {unknown[0]!r}; write true or false")
    return "true" in said


def _cells(
    cells: Any, name: str, column: str, first_row: int, words: Labels | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return the row, the place in the list and the value of every cell; a plain column is a list of one."""
    import pyarrow as pa
    import pyarrow.compute as pc  # not loaded with pyarrow itself

    rows = np.arange(len(cells), dtype=np.int64)
    place = np.zeros(len(cells), dtype=np.int64)
    values = cells
    if pa.types.is_nested(cells.type):
        lengths = pc.list_value_length(cells).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        rows = np.repeat(rows, lengths)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values = cells.flatten()
    if words is not None:
        return rows, place, words.codes(values)
    return rows, place, whole_numbers(values, name, column, first_row, rows=rows)


def _longer(tokens: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
    longer = np.full((*tokens.shape[:2], k), -1, dtype=tokens.dtype)
    longer[:, :, : tokens.shape[2]] = tokens
    return longer


def _refuse_repeats(raw: RawTokens, tokens: npt.NDArray[Any]) -> None:
    ordered = np.sort(tokens, axis=2)
    twice = np.argwhere((ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0))
    if len(twice):
        row, epoch, slot = (int(i) for i in twice[0])
        token = int(ordered[row, epoch, slot])
        at = int(np.flatnonzero(tokens[row, epoch] == token)[1])
        raise DataError(f"{raw.place(row, epoch, at)} repeats token {token}; the tokens of a set are distinct")
