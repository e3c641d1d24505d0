"""The time of day in a column of its own: joined to the date, so that hours are not lost."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.io.exports import names
from reidrisk.io.exports.source import Source
from reidrisk.io.exports.times import MISSING, Times
from reidrisk.io.tables.columns import holds_text

_CLOCK = re.compile(
    r"(?P<H>[0-9]{1,2})[:h.](?P<M>[0-9]{2})?(?:[:.](?P<S>[0-9]{2})(?:[.,][0-9]{1,9})?)?h?(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_WORDS = frozenset(("clock", "hour", "uhrzeit", "uhr", "hora", "heure", "ora", "tijd"))
_SAMPLE = 200


def find_clock(source: Source, time: str | None, taken: Sequence[str]) -> str | None:
    """Return the only column of times of day beside a column of dates that have none."""
    if time is None or _has_clock(source, time):
        return None
    found = [name for name in source.columns if name != time and name not in taken and _is_clock(source, name)]
    return found[0] if len(found) == 1 else None


def _is_clock(source: Source, name: str) -> bool:
    import pyarrow as pa

    if not (names.time_score(name) or _WORDS & set(names.words_of(name))):
        return False
    kind = source.types[name]
    if pa.types.is_time(kind):
        return True
    texts = [text.strip() for text in source.sample(name).to_pylist()[:_SAMPLE]] if holds_text(kind) else []
    return bool(texts) and sum(_CLOCK.fullmatch(text) is not None for text in texts) > 0.9 * len(texts)


def _has_clock(source: Source, name: str) -> bool:
    """Tell whether times hold more than the day, by the first cells; numbers are taken to."""
    import pyarrow as pa

    kind = source.types[name]
    if pa.types.is_date(kind):
        return False
    first = source.sample(name).to_pylist()[:_SAMPLE]
    if pa.types.is_timestamp(kind):
        return any((at.hour, at.minute, at.second) != (0, 0, 0) for at in first)
    return not holds_text(kind) or any(":" in text for text in first)


def with_clock(times: Times, cells: Any) -> tuple[Times, Ints]:
    """Return dates with the times of day of another column, and the rows of those that are none.

    >>> import pyarrow as pa
    >>> from reidrisk.io.exports.times import read_times
    >>> days = read_times(pa.chunked_array([["2024-11-01", "2024-11-02", "2024-11-03"]]), "log.csv")
    >>> found, bad = with_clock(days, pa.chunked_array([["8:30 pm", None, "soon"]]))
    >>> str(found.values[0]), str(found.values[1]), bad.tolist()
    ('2024-11-01 20:30:00', '2024-11-02 00:00:00', [2])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    days = times.values.cast(pa.timestamp("us"))
    texts = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    seconds = [_seconds(text.strip()) for text in texts.dictionary.to_pylist()]
    place = texts.indices.fill_null(len(seconds)).to_numpy(zero_copy_only=False)
    of_day = np.array([*seconds, 0], dtype=np.int64)[place]
    moments = pc.add(days.cast(pa.int64()), pa.array(np.maximum(of_day, 0) * 1_000_000))
    return times._replace(values=moments.cast(pa.timestamp("us"))), np.flatnonzero(of_day < 0)


def _seconds(text: str) -> int:
    """Return the second of the day, 0 where nothing is said, -1 where it is no time of day."""
    if text in ("", *MISSING):
        return 0
    found = _CLOCK.fullmatch(text)
    if found is None:
        return -1
    hour, minute, second = (int(found[part] or 0) for part in "HMS")
    if found["half"]:
        if not 1 <= hour <= 12:
            return -1
        hour = hour % 12 + (12 if found["half"] in "pP" else 0)
    return hour * 3_600 + minute * 60 + second if hour < 24 and minute < 60 and second < 61 else -1
