"""Scores of ProfileBayes for many pairs, over targets laid out by token.

For each kind of user the score is a sum over tokens. Most tokens are in neither record, so it is built as

    nothing + what the target holds + what the query holds + what changes for tokens that both hold,

where only the last is done pair by pair. All sums are sums of integers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.kernels import njit
from reidrisk.search.answer import FAR, UNIT
from reidrisk.search.weights import GRID

LOWEST = np.iinfo(np.int64).min


class Records(NamedTuple):
    """Records as :class:`reidrisk.attacks.profile.counts.Counts` holds them, and the log-probability of each alone."""

    start: Any
    token: Any
    count: Any
    rung: Any
    epochs: Any
    alone: Any


class Layout(NamedTuple):
    """Targets by block and token: ``member[start[b, o]:start[b, o + 1]]`` are the places in block b of those with o."""

    start: Any
    member: Any
    times: Any
    columns: Any
    block: int


class LaidOut(NamedTuple):
    """Targets by block and token, and for queries on one rung what each target holds."""

    layout: Layout
    rung: Any
    alone: Any
    holds: Any
    empty: Any


class Tables(NamedTuple):
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
def _place(sights: Any, pairs: Any, per_pair: Any) -> Any:
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
        for place in range(start[i], start[i + 1]):
            at = table[group[token[place]], rung[i]]
            where = _place(min(count[place], depth), 0, per_pair)
            for z in range(out.shape[1]):
                out[i, z] += np.int64(at[where, z]) - at[0, z]


@njit(nogil=True, cache=True)
def score_rows(targets: Any, queries: Any, row: Any, tables: Any, best: Any, reach: Any, out: Any) -> Any:
    """Fill ``out`` (n,) with the scores of query ``row`` and every target; return the best of these and ``best``.

    Scores certainly more than ``reach`` below the best so far are left out (``LOWEST``); a negative reach keeps all.
    """
    (start, member, times, columns, block), t_rung, t_alone, t_holds, t_empty = targets
    group, joint, nothing = tables.group, tables.joint, tables.nothing
    depth, per_pair = tables.depth, tables.per_pair
    part = slice(queries.start[row], queries.start[row + 1])
    q_token, q_count, q_rung = queries.token[part], queries.count[part], queries.rung[row]
    q_epochs, q_alone = queries.epochs[row], queries.alone[row]
    n, kinds = len(t_rung), nothing.shape[1]
    rungs = joint.shape[1] - q_rung
    if len(q_token) == 0:
        out[:] = 0
        return np.int64(max(best, 0))
    base = np.zeros((rungs, kinds), dtype=np.int64)
    for level in range(rungs):
        base[level] = nothing[level + q_rung]
        for j in range(len(q_token)):
            at = joint[group[q_token[j]], level + q_rung]
            for z in range(kinds):
                base[level, z] += np.int64(at[_place(min(q_count[j], depth), 0, per_pair), z]) - at[0, z]
    epochs = np.empty(len(q_epochs), dtype=np.int64)
    slack = np.int64(math.log(kinds) * GRID) + 2
    sums = np.empty((block, kinds), dtype=np.int64)
    most = 0
    for j in range(len(q_token)):
        most = max(most, min(q_count[j], depth))
    # What a token that both hold is worth beyond what each holds: by rung, count of the target, coincidences, kind.
    per_count = (most + 1 if per_pair else 1) * kinds
    per_rung = (depth + 1) * per_count
    both = np.zeros((len(q_token), rungs * per_rung), dtype=np.int64)
    for j in range(len(q_token)):
        d = min(q_count[j], depth)
        for level in range(rungs):
            at = joint[group[q_token[j]], level + q_rung]
            for c in range(1, depth + 1):
                for m in range(min(c, d) + 1 if per_pair else 1):
                    for z in range(kinds):
                        both[j, level * per_rung + c * per_count + m * kinds + z] = (
                            np.int64(at[_place(c + d, m, per_pair), z])
                            + at[0, z]
                            - at[_place(c, 0, per_pair), z]
                            - at[_place(d, 0, per_pair), z]
                        )
    for b in range(len(start)):
        first, last = b * block, min((b + 1) * block, n)
        for i in range(last - first):
            level = t_rung[first + i] if rungs > 1 else 0
            for z in range(kinds):
                sums[i, z] = base[level, z] + t_holds[first + i, z]
        for j in range(len(q_token)):
            token, d, worth = q_token[j], min(q_count[j], depth), both[j]
            seen = 0
            if per_pair:
                for s in range(len(q_epochs)):
                    if q_epochs[s] == token:
                        epochs[seen] = s
                        seen += 1
            for place in range(start[b, token], start[b, token + 1]):
                i = member[place]
                pairs = 0
                for e in range(seen):
                    pairs += columns[epochs[e], first + i] == token
                if per_pair > 1:
                    pairs = (pairs + per_pair // 2) // per_pair
                at = min(np.int64(times[place]), depth) * per_count + min(pairs, d) * kinds
                if rungs > 1:
                    at += t_rung[first + i] * per_rung
                for z in range(kinds):
                    sums[i, z] += worth[at + z]
        for i in range(last - first):
            t = first + i
            away = t_alone[t] + q_alone
            highest = sums[i, 0]
            for z in range(1, kinds):
                highest = max(highest, sums[i, z])
            if t_empty[t]:
                value = np.int64(0)
            elif reach >= 0 and best > LOWEST and highest + slack - away < best - reach:
                out[t] = LOWEST
                continue
            else:
                value = combined(sums[i]) - away
            out[t] = value
            best = max(best, value)
    return best


@njit(nogil=True, cache=True)
def link_rows(targets: Any, queries: Any, tables: Any, rows: Any, best: Any, ties: Any, first: Any) -> None:
    """Find the best target of each of these query rows, and its ties."""
    scores = np.empty(len(targets.rung), dtype=np.int64)
    for i in rows:
        best[i] = score_rows(targets, queries, i, tables, np.int64(LOWEST), np.int64(0), scores)
        ties[i], first[i] = 0, -1
        for t in range(len(scores)):
            if scores[t] == best[i]:
                ties[i] += 1
                if first[i] < 0:
                    first[i] = t


@njit(nogil=True, cache=True)
def sum_rows(targets: Any, queries: Any, tables: Any, rows: Any, best: Any, total: Any, nats: Any) -> None:
    """Add up exp((score - best) * nats) over targets, in fixed point, for each of these query rows."""
    scores = np.empty(len(targets.rung), dtype=np.int64)
    reach = np.int64(FAR / nats)
    for i in rows:
        score_rows(targets, queries, i, tables, best[i], reach, scores)
        for t in range(len(scores)):
            below = (best[i] - scores[t]) * nats
            if scores[t] != LOWEST and below < FAR:
                total[i] += np.int64(math.exp(-below) * UNIT + 0.5)


@njit(nogil=True, cache=True)
def all_rows(targets: Any, queries: Any, tables: Any, rows: Any, reach: Any, out: Any) -> None:
    """Fill ``out`` (q, n) with the scores of these query rows and every target, as far as ``reach`` below the best."""
    for i in rows:
        score_rows(targets, queries, i, tables, np.int64(LOWEST), reach[i], out[i])
