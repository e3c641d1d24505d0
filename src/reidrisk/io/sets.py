"""Top sets in files: one row per user, one list per user and epoch."""

import numpy as np

from reidrisk.base.errors import DataError, FormatError
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.columns import refuse_repeated_users
from reidrisk.io.tables.encoding import Declared, encode, settle
from reidrisk.io.tables.formats import Table, open_table
from reidrisk.io.tables.layouts import SEEDED, set_columns
from reidrisk.io.tables.tokens import read_rows
from reidrisk.io.tables.writing import slices, write_table
from reidrisk.records import TopSets
from reidrisk.records.top_sets import first_repeat


def read_top_sets(path: PathLike, n_tokens: int | None = None, vocabulary: Declared | None = None) -> TopSets:
    r"""Read the sets of tokens that a system holds for each user and epoch.

    The table has an optional column ``user`` and either list columns ``epoch_0, epoch_1, …`` or one column per slot,
    ``epoch_0_0, epoch_0_1, …`` (the only form that CSV can hold). Shorter sets are filled with -1 up to the length of
    the longest. ``n_tokens`` and ``vocabulary`` are those of :func:`read_traces`.

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
    write_table(path, top_sets, ((part, {"tokens": top_sets.tokens[part]}) for part in slices(len(top_sets))))


def _says_seeded(table: Table) -> bool:
    """Tell whether the column of the mark, where there is one, says that any set was made with a seed."""
    if SEEDED not in table.types:
        return False
    said = {str(value).strip().lower() for value in table.column(SEEDED).unique().to_pylist()}
    if unknown := sorted(said - {"true", "false"}):
        raise FormatError(f"{table.name}: column {SEEDED!r} says {unknown[0]!r}; write true or false")
    return "true" in said
