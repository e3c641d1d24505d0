"""CityHash64 as of version 1.0.3, which Chrome keeps for FLoC; later versions give other values.

Version 1.1 changed the branches for fewer than 9 and for 17 to 64 bytes, so packages that follow it agree with this
module on some strings only. The algorithm is that of Pike and Alakuijala (2011); all arithmetic is modulo 2^64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.foreign import reason

__all__ = ["CONSTANTS", "MULTIPLIER", "cityhash64", "reference"]

_MASK = (1 << 64) - 1
CONSTANTS = (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557)
MULTIPLIER = 0x9DDFEA08EB382D69


def cityhash64(values: Any) -> npt.NDArray[np.uint64]:
    """Return CityHash64 v1.0.3 of the UTF-8 bytes of each string.

    Parameters
    ----------
    values : sequence or Arrow column of str or bytes

    Examples
    --------
    >>> cityhash64(["", "hello world"]).tolist()         # as in Chrome's own test
    [11160318154034397263, 12386028635079221413]
    """
    import pyarrow as pa

    from reidrisk.cohorts.floc.cityhash_kernels import hash_columns

    if isinstance(values, str | bytes):
        raise DataError("values is one string; give a list of strings")
    try:
        column = values.to_arrow() if hasattr(values, "to_arrow") else values
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column)
        if pa.types.is_null(column.type):
            column = column.cast(pa.large_string())
        column = column.cast(pa.large_binary())
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"values must be strings ({reason(error, 120)})") from error
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if whole.null_count:
        row = int(np.argmax(whole.is_null().to_numpy(zero_copy_only=False)))
        raise DataError(f"value {row} is missing; leave it out or give its text")
    _, offsets, data = whole.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
    flat = np.zeros(1, dtype=np.uint8) if data is None or not data.size else np.frombuffer(data, dtype=np.uint8)
    out = np.empty(len(whole), dtype=np.uint64)
    if len(whole):
        hash_columns(flat, starts, out)
    return out


def reference(data: bytes, seed: int | None = None) -> int:
    """Hash one string in plain Python: the twin of the kernel, with whole numbers of any size and slices.

    With ``seed``, the result is CityHash64WithSeed.

    Examples
    --------
    >>> reference(b"hello world"), reference(b"hello world", seed=112358)
    (12386028635079221413, 4144044770257928618)
    """
    plain = _plain(data)
    return plain if seed is None else _mix((plain - CONSTANTS[2]) & _MASK, seed)


def _plain(s: bytes) -> int:
    n, (k0, k1, k2, k3) = len(s), CONSTANTS
    if n == 0:
        return k2
    if n < 4:
        z = s[0] + (s[n // 2] << 8)
        return _shifted(((z * k2) ^ ((n + (s[-1] << 2)) * k3)) & _MASK) * k2 & _MASK
    if n <= 8:
        return _mix(n + (_word(s[:4]) << 3), _word(s[-4:]))
    if n <= 16:
        last = _word(s[-8:])
        return _mix(_word(s[:8]), _turned(last + n, n)) ^ last
    if n <= 32:
        a, b, c, d = _word(s[:8]) * k1, _word(s[8:16]), _word(s[-8:]) * k2, _word(s[-16:-8]) * k0
        return _mix(_turned(a - b, 43) + _turned(c, 30) + d, a + _turned(b ^ k3, 20) - c + n)
    if n <= 64:
        head = [_word(s[i : i + 8]) for i in (0, 8, 16, 24)]
        tail = [_word(s[n - i : n - i + 8]) for i in (32, 24, 16, 8)]
        v0, v1 = _folded(head[0] + (n + tail[2]) * k0, head[1], head[2], head[3])
        w0, w1 = _folded(head[2] + tail[0], tail[1], tail[2], tail[3])
        r = _shifted(((v0 + w1) * k2 + (w0 + v1) * k0) & _MASK)
        return _shifted((r * k0 + v1) & _MASK) * k2 & _MASK

    def tail_word(i: int) -> int:
        return _word(s[n - i : n - i + 8])

    x, y = tail_word(40), tail_word(16) + tail_word(56)
    z = _mix(tail_word(48) + n, tail_word(24))
    v, w = _weak(s[n - 64 : n - 32], n, z), _weak(s[n - 32 :], y + k1, x)
    x = x * k1 + _word(s[:8])
    for start in range(0, (n - 1) // 64 * 64, 64):
        block = s[start : start + 64]
        word = [_word(block[i : i + 8]) for i in range(0, 64, 8)]
        x = _turned(x + y + v[0] + word[1], 37) * k1 ^ w[1]
        y = _turned(y + v[1] + word[6], 42) * k1 + v[0] + word[5]
        z = _turned(z + w[0], 33) * k1
        v, w = _weak(block[:32], v[1] * k1, x + w[0]), _weak(block[32:], z + w[1], y + word[2])
        x, z = z, x
    return _mix(_mix(v[0], w[0]) + _shifted(y & _MASK) * k1 + z, _mix(v[1], w[1]) + x)


def _word(s: bytes) -> int:
    return int.from_bytes(s, "little")


def _turned(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by | value << (64 - by)) & _MASK


def _shifted(value: int) -> int:
    return value ^ (value >> 47)


def _mix(u: int, v: int) -> int:
    u, v = u & _MASK, v & _MASK
    a = _shifted((u ^ v) * MULTIPLIER & _MASK)
    return _shifted((v ^ a) * MULTIPLIER & _MASK) * MULTIPLIER & _MASK


def _folded(a: int, one: int, two: int, z: int) -> tuple[int, int]:
    b, c = _turned(a + z, 52), _turned(a, 37)
    a += one
    c += _turned(a, 7)
    a += two
    return a + z, b + _turned(a, 31) + c


def _weak(s: bytes, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(s[i : i + 8]) for i in range(0, 32, 8))
    a += w
    b = _turned(b + a + z, 21)
    end = a + x + y
    return end + z, b + _turned(end, 44) + a
