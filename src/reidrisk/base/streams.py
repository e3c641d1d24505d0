"""Random streams keyed by (seed, purpose, block): the same seed gives the same answer on any number of threads."""

import hashlib
import secrets
from collections.abc import Iterator

import numpy as np

from reidrisk.base.errors import OptionError
from reidrisk.base.options import whole

BLOCK = 65_536  # users in a block. Fixed: a stream belongs to a block, so changing it changes every simulated number.


def stream(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """Return the generator of one block of one purpose.

    Streams of different purposes are independent, and so are those of different blocks of users (:func:`blocks`).

    >>> a, b, c = (stream(0, "example", block).integers(100, size=3) for block in (0, 0, 1))
    >>> bool((a == b).all()), bool((a == c).all())
    (True, False)
    """
    digest = hashlib.sha256(purpose.encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    entropy = [checked_seed(seed), *words, int(block)]
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(entropy)))


def blocks(n: int, size: int = BLOCK) -> Iterator[tuple[int, int, int]]:
    """Cut ``range(n)`` into fixed blocks ``(block, start, stop)``.

    >>> list(blocks(5, size=2))
    [(0, 0, 2), (1, 2, 4), (2, 4, 5)]
    """
    for block, start in enumerate(range(0, n, size)):
        yield block, start, min(start + size, n)


def block_of(first: int, size: int = BLOCK) -> int:
    """Return the number of the block that begins with a user; who stands within a block is refused.

    >>> block_of(131_072)
    2
    """
    if whole("first", first, least=0) % size:
        begins = size * (first // size)
        raise OptionError(f"first must begin a block of {size:,} users, such as {begins:,}, not {first:,}")
    return first // size


def fresh_seed() -> int:
    """Draw a seed from the operating system, for callers who gave none; results record it."""
    return secrets.randbits(32)


def checked_seed(seed: int) -> int:
    """Return ``seed`` as an ``int``, or refuse what is not a whole number of at least 0."""
    return whole("seed", seed, least=0)


def seed_or_fresh(seed: int | None) -> int:
    """Return a seed that was given, checked, or draw one.

    >>> seed_or_fresh(7), seed_or_fresh(None) >= 0
    (7, True)
    """
    return fresh_seed() if seed is None else checked_seed(seed)
