"""The dialect of a text table: its encoding, what separates cells, and whether the first line is a header."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reidrisk.base import FormatError, OptionError, sizes
from reidrisk.base.options import option
from reidrisk.io.tables.opening import opened, while_reading

SAMPLE = 1 << 18  # limit: bytes that show what a file is like
_LINES = 400  # limit: of them
_CHUNK, _STEP = 1 << 20, 1 << 12  # limit: bytes read, and looked at, at a time
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DELIMITERS = (",", ";", "\t", "|")
_IN_NAMES = "\"'_-.()[]"  # marks that names of columns hold
_MOST = 0.5  # level: share of the lines that a delimiter cuts alike
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_VALUE = re.compile(r"[+-]?[0-9][0-9.,:/eE+TtZ -]*|\[.*\]")


@dataclass(frozen=True)
class Dialect:
    """How a text table is written."""

    encoding: str = "utf-8"
    delimiter: str = ","  # one character; a blank stands for any number of blanks and tabs
    header: tuple[str, ...] | None = None  # names in the first line; None where it holds data
    width: int = 1  # number of cells in the first line
    skip: int = 0  # lines before the header that only say what separates cells
    comment: str | None = None


def dialect_of(file: Path, name: str, delimiter: str | None, comment: str | None, names: Sequence[str] = ()) -> Dialect:
    """Find out how a text table is written, from its first lines; what is given is taken.

    Where ``names`` of columns are given, and the first line neither holds them nor as many cells, although most lines
    do, it is a row that cannot be read, not a header.
    """
    with while_reading(name, "text"):
        encoding = _encoding(file, name)
        with opened(file) as raw:
            lines = raw.read(SAMPLE).decode(encoding, errors="replace").splitlines()
    if len(lines) > 1:
        lines = lines[:-1] if len(lines) <= _LINES else lines[:_LINES]  # the last one may be cut
    skip = 0
    if lines and (said := _SEPARATOR_LINE.fullmatch(lines[0])):
        lines, skip, delimiter = lines[1:], 1, delimiter or said[1]
    lines = [line for line in lines if line.strip() and not (comment and line.lstrip().startswith(comment))]
    if not lines:
        raise FormatError(f"{name}: the file is empty; a table has a header and at least one row")
    if any("\0" in line for line in lines):
        raise FormatError(f"{name}: this is no text; give a table in CSV, JSON lines, Parquet, Arrow or .xlsx")
    if names and (found := _of_width(lines, delimiter, names)):
        return Dialect(encoding, found, None, len(names), skip, comment)
    by = delimiter or _delimiter(lines, name)
    rows = list(cells_of(lines, by))
    header = tuple(cell.strip() for cell in rows[0]) if _is_header(rows) else None
    sizes.COLUMNS.check(len(rows[0]), name, "leave some out")
    return Dialect(encoding, by, header, len(rows[0]), skip, comment)


def cells_of(lines: Sequence[str] | Iterator[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each line; between blanks, any number of them separates."""
    if delimiter == " ":
        return csv.reader((line.replace("\t", " ").strip() for line in lines), delimiter=" ", skipinitialspace=True)
    return csv.reader(lines, delimiter=delimiter)


def _encoding(file: Path, name: str) -> str:
    """Return UTF-8 if all bytes are, else UTF-16 if it looks so, else Windows-1252; refuse a mixture."""
    with opened(file) as raw:
        start = raw.read(SAMPLE)
    marked = next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), "utf-8")
    if marked == "utf-16":
        return marked
    if b"\0" in start:
        even, odd = (part.count(0) / max(len(part), 1) for part in (start[::2], start[1::2]))
        if max(even, odd) > 0.3 and min(even, odd) < 0.05:
            return "utf-16-le" if odd > even else "utf-16-be"
    is_sure = marked == "utf-8-sig"
    try:
        for text in _decoded(file):
            is_sure |= not text.isascii()
    except UnicodeDecodeError as error:
        if is_sure:
            mixed = "some of the text is UTF-8 and some is not, or its end is missing"
            raise FormatError(f"{name}: {mixed}; save the file in one encoding") from error
        return "cp1252"
    return marked


def _decoded(file: Path) -> Iterator[str]:
    """Yield the text of a file as UTF-8, part by part, as long as it is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with opened(file) as raw:
        while part := raw.read(_CHUNK):
            for step in (part[i : i + _STEP] for i in range(0, len(part), _STEP)):
                yield decoder.decode(step)
    yield decoder.decode(b"", final=True)


def _delimiter(lines: Sequence[str], name: str) -> str:
    """Return what cuts most lines into the same number of cells as the first one: a usual mark, a blank, or another.

    Where none does, the lines are one cell each, unless the first one holds a mark that names do not.
    """
    others = sorted(mark for mark in set(lines[0]) if not (mark.isalnum() or mark.isspace() or mark in _IN_NAMES))
    others = [mark for mark in others if mark.isascii() and mark not in _DELIMITERS]
    fits: dict[str, tuple[float, int]] = {}
    for by in (*_DELIMITERS, " ", *others):
        try:
            widths = [len(row) for row in cells_of(lines, by)]
        except csv.Error:
            continue
        if widths and widths[0] > 1:
            fits[by] = (round(widths.count(widths[0]) / len(widths), 1), widths[0])
    ways = ({by: fits[by] for by in some if by in fits} for some in (_DELIMITERS, (" ",), others))
    found = [way for way in ways if way]
    chosen = next((way for way in found if max(way.values())[0] >= _MOST), None)
    chosen = chosen or max(found, key=lambda way: max(way.values()), default={})
    if not chosen:
        return ","
    best = max(chosen.values())
    equal = [by for by, fit in chosen.items() if fit == best]
    if len(equal) > 1 or (equal[0] in others and best[0] < _MOST):
        both = " and ".join(map(repr, equal))
        raise OptionError(f"{name}: cells may be separated by {both}; say which with {option('delimiter')}")
    return equal[0]


def _of_width(lines: Sequence[str], delimiter: str | None, names: Sequence[str]) -> str | None:
    """Return what cuts most lines into as many cells as there are names, but not the first line, which has none."""
    for by in (delimiter,) if delimiter else _DELIMITERS:
        try:
            rows = list(cells_of(lines, by))
        except csv.Error:
            continue
        often, times = Counter(map(len, rows)).most_common(1)[0]
        if often == len(names) != len(rows[0]) and times > 0.5 * len(rows):
            return None if {cell.strip() for cell in rows[0]} & set(names) else by
    return None


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row names columns: not where it looks like the rows below it, or like values alone."""
    first = [_VALUE.fullmatch(cell.strip()) is not None for cell in rows[0]]
    if all(first):
        return False
    if not any(first) or len(rows) < 2:
        return True
    below = Counter(tuple(_VALUE.fullmatch(cell.strip()) is not None for cell in row) for row in rows[1:])
    return below.most_common(1)[0][0] != tuple(first)
