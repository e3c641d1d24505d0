"""Text tables in any dialect: all cells as text, and the rows that do not fit counted and named."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.base.options import option
from reidrisk.io.exports.dialect import Dialect, cells_of
from reidrisk.io.tables.csv_files import parsed
from reidrisk.io.tables.opening import arrow_stream, opened

SHOWN = 5  # bad rows that are named; the others are only counted


@dataclass
class BadRows:
    """Rows that cannot be read: how many, and what is wrong with the first of them."""

    count: int = 0
    unread: int = 0  # those of them that are not among the rows that were read
    first: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    """Where the first of them are, without what they hold: a result may say this."""

    def add(self, row: int, why: str, rows: int = 1, place: str = "") -> None:
        """Count a row, from 1 on, that cannot be read, or the ``rows`` from there on."""
        self.count += rows
        if len(self.first) < SHOWN:
            self.first.append(f"row {row} {why}")
            self.places.append(f"row {row}{place}")

    def clear(self) -> None:
        """Forget all: a reader that starts again counts again."""
        self.count = self.unread = 0
        self.first.clear()
        self.places.clear()


def read_text(file: Path, name: str, dialect: Dialect, names: Sequence[str], bad: BadRows) -> Any:
    """Return an Arrow table of text with these names of columns; empty cells are null, bad rows are left out."""
    import pyarrow as pa

    has_header = dialect.header is not None

    def left_out(row: Any) -> str:
        lines = row.text.count("\n") + 1 if row.text else 1
        number = 0 if row.number is None else row.number - has_header - dialect.skip
        bad.add(number, f"has {row.actual_columns} cells, not {row.expected_columns}", lines)
        bad.unread += lines
        return "skip"

    def stream() -> Any:
        bad.clear()
        return _stream(file, dialect)

    plain = _is_plain(dialect)
    read: dict[str, Any] = {
        "column_names": list(names),
        "skip_rows": (dialect.skip if plain else 0) + has_header,
        "encoding": dialect.encoding if plain else "utf-8",
    }
    parse = {
        "newlines_in_values": True,
        "delimiter": dialect.delimiter if plain else ",",
        "invalid_row_handler": left_out,
    }
    try:
        return parsed(stream, name, list(names), read, parse)
    except UnicodeError as error:
        called = {"cp1252": "Windows-1252"}.get(dialect.encoding, dialect.encoding.upper())
        raise FormatError(f"{name}: the text is neither UTF-8 nor {called}; save the file in UTF-8") from error
    except pa.ArrowInvalid as error:
        if "Could not skip initial" not in str(error):
            raise
        raise DataError(f"{name}: the table has a header and no row; give at least one row") from error


def column_names(name: str, dialect: Dialect, given: Sequence[str]) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the file has a header of its own.

    Names that are ``given`` stand for a missing header, unless the header has them all.
    """
    plain = [column.partition("=")[0] for column in given]
    if dialect.header is not None and all(column in dialect.header for column in plain):
        return [cell or f"column {place + 1}" for place, cell in enumerate(dialect.header)], True
    if len(plain) == dialect.width:
        return plain, False
    if dialect.header is None and not plain:
        raise OptionError(
            f"{name}: the first line looks like data, not like names; name the columns with {option('columns')}"
        )
    if dialect.header is None:
        there = f"the lines have {dialect.width} cells, and {option('columns')} names {len(plain)}"
        raise OptionError(f"{name}: {there}; name every column")
    missing = next(column for column in plain if column not in dialect.header)
    there = ", ".join(map(repr, dialect.header[:20]))
    raise OptionError(f"{name}: there is no column {missing!r} to use; choose from {there}")


def _is_plain(dialect: Dialect) -> bool:
    """Tell whether Arrow reads this dialect by itself."""
    return dialect.delimiter != " " and dialect.comment is None


def _stream(file: Path, dialect: Dialect) -> Any:
    import pyarrow as pa

    if not _is_plain(dialect):
        with opened(file) as raw, io.TextIOWrapper(raw, dialect.encoding, newline="") as lines:
            text = io.StringIO()
            csv.writer(text).writerows(cells_of(_kept(lines, dialect), dialect.delimiter))
        return pa.BufferReader(text.getvalue().encode())
    return arrow_stream(file)


def _kept(lines: Iterator[str], dialect: Dialect) -> Iterator[str]:
    """Yield the lines that are neither comments nor blank."""
    for number, line in enumerate(lines):
        is_comment = dialect.comment is not None and line.lstrip().startswith(dialect.comment)
        if number >= dialect.skip and line.strip() and not is_comment:
            yield line
