"""The kernel of expectation-maximisation: how likely each target is the person of a query. It needs numba."""

from typing import Any

import numpy as np

from reidrisk.base.kernels import njit


@njit(cache=True, nogil=True)
def expected(level: Any, nats: Any, counts: Any, stranger: Any, sums: Any, links: Any, likely: Any) -> None:
    """Add up, for each query and column, how likely each level is that of its own person; and that there is one.

    ``likely`` is the sum of the likelihoods over all targets.
    """
    q, p, r = level.shape
    score = np.empty(p)
    for i in range(q):
        top = 0.0
        for j in range(p):
            total = 0.0
            for c in range(r):
                total += nats[i, c, level[i, j, c]]
            score[j] = total
            if counts[i, j] > 0.0:
                top = max(top, total)
        whole = 0.0
        for j in range(p):
            score[j] = counts[i, j] * np.exp(min(score[j] - top, 0.0))
            whole += score[j]
        likely[i] = whole * np.exp(top)
        whole += stranger[i] * np.exp(-top)
        for j in range(p):
            share = score[j] / whole if whole > 0.0 else 0.0
            links[i] += share
            if share > 0.0:
                for c in range(r):
                    sums[i, c, level[i, j, c]] += share
