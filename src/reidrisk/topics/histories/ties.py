"""Ties among equally visited topics: every user's are broken by themselves, so that nobody else's visits change them.

Each topic of a user and epoch gets one random word, and the smallest comes first. Words are the operating system's
where people must be protected, and decided by seed, row, epoch and topic where a simulation must be repeatable.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from reidrisk.base.streams import stream

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

Ties = Callable[[Integers, Integers, Integers], Words]
"""Given rows, epochs and topics: one random word for each."""


def ties_from_the_system(rows: Integers, epochs: Integers, topics: Integers) -> Words:
    """Draw words from the operating system's generator; there is no seed that anybody could find."""
    return np.frombuffer(os.urandom(8 * rows.size), dtype=np.uint64)


def ties_from_seed(seed: int) -> Ties:
    """Return words that seed, row, epoch and topic decide, for simulations: whoever knows the seed knows the order."""
    keys = stream(seed, "ties of replayed histories").integers(2**64, size=3, dtype=np.uint64)

    def words(rows: Integers, epochs: Integers, topics: Integers) -> Words:
        word: Words = np.zeros(rows.size, dtype=np.uint64)
        for key, part in zip(keys, (rows, epochs, topics), strict=True):
            word = _mixed((word ^ key) + part.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        return word

    return words


def _mixed(word: Words) -> Words:
    """Return a one-to-one image in which every bit hangs on all bits: the finaliser of SplitMix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
