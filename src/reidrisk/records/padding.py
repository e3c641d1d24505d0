"""Filling short sets: every user by themselves, so that one more user changes nobody else's padding.

One random word and the set itself decide the token of a slot. Words come from the operating system where people must be
protected, and from seed and row where a simulation must be repeatable.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.streams import BLOCK, blocks, checked_seed, stream

Integers = npt.NDArray[np.int64]

Words = Callable[[Integers, Integers, int], npt.NDArray[np.uint64]]
"""Given the rows and the epochs of some short sets, all rows of one block, and k: k random words for each set."""


def filled(tokens: npt.NDArray[Any], n_tokens: int, words: Words) -> npt.NDArray[Any]:
    r"""Return (n, r, k) sets with every -1 replaced by a token that is new to its set, uniformly.

    With s tokens in the set, a word w of 64 bits chooses the token of number :math:`\lfloor w (N - s) / 2^{64} \rfloor`
    among the N - s that are not in it: uniform to within :math:`N / 2^{64}`.
    """
    full = np.array(tokens)
    k = full.shape[2]
    for _, start, stop in blocks(len(full), BLOCK):
        part = full[start:stop]
        rows, epochs = np.nonzero((part < 0).any(axis=2))
        if not rows.size:
            continue
        drawn = words(rows + start, epochs, k)
        sets = part[rows, epochs].astype(np.int64)
        for slot in range(k):
            empty = np.flatnonzero(sets[:, slot] < 0)
            sets[empty, slot] = _new_to(sets[empty], drawn[empty, slot], n_tokens)
        part[rows, epochs] = sets
    return full


def _new_to(sets: Integers, words: npt.NDArray[np.uint64], n_tokens: int) -> Integers:
    """Return for each set one of the tokens it does not hold."""
    held = np.sort(np.where(sets < 0, n_tokens, sets), axis=1)  # empty slots sort behind every token
    left = (n_tokens - (sets >= 0).sum(axis=1)).astype(np.uint64)
    half = np.uint64(32)
    # The high 64 bits of word times left; left is below 2^32, so that no part overflows.
    high = (words >> half) * left + (((words & np.uint64(0xFFFFFFFF)) * left) >> half)
    token: Integers = (high >> half).astype(np.int64)
    for column in range(held.shape[1]):
        token += held[:, column] <= token
    return token


def from_the_system(rows: Integers, epochs: Integers, k: int) -> npt.NDArray[np.uint64]:
    """Draw words from the operating system's generator; there is no seed that anybody could find."""
    return np.frombuffer(os.urandom(8 * k * rows.size), dtype=np.uint64).reshape(-1, k)


def from_seed(seed: int, n: int, n_epochs: int) -> Words:
    """Return words that seed and row decide, for simulations of n users: whoever knows the seed knows the padding."""
    seed = checked_seed(seed)

    def words(rows: Integers, epochs: Integers, k: int) -> npt.NDArray[np.uint64]:
        block = int(rows[0]) // BLOCK
        size = (min(BLOCK, n - block * BLOCK), n_epochs, k)
        drawn = stream(seed, "pad top sets", block).integers(2**64, size=size, dtype=np.uint64)
        return np.asarray(drawn[rows - block * BLOCK, epochs])

    return words
