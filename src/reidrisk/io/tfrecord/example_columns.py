"""The same features of many tf.train.Example records at once, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import FormatError
from reidrisk.base.kernels import njit
from reidrisk.io.tfrecord.example import BYTES, FLOAT, parse_example

_DAMAGED, _UNKNOWN, _OTHER_KIND, _LONGER = 1, 2, 3, 4


@dataclass(frozen=True)
class Columns:
    """Features of many records, column by column."""

    counts: npt.NDArray[np.int64]
    """(records, features): number of values, -1 where the record lacks the feature."""
    integers: npt.NDArray[np.int64]
    """(records, features, longest list); only the columns of integers are filled."""
    floats: npt.NDArray[np.float32]
    """The same for floats."""
    spans: npt.NDArray[np.int64]
    """(records, features, 2): where the first value of a list of bytes starts and stops."""


def parse_examples(
    buffer: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    features: Mapping[str, int],
    name: str,
    first: int = 0,
) -> Columns:
    """Read the same features of many records at once.

    Parameters
    ----------
    buffer, starts, stops
        As :func:`reidrisk.io.tfrecord.framing.read_frames` returns them.
    features : mapping from name to kind
        All features that a record may have.
    name : str
        How messages call the file.
    first : int
        Number of the first record in the file, from 0, for messages.
    """
    names = [feature.encode() for feature in features]
    text = np.frombuffer(b"".join(names), dtype=np.uint8)
    ends = np.cumsum([0, *map(len, names)]).astype(np.int64)
    kinds = np.array(list(features.values()), dtype=np.int64)
    n, width = len(starts), 8
    while True:
        # Before every try: one record with a long list makes room for a list as long in all of them.
        sizes.NUMBERS.check(n * len(names) * width, name, "split the file, or leave out the records with long lists")
        counts = np.full((n, len(names)), -1, dtype=np.int64)
        integers = np.zeros((n, len(names), width), dtype=np.int64)
        floats = np.zeros((n, len(names), width), dtype=np.uint32)
        spans = np.zeros((n, len(names), 2), dtype=np.int64)
        record, wrong, detail = _parse_many(buffer, starts, stops, text, ends, kinds, counts, integers, floats, spans)
        if wrong != _LONGER:
            break
        width = max(2 * width, int(detail))
    if wrong:
        at = f"{name}: record {first + record + 1} at byte {starts[record] - 12}"
        if wrong == _OTHER_KIND:
            raise FormatError(f"{at}: feature {list(features)[detail]!r} is of another kind than in the first record")
        if wrong == _UNKNOWN:
            known = parse_example(buffer[starts[record] : stops[record]].tobytes())
            new = next((feature for feature in known if feature not in features), "")
            raise FormatError(f"{at} has a feature {new!r} that the first record does not have; all must be alike")
        raise FormatError(f"{at} is no tf.train.Example; the file holds something else")
    return Columns(counts, integers, floats.view(np.float32), spans)


@njit(cache=True, nogil=True)
def _next_varint(buffer: Any, at: int, stop: int) -> tuple[Any, int]:
    value = np.uint64(0)
    for j in range(10):
        if at >= stop:
            break
        byte = np.uint64(buffer[at])
        at += 1
        value |= (byte & np.uint64(0x7F)) << np.uint64(7 * j)
        if byte < np.uint64(0x80):
            return value, at
    return value, -1


@njit(cache=True, nogil=True)
def _next_field(buffer: Any, at: int, stop: int) -> tuple[Any, Any, Any, Any]:
    """Return field, wire type, and where its value starts and stops; the last is -1 where the message is damaged."""
    key, at = _next_varint(buffer, at, stop)
    if at < 0:
        return 0, 0, 0, -1
    field, wire = np.int64(key >> np.uint64(3)), np.int64(key & np.uint64(7))
    if wire == 0:
        _, end = _next_varint(buffer, at, stop)
        return field, wire, at, end
    if wire == 2:
        length, at = _next_varint(buffer, at, stop)
        if at < 0 or length > np.uint64(stop - at):
            return 0, 0, 0, -1
        return field, wire, at, at + np.int64(length)
    if wire == 1 or wire == 5:
        end = at + (8 if wire == 1 else 4)
        return field, wire, at, (end if end <= stop else -1)
    return 0, 0, 0, -1


@njit(cache=True, nogil=True)
def _parse_list(buffer: Any, at: int, stop: int, kind: int, integers: Any, floats: Any, span: Any) -> int:
    """Read a list of values into the given rows; return how many there are, -1 where it is damaged."""
    count = 0
    while at < stop:
        field, wire, start, end = _next_field(buffer, at, stop)
        if end < 0:
            return -1
        at = end
        if field != 1:
            continue
        if kind == BYTES:
            if wire != 2:
                return -1
            if count == 0:
                span[0], span[1] = start, end
            count += 1
        elif kind == FLOAT:
            if (end - start) % 4 or not (wire == 2 or wire == 5):
                return -1
            while start < end:
                if count < len(floats):
                    floats[count] = (
                        np.uint32(buffer[start])
                        | np.uint32(buffer[start + 1]) << 8
                        | np.uint32(buffer[start + 2]) << 16
                        | np.uint32(buffer[start + 3]) << 24
                    )
                count += 1
                start += 4
        else:
            if not (wire == 0 or wire == 2):
                return -1
            while start < end:
                value, start = _next_varint(buffer, start, end)
                if start < 0:
                    return -1
                if count < len(integers):
                    integers[count] = np.int64(value)
                count += 1
    return count


@njit(cache=True, nogil=True)
def _find(buffer: Any, start: int, stop: int, text: Any, ends: Any) -> int:
    for column in range(len(ends) - 1):
        if ends[column + 1] - ends[column] == stop - start:
            same = True
            for j in range(stop - start):
                if buffer[start + j] != text[ends[column] + j]:
                    same = False
                    break
            if same:
                return column
    return -1


@njit(cache=True, nogil=True)
def _parse_entry(
    buffer: Any,
    at: int,
    stop: int,
    text: Any,
    ends: Any,
    kinds: Any,
    counts: Any,
    integers: Any,
    floats: Any,
    spans: Any,
) -> tuple[int, int]:
    """Read one entry of the map from names to features; return what is wrong, and a detail."""
    key_start, key_stop, value_start, value_stop = 0, 0, 0, 0
    while at < stop:
        field, wire, start, end = _next_field(buffer, at, stop)
        if end < 0 or (field <= 2 and wire != 2):
            return _DAMAGED, 0
        if field == 1:
            key_start, key_stop = start, end
        elif field == 2:
            value_start, value_stop = start, end
        at = end
    column = _find(buffer, key_start, key_stop, text, ends)
    if column < 0:
        return _UNKNOWN, 0
    counts[column] = 0
    at = value_start
    while at < value_stop:
        field, wire, start, end = _next_field(buffer, at, value_stop)
        if end < 0 or wire != 2:
            return _DAMAGED, 0
        at = end
        if field != kinds[column]:
            if end > start:
                return _OTHER_KIND, column
            continue
        count = _parse_list(buffer, start, end, kinds[column], integers[column], floats[column], spans[column])
        if count < 0:
            return _DAMAGED, 0
        if count > integers.shape[1] and kinds[column] != BYTES:
            return _LONGER, count
        counts[column] = count
    return 0, 0


@njit(cache=True, nogil=True)
def _parse_many(
    buffer: Any,
    starts: Any,
    stops: Any,
    text: Any,
    ends: Any,
    kinds: Any,
    counts: Any,
    integers: Any,
    floats: Any,
    spans: Any,
) -> tuple[int, int, int]:
    for record in range(len(starts)):
        at, stop = starts[record], stops[record]
        while at < stop:
            field, wire, start, end = _next_field(buffer, at, stop)
            if end < 0 or (field == 1 and wire != 2):
                return record, _DAMAGED, 0
            at = end
            if field != 1:
                continue
            inner = start
            while inner < end:
                part, kind, entry, entry_end = _next_field(buffer, inner, end)
                if entry_end < 0 or (part == 1 and kind != 2):
                    return record, _DAMAGED, 0
                inner = entry_end
                if part == 1:
                    wrong, detail = _parse_entry(
                        buffer, entry, entry_end, text, ends, kinds,
                        counts[record], integers[record], floats[record], spans[record],
                    )  # fmt: skip
                    if wrong:
                        return record, wrong, detail
    return 0, 0, 0
