"""A hash table of token groups, for kernels: one group of equal tokens per slot, with its size and lowest row.

Keys of up to 64 bits are exact: tokens as digits of a number. Longer ones are hashed to 64 bits, and equal hashes
are verified on the tokens themselves. A slot is two words, key and (lowest row << 32 | size), side by side, so that
a look-up touches one line of memory; a size of 0 marks a free slot.
"""

from typing import Any

import numpy as np

from reidrisk.base import UInts, njit

_BATCH = 32  # rows whose slots are fetched together: memory answers many requests in the time of one


def table_for(groups: int, parts: int) -> UInts:
    """Return empty slots (parts, size, 2) for this many groups, at most half full."""
    size = 1 << max(4, (2 * max(groups, 1) // parts + 64).bit_length())
    return np.zeros((parts, size, 2), dtype=np.uint64)


@njit(cache=True, nogil=True, inline="always")
def key_of(row: Any, epochs: Any, width: Any, exact: Any) -> Any:
    """Return the key of the tokens of one row in the given epochs."""
    key = np.uint64(0)
    for s in epochs:
        if exact:
            key = key * width + np.uint64(row[s])
        else:
            key = mixed(key + np.uint64(row[s]) + np.uint64(0x9E3779B97F4A7C15))
    return key


@njit(cache=True, nogil=True, inline="always")
def mixed(key: Any) -> Any:
    """Spread a key over 64 bits (the finaliser of SplitMix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def part_of(spread: Any, parts: Any) -> Any:
    """Return the part of the table a spread key belongs to; its low bits choose the slot there."""
    return (spread >> np.uint64(48)) % parts


@njit(cache=True, nogil=True)
def mark(rows: Any, chosen: Any, epochs: Any, width: Any, exact: Any, words: Any) -> Any:
    """Return a bitmap of this many words with the hashed tokens of the chosen rows."""
    bits = np.zeros(words, dtype=np.uint64)
    mask = np.uint64(words - 1)
    for i in chosen:
        spread = mixed(key_of(rows[i], epochs, width, exact))
        bits[(spread >> np.uint64(6)) & mask] |= np.uint64(1) << (spread & np.uint64(63))
    return bits


@njit(cache=True, nogil=True)
def marked(rows: Any, chosen: Any, epochs: Any, width: Any, exact: Any, bits: Any) -> Any:
    """Return those of the chosen rows whose hashed tokens are in the bitmap: all that can match, and a few more."""
    found = np.empty(chosen.shape[0], dtype=np.int64)
    mask = np.uint64(bits.shape[0] - 1)
    n = np.int64(0)
    for i in chosen:
        spread = mixed(key_of(rows[i], epochs, width, exact))
        # Written always, kept only where the bit is set: no branch to mispredict.
        found[n] = i
        n += np.int64((bits[(spread >> np.uint64(6)) & mask] >> (spread & np.uint64(63))) & np.uint64(1))
    return found[:n].copy()


@njit(cache=True, nogil=True)
def count_groups(
    rows: Any, chosen: Any, epochs: Any, width: Any, exact: Any, table: Any, part: Any, parts: Any
) -> None:
    """Put the chosen rows (ascending) whose hash belongs to this part into the part's table."""
    mask = np.uint64(table.shape[0] - 1)
    keys = np.empty(_BATCH, dtype=np.uint64)
    places = np.empty(_BATCH, dtype=np.uint64)
    numbers = np.empty(_BATCH, dtype=np.int64)
    start, n = 0, chosen.shape[0]
    while start < n:
        filled = 0
        while start < n and filled < _BATCH:
            i = chosen[start]
            start += 1
            key = key_of(rows[i], epochs, width, exact)
            spread = mixed(key)
            if part_of(spread, np.uint64(parts)) != np.uint64(part):
                continue
            keys[filled], places[filled], numbers[filled] = key, spread & mask, i
            filled += 1
        for b in range(filled):
            key, place, i = keys[b], places[b], numbers[b]
            while True:
                entry = table[place, 1]
                if entry == np.uint64(0):
                    table[place, 0] = key
                    table[place, 1] = (np.uint64(i) << np.uint64(32)) | np.uint64(1)
                    break
                if table[place, 0] == key and (exact or same(rows[entry >> np.uint64(32)], rows[i], epochs)):
                    table[place, 1] = entry + np.uint64(1)
                    break
                place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True, inline="always")
def find_group(table: Any, rows: Any, row: Any, key: Any, spread: Any, epochs: Any, exact: Any) -> Any:
    """Return (lowest row << 32 | size) of the group with these tokens, 0 where there is none."""
    part = table[part_of(spread, np.uint64(table.shape[0]))]
    mask = np.uint64(part.shape[0] - 1)
    place = spread & mask
    while True:
        entry = part[place, 1]
        if entry == np.uint64(0):
            return entry
        if part[place, 0] == key and (exact or same(rows[entry >> np.uint64(32)], row, epochs)):
            return entry
        place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True, inline="always")
def same(a: Any, b: Any, epochs: Any) -> Any:
    """Tell whether two rows hold the same tokens in the given epochs."""
    equal = True
    for s in epochs:
        equal = equal and a[s] == b[s]
    return equal
