"""Traces in files and frames, in the long and the wide layout."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from reidrisk.base.errors import DataError, OptionError
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.columns import refuse_repeated_users
from reidrisk.io.tables.encoding import Declared, Encoding, encode, settle
from reidrisk.io.tables.formats import Table, open_table, table_of_frame
from reidrisk.io.tables.layouts import check_layout
from reidrisk.io.tables.tokens import RawTokens, read_raw
from reidrisk.io.tables.writing import Part, slices, write_table
from reidrisk.records import Traces


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
    if layout is None:
        raise OptionError("name the layout to write: 'wide' or 'long'")
    check_layout(layout)
    if layout == "wide":
        write_table(path, traces, ((part, {"tokens": traces.tokens[part]}) for part in slices(len(traces))))
        return
    if traces.users is None:
        raise DataError(f"{path}: the long layout needs user ids and these traces have none; write them wide")
    write_table(path, traces, _long(traces))


def _from_table(table: Table, layout: str | None, n_tokens: int | None, vocabulary: Declared | None) -> Traces:
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
    for part in slices(len(traces), width=r):
        rows = np.repeat(np.arange(part.start, part.stop), r)
        epochs = np.tile(np.arange(r, dtype=np.int32), part.stop - part.start)
        yield rows, {"epoch": epochs, "token": traces.tokens[part].ravel()}
