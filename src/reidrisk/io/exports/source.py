"""Source: an export opened, whatever its format; its columns as Arrow arrays, its dialect, and its bad rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import DataError, FormatError, Note
from reidrisk.base.frames import columns_of, plain
from reidrisk.io.exports.dialect import Dialect, dialect_of
from reidrisk.io.exports.reading import Reading
from reidrisk.io.exports.text import BadRows, column_names, read_text
from reidrisk.io.tables.columns import holds_text, is_list
from reidrisk.io.tables.formats import BATCH, OpenTable, open_table, table_of_frame
from reidrisk.io.tables.opening import check_bytes, existing_file, opened, while_reading
from reidrisk.records import Vectors

_MAGIC = {
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"PK\x03\x04": ".xlsx",
    b"\xd0\xcf\x11\xe0": ".xls",
}
_SHEETS = (".xlsx", ".xls", ".xlsb", ".ods")
_JSON = (".jsonl", ".ndjson", ".json")
_FIGURE = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,15}(?:[.,]0+)?")
_JSON_LIST = re.compile(r'\s*\[\s*(?:\]|(?:".*|(?:-?\d[\d.eE+-]*|null|true|false)\s*(?:,.*)?)\])\s*', re.DOTALL)
_SAMPLE = 1000


@dataclass
class Spelling:
    """How labels are written, in one table or in two that are compared."""

    spelt: dict[str, str] = field(default_factory=dict)  # those that differ only in case or blanks
    codes: set[int | str] = field(default_factory=set)  # places of columns that look like numbers and are none


@dataclass
class Source:
    """The columns of an export, each read when it is asked for."""

    table: OpenTable
    dialect: Dialect | None = None
    bad: BadRows = field(default_factory=BadRows)
    notes: tuple[Note, ...] = ()
    labels: Spelling = field(default_factory=Spelling)
    _cells: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.table.name

    @property
    def types(self) -> dict[str, Any]:
        """The Arrow type of each column."""
        return self.table.types

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.types)

    @property
    def comma(self) -> bool:
        """Whether a comma stands before fractions where a number does not tell: where it does not separate cells."""
        return self.dialect is not None and self.dialect.delimiter != ","

    def column(self, name: str) -> Any:
        """Return a column as an Arrow array."""
        if name not in self._cells:
            cells = self.table.column(name)
            self._cells[name] = cells if is_list(cells.type) else plain(cells, name)
        return self._cells[name]

    def cells(self, but: Sequence[str | None]) -> dict[str, Any]:
        """Return every column of plain values but some, used or not."""
        return {name: self.column(name) for name in self.columns if name not in but and not is_list(self.types[name])}

    def renamed(self, names: Mapping[str, str]) -> Source:
        """Return the same under other names of columns."""
        if not names:
            return self
        types = {names.get(name, name): kind for name, kind in self.types.items()}
        old = {names.get(name, name): name for name in self.types}
        table = replace(self.table, types=types)
        cells = {new: self.column(name) for new, name in old.items()}
        return replace(self, table=table, _cells=cells)

    def where(self, name: str) -> str:
        """Say whose column it is."""
        return f"{self.name}: column {name!r}"

    def sample(self, name: str) -> Any:
        """Return the first cells of a column that hold anything."""
        if name not in self._cells and self.table.n_rows > BATCH and not is_list(self.types[name]):
            first = next(self.table.batches([name])).column(0).drop_null()
            if len(first):
                import pyarrow as pa

                return plain(pa.chunked_array([first.slice(0, _SAMPLE)]), name)
        return self.column(name).drop_null().slice(0, _SAMPLE)

    def holds_figures(self, name: str) -> bool:
        """Tell whether a text column holds numbers, by its first cells."""
        return self._share(name, _FIGURE) > 0.9

    def holds_whole(self, name: str) -> bool:
        """Tell whether a column holds whole numbers, by its first cells."""
        import pyarrow as pa

        kind = self.types[name]
        if pa.types.is_integer(kind):
            return True
        if pa.types.is_floating(kind):
            return all(value == int(value) for value in self.sample(name).to_pylist() if abs(value) < 2**53)
        return holds_text(kind) and self._share(name, _WHOLE) > 0.9

    def holds_json_lists(self, name: str) -> bool:
        """Tell whether a text column holds lists in JSON, by its first cells."""
        return holds_text(self.types[name]) and self._share(name, _JSON_LIST) > 0.9

    def _share(self, name: str, pattern: re.Pattern[str]) -> float:
        texts = [text.strip() for text in self.sample(name).to_pylist()]
        given = [text for text in texts if text]
        return sum(pattern.fullmatch(text) is not None for text in given) / max(len(given), 1)


def is_unique(source: Source, name: str) -> bool:
    """Tell whether no value of a column comes twice, empty cells apart."""
    import pyarrow.compute as pc

    cells = source.column(name).drop_null()
    return bool(pc.count_distinct(cells).as_py() == len(cells))


def are_unique(source: Source, names: Sequence[str]) -> bool:
    """Tell whether no combination of values comes twice."""
    import polars as pl

    return not pl.DataFrame({name: pl.Series(source.column(name)) for name in names}).is_duplicated().any()


def open_source(given: Any, how: Reading) -> Source:
    """Open a path or a frame; what it is shows in the first bytes of a file, and only then in its name."""
    if not isinstance(given, str | Path):
        return Source(_frame(given))
    file, name = existing_file(given), str(given)
    ending = _ending(file, name)
    if ending == ".npy":
        from reidrisk.io.exports.vectors import table_of_npy

        return Source(table_of_npy(file, name))
    if ending in (".parquet", ".arrow", ".npz"):
        return Source(open_table(given, ending[1:]))
    check_bytes(file, name)
    if ending in _SHEETS:
        from reidrisk.io.exports.sheets import read_sheet

        sheet, notes = read_sheet(file, name)
        return Source(table_of_frame(sheet, name), notes=notes)
    if ending in _JSON:
        from reidrisk.io.exports.json_lines import read_json_lines

        bad = BadRows()
        return Source(table_of_frame(read_json_lines(file, name, bad), name), bad=bad)
    return _text(file, name, how)


def _text(file: Path, name: str, how: Reading) -> Source:
    dialect = dialect_of(file, name, how.delimiter, how.comment, [one.partition("=")[0] for one in how.columns])
    columns, has_header = column_names(name, dialect, how.columns)
    dialect = replace(dialect, header=tuple(columns) if has_header else None)
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise FormatError(f"{name}: column {twice!r} occurs twice; give every column its own name")
    bad = BadRows()
    with while_reading(name, "CSV"):
        cells = read_text(file, name, dialect, columns, bad)
    return Source(replace(table_of_frame(cells, name), is_text=True), dialect, bad)


def _frame(given: Any) -> OpenTable:
    """Take a frame, or a mapping of arrays, as it is."""
    import pyarrow as pa

    if isinstance(given, Mapping):
        return table_of_frame(pa.table(columns_of(given, list(given))))
    if isinstance(given, Vectors | np.ndarray):
        from reidrisk.io.exports.vectors import table_of_vectors

        return table_of_vectors(given)
    if not hasattr(given, "__arrow_c_stream__"):
        kinds = "a path, or a frame of polars, pandas or pyarrow"
        raise DataError(f"a {type(given).__name__} is neither a file nor a frame; give {kinds}")
    return table_of_frame(given)


def _ending(file: Path, name: str) -> str:
    with while_reading(name, "a table"), opened(file) as raw:
        start = raw.read(16)
    by_name = next((end for end in reversed(Path(file).suffixes) if end != ".gz"), "").lower()
    for magic, ending in _MAGIC.items():
        if start.startswith(magic):
            return by_name if by_name in (*_SHEETS, ".npz") else ending
    if by_name in (".arrow", ".feather", ".ipc"):  # a stream of Arrow has no such mark
        return ".arrow"
    if by_name in (".parquet", ".npy", ".npz", *_SHEETS):
        raise FormatError(f"{name}: the file is no {by_name[1:]}, whatever its name says; write it again")
    if by_name in _JSON or start.lstrip()[:1] == b"{":
        return ".jsonl" if by_name not in _JSON else by_name
    return ".csv"
