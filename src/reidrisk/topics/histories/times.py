"""Moments as tables give them (Arrow times, whole seconds, ISO 8601 text), and the epochs they belong to."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np

from reidrisk.base import Bools, DataError, FormatError, Ints, OptionError, is_number, is_whole
from reidrisk.io.tables import cell, holds_text

Moment = datetime | str | int
"""A point in time as people give it: a datetime, ISO 8601 text, or seconds since 1970; UTC where no zone is named."""

DAY = 86_400
_SECOND = 1_000_000
_LATEST = 253_402_300_800  # the year 10000: larger numbers are no seconds
_LARGEST = 2**63 - 1
_FORMS = "times such as '2024-05-31 17:20:00' (UTC where no zone is named), or whole seconds since 1970"

_MOST = 10_000  # columns of a table; two centuries of weeks
_LONGEST = 2_000 * 365 * DAY  # no history is longer; sums of seconds stay far from overflow


def moment(value: Moment, option: str) -> int:
    """Return a moment as microseconds since 1970.

    >>> moment("1970-01-02", "now"), moment(datetime(1970, 1, 1, tzinfo=UTC), "now"), moment(3, "now")
    (86400000000, 0, 3000000)
    >>> moment("1789000000", "now")  # up to eight digits are a date, 20240531
    1789000000000000
    """
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{9,18}\s*", value):
        value = int(value)
    if isinstance(value, int | np.integer) and is_whole(value) and abs(int(value)) < _LATEST:
        return int(value) * _SECOND
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime):
        raise OptionError(f"{option} (--{option}) is {value!r}; give {_FORMS}, not milliseconds")
    since = (value if value.tzinfo else value.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * DAY + since.seconds) * _SECOND + since.microseconds


def as_text(seconds: int) -> str:
    """Write seconds since 1970 for people."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"second {int(seconds)} since 1970"  # beyond the years 1 to 9999


def microseconds(cells: Any, name: str, column: str) -> Ints:
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
            rule = f"seconds since 1970, {'and not negative' if numbers[row] < 0 else 'not milliseconds'}"
            raise DataError(f"{cell(name, row, column)} holds {int(numbers[row])}; whole numbers are {rule}")
        return np.asarray(numbers.astype(np.int64) * _SECOND)
    if pa.types.is_timestamp(cells.type) or pa.types.is_date(cells.type):
        return _from_arrow(cells, name, column)
    raise FormatError(f"{name}: column {column!r} is of type {cells.type}; give {_FORMS}")


def _from_arrow(cells: Any, name: str, column: str) -> Ints:
    import pyarrow as pa

    if pa.types.is_date32(cells.type):
        numbers, factor = cells.cast(pa.int32()).to_numpy().astype(np.int64), DAY * _SECOND
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


def _from_text(cells: Any, name: str, column: str) -> Ints:
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
        mixed = _parses(cells.slice(good, 1), kinds[1] if kind is kinds[0] else kinds[0])
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


@dataclass(frozen=True)
class Epochs:
    """Epoch e lasts from start + e * step to start + e * step + length, the end not included; all in seconds.

    The API has disjoint epochs, length = step = 7 days. Carey, Section 6, shifts epochs of 7 days by 3: then they
    overlap, and a visit counts in two or three of them.

    >>> weeks = Epochs(start=0, length=7 * DAY, step=3 * DAY, n=8)
    >>> [[int(e[0]) for e, inside in weeks.members(np.array([day * DAY])) if inside[0]] for day in (0, 6, 7, 27)]
    [[0], [2, 1, 0], [2, 1], [7]]
    """

    start: int
    length: int
    step: int
    n: int

    @classmethod
    def spanning(cls, times: Ints, days: float = 7, step_days: float | None = None, start: int | None = None) -> Self:
        """Return the whole epochs between the first and the last visit, given in seconds since 1970.

        The first begins at ``start``; default: midnight (UTC) before the first visit. The next one begins ``step_days``
        later; default: ``days``. Epochs that would end after midnight (UTC) behind the last visit are left out.

        >>> Epochs.spanning(np.array([9 * 3600, 15 * DAY]))
        Epochs(start=0, length=604800, step=604800, n=2)
        """
        length, step = _seconds(days, "epoch_days"), _seconds(days if step_days is None else step_days, "step_days")
        first = int(times.min()) // DAY * DAY if start is None else int(start)
        end = (int(times.max()) // DAY + 1) * DAY
        n = (end - first - length) // step + 1
        if first >= end:
            raise DataError(f"the first epoch begins at {as_text(first)}, after the last visit; begin earlier")
        span = f"the visits, from {as_text(first)} to {as_text(end)}, are"
        if n < 1:
            raise DataError(f"{span} shorter than one epoch of {days:g} days; give more of them or shorter epochs")
        if n > _MOST:
            raise DataError(f"{span} of {n:,} epochs, more than {_MOST:,}; one wrong time may be the cause")
        return cls(first, length, step, int(n))

    def members(self, times: Ints) -> Iterator[tuple[Ints, Bools]]:
        """Yield, for every number of steps back, the epoch of each moment and whether it is one of its epochs."""
        newest = (times - self.start) // self.step
        for back in range(-(-self.length // self.step)):
            epoch = newest - back
            yield epoch, (epoch >= 0) & (epoch < self.n) & (times - self.start - epoch * self.step < self.length)

    def latest(self, times: Ints) -> Ints:
        """Return the last epoch that had ended at each moment, -1 where there is none yet."""
        return np.clip((times - self.start - self.length) // self.step, -1, self.n - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the epochs for JSON."""
        last = self.start + (self.n - 1) * self.step + self.length
        days = {"n": self.n, "days": self.length / DAY, "step_days": self.step / DAY}
        return {**days, "first_starts": as_text(self.start), "last_ends": as_text(last)}


def _seconds(days: float, option: str) -> int:
    if not is_number(days) or not math.isfinite(days) or not 1 <= round(days * DAY) <= _LONGEST:
        allowed = f"a number from 1/{DAY:,} (one second) to {_LONGEST // DAY:,} days"
        raise OptionError(f"{option} must be {allowed}, not {days!r}")
    return round(days * DAY)
