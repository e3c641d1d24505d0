"""Lines of the published logs, of a bounded length and as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from reidrisk.base.errors import FormatError

_LONGEST_LINE = 1 << 26  # bytes


def line_of_text(line: bytes, path: str | Path, number: int) -> str:
    r"""Decode one line of a file, or name it.

    Examples
    --------
    >>> line_of_text("caf\xe9".encode("latin-1"), "log.txt", 3)
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.FormatError: log.txt: line 3 is not UTF-8 text; save the file in UTF-8
    """
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: line {number} is not UTF-8 text; save the file in UTF-8") from error


def bounded_lines(opened: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines of a file, or refuse one that goes on and on: it would be held in memory as a whole."""
    number = 0
    while line := opened.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise FormatError(f"{name}: line {number} is longer than {_LONGEST_LINE:,} bytes; it may be no text file")
        yield line
