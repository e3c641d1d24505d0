"""The compiled loops over tokens: which of them are asked for, and how many people hold each."""

from typing import Any

import numpy as np

from reidrisk.base import njit

MIX = np.uint64(0x9E3779B97F4A7C15)  # unit: the odd number nearest to 2^64 / golden ratio (Knuth)


@njit(nogil=True, cache=True)
def hash_table(tokens: Any, bits: Any) -> Any:
    """Return a table of 2^bits places, each token's number where its search begins, or after that; -1: none."""
    table = np.full(1 << bits, -1, dtype=np.int32)
    for i in range(len(tokens)):
        at = np.int64((tokens[i] * MIX) >> np.uint64(64 - bits))
        while table[at] >= 0:
            at = (at + 1) & (len(table) - 1)
        table[at] = i
    return table


@njit(nogil=True, cache=True)
def numbers_of(token: Any, tokens: Any, table: Any, bits: Any) -> Any:
    """Return the number of each token among those of the table, -1 where it is not there."""
    found = np.empty(len(token), dtype=np.int32)
    for i in range(len(token)):
        at = np.int64((token[i] * MIX) >> np.uint64(64 - bits))
        found[i] = -1
        while table[at] >= 0:
            if tokens[table[at]] == token[i]:
                found[i] = table[at]
                break
            at = (at + 1) & (len(table) - 1)
    return found


@njit(nogil=True, cache=True)
def count_holders(person: Any, number: Any, n: Any) -> Any:
    """Return how many people hold each of n tokens; people rise, so that one met again is the one met last."""
    held, last = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for i in range(len(person)):
        if last[number[i]] != person[i]:
            last[number[i]] = person[i]
            held[number[i]] += 1
    return held


@njit(nogil=True, cache=True)
def each_once(person: Any, number: Any, column: Any, total: Any) -> Any:
    """Return each person and the column of each token they hold, once; tokens of column -1 are left out."""
    who, what = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    last, n = np.full(len(column), -1, dtype=np.int64), 0
    for i in range(len(person)):
        k = number[i]
        if column[k] >= 0 and last[k] != person[i]:
            last[k] = person[i]
            who[n], what[n] = person[i], column[k]
            n += 1
    return who, what


@njit(nogil=True, cache=True)
def put(who: Any, what: Any, how_much: Any, at: Any, column: Any, weight: Any) -> None:
    """Put what people hold into rows, each person's from where ``at`` says, which moves on."""
    for i in range(len(who)):
        k = at[who[i]]
        column[k], weight[k] = what[i], how_much[i]
        at[who[i]] = k + 1
