"""Compiled counting of pairs of tokens."""

from typing import Any

from reidrisk.base.kernels import njit


@njit(cache=True, nogil=True)
def count_within(sets: Any, table: Any) -> None:
    """Add one to ``table[a, b]``, a < b, for every pair of tokens of every (users, k) set."""
    k = sets.shape[1]
    for u in range(sets.shape[0]):
        for i in range(k):
            a = sets[u, i]
            for j in range(i):
                b = sets[u, j]
                if a < b:
                    table[a, b] += 1
                else:
                    table[b, a] += 1


@njit(cache=True, nogil=True)
def count_across(first: Any, second: Any, table: Any) -> None:
    """Add one to ``table[a, b]`` for every token a of a user's first set and b of their second."""
    k = first.shape[1]
    for u in range(first.shape[0]):
        for i in range(k):
            row = table[first[u, i]]
            for j in range(k):
                row[second[u, j]] += 1
