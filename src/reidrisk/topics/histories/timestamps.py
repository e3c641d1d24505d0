"""Moments as tables give them: Arrow times, whole seconds or ISO 8601 text, all into microseconds since 1970 (UTC)."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.io.tables.columns import cell, holds_text

Moment = datetime | str | int
"""A point in time as people give it: a datetime, ISO 8601 text, or seconds since 1970; UTC where no zone is named."""

_SECOND = 1_000_000
_LATEST = 253_402_300_800  # the year 10000: larger numbers are no seconds
_LARGEST = 2**63 - 1
_FORMS = "times such as '2024-05-31 17:20:00' (UTC where no zone is named), or whole seconds since 1970"


def moment(value: Moment, option: str) -> int:
    """Return a moment as microseconds since 1970.

    >>> moment("1970-01-02", "now"), moment(datetime(1970, 1, 1, tzinfo=UTC), "now"), moment(3, "now")
    (86400000000, 0, 3000000)
    >>> moment("1789000000", "now")  # up to eight digits are a date, 20240531
    1789000000000000
    """
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{9,18}\s*", value):
        value = int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(int(value)) < _LATEST:
        return int(value) * _SECOND
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime):
        raise OptionError(f"{option} (--{option}) is {value!r}; give {_FORMS}, not milliseconds")
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * _SECOND + since.microseconds


def as_text(seconds: int) -> str:
    """Write seconds since 1970 for people."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"second {int(seconds)} since 1970"  # beyond the years 1 to 9999


def microseconds(cells: Any, name: str, column: str) -> npt.NDArray[np.int64]:
    """Return a column of moments (an Arrow chunked array) as microseconds, or name the first cell that is none."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if cells.null_count:
        row = int(np.argmax(cells.is_null().to_numpy()))
        raise DataError(f"{cell(name, row, column)} is empty; every visit has a time: {_FORMS}")
    if holds_text(cells.type):
        return _from_text(cells, name, column)
    if pa.types.is_integer(cells.type):
        numbers = cells.to_numpy()
        wrong = (numbers >= _LATEST) | (numbers < 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            least = "and not negative" if numbers[row] < 0 else "not milliseconds"
            raise DataError(
                f"{cell(name, row, column)} holds {int(numbers[row])}; whole numbers are seconds since 1970, {least}"
            )
        return np.asarray(numbers.astype(np.int64) * _SECOND)
    if pa.types.is_timestamp(cells.type) or pa.types.is_date(cells.type):
        return _from_arrow(cells, name, column)
    raise FormatError(f"{name}: column {column!r} is of type {cells.type}; give {_FORMS}")


def _from_arrow(cells: Any, name: str, column: str) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    if pa.types.is_date32(cells.type):
        numbers, factor = cells.cast(pa.int32()).to_numpy().astype(np.int64), 86_400 * _SECOND
    else:
        unit = "ms" if pa.types.is_date64(cells.type) else cells.type.unit
        numbers, factor = cells.cast(pa.int64()).to_numpy(), {"s": _SECOND, "ms": 1_000, "us": 1, "ns": 0}[unit]
    if not factor:
        return np.asarray(numbers // 1_000)  # nanoseconds are cut off: no epoch is that short
    # The library would not say, and wrap: 2**64 microseconds are 584,542 years.
    wrong = (numbers > _LARGEST // factor) | (numbers < -_LARGEST // factor)
    if wrong.any():
        row = int(np.argmax(wrong))
        when = f"{int(numbers[row])} ({cells.type} since 1970)"
        raise DataError(f"{cell(name, row, column)} holds {when}, a time out of range; give {_FORMS}")
    return np.asarray(numbers * factor)


def _from_text(cells: Any, name: str, column: str) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    cells = cells.cast(pa.large_string())  # views of text, as polars hands them out, cannot be parsed
    # Naive and zoned text are two types to the library; the first cell tells which of them the column is.
    kinds = [pa.timestamp("us"), pa.timestamp("us", "UTC")]
    kind = next((kind for kind in kinds if _parses(cells.slice(0, 1), kind)), kinds[0])
    if not _parses(cells, kind):
        good, bad = 0, len(cells)  # this many rows from the top parse; this many do not
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if _parses(cells.slice(good, middle - good), kind) else (good, middle)
        value = cells[good].as_py()
        mixed = kind is kinds[0] and _parses(cells.slice(good, 1), kinds[1])
        mixed = mixed or (kind is kinds[1] and _parses(cells.slice(good, 1), kinds[0]))
        why = "; name the zone in every row or in none" if mixed else f", which is no time; give {_FORMS}"
        raise DataError(f"{cell(name, good, column)} holds {value!r}{why}")
    return np.asarray(cells.cast(kind).cast(pa.int64()).to_numpy())


def _parses(cells: Any, kind: Any) -> bool:
    import pyarrow as pa

    try:
        cells.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
