"""Drawing users from a mixture of types (dick, Algorithm 2), compiled: imported by those who sample."""

from typing import Any

import numpy as np

from reidrisk.base import BLOCK, Array, blocks, each, njit, stream


def draw(steps: Array, start: int, stop: int, seed: int, threads: int | None = None) -> Array:
    """Draw the sets of the users from ``start``, the first of a block, to ``stop``: tokens ascending, -1 behind.

    ``steps``, (T, r, k, N), are the cumulative probabilities of each slot; the last one of a slot is 1. A user is the
    same whoever else is drawn, on any number of threads.
    """
    n_types, n_epochs, k, n_tokens = steps.shape
    tokens = np.empty((stop - start, n_epochs, k), dtype=np.min_scalar_type(-n_tokens))

    def fill(part: tuple[int, int, int]) -> None:
        block, first, last = part
        rng = stream(seed, "release sample", start // BLOCK + block)
        # A block is always drawn whole, so that a larger sample starts with the same users.
        types = rng.integers(n_types, size=BLOCK)[: last - first]
        uniform = rng.random((BLOCK, n_epochs, k))[: last - first]
        # Users of one type together: their probabilities stay in the cache.
        draw_sets(np.argsort(types, kind="stable"), types, uniform, steps, tokens[first:last])

    each(fill, blocks(stop - start, BLOCK), threads)
    return tokens


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
