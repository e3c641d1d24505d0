"""Twin of the reader of tf.train.Example: one record, the slow way, every value."""

from __future__ import annotations

import struct
from typing import Any

from reidrisk.base.errors import FormatError
from reidrisk.io.tfrecord.example import BYTES, FLOAT, INTEGER


def parse_example(data: bytes) -> dict[str, tuple[int, list[Any]]]:
    """Return the kind and the values of each feature of one record."""
    found: dict[str, tuple[int, list[Any]]] = {}
    for features in _messages(data, 1):
        for entry in _messages(features, 1):
            names, contents = _messages(entry, 1), _messages(entry, 2)
            kind, values = 0, list[Any]()
            for kind, wire, content in _fields(contents[-1] if contents else b""):
                if wire != 2:
                    raise FormatError("a feature of a tf.train.Example is no list")
                values = [x for field, w, raw in _fields(content) if field == 1 for x in _values(kind, w, raw)]
            found[(names[-1] if names else b"").decode("utf-8", "replace")] = (kind, values)
    return found


def _fields(data: Any) -> list[tuple[int, int, Any]]:
    """Split a message into (field, wire type, value)."""
    fields, at = [], 0
    while at < len(data):
        key, at = _read_varint(data, at)
        field, wire = key >> 3, key & 7
        value: Any
        if wire == 0:
            value, at = _read_varint(data, at)
        elif wire in (1, 2, 5):
            length = {1: 8, 5: 4}.get(wire)
            if length is None:
                length, at = _read_varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise FormatError(f"a field has the wire type {wire}, which a tf.train.Example never has")
        if at > len(data):
            raise FormatError("a tf.train.Example ends in the middle of a field")
        fields.append((field, wire, value))
    return fields


def _messages(data: bytes, wanted: int) -> list[bytes]:
    """Return the contents of a field that holds messages or text."""
    found = [(wire, value) for field, wire, value in _fields(data) if field == wanted]
    if any(wire != 2 for wire, _ in found):
        raise FormatError(f"field {wanted} of a tf.train.Example is a number where a message should be")
    return [value for _, value in found]


def _read_varint(data: Any, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise FormatError("a tf.train.Example ends in the middle of a number")
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value & ((1 << 64) - 1), at
    raise FormatError("a number of a tf.train.Example is longer than 64 bits")


def _values(kind: int, wire: int, raw: Any) -> list[Any]:
    if (wire not in {BYTES: (2,), FLOAT: (2, 5), INTEGER: (0, 2)}.get(kind, ())) or (kind == FLOAT and len(raw) % 4):
        raise FormatError("a list of a tf.train.Example holds values of another type than it says")
    if kind == BYTES:
        return [raw]
    if kind == FLOAT:
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    if wire == 0:
        return [_signed(raw)]
    numbers, at = [], 0
    while at < len(raw):
        value, at = _read_varint(raw, at)
        numbers.append(_signed(value))
    return numbers


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
