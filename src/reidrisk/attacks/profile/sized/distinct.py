"""The distinct form: its normaliser, and how many of a query's items are the target's under it."""

import math
from typing import Any

import numpy as np

from reidrisk.base.kernels import njit


@njit(nogil=True, cache=True)
def log_sums(start: Any, own: Any, others: Any, sizes: Any, out: Any) -> None:
    """Fill in log (Z / P) (n, sizes), Z = sum_j (m choose j) j! e_j(weights) others^(m - j) for each size m.

    P is the probability that m events show no more items of the target than it holds, if each shows one with
    probability 1 - others: a record of two items is hardly that of somebody of whom five are known. Target t has the
    weights ``own[start[t]:start[t + 1]]``. With E_j = j! e_j, one more weight w makes E_j + j w E_(j-1) of E_j: sums of
    positive numbers, at most 1.
    """
    if len(sizes) == 0:
        return
    most = sizes.max()
    sums = np.zeros(most + 1)
    for t in range(len(start) - 1):
        held = start[t + 1] - start[t]
        sums[:] = 0.0
        sums[0] = 1.0
        for k in range(held):
            weight = own[start[t] + k]
            for j in range(min(k + 1, most), 0, -1):
                sums[j] += j * weight * sums[j - 1]
        rest, own_share = math.log(others[t]), math.log(max(1.0 - others[t], 1e-300))
        for level in range(len(sizes)):
            m = sizes[level]
            choose, total, possible = 0.0, 0.0, 0.0
            for j in range(min(held, m) + 1):
                if sums[j] > 0.0:
                    total += math.exp(choose + (m - j) * rest + math.log(sums[j]))
                possible += math.exp(choose + (m - j) * rest + j * own_share)
                if j < m:
                    choose += math.log((m - j) / (j + 1.0))
            if total > 0.0 and possible > 0.0:
                out[t, level] = math.log(total) - math.log(min(possible, 1.0))


def shown(own: float, held: int, asked: int) -> float:
    """Return the mean share of a query's ``asked`` items that are the target's, of ``held`` that are alike.

    An event is the target's with probability ``own``, but none of its items twice: j of them have the weight
    (asked choose j) (held choose j) j! (own / held)^j (1 - own)^(asked - j).

    >>> [round(shown(own, held, 4), 2) for own, held in ((1.0, 8), (0.5, 4), (0.0, 8), (1.0, 2))]
    [1.0, 0.4, 0.0, 0.5]
    """
    from scipy.special import gammaln, logsumexp, xlogy

    j = np.arange(min(held, asked) + 1)
    logs = -gammaln(j + 1) - gammaln(asked - j + 1) - gammaln(held - j + 1)
    logs = logs + xlogy(j, own / held) + xlogy(asked - j, max(1.0 - own, 1e-9))
    return float(np.exp(logs - logsumexp(logs)) @ j / asked)
