"""The compiled loop behind the partial-information estimate: one pass over all targets for a few queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reidrisk.base.kernels import njit

_CHUNK = 256


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
