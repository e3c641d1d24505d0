"""Compiled counting of pairs of tokens; :func:`pairs_twin` is the same in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.kernels import njit

__all__ = ["count_across", "count_within", "pairs_twin"]


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


def pairs_twin(first: npt.NDArray[Any], second: npt.NDArray[Any], n_tokens: int) -> npt.NDArray[np.int64]:
    """Count as :func:`count_across` does, by a product of 0/1 matrices."""
    has = [np.zeros((len(sets), n_tokens), dtype=np.int64) for sets in (first, second)]
    for mask, sets in zip(has, (first, second), strict=True):
        np.put_along_axis(mask, sets.astype(np.int64), 1, axis=1)
    return np.asarray(has[0].T @ has[1])
