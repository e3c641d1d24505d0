"""What tokens that both records hold are worth, for a few queries at a time, with all targets on one rung.

Sums of several kinds of users are built by one addition: two sums below 2^30 stand side by side in one integer of 64
bits, and two such integers, four kinds, make a *group*. Where sums may be larger, a group is of two kinds.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.kernel import Likelihoods, place
from reidrisk.base import Ints, njit

SAFE = 1 << 28  # where each of the few parts of a score stays below this, two fit side by side
MIDDLE = 1 << 30  # added to sums that stand side by side: none is negative, and a kind that is none stays at 0
_HALF = 1 << 32


class Worth(NamedTuple):
    """Entry j, of ``first[i]`` to ``first[i + 1]`` for query i, is a token that some target holds, by its number.

    Where a target holds it c times, ``held[g, held_at[j] + 2 * (c - 1):][:2]`` is what that adds for the kinds of group
    g, and ``met[g, met_at[j] + 2 * (c * (count[j] + 1) + m):][:2]`` what one more sight in the same epoch adds after m.
    ``base`` (q, 2 g) is the sum for a target that holds nothing. ``epoch[shown[j]:shown[j + 1]]`` are the epochs in
    which the query shows the token.
    """

    first: Any
    token: Any
    count: Any
    shown: Any
    epoch: Any
    held_at: Any
    held: Any
    met_at: Any
    met: Any
    base: Any


def grouped(sums: Ints, packed: bool, middle: int = 0) -> Ints:
    """Return (g, 2 n) sums by group from (n, K): four kinds a group, two in each integer, or two kinds a group."""
    n, kinds = sums.shape
    per = 2 if packed else 1
    out = np.zeros((-(-kinds // (2 * per)), n, 2), dtype=np.int64)
    for z in range(kinds):
        g, at = divmod(z, 2 * per)
        out[g, :, at // per] += (sums[:, z] + middle) * (_HALF if at % per else 1)
    return out.reshape(len(out), 2 * n)


def worth_of(queries: Any, rows: Ints, level: int, tables: Likelihoods, layout: Any) -> tuple[Worth, int]:
    """Return what these query rows' tokens are worth at this rung of pairs, kind by kind, and how large a sum can get.

    ``held``, ``met`` (entries, K) and ``base`` are to be grouped.
    """
    found, largest = _worth_of(queries, rows, level, tables, layout.number, layout.most)
    return found, int(largest)


def fitted(worth: Worth, packed: bool) -> Worth:
    """Return the same by groups."""
    base = grouped(worth.base, packed)
    n = len(worth.base)
    return worth._replace(
        held=grouped(worth.held, packed),
        met=grouped(worth.met, packed),
        base=np.ascontiguousarray(base.reshape(len(base), n, 2).swapaxes(0, 1)).reshape(n, -1),
    )


@njit(nogil=True, cache=True)
def _worth_of(queries: Any, rows: Any, level: Any, tables: Any, number: Any, most: Any) -> Any:
    kinds, depth, per_pair = tables.nothing.shape[1], tables.depth, tables.per_pair
    first = np.zeros(len(rows) + 1, dtype=np.int64)
    size = 0
    for i in range(len(rows)):
        size += queries.start[rows[i] + 1] - queries.start[rows[i]]
    token, count = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    held_at, met_at = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    shown = np.zeros(size + 1, dtype=np.int64)
    epoch = np.empty(len(rows) * queries.epochs.shape[1], dtype=np.int64)
    j, n_held, n_met, n_epochs = 0, 0, 0, 0
    for i in range(len(rows)):
        for at in range(queries.start[rows[i]], queries.start[rows[i] + 1]):
            v, d = number[queries.token[at]], min(queries.count[at], depth)
            if v < 0:
                continue
            token[j], count[j], held_at[j], met_at[j] = v, d, 2 * n_held, 2 * n_met
            n_held += most[v]
            if per_pair:
                n_met += (most[v] + 1) * (d + 1)
                for s in range(queries.epochs.shape[1]):
                    if queries.epochs[rows[i], s] == queries.token[at]:
                        epoch[n_epochs] = s
                        n_epochs += 1
            j += 1
            shown[j] = n_epochs
        first[i + 1] = j
    held, met = np.zeros((n_held, kinds), dtype=np.int64), np.zeros((n_met, kinds), dtype=np.int64)
    base = np.zeros((len(rows), kinds), dtype=np.int64)
    largest = 0
    for i in range(len(rows)):
        for z in range(kinds):
            base[i, z] = tables.nothing[level, z]
        j = first[i]
        bound = 0
        for at in range(queries.start[rows[i]], queries.start[rows[i] + 1]):
            v, d = number[queries.token[at]], min(queries.count[at], depth)
            table = tables.joint[tables.group[queries.token[at]], level]
            for z in range(kinds):
                base[i, z] += np.int64(table[place(d, 0, per_pair), z]) - table[0, z]
            if v >= 0:
                to_held, to_met = held[held_at[j] // 2 :], met[met_at[j] // 2 :]
                bound += _fill(table, d, most[v], depth, per_pair, to_held, to_met)
                j += 1
        for z in range(kinds):
            largest = max(largest, abs(base[i, z]) + bound)
    return Worth(first, token, count, shown, epoch, held_at, held, met_at, met, base), largest


@njit(nogil=True, cache=True)
def _fill(table: Any, d: Any, most: Any, depth: Any, per_pair: Any, held: Any, met: Any) -> Any:
    """Fill in what one token is worth, and return the largest of it."""
    largest = np.int64(0)
    for c in range(1, most + 1):
        capped = min(c, depth)
        for z in range(table.shape[1]):
            both = np.int64(table[place(capped + d, 0, per_pair), z])
            worth = both + table[0, z] - table[place(capped, 0, per_pair), z] - table[place(d, 0, per_pair), z]
            held[c - 1, z] = worth
            largest = max(largest, abs(worth))
            if per_pair:
                for m in range(min(capped, d)):
                    more = np.int64(table[place(capped + d, m + 1, per_pair), z])
                    met[c * (d + 1) + m, z] = more - table[place(capped + d, m, per_pair), z]
                    largest = max(largest, abs(worth + more - both))
    return largest
