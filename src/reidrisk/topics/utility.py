"""Utility buckets: which trees of the taxonomy rank first in a browser, as published beside the taxonomy."""

from __future__ import annotations

import re
from typing import NamedTuple

from reidrisk.base.errors import DataError, FormatError
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.opening import text_of
from reidrisk.topics.taxonomy import Taxonomy

_HEADER = ("top-level topics", "utility buckets")
_BUCKETS = ("high", "standard")


class UtilityBuckets(NamedTuple):
    """Root topics by bucket, as ids in ascending order."""

    high: tuple[int, ...]
    """Their trees rank before all others, whatever their visits: give them to ``Browser(high_utility=...)``."""
    standard: tuple[int, ...]
    """The other roots."""


def read_utility_buckets(path: PathLike, taxonomy: Taxonomy) -> UtilityBuckets:
    """Read the published assignment of root topics to utility buckets; every root has one, and only roots have one.

    The file has a header ``Top-Level Topics, Utility Buckets`` and a row per root, ``High`` or ``Standard``: a Markdown
    table as in the specification, with any text around it, or columns with tabs (Chrome's ``utility_buckets.tsv``) or
    commas between.
    """
    lines, name = text_of(path).splitlines(), str(path)
    roots = {taxonomy.label(root): root for root in taxonomy.roots}
    bucket: dict[int, str] = {}
    for number, label, given in _rows(name, lines):
        if label not in roots:
            raise DataError(f"{name}: line {number} names {label!r}, which is no root of the {taxonomy!r}")
        if roots[label] in bucket:
            raise DataError(f"{name}: line {number} gives {label!r} a bucket again; name every root once")
        if given.lower() not in _BUCKETS:
            raise DataError(f"{name}: line {number} has the bucket {given!r}; buckets are 'High' and 'Standard'")
        bucket[roots[label]] = given.lower()
    for label, root in roots.items():
        if root not in bucket:
            raise DataError(f"{name}: the root {label!r} has no bucket; give every root of the taxonomy one")
    high, standard = (tuple(sorted(root for root, of in bucket.items() if of == which)) for which in _BUCKETS)
    return UtilityBuckets(high, standard)


def _rows(name: str, lines: list[str]) -> list[tuple[int, str, str]]:
    """Return line number, label and bucket of every row; a blank line ends the table."""
    rows: list[tuple[int, str, str]] = []
    inside = False
    for number, line in enumerate(lines, start=1):
        # A label may hold a comma, a bucket may not.
        first, mark, second = re.sub(r"^\s*\||\|\s*$", "", line).strip().rpartition(_separator(line))
        first, second = first.strip().strip('"'), second.strip().strip('"')
        if not inside:
            inside = (first.lower(), second.lower()) == _HEADER
        elif not line.strip():
            break
        elif not re.fullmatch(r":?-+:?", first):
            if not mark:
                raise FormatError(f"{name}: line {number} is {line.strip()[:60]!r}, not a root and its bucket")
            rows.append((number, first, second))
    if not inside:
        raise FormatError(f"{name}: there is no header 'Top-Level Topics, Utility Buckets' in it")
    return rows


def _separator(line: str) -> str:
    return next((mark for mark in ("|", "\t") if mark in line.strip().strip("|")), ",")
