"""Compiled loops over the rows of a sparse matrix: distinct rows, and the worst pair of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["distinct_rows", "worst_pair"]


@njit(cache=True, nogil=True)
def distinct_rows(indptr: Any, indices: Any, bits: Any) -> Any:
    """Return the first row of each group of identical rows, by a hash table that compares in full."""
    n = indptr.size - 1
    size = 2
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)
    kept = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        start, stop = indptr[i], indptr[i + 1]
        h = np.uint64(1469598103934665603)
        for e in range(start, stop):
            h = (h ^ np.uint64(indices[e])) * np.uint64(1099511628211)
            h = (h ^ bits[e]) * np.uint64(1099511628211)
            h ^= h >> np.uint64(29)  # the low bits of short fractions are all zero
        slot = np.int64((h ^ (h >> np.uint64(32))) & np.uint64(size - 1))
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = i
                kept[count] = i
                count += 1
                break
            first = indptr[other]
            same = indptr[other + 1] - first == stop - start
            e = 0
            while same and e < stop - start:
                same = indices[start + e] == indices[first + e] and bits[start + e] == bits[first + e]
                e += 1
            if same:
                break
            slot = (slot + 1) & (size - 1)
    return kept[:count]


@njit(cache=True, nogil=True)
def worst_pair(indptr: Any, indices: Any, data: Any, m: int, candidates: Any, x: float) -> Any:
    """Return the largest ``sum_o (P[i, o] - x P[j, o])_+`` over i in ``candidates`` and all j, with i and j."""
    row = np.zeros(m)
    best, best_i, best_j = -1.0, -1, -1
    for j in range(indptr.size - 1):
        for e in range(indptr[j], indptr[j + 1]):
            row[indices[e]] = data[e]
        for i in candidates:
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                other = row[indices[e]]
                # x may be infinite, and infinity times zero is no number.
                excess = data[e] - x * other if other > 0.0 else data[e]
                if excess > 0.0:
                    total += excess
            if total > best:
                best, best_i, best_j = total, i, j
        for e in range(indptr[j], indptr[j + 1]):
            row[indices[e]] = 0.0
    return best, best_i, best_j
