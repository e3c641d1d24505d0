"""Damage that knows nothing of the format: what a bad disk, a cut connection or a wrong editor leaves."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["BYTES"]

_BITS = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\n",
    b"\r",
    b'"',
    b"{",
    b"[",
    b",",
)


def flip(rng: random.Random, data: bytes) -> bytes:
    """Flip a few bits."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def replace(rng: random.Random, data: bytes) -> bytes:
    """Overwrite a few bytes with extreme ones, as a length or an offset would be."""
    if not data:
        return b"\xff"
    start, width = rng.randrange(len(data)), rng.choice((1, 2, 4, 8))
    value = rng.choice((b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\x00" * 7, rng.randbytes(8)))
    return data[:start] + value[:width] + data[start + width :]


def truncate(rng: random.Random, data: bytes) -> bytes:
    """Cut the end off, or the beginning."""
    at = rng.randint(0, len(data))
    return data[:at] if rng.random() < 0.8 else data[at:]


def insert(rng: random.Random, data: bytes) -> bytes:
    """Put something that is no text, or a mark of order, somewhere."""
    at = 0 if rng.random() < 0.3 else rng.randint(0, len(data))
    return data[:at] + rng.choice(_BITS) * rng.choice((1, 1, 2, 100)) + data[at:]


def repeat(rng: random.Random, data: bytes) -> bytes:
    """Write a part of it twice, or many times."""
    start, stop = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    return data[:stop] + data[start:stop] * rng.choice((1, 1, 2, 30)) + data[stop:]


def move(rng: random.Random, data: bytes) -> bytes:
    """Exchange two parts."""
    a, b, c = sorted(rng.randint(0, len(data)) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def other(rng: random.Random, data: bytes) -> bytes:
    """Be something else altogether."""
    return rng.choice(
        (
            b"",
            b"\n",
            b"\x00" * 64,
            rng.randbytes(64),
            b"PAR1" + data,
            b"PK\x03\x04",
            b"\x1f\x8b\x08\x00",
            b"ARROW1\x00\x00",
        )
    )


BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (flip, replace, truncate, insert, repeat, move, other)
