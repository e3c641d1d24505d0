"""The matching setting: all users' representations at once, to be put beside their users (carey, Appendix A)."""

import itertools
import math
from typing import Any

import numpy as np

from reidrisk.base import Bound, Floats, Ints, Note, OptionError, Signed, between_0_and_1, slices
from reidrisk.bounds.columns import BLOCK
from reidrisk.records import Channel, Traces

_LARGEST_ENUMERATION = 50_000_000  # numbers that matching_optimum may hold
_LARGEST = int(np.iinfo(np.int64).max)


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
    return float(-np.expm1(_log_nobody(channel)).sum() / channel.n_users)


def distinct_outputs(traces: Traces, level: float = 0.95, notes: tuple[Note, ...] = ()) -> Bound:
    """Return the matching bound estimated from what was seen: the number D of distinct traces over n.

    The bound of carey, Lemma 4, *is* the expected number of distinct representations over the number of users, so one
    table of traces, one row per user, estimates it without knowing the channel. Changing one user changes D by at most
    1, so ``|D - E D| <= sqrt(n log(2 / (1 - level)) / 2)`` with probability ``level`` (McDiarmid). A missing token
    counts as one more value that a token can take. ``notes`` say what else the result rests on.

    >>> bound = distinct_outputs(Traces([[0, 1], [2, 2], [0, 1], [0, 1]], n_tokens=4))
    >>> bound.value, bound.setting
    (0.5, 'matching')
    """
    distinct = int(np.unique(row_keys(traces.tokens, traces.n_tokens)).size)
    return counted_outputs(distinct, traces.n_users, traces.n_epochs, level, notes)


def counted_outputs(distinct: int, n: int, n_epochs: int, level: float = 0.95, notes: tuple[Note, ...] = ()) -> Bound:
    """Return what :func:`distinct_outputs` does, of ``distinct`` traces that were counted among n.

    >>> counted_outputs(2, 4, n_epochs=2).value
    0.5
    """
    level = between_0_and_1("level", level)
    slack = math.sqrt(n * math.log(2.0 / (1.0 - level)) / 2.0)
    what = ("distinct representations", "matching", distinct / n, 1.0 / n, "carey, Lemma 4")
    low, high = max(distinct - slack, 1.0) / n, min(distinct + slack, float(n)) / n
    inputs, notes = {"distinct": float(distinct), "level": level}, (*notes, Note("estimated-from-records"))
    return Bound(*what, low, high, inputs, n_epochs, notes=notes)


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
            return np.asarray(np.bincount(channel.matrix.indices, weights=logs, minlength=channel.n_outputs))
        total = np.zeros(channel.n_outputs)
        for block in slices(channel.n_users, BLOCK // channel.n_outputs):
            total += np.log1p(-np.minimum(channel.matrix[block], 1.0)).sum(axis=0)
        return total


def row_keys(tokens: Signed, n_tokens: int) -> Ints:
    """Return one integer per row of (n, r) tokens in ``[-1, n_tokens)``, equal exactly where rows are equal.

    Columns are digits of a number in base ``n_tokens + 1`` (-1 is a digit too); whenever the next digit would not fit,
    the numbers so far are replaced by their ranks.

    >>> row_keys(np.array([[3, -1], [0, 1], [3, -1]]), n_tokens=5).tolist()
    [24, 8, 24]
    """
    base, size, keys = n_tokens + 1, 1, np.zeros(len(tokens), dtype=np.int64)
    for column in tokens.T:
        if size > _LARGEST // base:
            values, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), int(values.size)
        keys *= base
        keys += column
        keys += 1
        size *= base
    return keys
