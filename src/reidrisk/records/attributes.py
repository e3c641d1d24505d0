"""Attributes: one row per person, each column with values of its own, such as age, postcode and sex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, Ints, Note, OptionError, UserIds, Vocabulary, frozen, sizes
from reidrisk.base.frames import columns_of, names_of
from reidrisk.records.base import NUMBER_IDS
from reidrisk.records.column import Column, Kind, joined_columns, read_column
from reidrisk.records.registry import register
from reidrisk.records.traces import Traces

Columns = Mapping[str, Kind | None] | Sequence[str]
"""Kinds of columns by name, ``None`` to leave one out; or the names of those to keep."""


@register("one row per person", layouts=("people",))
class Attributes(Traces):
    """One row per person, one column per attribute, each with a vocabulary of its own.

    ``frame`` is a frame of polars, pandas or pyarrow, or a mapping of arrays; ``user`` names its column of ids, where
    it has one. ``columns`` says which are a ``"category"``, a ``"number"`` (close ones count, too) or a ``"prefix"``
    code (so do those that begin alike, such as postcodes); the others are guessed, and ``None`` leaves one out. A list
    of names keeps these alone. Empty cells and question marks are missing.

    Underneath these are :class:`Traces` whose epochs are the columns: the values of the second column are tokens that
    follow those of the first, so that tokens of two columns never agree. Numbers are in their order, all else in that
    of text, so that values close to each other, or that begin alike, are a range of tokens.

    >>> people = Attributes({"who": ["ann", "bob"], "age": [31, 40], "sex": ["f", "?"]}, user="who")
    >>> people
    Attributes(2 users x 2 columns: age (number), sex (category); 25% missing)
    >>> people.tokens.tolist(), people.vocabulary.labels
    ([[0, 2], [1, -1]], ('age=31', 'age=40', 'sex=f'))
    """

    __slots__ = ("_columns", "_start")
    _columns: tuple[Column, ...]
    _start: Ints  # where the tokens of each column begin

    def __init__(self, frame: Any, user: str | None = None, columns: Columns | None = None) -> None:
        kinds = _chosen(names_of(frame), user, columns)
        cells = columns_of(frame, [*kinds, *([] if user is None else [user])])
        ids = None if user is None else _ids(cells[user], user)
        read = [read_column(cells[name], name, kind) for name, kind in kinds.items()]
        self._lay_out([column for column, _ in read], [codes for _, codes in read], ids)

    def _lay_out(self, columns: Sequence[Column], codes: Sequence[Ints], users: Any) -> None:
        """Give the values of all columns tokens, one column after the other, and check them as those of any traces."""
        lengths = np.array([len(column) for column in columns], dtype=np.int64)
        start = np.concatenate(([0], np.cumsum(lengths)))
        if not start[-1]:
            raise DataError("every cell is empty: there is no attribute of anybody")
        sizes.TOKENS.check(int(start[-1]), "the values of all columns", NUMBER_IDS)
        kind = np.int16 if start[-1] < 2**15 else np.int32
        tokens = np.full((len(codes[0]), len(codes)), -1, dtype=kind)
        for place, code in enumerate(codes):
            tokens[:, place] = np.where(code >= 0, code + start[place], -1)
        labels = (f"{column.name}={label}" for column in columns for label in column.labels)
        super().__init__(frozen(tokens), int(start[-1]), users, Vocabulary(labels))
        self._columns, self._start = tuple(columns), frozen(start[:-1])
        missing = int((tokens < 0).sum())
        if missing:
            self._notes = (Note("cells-missing", missing=missing, of=int(tokens.size)),)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Name, kind and values of each column."""
        return self._columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self._columns)

    @property
    def start(self) -> Ints:
        """The first token of each column; those of a column follow it in the order of its values."""
        return self._start

    def places(self, names: Sequence[str]) -> Ints:
        """Return where these columns are, or refuse names that are not there or come twice."""
        wanted, there = ([names] if isinstance(names, str) else list(names)), self.names
        wrong = [name for name in wanted if name not in there]
        if wrong:
            raise OptionError(f"there is no column {wrong[0]!r}; choose from {', '.join(map(repr, there))}")
        if not wanted or len(set(wanted)) < len(wanted):
            raise OptionError(f"columns are different names of at least one column, not {wanted!r}")
        return np.array([there.index(name) for name in wanted], dtype=np.int64)

    def only(self, names: Sequence[str]) -> Self:
        """Return these columns alone, in this order, over the same vocabulary.

        >>> Attributes({"age": [31, 40], "sex": ["f", "m"]}).only(["sex"]).tokens.tolist()
        [[2], [3]]
        """
        places = self.places(names)
        new = self._with(self._rows[:, places], self._users)
        new._columns, new._start = tuple(self._columns[i] for i in places), frozen(self._start[places])
        return new

    def class_sizes(self) -> Ints:
        """Return for each person how many have the same values in all columns; an empty cell is a value of its own.

        >>> Attributes({"age": [31, 31, 40], "sex": ["f", "f", "m"]}).class_sizes().tolist()
        [2, 2, 1]
        """
        import polars as pl

        keys = self.keys()
        return np.asarray(keys.select(pl.len().over(keys.columns)).to_series().to_numpy(), dtype=np.int64)

    def keys(self) -> Any:
        """Return the tokens as a polars frame, to group and to join by; its columns are called 0, 1 and so on."""
        import polars as pl

        return pl.DataFrame({str(place): values for place, values in enumerate(np.ascontiguousarray(self._rows.T))})

    def with_tokens(self, tokens: Any) -> Self:
        """Return the same people with other cells, of the same columns; -1 = missing.

        >>> Attributes({"sex": ["f", "m"]}).with_tokens(np.array([[1], [-1]])).tokens.tolist()
        [[1], [-1]]
        """
        cells = np.asarray(tokens)
        ends = self._start + np.array([len(column) for column in self._columns], dtype=np.int64)
        if cells.shape != self._rows.shape or cells.dtype.kind not in "iu":
            raise DataError(f"give {self._rows.shape} whole numbers, a token for each cell, not {cells.shape}")
        wrong = np.argwhere((cells != -1) & ((cells < self._start) | (cells >= ends)))
        if wrong.size:
            row, place = wrong[0]
            held = f"row {row}, column {self._columns[place].name!r} holds token {cells[row, place]}"
            raise DataError(f"{held}; its tokens lie in [{self._start[place]}, {ends[place]})")
        return self._with(cells.astype(self._rows.dtype), self._users)

    @staticmethod
    def together(a: Attributes, b: Attributes) -> tuple[Attributes, Attributes]:
        """Return the columns that two tables have in common, both over one vocabulary, in the order of the first.

        A column of two kinds is taken for a category. Columns of one table only are left out, and noted.

        >>> one, two = Attributes({"sex": ["f"], "age": [31]}), Attributes({"age": [40, 31], "town": ["x", "y"]})
        >>> [table.tokens.tolist() for table in Attributes.together(one, two)]
        [[[0]], [[1], [0]]]
        """
        if a.n_tokens == b.n_tokens and _same(a.columns, b.columns) and np.array_equal(a.start, b.start):
            return a, b
        shared = [name for name in a.names if name in b.names]
        if not shared:
            raise DataError(f"the tables have no column in common: {', '.join(a.names)}; {', '.join(b.names)}")
        alone = [name for name in (*a.names, *b.names) if name not in shared]
        notes = (Note("columns-in-one-table", columns=alone),) if alone else ()
        sides, columns = (a.only(shared), b.only(shared)), []
        coded: tuple[list[Ints], list[Ints]] = ([], [])
        for place in range(len(shared)):
            column, renamed = joined_columns([side.columns[place] for side in sides])
            columns.append(column)
            for codes, side, new in zip(coded, sides, renamed, strict=True):
                held = side.tokens[:, place].astype(np.int64)
                codes.append(
                    np.where(held >= 0, np.append(new, -1)[np.where(held < 0, -1, held - side.start[place])], -1)
                )
        made = []
        for codes, side, whole in zip(coded, sides, (a, b), strict=True):
            table = object.__new__(Attributes)
            table._lay_out(columns, codes, side.users)
            made.append(table.with_notes((*side.notes, *notes)).with_raw(whole.raw))
        return made[0], made[1]

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        new = super()._with(rows, users)
        r = rows.shape[1]
        new._columns, new._start = self._columns[:r], self._start[:r]  # all of them, or the first epochs
        return new

    def __repr__(self) -> str:
        missing = float(np.mean(self._rows < 0))
        shown = ", ".join(f"{column.name} ({column.kind})" for column in self._columns[:6])
        more = ", …" if len(self._columns) > 6 else ""
        gaps = f"; {missing:.0%} missing" if missing else ""
        return f"Attributes({len(self):,} users x {self.n_epochs} columns: {shown}{more}{gaps})"


def _chosen(there: list[str], user: str | None, columns: Columns | None) -> dict[str, Kind | None]:
    """Return the columns to read, and their kinds where these are said."""
    if isinstance(columns, str) or not isinstance(columns, Mapping | Sequence | None):
        raise OptionError(f"columns are kinds by name, or a list of names, not {columns!r}")
    if not isinstance(columns, Mapping | None):
        return dict.fromkeys(columns)
    said = {} if columns is None else dict(columns)
    odd = [name for name in said if name not in there]
    if odd:
        raise DataError(f"there is no column {odd[0]!r}; choose from {', '.join(map(repr, there[:20]))}")
    left = {name: said.get(name) for name in there if name != user and not (name in said and said[name] is None)}
    if not left:
        raise DataError("there is no column of attributes beside the ids; name one that is in the table")
    return left


def _ids(cells: Any, name: str) -> Any:
    """Return user ids as numbers or text."""
    from reidrisk.base.frames import coded

    found = coded(cells, name, fractions=False)
    empty = np.flatnonzero(found.codes < 0)
    if empty.size:
        raise DataError(f"row {empty[0]}, column {name!r} has no id; leave the row out, or do without user=")
    return found.values.take(found.codes)


def _same(one: Sequence[Column], two: Sequence[Column]) -> bool:
    return len(one) == len(two) and all(a.same(b) for a, b in zip(one, two, strict=True))
