"""Lines of the published logs, as text."""

from __future__ import annotations

from pathlib import Path

from reidrisk.base.errors import FormatError


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
