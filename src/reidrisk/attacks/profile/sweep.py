"""One sweep of a few queries over the targets, block by block: the sums of every pair, and the scores near the best.

Most targets are far below the best. Their sums are compared as they are, and only near the best the kinds are added up
(:mod:`reidrisk.attacks.profile.powers`).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.kernel import LOWEST, combined
from reidrisk.attacks.profile.powers import in_doubt, joined, likelihoods
from reidrisk.attacks.profile.worth import MIDDLE
from reidrisk.base.kernels import njit
from reidrisk.search.weights import GRID

_1, _2, _3, _4 = (
    np.uint64(1),
    np.uint64(2),
    np.uint64(3),
    np.uint64(4),
)  # unsigned: a signed place would be checked for its sign


class FacingTargets(NamedTuple):
    """Targets as queries on one rung meet them; ``holds`` (g, 2 n) by group, and ``alone``, in the layout's order."""

    layout: Any
    holds: Any
    alone: Any
    kinds: int
    per_pair: int
    packed: bool


class Work(NamedTuple):
    """Room for one block: sums (g, 2 n), sights in the same epoch, lists to go through, and what is near the best."""

    sums: Any
    seen: Any
    starts: Any
    near: Any
    score: Any


@njit(nogil=True, cache=True)
def _add_held(member: Any, start: Any, worth: Any, at: Any, most: Any, sums: Any) -> None:
    """Add what a token is worth to the sums of all members of a block that hold it, count by count."""
    for c in range(most):
        one, two = worth[at + 2 * c], worth[at + 2 * c + 1]
        for place in range(start[c], start[c + 1]):
            o = np.uint64(member[place]) * _2
            sums[o] += one
            sums[o + _1] += two


@njit(nogil=True, cache=True)
def _add_met(lists: Any, starts: Any, worth: Any, at: Any, count: Any, per_pair: Any, seen: Any, sums: Any) -> None:
    """Add what each sight of a token in the same epoch is worth; ``starts`` (e, 2) has a list for each epoch."""
    met, times = lists
    for e in range(len(starts)):
        for place in range(starts[e, 0], starts[e, 1]):
            i = np.uint64(met[place])
            m = np.int64(seen[i])
            seen[i] = m + 1
            if per_pair > 1:  # ``per_pair`` sights make one; those between add nothing, as those beyond ``count`` do
                last = (m + 1 + per_pair // 2) % per_pair == 0
                m = (m + per_pair // 2) // per_pair if last else count
            k = np.uint64(at + 2 * (np.int64(times[place]) * (count + 1) + min(m, count)))
            sums[i * _2] += worth[k]
            sums[i * _2 + _1] += worth[k + _1]
    seen[:] = 0


@njit(nogil=True, cache=True)
def _add_all(targets: Any, b: Any, worth: Any, i: Any, work: Any) -> None:
    """Fill the sums of all members of block b with query i."""
    layout, size = targets.layout, targets.layout.first[b + 1] - targets.layout.first[b]
    begin, tokens = 2 * layout.first[b], len(layout.key)
    for g in range(len(work.sums)):
        sums, holds = work.sums[g], targets.holds[g, begin:]
        one, two = worth.base[i, 2 * g], worth.base[i, 2 * g + 1]
        for p in range(size):
            sums[2 * p] = holds[2 * p] + one
            sums[2 * p + 1] = holds[2 * p + 1] + two
        for j in range(worth.first[i], worth.first[i + 1]):
            v = worth.token[j]
            start = layout.start[b, layout.key[v] :]
            _add_held(layout.member, start, worth.held[g], worth.held_at[j], layout.most[v], sums)
            n = 0
            for at in range(worth.shown[j], worth.shown[j + 1]):
                key = worth.epoch[at] * tokens + v
                work.starts[n, 0], work.starts[n, 1] = layout.met_start[b, key], layout.met_start[b, key + 1]
                n += work.starts[n, 1] > work.starts[n, 0]
            if n:
                lists, at = (layout.met, layout.met_count), worth.met_at[j]
                _add_met(
                    lists, work.starts[:n], worth.met[g], at, worth.count[j], targets.per_pair, work.seen[:size], sums
                )


@njit(nogil=True, cache=True)
def _near(targets: Any, b: Any, away: Any, low: Any, work: Any) -> Any:
    """Score the members of block b that may reach ``low``; return how many there are."""
    begin, size = targets.layout.first[b], targets.layout.first[b + 1] - targets.layout.first[b]
    alone, near, score, n = targets.alone[begin:], work.near, work.score, 0
    least = low if low == LOWEST else low + away - np.int64(math.log(targets.kinds) * GRID) - 2
    if targets.packed and len(work.sums) == 1:
        sums = work.sums[0].view(np.int32)  # the two that stand side by side
        least = max(least + MIDDLE, -MIDDLE)
        for p in range(size):
            top = max(max(sums[4 * p], sums[4 * p + 1]), max(sums[4 * p + 2], sums[4 * p + 3]))
            near[n] = p
            n += top - alone[p] >= least
        for j in range(n):
            o = np.uint64(near[j]) * _4
            last = float(sums[o + _2])
            if targets.kinds == 4:
                last = joined(last, float(sums[o + _3]))  # beside the first two: none waits for the other
            total = joined(joined(float(sums[o]), float(sums[o + _1])), last)
            whole = np.int64(total + 0.5)
            if in_doubt(total):
                whole = combined(sums[4 * near[j] : 4 * near[j] + targets.kinds])
            score[j] = whole - MIDDLE - alone[near[j]] - away
        return n
    row = np.empty(targets.kinds, dtype=np.int64)
    for p in range(size):
        for z in range(targets.kinds):
            if targets.packed:
                row[z] = work.sums[z // 4].view(np.int32)[4 * p + z % 4] - MIDDLE
            else:
                row[z] = work.sums[z // 2, 2 * p + z % 2]
        if row.max() - alone[p] >= least:
            near[n], score[n] = p, combined(row) - alone[p] - away
            n += 1
    return n


@njit(nogil=True, cache=True)
def link_blocks(targets: Any, blocks: Any, worth: Any, away: Any, found: Any, work: Any) -> None:
    """Find the best target of each query in these blocks, its ties, and the lowest of them."""
    best, ties, first = found
    for b in range(blocks[0], blocks[1]):
        order = targets.layout.order[targets.layout.first[b] :]
        for i in range(len(away)):
            _add_all(targets, b, worth, i, work)
            n = _near(targets, b, away[i], best[i], work)
            _improve(work.score[:n], work.near, order, i, best, ties, first)


@njit(nogil=True, cache=True)
def _improve(score: Any, near: Any, order: Any, i: Any, best: Any, ties: Any, first: Any) -> None:
    for j in range(len(score)):
        if score[j] > best[i]:
            best[i], ties[i], first[i] = score[j], 1, order[near[j]]
        elif score[j] == best[i]:
            ties[i] += 1
            first[i] = min(first[i], order[near[j]])


@njit(nogil=True, cache=True)
def total_blocks(targets: Any, blocks: Any, worth: Any, away: Any, summed: Any, powers: Any, work: Any) -> None:
    """Add up the likelihoods of the targets of these blocks, relative to the score given for each query."""
    best, total = summed
    for b in range(blocks[0], blocks[1]):
        for i in range(len(away)):
            _add_all(targets, b, worth, i, work)
            n = _near(targets, b, away[i], best[i] - powers.reach, work)
            total[i] += likelihoods(best[i], work.score[:n], powers)


@njit(nogil=True, cache=True)
def link_and_keep(
    targets: Any, blocks: Any, worth: Any, away: Any, found: Any, kept: Any, powers: Any, work: Any
) -> None:
    """Do what :func:`link_blocks` does, and keep the scores near the best so far; too many leave ``size`` at -1."""
    best, ties, first = found
    scores, size = kept
    for b in range(blocks[0], blocks[1]):
        order = targets.layout.order[targets.layout.first[b] :]
        for i in range(len(away)):
            _add_all(targets, b, worth, i, work)
            low = best[i] if best[i] == LOWEST else best[i] - (powers.reach if size[i] >= 0 else 0)
            n = _near(targets, b, away[i], low, work)
            _improve(work.score[:n], work.near, order, i, best, ties, first)
            if 0 <= size[i] <= scores.shape[1] - n:
                scores[i, size[i] : size[i] + n] = work.score[:n]
                size[i] += n
            elif size[i] >= 0:
                size[i] = _thinned(scores[i], size[i], best[i] - powers.reach)
                if size[i] > scores.shape[1] // 2 or size[i] + n > scores.shape[1]:
                    size[i] = -1
                else:
                    scores[i, size[i] : size[i] + n] = work.score[:n]
                    size[i] += n


@njit(nogil=True, cache=True)
def _thinned(scores: Any, size: Any, low: Any) -> Any:
    """Leave out what is below ``low`` by now; return how many are left."""
    n = 0
    for j in range(size):
        scores[n] = scores[j]
        n += scores[j] >= low
    return n


@njit(nogil=True, cache=True)
def total_kept(kept: Any, best: Any, powers: Any, total: Any) -> None:
    """Add up the likelihoods of the scores kept for each query."""
    scores, size = kept
    for i in range(len(best)):
        if size[i] > 0:
            total[i] += likelihoods(best[i], scores[i, : size[i]], powers)


@njit(nogil=True, cache=True)
def score_blocks(targets: Any, blocks: Any, worth: Any, away: Any, to: Any, work: Any) -> None:
    """Fill in the scores with the targets of these blocks, as far as ``reach`` below the best so far, or all."""
    rows, reach, best, out = to
    for b in range(blocks[0], blocks[1]):
        order = targets.layout.order[targets.layout.first[b] :]
        for i in range(len(away)):
            _add_all(targets, b, worth, i, work)
            low = best[i] if reach[i] < 0 or best[i] == LOWEST else best[i] - reach[i]
            n = _near(targets, b, away[i], LOWEST if reach[i] < 0 else low, work)
            for j in range(n):
                out[rows[i], order[work.near[j]]] = work.score[j]
                best[i] = max(best[i], work.score[j])
