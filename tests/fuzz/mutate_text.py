"""Damage to tables and lists in text: cells, columns, rows, quotes, separators and line ends."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable

from fuzz.hostile import hostile_text

__all__ = ["delimited", "lines"]

Rows = list[list[str]]


def cell(rng: random.Random, rows: Rows) -> None:
    """Put something odd into one cell, or several."""
    for _ in range(rng.choice((1, 1, 3))):
        row = rng.choice(rows)
        if row:
            row[rng.randrange(len(row))] = hostile_text(rng)


def header(rng: random.Random, rows: Rows) -> None:
    """Give a column another name."""
    if rows[0]:
        rows[0][rng.randrange(len(rows[0]))] = hostile_text(rng)


def column(rng: random.Random, rows: Rows) -> None:
    """Drop, repeat, exchange or fill a column."""
    width = len(rows[0])
    if not width:
        return
    at, other, kind = rng.randrange(width), rng.randrange(width), rng.randrange(4)
    value = hostile_text(rng)
    for number, row in enumerate(rows):
        if len(row) != width:
            continue
        if kind == 0:
            del row[at]
        elif kind == 1:
            row.insert(other, row[at])
        elif kind == 2:
            row[at], row[other] = row[other], row[at]
        elif number:
            row[at] = value


def ragged(rng: random.Random, rows: Rows) -> None:
    """Give one row a cell too many or too few."""
    row = rng.choice(rows)
    if row and rng.random() < 0.5:
        row.pop()
    else:
        row.append(hostile_text(rng))


def some_rows(rng: random.Random, rows: Rows) -> None:
    """Drop, repeat or mix rows."""
    kind = rng.randrange(5)
    body = rows[1:]
    if kind == 0:
        body = body[: rng.randint(0, 2)]
    elif kind == 1 and body:
        body.insert(rng.randrange(len(body)), list(rng.choice(body)))
    elif kind == 2:
        rng.shuffle(body)
    elif kind == 3:
        body.insert(rng.randint(0, len(body)), [])
    else:
        body = [list(row) for _ in range(40) for row in body][:2000]
    rows[1:] = body


def many_columns(rng: random.Random, rows: Rows) -> None:
    """Be very wide."""
    count = rng.choice((50, 3000))
    for number, row in enumerate(rows[:4]):
        row += [f"epoch_{i}" if not number else str(i % 5) for i in range(count)]
    del rows[4:]


def spread(rng: random.Random, rows: Rows) -> None:
    """Number the rows in a column, in steps that may be huge: a time, an epoch or a token each."""
    if rows[0]:
        at, step = rng.randrange(len(rows[0])), rng.choice((1, 7, 10**6, 10**12, 10**18))
        for number, row in enumerate(rows[1:]):
            if at < len(row):
                row[at] = str(number * step)


_ROWS: tuple[Callable[[random.Random, Rows], None], ...] = (
    *(cell, cell, cell, header, column, column, ragged, some_rows, some_rows, many_columns, spread),
)


def delimited(rng: random.Random, data: bytes, separator: str = ",") -> bytes:
    """Change the rows and cells of a table, then write it in one of the ways that programs do."""
    rows = list(csv.reader(io.StringIO(data.decode()), delimiter=separator))
    for _ in range(rng.choice((1, 1, 1, 2))):
        rng.choice(_ROWS)(rng, rows)
    odd = rng.random() < 0.15
    if odd:
        separator = rng.choice((";", "\t", "|", " ", ","))
    end = rng.choice(("\r\n", "\r", "\n\n")) if odd else "\n"
    written = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.1 else csv.QUOTE_MINIMAL
    csv.writer(written, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    text = written.getvalue()
    if rng.random() < 0.05:
        text = text.replace('"', "", 1) if '"' in text else text + '"open'
    if rng.random() < 0.05:
        text = text.rstrip("\n")
    mark = rng.choice(("utf-8-sig", "utf-16", "latin-1")) if rng.random() < 0.08 else "utf-8"
    return text.encode(mark, "replace")


def lines(rng: random.Random, data: bytes) -> bytes:
    """Change lines, and the words in them."""
    found = data.decode().split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(found))
        kind = rng.randrange(6)
        if kind == 0:
            del found[at]
        elif kind == 1:
            found.insert(at, found[rng.randrange(len(found))])
        elif kind == 2:
            found[at] = hostile_text(rng)
        elif kind == 3:
            found *= rng.choice((2, 50))
        else:
            mark = next((mark for mark in ("\t", "|", ",", " ") if mark in found[at]), " ")
            words = found[at].split(mark)
            words[rng.randrange(len(words))] = hostile_text(rng)
            found[at] = mark.join(words)
        found = found[:3000] or [""]
    return rng.choice(("\n", "\n", "\n", "\r\n", "\r")).join(found).encode("utf-8", "replace")
