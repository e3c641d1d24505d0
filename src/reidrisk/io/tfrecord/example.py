"""Writing tf.train.Example records without TensorFlow."""

import struct
from collections.abc import Mapping, Sequence

BYTES, FLOAT, INTEGER = 1, 2, 3  # the kinds of lists a feature can hold; the numbers are those of the protocol

Feature = Sequence[bytes] | Sequence[float] | Sequence[int]


def make_example(features: Mapping[str, Feature]) -> bytes:
    """Write one record; the type of the first value tells the kind of a list, an empty list has none."""
    entries = b""
    for feature, values in features.items():
        content = b""
        if values:
            if isinstance(values[0], bytes):
                kind, packed = BYTES, b"".join(_block(1, bytes(value)) for value in values)  # type: ignore[arg-type]
            elif isinstance(values[0], float):
                kind, packed = FLOAT, _block(1, struct.pack(f"<{len(values)}f", *values))
            else:
                kind, packed = INTEGER, _block(1, b"".join(_varint(int(value)) for value in values))
            content = _block(kind, packed)
        entries += _block(1, _block(1, feature.encode()) + _block(2, content))
    return _block(1, entries)


def _block(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
