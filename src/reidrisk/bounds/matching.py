"""The matching setting: all users' representations at once, to be put beside their users (carey, Appendix A)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from reidrisk.base.errors import OptionError
from reidrisk.bounds.columns import Floats, row_blocks
from reidrisk.records import Channel

_LARGEST_ENUMERATION = 50_000_000
"""Numbers that :func:`matching_optimum` may hold."""


def matching(P: Any) -> float:
    """Return the bound ``m/n - (1/n) sum_o prod_i (1 - P[i, o])`` on the share of users matched rightly.

    It is the expected number of distinct representations over the number of users: of all users with the same one, no
    rule gets more than one right on average (carey, Lemma 4). It need not be reached. Computed as ``-(1/n) sum_o
    expm1(sum_i log1p(-P[i, o]))``, so that products over ten million users neither vanish nor lose the digits of ``1 -
    prod``.

    >>> matching([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    0.875
    """
    channel = Channel(P)
    expected_distinct = -np.expm1(_log_nobody(channel)).sum()
    return float(expected_distinct / channel.n_users)


def matching_optimum(P: Any) -> float:
    r"""Return what the best matching rule reaches, by enumeration: a reference for a handful of users.

    .. math:: \frac{1}{n} \sum_{o \in O^n} \sum_i \max_j \frac{1}{n!} \sum_{\pi: \pi(i) = j}
              \prod_l P[\pi(l), o_l]

    A rule need not answer with a permutation: each position is answered with its most probable user given *all*
    representations. The value lies between :func:`random_user` (carey, Lemma 5) and :func:`matching`. Up to 8 users,
    with ``n * n * m**n`` at most fifty million.

    >>> matching_optimum([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])      # carey, Lemma 6
    0.875
    """
    channel = Channel(P)
    n, m = channel.shape
    if n > 8 or n * n * m**n > _LARGEST_ENUMERATION:
        raise OptionError(f"{n} users with {m} outputs are too many to enumerate; matching() gives an upper bound")
    rows = channel.matrix.toarray() if channel.is_sparse else channel.matrix
    weight = np.zeros((n, n, *(m,) * n))
    for order in itertools.permutations(range(n)):
        together = np.ones(())
        for user in order:
            together = np.multiply.outer(together, rows[user])
        for position, user in enumerate(order):
            weight[position, user] += together
    return float(weight.max(axis=1).sum() / (math.factorial(n) * n))


def _log_nobody(channel: Channel) -> Floats:
    """Return ``sum_i log(1 - P[i, o])`` for each output; minus infinity where somebody is sure to have it."""
    with np.errstate(divide="ignore"):
        if channel.is_sparse:
            # A row may exceed 1 by its tolerance; the logarithm must not see it.
            logs = np.log1p(-np.minimum(channel.matrix.data, 1.0))
            sums = np.bincount(channel.matrix.indices, weights=logs, minlength=channel.n_outputs)
            return np.asarray(sums, dtype=np.float64)
        total = np.zeros(channel.n_outputs)
        for block in row_blocks(channel):
            total += np.log1p(-np.minimum(channel.matrix[block], 1.0)).sum(axis=0)
        return total
