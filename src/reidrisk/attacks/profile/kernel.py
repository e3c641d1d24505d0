"""Tables of evidence as kernels of ProfileBayes take them, and what a record by itself adds.

For each kind of user the score is a sum over tokens. Most tokens are in neither record, so it is built as

    nothing + what the target holds + what the query holds + what changes for tokens that both hold,

where only the last is done pair by pair (:mod:`reidrisk.attacks.profile.sweep`). All sums are sums of integers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.kernels import njit
from reidrisk.search.weights import GRID

LOWEST = np.iinfo(np.int64).min


class HeldRecords(NamedTuple):
    """Records as :class:`reidrisk.attacks.profile.counts.Counts` holds them, and the log-probability of each alone."""

    start: Any
    token: Any
    count: Any
    rung: Any
    epochs: Any
    alone: Any


class Likelihoods(NamedTuple):
    """Log-likelihoods on the score grid.

    ``joint`` (groups, rungs of pairs, cells, K) is of both records together; the rung of a pair is the sum of its two
    rungs. There is a cell for each (S, m), or where nothing is made of the same epoch one for each S. ``alone``
    (groups, rungs, depth + 1, K) is of one record. ``nothing`` and ``none`` (rungs, K) are the same of records without
    any token, with the share of the kind.
    """

    joint: Any
    nothing: Any
    alone: Any
    none: Any
    depth: int  # counts beyond it are taken for it
    group: Any  # of each token
    per_pair: int  # sights in the same epoch that make one pair; 0 where nothing is made of them


@njit(nogil=True, cache=True, inline="always")
def place(sights: Any, pairs: Any, per_pair: Any) -> Any:
    """Return the cell of a table of evidence, see :func:`reidrisk.attacks.profile.likelihoods.cell`."""
    return (sights + 1) * (sights + 1) // 4 + pairs if per_pair else sights


@njit(nogil=True, cache=True)
def combined(sums: Any) -> Any:
    """Return the logarithm of the sum over kinds, on the grid."""
    top = sums[0]
    for z in range(1, len(sums)):
        top = max(top, sums[z])
    if len(sums) == 1:
        return top
    total = 0.0
    for z in range(len(sums)):
        total += math.exp((sums[z] - top) / GRID)
    return top + np.int64(np.rint(math.log(total) * GRID))


@njit(nogil=True, cache=True)
def combined_rows(sums: Any, out: Any) -> None:
    """Fill ``out`` with the logarithm of the sum over kinds of each row."""
    for i in range(len(sums)):
        out[i] = combined(sums[i])


@njit(nogil=True, cache=True)
def holdings(
    start: Any, token: Any, count: Any, rung: Any, group: Any, table: Any, depth: Any, per_pair: Any, out: Any
) -> None:
    """Add to ``out`` (n, K) what each record's tokens change in a table."""
    for i in range(len(rung)):
        for j in range(start[i], start[i + 1]):
            at = table[group[token[j]], rung[i]]
            where = place(min(count[j], depth), 0, per_pair)
            for z in range(out.shape[1]):
                out[i, z] += np.int64(at[where, z]) - at[0, z]


@njit(nogil=True, cache=True)
def largest_counts(token: Any, count: Any, most: Any) -> None:
    """Raise ``most`` (tokens,) to the largest count of each token."""
    for j in range(len(token)):
        most[token[j]] = max(most[token[j]], count[j])
