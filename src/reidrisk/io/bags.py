"""Bags in files: one row per user and token, with an optional count."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.base import DataError, Ints, first_seen, slices
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.cells import typed
from reidrisk.io.tables.columns import cell, first_repeat, whole_numbers
from reidrisk.io.tables.encoding import Declared, Encoding, encode, settle
from reidrisk.io.tables.formats import OpenTable, open_table
from reidrisk.io.tables.layouts import require_columns
from reidrisk.io.tables.tokens import RawTokens, read_rows
from reidrisk.io.tables.writing import CHUNK, Part, write_table
from reidrisk.records import Bags


def read_bags(path: PathLike, n_tokens: int | None = None, vocabulary: Declared | None = None) -> Bags:
    r"""Read unordered items of users; ``n_tokens`` and ``vocabulary`` as for :func:`read_traces`.

    The table has the columns ``user, token`` (each row is one item; repeated rows add up) or ``user, token, count``
    (each user and token once). A row without a token only says that the user exists.

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
    """Write bags, whose users must have names, so that :func:`read_bags` gives them back; the ending tells the format.

    A user without items gets one row without a token.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plays.parquet"
    >>> write_bags(Bags([[2, 0, 1], [0, 0, 0]], users=["ann", "bob"]), file)
    >>> read_bags(file)
    Bags(2 users, 3 tokens, 2 different items in all)
    """
    if bags.users is None:
        raise DataError(f"{path}: bags are written with user ids and these have none; give them users")
    write_table(path, bags, _parts(bags))


def _parts(bags: Bags) -> Iterator[Part]:
    for part in slices(len(bags), CHUNK):
        held = bags.counts[part]
        sizes = np.diff(held.indptr)
        rows, there = (np.repeat(of, np.maximum(sizes, 1)) for of in (np.arange(part.start, part.stop), sizes > 0))
        tokens, counts = np.full(len(rows), -1, dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        tokens[there], counts[there] = held.indices, held.data
        yield rows, {"token": tokens, "count": counts}


@dataclass(frozen=True)
class RawBags:
    """Items as they stand in the file, before their vocabulary is settled."""

    items: RawTokens  # tokens, one per row of the file, and the users, one per person
    rows: Ints  # whose item it is: a row of the users
    counts: Ints


def read_raw_bags(table: OpenTable, labels: bool) -> RawBags:
    """Read users, tokens and counts of a table of bags."""
    require_columns(table, ["user", "token"], "bag", ["count"])
    beside = ["count"] if "count" in table.types else []
    raw, counted = read_rows(typed(table, beside), [["token"]], labels, beside)
    rows, users = first_seen(raw.users)
    items = replace(raw, tokens=raw.tokens.ravel(), users=users)
    if not counted:
        return RawBags(items, rows, np.ones(len(rows), dtype=np.int64))
    counts = whole_numbers(counted[0].combine_chunks(), table.name, "count", what="count").astype(np.int64)
    held = items.tokens >= 0
    if ((counts < 0) & held).any():
        where = cell(table.name, int(np.argmax((counts < 0) & held)), "count")
        raise DataError(f"{where} is empty or negative; counts are at least 0")
    if twice := first_repeat(rows[held] * (int(items.tokens.max()) + 1) + items.tokens[held]):
        first, second = np.flatnonzero(held)[list(twice)] + 1
        both = f"rows {first} and {second} both count the same token of one user"
        raise DataError(f"{table.name}: {both}; keep one row, or leave out the column 'count' to have rows added up")
    return RawBags(items, rows, counts)


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
