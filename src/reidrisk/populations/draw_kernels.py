"""Compiled drawing of users from a mixture of types."""

from __future__ import annotations

from typing import Any

from reidrisk.base.kernels import njit


@njit(cache=True, nogil=True)
def draw_sets(order: Any, types: Any, uniform: Any, steps: Any, sets: Any) -> None:
    """Fill ``sets`` (users, r, k): tokens ascending, duplicates once, -1 behind; users in the given order."""
    _, r, k, n = steps.shape
    for place in range(order.size):
        u = order[place]
        t = types[u]
        for i in range(r):
            size = 0
            for s in range(k):
                row = steps[t, i, s]
                value = uniform[u, i, s]
                low, high = 0, n - 1
                while low < high:  # the first token whose step is above the value
                    middle = (low + high) // 2
                    if row[middle] > value:
                        high = middle
                    else:
                        low = middle + 1
                j = size
                while j > 0 and sets[u, i, j - 1] > low:
                    j -= 1
                if j > 0 and sets[u, i, j - 1] == low:
                    continue
                for m in range(size, j, -1):
                    sets[u, i, m] = sets[u, i, m - 1]
                sets[u, i, j] = low
                size += 1
            for s in range(size, k):
                sets[u, i, s] = -1
