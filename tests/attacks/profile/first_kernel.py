"""The first kernel of ProfileBayes, query by query in 64 bits: a twin, and a measure, of the present one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.kernel import LOWEST, Likelihoods, combined, holdings, place
from reidrisk.base.kernels import njit
from reidrisk.search import Best
from reidrisk.search.answer import FAR, UNIT
from reidrisk.search.weights import GRID

BLOCK = 4_096


class LaidOut(NamedTuple):
    """Targets by block and token, and for queries on one rung what each target holds."""

    layout: Any
    rung: Any
    alone: Any
    holds: Any
    empty: Any


class FirstKernel:
    """Does what ``BayesFactor`` does, on one thread."""

    def __init__(self, tables: Likelihoods, per_nat: float = 0.0) -> None:
        self.tables, self.per_nat = tables, per_nat

    def best(self, targets, queries):
        found = Best(*(np.zeros(len(queries), dtype=np.int64) for _ in range(3)))
        self._by_rung(link_rows, targets, queries, *found)
        return found

    def total(self, targets, queries, score):
        total = np.zeros(len(queries), dtype=np.int64)
        self._by_rung(sum_rows, targets, queries, score, total, 1.0 / self.per_nat)
        return total

    def scores(self, targets, queries):
        out = np.empty((len(queries), len(targets)), dtype=np.int64)
        self._by_rung(all_rows, targets, queries, np.full(len(queries), -1), out)
        return out

    def _by_rung(self, work, targets, queries, *others):
        for rung in np.unique(queries.counts.rung):
            rows = np.flatnonzero(queries.counts.rung == rung)
            work(self.facing(targets, int(rung)), queries.records, self.tables, rows, *others)

    def facing(self, targets, rung):
        c, t = targets.counts, self.tables
        start = np.zeros((-(-len(c) // BLOCK), c.n_tokens + 1), dtype=np.int64)
        member, times = np.empty(len(c.token), dtype=np.int32), np.empty(len(c.token), dtype=np.uint8)
        _lay_out(*c.held, BLOCK, start, member, times)
        holds = np.zeros((len(c), t.nothing.shape[1]), dtype=np.int64)
        holdings(*c.held, c.rung + rung, t.group, t.joint, t.depth, t.per_pair, holds)
        layout = start, member, times, np.ascontiguousarray(c.epochs.T), BLOCK
        return LaidOut(layout, c.rung, targets.alone, holds, c.start[1:] == c.start[:-1])


@njit(nogil=True, cache=True)
def _lay_out(row: Any, token: Any, count: Any, block: Any, start: Any, member: Any, times: Any) -> None:
    n = len(row) - 1
    for b in range(len(start)):
        first, last = b * block, min((b + 1) * block, n)
        at = start[b]
        at[0] = row[first]
        for p in range(row[first], row[last]):
            at[token[p] + 1] += 1
        for o in range(1, len(at)):
            at[o] += at[o - 1]
        free = at[:-1].copy()
        for i in range(first, last):
            for p in range(row[i], row[i + 1]):
                where = free[token[p]]
                free[token[p]] += 1
                member[where] = i - first
                times[where] = count[p]


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
                base[level, z] += np.int64(at[place(min(q_count[j], depth), 0, per_pair), z]) - at[0, z]
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
                            np.int64(at[place(c + d, m, per_pair), z])
                            + at[0, z]
                            - at[place(c, 0, per_pair), z]
                            - at[place(d, 0, per_pair), z]
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
            for at_member in range(start[b, token], start[b, token + 1]):
                i = member[at_member]
                pairs = 0
                for e in range(seen):
                    pairs += columns[epochs[e], first + i] == token
                if per_pair > 1:
                    pairs = (pairs + per_pair // 2) // per_pair
                at = min(np.int64(times[at_member]), depth) * per_count + min(pairs, d) * kinds
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
