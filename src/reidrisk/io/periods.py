"""The order of periods: numbers and times by themselves, text only where its order is understood.

Text sorts in some order whatever it says (``dec`` before ``jan``), and an audit of 'the first four weeks' would be one
of four other weeks. So text is sorted only where numbers tell the order (``week 2``, ``2024-05-31``), day and month are
told apart by the whole column, and all else is refused. Numbers are taken in their order, unless all read as dates with
the year last (``31012024``) and the order differs; a month and a year of two digits each (``0124``) is a number.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import DataError, FormatError, Ints, Note
from reidrisk.io.period_forms import day_and_month, other_order, understood
from reidrisk.io.tables.columns import cell, holds_text, plain_kind
from reidrisk.io.tables.opening import while_reading

_YEAR_FIRST = "write the year first, such as 2024-05-31 or 20240531, or number them in their order"
_NUMBERED = "write them as numbers in their order, or as dates such as 2024-05-31"
_DAY_AND_MONTH = re.compile(r"\s*([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})(?![0-9])(.*)", re.DOTALL)
_CLOCK = re.compile(r"(?:(?:[T ]\s*)?([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?\s*")
_ISO_TIME = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*")

_Ordered = tuple[list[int], list[str], tuple[Note, ...]]


class Periods(NamedTuple):
    """Place of each row's period in their order; how messages, and a second table, call them; what was concluded."""

    rank: Ints
    names: list[Any]
    notes: tuple[Note, ...]


def ordered_periods(name: str, cells: Any) -> Periods:
    """Order the distinct values of an Arrow chunked array, the column ``epoch`` of the table ``name``."""
    import pyarrow as pa
    import pyarrow.compute as pc  # not loaded with pyarrow itself

    kind = plain_kind(cells.type)
    if not (holds_text(kind) or pa.types.is_integer(kind) or pa.types.is_temporal(kind)):
        raise FormatError(f"{name}: column 'epoch' is of type {cells.type}; epochs are integers, dates or text")
    if cells.null_count:
        where = cell(name, int(np.argmax(cells.is_null().to_numpy())), "epoch")
        raise DataError(f"{where} is empty; every observation has an epoch")
    encoded = cells.cast(kind).combine_chunks().dictionary_encode()
    distinct = encoded.dictionary
    notes: tuple[Note, ...] = ()
    with while_reading(name, "a table with a column 'epoch'"):
        if holds_text(kind):
            order, names, notes = ordered_texts(name, distinct.to_pylist())
        else:
            order = pc.array_sort_indices(distinct).to_numpy().tolist()
            names = _names(distinct.take(order))
            if pa.types.is_integer(kind):
                _refuse_years_last(name, [str(value) for value in names])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Periods(rank[encoded.indices.to_numpy(zero_copy_only=False)], names, notes)


def _names(distinct: Any) -> list[Any]:
    """Name numbers and times alike in every table, whatever the unit of its times."""
    import pyarrow as pa

    kind = distinct.type
    if pa.types.is_integer(kind):
        return list(distinct.to_pylist())
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return [str(value) for value in distinct.cast(pa.int64()).to_pylist()]
    unit = kind.unit if pa.types.is_timestamp(kind) else ("day" if pa.types.is_date32(kind) else "ms")
    nano = {"day": 86_400_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}[unit]
    whole = distinct.cast(pa.int32() if unit == "day" else pa.int64()).to_pylist()
    return [_moment_text(*divmod(value * nano, 1000)) for value in whole]


def _moment_text(micro: int, nano: int) -> str:
    rest = f" and {nano} ns" if nano else ""
    try:
        at = datetime(1970, 1, 1) + timedelta(microseconds=micro)
    except OverflowError:
        return f"{micro} us since 1970{rest}"
    return f"{at.date() if at.time() == time() else at}{rest}"


def ordered_texts(name: str, labels: Sequence[str]) -> _Ordered:
    """Return the order of distinct labels, the labels in it, and what was concluded; refuse what has no order."""
    dated = [_DAY_AND_MONTH.fullmatch(label) for label in labels]
    if any(dated):
        return _dates(name, labels, dated)
    if all(_ISO_TIME.fullmatch(label) for label in labels):
        return _times(name, labels)
    parts = [re.split(r"([0-9]+)", label) for label in labels]
    words = [" ".join("#".join(part[::2]).split()).lower() for part in parts]
    other = next((i for i, word in enumerate(words) if word != words[0]), None)
    if other is not None:
        raise DataError(f"{_two(name, labels[0], labels[other])} have no order that is understood; {_NUMBERED}")
    if re.search(r"\b[ap]\.?m\b", words[0]):
        raise DataError(f"{name}: the epoch {_shown(labels[0])} is a time of 12 hours; {_NUMBERED}")
    # Digits by their number and then one by one: the same order as that of the numbers, which may be very long.
    keys = [[(len(digits.lstrip("0")), digits.lstrip("0")) for digits in part[1::2]] for part in parts]
    _refuse_several_numbers(name, labels, keys)
    _refuse_fractions(name, labels, keys)
    for place in range(1, len(parts[0]), 2):
        _refuse_years_last(name, [part[place] for part in parts])
    order = sorted(range(len(labels)), key=lambda i: (keys[i], labels[i]))
    return order, [labels[i] for i in order], ()


def _dates(name: str, labels: Sequence[str], found: Sequence[re.Match[str] | None]) -> _Ordered:
    """Read dates such as 31/01/2024: the whole column says which number is the day, or not at all."""
    iso = "write dates as 2024-05-31"
    first_day = first_month = ""
    for label, match in zip(labels, found, strict=True):
        if match is None or match[2] != (found[0] or match)[2]:
            raise DataError(f"{_two(name, labels[0], label)} are written in two ways; {iso}")
        if len(match[4]) == 2:
            raise DataError(f"{name}: the epoch {_shown(label)} has a year of two digits; {iso}")
        first_day = first_day or (label if int(match[1]) > 12 else "")
        first_month = first_month or (label if int(match[3]) > 12 else "")
    if bool(first_day) == bool(first_month):
        two = f"the epoch {_shown(first_day)} has the day first and {_shown(first_month)} the month"
        undecided = f"nothing tells whether the epoch {_shown(labels[0])} has the day first or the month"
        raise DataError(f"{name}: {two if first_day else undecided}; {iso}")
    moments = []
    for label, match in zip(labels, filter(None, found), strict=True):
        day, month = (match[1], match[3]) if first_day else (match[3], match[1])
        clock = _CLOCK.fullmatch(match[5])
        if clock is None:
            raise DataError(f"{name}: the epoch {_shown(label)} ends in a time that is not understood; {iso}")
        try:
            at = date(int(match[4]), int(month), int(day))
            hours = time(int(clock[1]), int(clock[2]), int(clock[3] or 0)) if clock[1] else None
            moments.append(str(at) if hours is None else f"{at} {hours}")
        except ValueError as error:
            raise DataError(f"{name}: the epoch {_shown(label)} is no date that exists; {iso}") from error
    if len(set(map(len, moments))) > 1:
        raise DataError(f"{name}: some epochs have a time of day and some have none; {iso}")
    if len(set(moments)) < len(moments):
        raise DataError(f"{name}: two epochs are the same date, written in two ways; {iso}")
    order = sorted(range(len(moments)), key=lambda i: moments[i])  # year, month, day: this text sorts
    note = Note("dates-read", name=name, first="day" if first_day else "month", proof=_shown(first_day or first_month))
    return order, [moments[i] for i in order], (note,)


def _times(name: str, labels: Sequence[str]) -> _Ordered:
    """Order dates with times as in ISO 8601 by the moment, whatever their offsets; without any they are in one zone."""
    moments = []
    for label in labels:
        try:
            moments.append(datetime.fromisoformat(label.strip()))
        except ValueError as error:
            raise DataError(f"{name}: the epoch {_shown(label)} is no time that exists; {_NUMBERED}") from error
    without = [at.tzinfo is None for at in moments]
    if any(without) and not all(without):
        bare, other = (_shown(labels[without.index(is_bare)]) for is_bare in (True, False))
        raise DataError(f"{name}: the epoch {bare} has no offset and {other} has one; write all with their offset")
    start = datetime(1970, 1, 1, tzinfo=None if all(without) else UTC)
    since = [at - start for at in moments]  # also where the moment in UTC is before the year 1
    order = sorted(range(len(labels)), key=lambda i: since[i])
    for i, j in pairwise(order):
        if since[i] == since[j]:
            raise DataError(f"{_two(name, labels[i], labels[j])} are the same moment; write it in one way")
    return order, [labels[i] for i in order], ()


def _refuse_several_numbers(name: str, labels: Sequence[str], keys: Sequence[list[tuple[int, str]]]) -> None:
    """Refuse 'Q1 2024' beside 'Q4 2023' and the like: the number in front would count before the year."""
    changing = [place for place in range(len(keys[0])) if len({key[place] for key in keys}) > 1]
    if not changing:
        return
    other = next(i for i, key in enumerate(keys) if key[changing[-1]] != keys[0][changing[-1]])
    two = _two(name, labels[0], labels[other])
    if day_and_month(labels):
        raise DataError(f"{two} read as a day and a month without a year; write dates as 2024-05-31")
    if len(changing) > 1 and not understood(labels):
        unread = "they do not read as a year of four digits followed by its month, day, week or quarter"
        raise DataError(f"{two} differ in more than one number, and {unread}; {_YEAR_FIRST}")


def _refuse_years_last(name: str, numbers: Sequence[str]) -> None:
    """Refuse 31012024 beside 01022024: all read as dates with the year last, and their order is not the numbers'."""
    if all(digits.isdecimal() for digits in numbers) and (two := other_order(numbers)):
        read = f"the epochs hold the numbers {two[0]} and {two[1]}, which read as dates with the year last"
        raise DataError(f"{name}: {read}; {_YEAR_FIRST}")


def _refuse_fractions(name: str, labels: Sequence[str], keys: Sequence[Any]) -> None:
    """Refuse '1.5' beside '1.10' where they differ in order as fractions and as parts of a number."""
    if not all(re.fullmatch(r"\s*[0-9]{1,15}[.,][0-9]{1,15}\s*", label) for label in labels):
        return
    by_value = sorted(range(len(labels)), key=lambda i: float(labels[i].replace(",", ".")))
    if by_value != sorted(range(len(labels)), key=lambda i: keys[i]):
        parts = "may be fractions or numbers of two parts, which differ in order"
        raise DataError(f"{name}: the epochs {_shown(labels[by_value[0]])} and so on {parts}; {_NUMBERED}")


def _two(name: str, one: str, other: str) -> str:
    return f"{name}: the epochs {_shown(one)} and {_shown(other)}"


def _shown(label: str) -> str:
    return repr(label) if len(label) <= 60 else f"{label[:57]!r}…"
