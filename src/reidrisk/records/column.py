"""One column of attributes: its kind, its different values in their order, and which of them stands in each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from reidrisk.base import DataError, Floats, Ints, one_of
from reidrisk.base.frames import as_text, coded

Kind = Literal["category", "number", "prefix"]
"""How two values are compared: equal or not; also by how close they are; also by how many first letters they share."""

MISSING = ("", "?")  # texts that stand for no value, blanks apart


@dataclass(frozen=True, eq=False)
class Column:
    """A column without its rows: ``labels`` are its different values as text, by number or else by text.

    ``numbers`` are the values of a column of numbers; dates count days.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    numbers: Floats | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def same(self, other: Column) -> bool:
        """Whether both give the same code to the same value, and compare values alike."""
        return (self.name, self.kind, self.labels) == (other.name, other.kind, other.labels)


def read_column(cells: Any, name: str, kind: Kind | None = None) -> tuple[Column, Ints]:
    """Return a column of Arrow cells and the code of each row, -1 = missing; without ``kind`` it is guessed.

    Numbers, dates, and text that can be read as numbers throughout are numbers; all else is a category. A text that
    begins with a zero and goes on with a digit is a code, no number.

    >>> from reidrisk.base.frames import columns_of
    >>> column, codes = read_column(columns_of({"age": ["31", "9", "?", "31"]}, ["age"])["age"], "age")
    >>> column.kind, column.labels, codes.tolist()
    ('number', ('9', '31'), [1, 0, -1, 1])
    """
    if kind is not None:
        one_of(f"column {name!r}", kind, get_args(Kind))
    found = coded(cells, name)
    labels = as_text(found.values)
    there = np.array([label.strip() not in MISSING for label in labels], dtype=bool)
    numbers = _numbers(cells.type, found.values, labels, there, kind)
    if kind == "number" and numbers is None:
        raise DataError(f"column {name!r} holds {_odd(labels, there)!r}, which is no number; call it a category")
    chosen: Kind = kind or ("category" if numbers is None else "number")
    values = np.flatnonzero(there)
    if chosen == "number" and numbers is not None:
        kept, place = np.unique(numbers[there], return_inverse=True)
        shown = np.zeros(len(kept), dtype=np.int64)
        shown[place] = values  # of two texts for one number, the last is shown
        column = Column(name, chosen, tuple(labels[i] for i in shown), kept)
    else:
        order = np.array(sorted(range(len(values)), key=lambda i: labels[values[i]]), dtype=np.int64)
        place = np.empty(len(values), dtype=np.int64)
        place[order] = np.arange(len(values))
        column = Column(name, chosen, tuple(labels[values[i]] for i in order))
    code = np.full(len(labels) + 1, -1, dtype=np.int64)  # the last one, at -1, is for nulls
    code[values] = place
    return column, code[found.codes]


def joined_columns(columns: Sequence[Column]) -> tuple[Column, tuple[Ints, ...]]:
    """Return one column with the values of several, and for each the new code of its values.

    Where their kinds differ, all are taken for categories.

    >>> one, two = Column("x", "category", ("a", "c")), Column("x", "category", ("b", "c"))
    >>> column, codes = joined_columns([one, two])
    >>> column.labels, [code.tolist() for code in codes]
    (('a', 'b', 'c'), [[0, 2], [1, 2]])
    """
    kinds = {column.kind for column in columns}
    name, kind = columns[0].name, columns[0].kind if len(kinds) == 1 else "category"
    if kind == "number":
        labels = {n: label for one in columns for n, label in zip(_values(one).tolist(), one.labels, strict=True)}
        numbers = np.array(sorted(labels), dtype=np.float64)
        together = Column(name, kind, tuple(labels[n] for n in numbers.tolist()), numbers)
        return together, tuple(np.searchsorted(numbers, _values(one)).astype(np.int64) for one in columns)
    texts = tuple(sorted({label for one in columns for label in one.labels}))
    place = {label: code for code, label in enumerate(texts)}
    codes = tuple(np.array([place[label] for label in one.labels], dtype=np.int64) for one in columns)
    return Column(name, kind, texts), codes


def _values(column: Column) -> Floats:
    return np.zeros(0) if column.numbers is None else column.numbers


def _numbers(kind: Any, values: Any, labels: list[str], there: Any, wanted: str | None) -> Floats | None:
    """Return the values as numbers, days where they are dates; ``None`` where they are not, or need not be."""
    import pyarrow as pa

    if wanted not in (None, "number") or pa.types.is_boolean(kind):
        return None
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        stamps = np.array([label.removesuffix("Z") for label in labels], dtype="M8[us]")
        return np.asarray((stamps - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
    numbers = np.full(len(labels), np.nan)
    for i in np.flatnonzero(there):
        text = labels[i].strip()
        if wanted is None and text.lstrip("+-")[:1] == "0" and text.lstrip("+-")[1:2].isdigit():
            return None
        number = _number(text)
        if number is None:
            return None
        numbers[i] = number
    return numbers if there.any() else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number + 0.0 if np.isfinite(number) and "_" not in text else None


def _odd(labels: list[str], there: Any) -> str:
    """Return the first value that is no finite number."""
    return next((labels[i] for i in np.flatnonzero(there) if _number(labels[i].strip()) is None), "")
