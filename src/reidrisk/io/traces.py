"""Traces in files and frames, in the long and the wide layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.users import take_users
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.encoding import Declared, Encoding, encode, refuse_repeated_users, settle
from reidrisk.io.tables.formats import format_of, open_table, table_of_frame
from reidrisk.io.tables.layouts import check_layout
from reidrisk.io.tables.metadata import to_json
from reidrisk.io.tables.raw import RawTokens, read_raw
from reidrisk.io.tables.writing import CHUNK, check_ids, tokens_as_arrow, users_as_numpy, write_arrays, write_batches
from reidrisk.records import Traces


def read_traces(
    path: PathLike, layout: str | None = None, n_tokens: int | None = None, vocabulary: Declared | None = None
) -> Traces:
    r"""Read what one observer saw from a Parquet, CSV, Arrow IPC or NPZ file.

    Parameters
    ----------
    path : str or path
        The file; its ending tells the format.
    layout : {'long', 'wide'}, optional
        One row an observation (``user, epoch, token``) or one row a user (``user, epoch_0, epoch_1, …``, the column
        ``user`` may be left out). Recognised by the names of the columns if not given.
    n_tokens : int, optional
        Size of the vocabulary of the system. Left out, it is taken from the file's metadata, or else from the tokens
        that occur.
    vocabulary : Vocabulary or list of str, optional
        Labels of the tokens. Cells of text are looked up in it; integers (except in CSV, where every cell is text)
        are taken to be token numbers.

    Returns
    -------
    Traces
        A null, an empty cell, -1 in an integer column, or a row that the long layout does not have: all are
        'not observed'. In the long layout, users come in the order of their first row and epochs in the order of
        their distinct values; text whose order is not understood (names of months, ambiguous dates) is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "weeks.csv"
    >>> _ = file.write_text("user,epoch_0,epoch_1\nann,news,sports\nbob,music,\n")
    >>> traces = read_traces(file)
    >>> traces, traces.vocabulary.labels
    (Traces(2 users x 2 epochs, 3 tokens, 25% missing), ('music', 'news', 'sports'))
    """
    raw = read_raw(open_table(path), layout, labels=vocabulary is not None)
    return build_traces(raw, settle([raw], n_tokens, vocabulary))


def traces_from_frame(
    frame: Any, layout: str | None = None, n_tokens: int | None = None, vocabulary: Declared | None = None
) -> Traces:
    """Take traces from any frame with the Arrow interface: polars, pyarrow, pandas, DuckDB.

    Parameters
    ----------
    frame : object with ``__arrow_c_stream__``
        The table.
    layout, n_tokens, vocabulary
        As for :func:`read_traces`.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"user": [7, 7, 9], "epoch": [1, 2, 1], "token": [4, 0, 3]})
    >>> traces_from_frame(frame, n_tokens=5).tokens.tolist()
    [[4, 0], [3, -1]]
    """
    raw = read_raw(table_of_frame(frame), layout, labels=vocabulary is not None)
    return build_traces(raw, settle([raw], n_tokens, vocabulary))


def write_traces(traces: Traces, path: PathLike, layout: str = "wide") -> None:
    """Write traces so that :func:`read_traces` gives them back.

    Parameters
    ----------
    traces : Traces
        What to write. Parquet, Arrow IPC and NPZ hold token numbers, and the vocabulary in their metadata; CSV has no
        place for it and holds the labels themselves.
    path : str or path
        The file; its ending tells the format. It is written under a temporary name and moved into place.
    layout : {'wide', 'long'}
        One row a user, or one row a user and epoch. Rows without names can only be written wide.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "weeks.parquet"
    >>> write_traces(Traces([[3, 1], [0, -1]], n_tokens=5, users=["ann", "bob"]), file)
    >>> read_traces(file)
    Traces(2 users x 2 epochs, 5 tokens, 25% missing)
    """
    if layout is None:
        raise OptionError("name the layout to write: 'wide' or 'long'")
    check_layout(layout)
    is_npz = format_of(path) == "npz"
    check_ids(path, traces.users, traces.vocabulary)
    if layout == "long" and traces.users is None:
        raise DataError(f"{path}: the long layout needs user ids and these traces have none; write them wide")
    metadata = to_json(traces.n_tokens, traces.vocabulary)
    if not is_npz:
        write_batches(path, (_wide if layout == "wide" else _long)(traces, format_of(path) == "csv"), metadata)
        return
    users = None if traces.users is None else users_as_numpy(traces.users)
    if layout == "wide":
        arrays = {} if users is None else {"user": users}
        write_arrays(path, arrays | {"tokens": traces.tokens}, metadata)
        return
    epochs = np.tile(np.arange(traces.n_epochs, dtype=np.int32), len(traces))
    columns = {"user": np.repeat(np.asarray(users), traces.n_epochs), "epoch": epochs, "token": traces.tokens.ravel()}
    write_arrays(path, columns, metadata)


def build_traces(raw: RawTokens, encoding: Encoding) -> Traces:
    """Bring the tokens of a table onto the settled vocabulary and check them."""
    tokens = encode(raw, encoding)
    try:
        return Traces(tokens, encoding.n_tokens, raw.users, encoding.vocabulary)
    except DataError as error:
        refuse_repeated_users(raw.name, raw.users)
        raise DataError(f"{raw.name}: {error}") from error


def _wide(traces: Traces, as_labels: bool) -> Iterator[Any]:
    import pyarrow as pa

    words = traces.vocabulary if as_labels else None
    for start in range(0, len(traces), CHUNK):
        part = slice(start, min(start + CHUNK, len(traces)))
        columns = {} if traces.users is None else {"user": pa.array(take_users(traces.users, part))}
        tokens = traces.tokens[part]
        columns |= {f"epoch_{epoch}": tokens_as_arrow(tokens[:, epoch], words) for epoch in range(traces.n_epochs)}
        yield pa.RecordBatch.from_pydict(columns)


def _long(traces: Traces, as_labels: bool) -> Iterator[Any]:
    import pyarrow as pa

    # Rows that were not observed are written too, with an empty token: else a user or an epoch could vanish.
    r, words = traces.n_epochs, traces.vocabulary if as_labels else None
    step = max(CHUNK // r, 1)
    for start in range(0, len(traces), step):
        stop = min(start + step, len(traces))
        rows = np.repeat(np.arange(start, stop), r)
        epochs = np.tile(np.arange(r, dtype=np.int32), stop - start)
        tokens = tokens_as_arrow(traces.tokens[start:stop].ravel(), words)
        yield pa.RecordBatch.from_pydict(
            {"user": pa.array(take_users(traces.users, rows)), "epoch": epochs, "token": tokens}
        )
