"""CSV files: the header, and all cells as text; what they stand for is decided later."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from reidrisk.base import FormatError, reason, sizes
from reidrisk.io.tables.opening import arrow_stream, check_bytes, opened

_BLOCKS = (1 << 20, 1 << 24, 1 << 28)
"""Bytes read at a time: a row must fit, so the next size is tried where one does not."""


def csv_header(file: Path, name: str, whole: bool = True) -> list[str]:
    """Return the cells of the first line; an empty file, or one that is not separated by commas, is refused.

    So is one that is too large to be read into memory, if the ``whole`` of it is to be.
    """
    import csv
    import io

    if whole:
        check_bytes(file, name)
    # Bytes that are not UTF-8 are let through here: the reader of the cells names their row.
    with opened(file) as raw, io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="") as lines:
        try:
            names = next(csv.reader(_at_most(lines, name)), [])
        except csv.Error as error:
            raise FormatError(f"{name}: the header cannot be read ({reason(error)}); is a quote missing?") from error
    if not names:
        raise FormatError(f"{name}: the file is empty; a table has a header and at least one row")
    sizes.COLUMNS.check(len(names), name, "leave some out")
    if len(names) == 1 and (separator := re.search("[;\t|]", names[0])):
        by = {";": "semicolons", "\t": "tabs", "|": "bars"}[separator[0]]
        raise FormatError(f"{name}: the cells are separated by {by}, not by commas; save the file with commas")
    if any("\0" in column or re.search("[\ud800-\udfff]", column) for column in names):
        raise FormatError(f"{name}: the header is not UTF-8 text; save the file in UTF-8")
    return names


def _at_most(lines: TextIO, name: str) -> Iterator[str]:
    """Give the lines of a header, and refuse one that has no end within the longest row there may be."""
    length = 0
    while line := lines.readline(_BLOCKS[-1] - length):
        length += len(line)
        if length >= _BLOCKS[-1]:
            raise FormatError(f"{name}: the header is longer than {_BLOCKS[-1]:,} characters; it is no table")
        yield line


def read_cells(file: Path, name: str, names: list[str] | None) -> Any:
    """Return all cells as an Arrow table of text.

    With the ``names`` of the header, empty cells are null and cells may hold line breaks. Without, every line is a row,
    the first one too, columns are called ``f0``, ``f1`` and so on, and empty cells are empty text.
    """
    known = names or [f"f{i}" for i in range(len(csv_header(file, name)))]
    return parsed(
        lambda: arrow_stream(file),
        name,
        known,
        {"autogenerate_column_names": names is None},
        {"newlines_in_values": names is not None},
        nulls=names is not None,
    )


def parsed(
    stream: Callable[[], Any],
    name: str,
    known: list[str],
    read: Mapping[str, Any],
    parse: Mapping[str, Any],
    nulls: bool = True,
) -> Any:
    """Return the cells of a stream as an Arrow table of text; ``read`` and ``parse`` are further options of Arrow."""
    import pyarrow as pa
    from pyarrow import csv

    has_header = not read.get("autogenerate_column_names", False)
    # In a single column an empty line is an empty cell.
    parsing = csv.ParseOptions(ignore_empty_lines=not has_header or len(known) > 1, **parse)
    empty: dict[str, Any] = {"strings_can_be_null": True, "null_values": [""]} if nulls else {}
    convert = csv.ConvertOptions(column_types=dict.fromkeys(known, "string"), **empty)
    for block in _BLOCKS:
        # One thread: only then does the library know in which row it stumbled.
        reading = csv.ReadOptions(use_threads=False, block_size=block, **read)
        try:
            with stream() as cells:
                return csv.read_csv(cells, reading, parsing, convert)
        except pa.ArrowInvalid as error:
            if "straddl" in str(error) or "Empty CSV file or block" in str(error):  # the latter, of the header
                continue
            refuse_cells(name, known, str(error), has_header)
            raise
    raise FormatError(f"{name}: a row is longer than {_BLOCKS[-1]:,} bytes; a closing quote may be missing")


def refuse_cells(name: str, names: list[str], problem: str, has_header: bool) -> None:
    """Say in terms of the file what the library complains about, where that is known."""
    if odd := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", problem):
        row = f"row {int(odd[1]) - 1}" if has_header else f"line {odd[1]}"
        first = "header" if has_header else "first line"
        raise FormatError(f"{name}: {row} has {odd[3]} cells where the {first} has {odd[2]}; the file may be truncated")
    if bad := re.search(r"CSV column #(\d+): (?:Row #(\d+): )?.*invalid UTF8", problem):
        where = f"{f'row {int(bad[2]) - 1}, ' if bad[2] else ''}column {names[int(bad[1])]!r}"
        raise FormatError(f"{name}: {where} is not UTF-8 text; save the file in UTF-8")
