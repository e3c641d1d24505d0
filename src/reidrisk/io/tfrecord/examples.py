"""Features of tf.train.Example records, many records at once, column by column."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Array, Bytes, FormatError, Ints, njit, sizes
from reidrisk.io.tfrecord.example import BYTES, FLOAT

_DAMAGED, _UNKNOWN, _OTHER_KIND, _LONGER = 1, 2, 3, 4


class Features(NamedTuple):
    """Features of many records, column by column."""

    counts: Ints  # (records, features): number of values, -1 where the record lacks the feature
    integers: Ints  # (records, features, longest list); only the columns of integers are filled
    floats: Array  # the same for floats
    spans: Ints  # (records, features, 2): where the first value of a list of bytes starts and stops


class _Wanted(NamedTuple):
    """Names of features, one after the other, where each ends, and what kind it is."""

    text: Any
    ends: Any
    kinds: Any


def feature_kinds(data: Bytes) -> dict[str, int]:
    """Return the kind of each feature of one record; 0 where an empty list does not say."""
    found = {}
    for _, start, stop in _messages(data, 0, len(data), (1,)):
        for _, entry, end in _messages(data, start, stop, (1,)):
            last = {field: span for field, *span in _messages(data, entry, end, (1, 2))}
            kinds = [kind for kind, _, _ in _messages(data, *last.get(2, (0, 0)))]
            found[data[slice(*last.get(1, (0, 0)))].tobytes().decode("utf-8", "replace")] = kinds[-1] if kinds else 0
    return found


def _messages(data: Bytes, at: int, stop: int, wanted: tuple[int, ...] = ()) -> Iterator[tuple[int, int, int]]:
    """Yield the fields (default: all) that hold messages or text, and where their contents start and stop."""
    while at < stop:
        field, wire, start, at = _next_field(data, at, stop)
        is_wanted = not wanted or field in wanted
        if at < 0 or (is_wanted and wire != 2):
            raise FormatError("a tf.train.Example is damaged, or holds a number where a message should be")
        if is_wanted:
            yield field, start, at


def parse_examples(
    buffer: Bytes, starts: Ints, stops: Ints, features: Mapping[str, int], name: str, first: int = 0
) -> Features:
    """Read the same features of many records at once.

    ``buffer``, ``starts`` and ``stops`` are those of :func:`reidrisk.io.tfrecord.framing.read_frames`, ``features`` all
    that a record may have, with their kinds. Messages call the file ``name`` and its first record here ``first``.
    """
    names = [feature.encode() for feature in features]
    text = np.frombuffer(b"".join(names), dtype=np.uint8)
    ends = np.cumsum([0, *map(len, names)], dtype=np.int64)
    wanted = _Wanted(text, ends, np.array(list(features.values()), dtype=np.int64))
    shape, width = (len(starts), len(names)), 8
    while True:
        # Before every try: one record with a long list makes room for a list as long in all of them.
        sizes.NUMBERS.check(shape[0] * shape[1] * width, name, "split the file, or leave out records with long lists")
        columns = Features(
            np.full(shape, -1, dtype=np.int64),
            np.zeros((*shape, width), dtype=np.int64),
            np.zeros((*shape, width), dtype=np.uint32),
            np.zeros((*shape, 2), dtype=np.int64),
        )
        record, wrong, detail = _parse_many(buffer, starts, stops, wanted, columns)
        if wrong != _LONGER:
            break
        width = max(2 * width, int(detail))
    if wrong:
        at = f"{name}: record {first + record + 1} at byte {starts[record] - 12}"
        if wrong == _OTHER_KIND:
            raise FormatError(f"{at}: feature {list(features)[detail]!r} is of another kind than in the first record")
        if wrong == _UNKNOWN:
            known = feature_kinds(buffer[starts[record] : stops[record]])
            new = next((feature for feature in known if feature not in features), "")
            raise FormatError(f"{at} has a feature {new!r} that the first record does not have; all must be alike")
        raise FormatError(f"{at} is no tf.train.Example; the file holds something else")
    return columns._replace(floats=columns.floats.view(np.float32))


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
                    for j in range(4):
                        floats[count] |= np.uint32(buffer[start + j]) << np.uint32(8 * j)
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
def _find(buffer: Any, start: int, stop: int, wanted: Any) -> int:
    for column in range(len(wanted.kinds)):
        at, end = wanted.ends[column], wanted.ends[column + 1]
        if end - at == stop - start and (buffer[start:stop] == wanted.text[at:end]).all():
            return column
    return -1


@njit(cache=True, nogil=True)
def _parse_entry(buffer: Any, at: int, stop: int, wanted: Any, columns: Any, record: int) -> tuple[int, int]:
    """Read one entry of the map from names to features; return what is wrong, and a detail."""
    key_start, key_stop, value_start, value_stop = 0, 0, 0, 0
    while at < stop:
        field, wire, start, at = _next_field(buffer, at, stop)
        if at < 0 or (field <= 2 and wire != 2):
            return _DAMAGED, 0
        if field == 1:
            key_start, key_stop = start, at
        elif field == 2:
            value_start, value_stop = start, at
    column = _find(buffer, key_start, key_stop, wanted)
    if column < 0:
        return _UNKNOWN, 0
    kind, integers = wanted.kinds[column], columns.integers[record, column]
    floats, span = columns.floats[record, column], columns.spans[record, column]
    columns.counts[record, column] = 0
    at = value_start
    while at < value_stop:
        field, wire, start, at = _next_field(buffer, at, value_stop)
        if at < 0 or wire != 2:
            return _DAMAGED, 0
        if field == kind:
            count = _parse_list(buffer, start, at, kind, integers, floats, span)
            if count < 0:
                return _DAMAGED, 0
            if count > len(integers) and kind != BYTES:
                return _LONGER, count
            columns.counts[record, column] = count
        elif at > start:
            return _OTHER_KIND, column
    return 0, 0


@njit(cache=True, nogil=True)
def _parse_many(buffer: Any, starts: Any, stops: Any, wanted: Any, columns: Any) -> tuple[int, int, int]:
    for record in range(len(starts)):
        at, stop = starts[record], stops[record]
        while at < stop:
            field, wire, inner, at = _next_field(buffer, at, stop)
            if at < 0 or (field == 1 and wire != 2):
                return record, _DAMAGED, 0
            while field == 1 and inner < at:
                part, kind, entry, inner = _next_field(buffer, inner, at)
                if inner < 0 or (part == 1 and kind != 2):
                    return record, _DAMAGED, 0
                if part == 1:
                    wrong, detail = _parse_entry(buffer, entry, inner, wanted, columns, record)
                    if wrong:
                        return record, wrong, detail
    return 0, 0, 0
