"""Bags in files: one row a user and token, with an optional count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.users import take_users
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import Ids, cell, whole_numbers
from reidrisk.io.tables.encoding import Declared, Encoding, encode, settle
from reidrisk.io.tables.formats import Table, format_of, open_table
from reidrisk.io.tables.layouts import refuse_unknown, require_columns
from reidrisk.io.tables.metadata import to_json
from reidrisk.io.tables.raw import RawTokens, first_seen, refuse_empty, token_kind, widened
from reidrisk.io.tables.writing import CHUNK, check_ids, tokens_as_arrow, users_as_numpy, write_arrays, write_batches
from reidrisk.records import Bags


def read_bags(path: PathLike, n_tokens: int | None = None, vocabulary: Declared | None = None) -> Bags:
    r"""Read unordered items of users.

    Parameters
    ----------
    path : str or path
        A table with the columns ``user, token`` (each row is one item; repeated rows add up) or
        ``user, token, count`` (each user and token once). A row without a token only says that the user exists.
    n_tokens, vocabulary
        As for :func:`read_traces`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plays.csv"
    >>> _ = file.write_text("user,token,count\nann,waltz,2\nbob,tango,1\nann,tango,1\n")
    >>> bags = read_bags(file)
    >>> bags.vocabulary.labels, bags.counts.toarray().tolist()
    (('tango', 'waltz'), [[1, 2], [1, 0]])
    """
    raw = read_raw_bags(open_table(path), labels=vocabulary is not None)
    return build_bags(raw, settle([raw.items], n_tokens, vocabulary))


def write_bags(bags: Bags, path: PathLike) -> None:
    """Write bags so that :func:`read_bags` gives them back.

    Parameters
    ----------
    bags : Bags
        What to write; its users must have names. A user without items gets one row without a token.
    path : str or path
        The file; its ending tells the format. It is written under a temporary name and moved into place.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plays.parquet"
    >>> write_bags(Bags([[2, 0, 1], [0, 0, 0]], users=["ann", "bob"]), file)
    >>> read_bags(file)
    Bags(2 users, 3 tokens, 2 different items in all)
    """
    kind = format_of(path)
    check_ids(path, bags.users, bags.vocabulary)
    if bags.users is None:
        raise DataError(f"{path}: bags are written with user ids and these have none; give them users")
    metadata = to_json(bags.n_tokens, bags.vocabulary)
    parts = _parts(bags)
    if kind == "npz":
        rows, tokens, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        write_arrays(path, {"user": users_as_numpy(bags.users)[rows], "token": tokens, "count": counts}, metadata)
    else:
        write_batches(path, _batches(bags, parts, kind == "csv"), metadata)


def _parts(bags: Bags) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    for start in range(0, len(bags), CHUNK):
        part = bags.counts[start : start + CHUNK]
        sizes = np.diff(part.indptr)
        rows = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 1))
        tokens = np.full(len(rows), -1, dtype=np.int64)
        counts = np.zeros(len(rows), dtype=np.int64)
        held = np.repeat(sizes > 0, np.maximum(sizes, 1))
        tokens[held], counts[held] = part.indices, part.data
        yield rows + start, tokens, counts


def _batches(bags: Bags, parts: Iterator[tuple[npt.NDArray[Any], ...]], as_labels: bool) -> Iterator[Any]:
    import pyarrow as pa

    for rows, tokens, counts in parts:
        words = bags.vocabulary if as_labels else None
        users = pa.array(take_users(bags.users, rows))
        yield pa.RecordBatch.from_pydict({"user": users, "token": tokens_as_arrow(tokens, words), "count": counts})


@dataclass(frozen=True)
class RawBags:
    """Items as they stand in the file, before their vocabulary is settled."""

    items: RawTokens
    """Tokens, one a row of the file, and the users, one a person."""
    rows: npt.NDArray[np.int64]
    """Whose item it is: a row of the users."""
    counts: npt.NDArray[Any]


def build_bags(raw: RawBags, encoding: Encoding) -> Bags:
    """Bring the items of a table onto the settled vocabulary and add them up."""
    from scipy import sparse

    tokens = encode(raw.items, encoding)
    held = tokens >= 0
    entries = (raw.counts[held], (raw.rows[held], tokens[held]))
    matrix = sparse.coo_array(entries, shape=(int(raw.rows.max()) + 1, encoding.n_tokens)).tocsr()
    try:
        return Bags(matrix, raw.items.users, encoding.vocabulary)
    except DataError as error:
        raise DataError(f"{raw.items.name}: {error}") from error


def read_raw_bags(table: Table, labels: bool) -> RawBags:
    """Read users, tokens and counts of a table of bags."""
    require_columns(table, ["user", "token"], "bag")
    refuse_unknown(table, ["user", "token", "count"], "bag", "user, token, count")
    refuse_empty(table)
    counted = "count" in table.types
    table = typed(typed(table, ["token"], ["user"], labels), ["count"] if counted else [])
    words = token_kind(table, ["token"])
    ids = Ids(table.name, "user", table.types["user"], table.n_rows)
    tokens: npt.NDArray[Any] = np.empty(table.n_rows, dtype=np.int16)
    counts = np.ones(table.n_rows, dtype=np.int64)
    start = 0
    for batch in table.batches(["user", "token", *(["count"] if counted else [])]):
        part = slice(start, start + batch.num_rows)
        ids.add(batch.column(0), start)
        cells = batch.column(1)
        values = words.codes(cells) if words else whole_numbers(cells, table.name, "token", start)
        tokens = widened(tokens, values)
        tokens[part] = values
        if counted:
            counts[part] = whole_numbers(batch.column(2), table.name, "count", start, what="count")
        start += batch.num_rows
    rows, users = first_seen(ids.collected())
    _refuse_bad_counts(table, rows, tokens, counts, counted)

    def place(row: int) -> str:
        return cell(table.name, row, "token")

    items = RawTokens(table.name, tokens, users, words.seen if words else None, table.metadata, place)
    return RawBags(items, rows, counts)


def _refuse_bad_counts(
    table: Table, rows: npt.NDArray[np.int64], tokens: npt.NDArray[Any], counts: npt.NDArray[Any], counted: bool
) -> None:
    if not counted:
        return
    wrong = np.flatnonzero((counts < 0) & (tokens >= 0))
    if wrong.size:
        raise DataError(f"{cell(table.name, int(wrong[0]), 'count')} is empty or negative; counts are at least 0")
    order = np.lexsort((tokens, rows))
    same = (rows[order[1:]] == rows[order[:-1]]) & (tokens[order[1:]] == tokens[order[:-1]]) & (tokens[order[1:]] >= 0)
    if same.any():
        at = int(np.argmax(same))
        first, second = sorted((int(order[at]) + 1, int(order[at + 1]) + 1))
        raise DataError(
            f"{table.name}: rows {first} and {second} both count the same token of one user; keep one row, or leave "
            "out the column 'count' to have rows added up"
        )
