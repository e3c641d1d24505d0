"""Compiled loops: the worst pair of rows of a sparse matrix, and likelihoods of all targets."""

import math
from typing import Any

import numpy as np

from reidrisk.base.kernels import njit

_CHUNK = 256


@njit(cache=True, nogil=True)
def compare_rows(
    indptr: Any, indices: Any, data: Any, times: Any, m: int, candidates: Any, limit: float, found: Any
) -> Any:
    """Return the largest ``sum_o (P[i, o] - x P[j, o])_+`` over i in ``candidates`` and all j, with i, j and a count.

    ``data`` are the entries of P and ``times`` the same entries x times as large; these may be infinite. Pairs above
    ``limit`` are counted and written into ``found``; one too many ends the search.
    """
    row = np.zeros(m)
    best, best_i, best_j, count = -1.0, -1, -1, 0
    for j in range(indptr.size - 1):
        own = indices[indptr[j] : indptr[j + 1]]
        row[own] = times[indptr[j] : indptr[j + 1]]
        for i in candidates:
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                excess = data[e] - row[indices[e]]
                if excess > 0.0:
                    total += excess
            if total > best:
                best, best_i, best_j = total, i, j
            if total > limit:
                if count == len(found):
                    return best, best_i, best_j, count + 1
                found[count, 0], found[count, 1] = i, j
                count += 1
        row[own] = 0.0
    return best, best_i, best_j, count


@njit(cache=True, nogil=True)
def largest_shares(tokens: Any, counts: Any, tables: Any, out: Any) -> None:
    """Fill ``out[q] = max_i L[i] / sum_j counts[j] L[j]`` with ``log L[i] = sum_s tables[q, s, tokens[i, s]]``.

    Targets are taken in their order whatever the number of threads, so the sums are the same to the last bit.
    Sums are kept relative to the largest likelihood so far: any number of epochs, no underflow.
    """
    n, r = tokens.shape
    queries = tables.shape[0]
    best = np.full(queries, -np.inf)
    total = np.zeros(queries)
    logs = np.empty(_CHUNK)
    for start in range(0, n, _CHUNK):
        size = min(_CHUNK, n - start)
        for q in range(queries):
            top = -np.inf
            for i in range(size):
                value = 0.0
                for s in range(r):
                    value += tables[q, s, tokens[start + i, s]]
                logs[i] = value
                top = max(top, value)
            if top > best[q]:
                total[q] *= math.exp(best[q] - top)
                best[q] = top
            if best[q] == -np.inf:
                continue
            for i in range(size):
                total[q] += counts[start + i] * math.exp(logs[i] - best[q])
    for q in range(queries):
        out[q] = 1.0 / total[q]
