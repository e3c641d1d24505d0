"""Traces and top sets in files and frames: what one observer saw, and what a system holds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from reidrisk.base import DataError, FormatError, slices
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.columns import refuse_repeated_users
from reidrisk.io.tables.encoding import Declared, Encoding, encode, settle
from reidrisk.io.tables.formats import OpenTable, open_table, table_of_frame
from reidrisk.io.tables.layouts import SEEDED, check_layout, set_columns
from reidrisk.io.tables.tokens import RawTokens, read_raw, read_rows
from reidrisk.io.tables.writing import CHUNK, Part, write_table
from reidrisk.records import TopSets, Traces
from reidrisk.records.top_sets import first_repeat


def read_traces(
    path: PathLike, layout: str | None = None, n_tokens: int | None = None, vocabulary: Declared | None = None
) -> Traces:
    r"""Read what one observer saw from a Parquet, CSV, Arrow IPC or NPZ file.

    The ``layout`` is ``'long'``, one row per observation (``user, epoch, token``), or ``'wide'``, one row per user
    (``user, epoch_0, epoch_1, …``, the column ``user`` may be left out). Default: recognised by the columns.
    ``n_tokens`` is the size of the system's vocabulary. Default: from the file's metadata, or else from the tokens that
    occur. Text is looked up in the ``vocabulary``; integers (except in CSV, which is all text) are token numbers.

    A null, an empty cell, -1 or a row that the long layout does not have: all are 'not observed'. In the long layout,
    users come in the order of their first row and epochs in that of their values; text without one is refused.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "weeks.csv"
    >>> _ = file.write_text("user,epoch_0,epoch_1\nann,news,sports\nbob,music,\n")
    >>> traces = read_traces(file)
    >>> traces, traces.vocabulary.labels
    (Traces(2 users x 2 epochs, 3 tokens, 25% missing), ('music', 'news', 'sports'))
    """
    return _from_table(open_table(path), layout, n_tokens, vocabulary)


def traces_from_frame(
    frame: Any, layout: str | None = None, n_tokens: int | None = None, vocabulary: Declared | None = None
) -> Traces:
    """Take traces from any frame with the Arrow interface (polars, pyarrow, pandas, DuckDB), as :func:`read_traces`.

    >>> import polars
    >>> frame = polars.DataFrame({"user": [7, 7, 9], "epoch": [1, 2, 1], "token": [4, 0, 3]})
    >>> traces_from_frame(frame, n_tokens=5).tokens.tolist()
    [[4, 0], [3, -1]]
    """
    return _from_table(table_of_frame(frame), layout, n_tokens, vocabulary)


def write_traces(traces: Traces, path: PathLike, layout: str = "wide") -> None:
    """Write traces so that :func:`read_traces` gives them back; the ending of the name tells the format.

    Parquet, Arrow IPC and NPZ hold token numbers, and the vocabulary in their metadata; CSV has no place for it and
    holds the labels themselves. ``layout`` is ``'wide'``, one row per user, or ``'long'``, one row per user and epoch;
    rows without names can only be written wide.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "weeks.parquet"
    >>> write_traces(Traces([[3, 1], [0, -1]], n_tokens=5, users=["ann", "bob"]), file)
    >>> read_traces(file)
    Traces(2 users x 2 epochs, 5 tokens, 25% missing)
    """
    check_layout(layout)
    if layout == "wide":
        write_table(path, traces, ((part, {"tokens": traces.tokens[part]}) for part in slices(len(traces), CHUNK)))
        return
    if traces.users is None:
        raise DataError(f"{path}: the long layout needs user ids and these traces have none; write them wide")
    write_table(path, traces, _long(traces))


def _from_table(table: OpenTable, layout: str | None, n_tokens: int | None, vocabulary: Declared | None) -> Traces:
    raw = read_raw(table, layout, labels=vocabulary is not None)
    return build_traces(raw, settle([raw], n_tokens, vocabulary))


def build_traces(raw: RawTokens, encoding: Encoding) -> Traces:
    """Bring the tokens of a table onto the settled vocabulary and check them."""
    tokens = encode(raw, encoding)
    try:
        return Traces(tokens, encoding.n_tokens, raw.users, encoding.vocabulary)
    except DataError as error:
        refuse_repeated_users(raw.name, raw.users)
        raise DataError(f"{raw.name}: {error}") from error


def _long(traces: Traces) -> Iterator[Part]:
    # Rows that were not observed are written too, with an empty token: else a user or an epoch could vanish.
    r = traces.n_epochs
    for part in slices(len(traces), CHUNK // r):
        rows = np.repeat(np.arange(part.start, part.stop), r)
        epochs = np.tile(np.arange(r, dtype=np.int32), part.stop - part.start)
        yield rows, {"epoch": epochs, "token": traces.tokens[part].ravel()}


def read_top_sets(path: PathLike, n_tokens: int | None = None, vocabulary: Declared | None = None) -> TopSets:
    r"""Read the sets of tokens that a system holds for each user and epoch.

    The table has an optional column ``user`` and either list columns ``epoch_0, epoch_1, …`` or one column per slot,
    ``epoch_0_0, epoch_0_1, …`` (the only form that CSV can hold). Shorter sets are filled with -1 up to the length of
    the longest, or of a full set where the file tells it. ``n_tokens`` and ``vocabulary``: see :func:`read_traces`.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "sets.csv"
    >>> _ = file.write_text("user,epoch_0_0,epoch_0_1\nann,3,1\nbob,0,\n")
    >>> read_top_sets(file, n_tokens=5).tokens.tolist()
    [[[3, 1]], [[0, -1]]]
    """
    table = open_table(path)
    raw, _ = read_rows(table, set_columns(table), vocabulary is not None, lists=True)
    encoding = settle([raw], n_tokens, vocabulary)
    tokens = encode(raw, encoding)
    seeded = raw.metadata.made_with_seed or _says_seeded(table)
    try:
        return TopSets(tokens, encoding.n_tokens, raw.users, encoding.vocabulary, seeded)
    except DataError as error:
        if twice := first_repeat(tokens):
            row, epoch, token = twice
            where = raw.place(row, epoch, int(np.flatnonzero(tokens[row, epoch] == token)[1]))
            raise DataError(f"{where} repeats token {token}; the tokens of a set are distinct") from error
        refuse_repeated_users(raw.name, raw.users)
        raise DataError(f"{raw.name}: {error}") from error


def write_top_sets(top_sets: TopSets, path: PathLike) -> None:
    """Write top sets so that :func:`read_top_sets` gives them back; the ending of the name tells the format.

    They become list columns ``epoch_0, epoch_1, …`` of token numbers, with the vocabulary in the metadata; in CSV one
    column per slot, of labels where there is a vocabulary. That sets were made with a seed is in the metadata too, in
    CSV in a column ``made_with_seed``.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "sets.parquet"
    >>> write_top_sets(TopSets([[[3, 1], [2, -1]]], n_tokens=5), file)
    >>> read_top_sets(file).tokens.tolist()
    [[[3, 1], [2, -1]]]
    """
    write_table(path, top_sets, ((part, {"tokens": top_sets.tokens[part]}) for part in slices(len(top_sets), CHUNK)))


def _says_seeded(table: OpenTable) -> bool:
    """Tell whether the column of the mark, where there is one, says that any set was made with a seed."""
    if SEEDED not in table.types:
        return False
    said = {str(value).strip().lower() for value in table.column(SEEDED).unique().to_pylist()}
    if unknown := sorted(said - {"true", "false"}):
        raise FormatError(f"{table.name}: column {SEEDED!r} says {unknown[0]!r}; write true or false")
    return "true" in said
