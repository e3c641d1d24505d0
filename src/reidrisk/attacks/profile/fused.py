"""Two kernels for a GPU, in Triton: all scores of a block of queries, and what is made of them.

They do what :mod:`reidrisk.attacks.profile.device` does in torch, without writing anything in between to memory.
"""

from types import SimpleNamespace
from typing import Any

from reidrisk.search.answer import FAR, UNIT
from reidrisk.search.weights import GRID

try:
    import torch
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice
except ModuleNotFoundError:  # torch for a processor comes without
    triton, tl = None, SimpleNamespace(constexpr=None)

HERE = triton is not None
_jit: Any = (lambda kernel: kernel) if triton is None else triton.jit
_ROOM = 1 << 20  # pairs in doubt that can be handed back from one launch
# Targets of a program, its warps, targets that the second kernel takes at a time, and how often: by trial on an H200.
_TARGETS, _WARPS, _ROWS, _TIMES = 8, 4, 32, 16


@_jit
def _score(  # type: ignore[no-untyped-def]
    row, token, bits, holds, alone, worth, shown, base, away, out, size, where, sums, n, n_entries, n_tokens, room,
    most, doubt, per_pair: tl.constexpr, kinds: tl.constexpr, words: tl.constexpr, per_nat: tl.constexpr,
    targets: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Score a few targets with all queries; arguments are those of ``device_targets.RungPairs``."""
    t = tl.program_id(0).to(tl.int64) * targets + tl.arange(0, targets)
    q = tl.arange(0, width)
    inside = t < n
    zero = tl.zeros((targets, width), dtype=tl.int32)
    s0 = zero + tl.load(holds + t, mask=inside, other=0)[:, None] + tl.load(base + q)[None, :]
    s1, s2, s3 = zero, zero, zero
    if kinds > 1:
        s1 += tl.load(holds + n + t, mask=inside, other=0)[:, None] + tl.load(base + width + q)[None, :]
    if kinds > 2:
        s2 += tl.load(holds + 2 * n + t, mask=inside, other=0)[:, None] + tl.load(base + 2 * width + q)[None, :]
    if kinds > 3:
        s3 += tl.load(holds + 3 * n + t, mask=inside, other=0)[:, None] + tl.load(base + 3 * width + q)[None, :]
    # Targets stand in the order of their numbers of entries: the last one of a program has most.
    last = tl.minimum(tl.program_id(0).to(tl.int64) * targets + targets, n) - 1
    for e in range(tl.load(size + last)):
        at_row = tl.load(row + e * n + t, mask=inside, other=0)
        at_token = tl.load(token + e * n + t, mask=inside, other=0)
        met = tl.zeros((targets, width), dtype=tl.int32)
        for w in tl.static_range(words):
            mine = tl.load(bits + (w * n_entries + e) * n + t, mask=inside, other=0)
            theirs = tl.load(shown + (w * n_tokens + at_token[:, None]) * width + q[None, :])
            met += libdevice.popc(mine[:, None] & theirs)
        if per_pair > 1:
            met = (met + per_pair // 2) // per_pair
        place = worth + (at_row[:, None] + tl.minimum(met, most)).to(tl.int64) * (kinds * width) + q[None, :]
        s0 += tl.load(place)
        if kinds > 1:
            s1 += tl.load(place + width)
        if kinds > 2:
            s2 += tl.load(place + 2 * width)
        if kinds > 3:
            s3 += tl.load(place + 3 * width)
    score = s0
    unsure = zero > 0
    if kinds > 1:
        top = tl.maximum(s0, s1)
        if kinds > 2:
            top = tl.maximum(top, s2)
        if kinds > 3:
            top = tl.maximum(top, s3)
        total = tl.exp((s0 - top).to(tl.float64) / per_nat) + tl.exp((s1 - top).to(tl.float64) / per_nat)
        if kinds > 2:
            total += tl.exp((s2 - top).to(tl.float64) / per_nat)
        if kinds > 3:
            total += tl.exp((s3 - top).to(tl.float64) / per_nat)
        steps = tl.log(total) * per_nat
        down = tl.floor(steps)
        rest = steps - down
        score = top + down.to(tl.int32) + (rest > 0.5).to(tl.int32)
        unsure = (tl.abs(rest - 0.5) < doubt) & inside[:, None]
    score -= tl.load(alone + t, mask=inside, other=0)[:, None] + tl.load(away + q)[None, :]
    pair = t[:, None] * width + q[None, :]
    tl.store(out + pair, score, mask=inside[:, None])
    if kinds > 1:
        slot = tl.atomic_add(where + zero, 1, mask=unsure).to(tl.int64)
        kept = unsure & (slot < room)
        tl.store(where + 1 + slot, pair, mask=kept)
        tl.store(sums + slot * kinds, s0, mask=kept)
        tl.store(sums + slot * kinds + 1, s1, mask=kept)
        if kinds > 2:
            tl.store(sums + slot * kinds + 2, s2, mask=kept)
        if kinds > 3:
            tl.store(sums + slot * kinds + 3, s3, mask=kept)


@_jit
def _add(  # type: ignore[no-untyped-def]
    scores, order, best, ties, lowest, total, slips, below_of, nats, n, room, unit, far, doubt,
    sure: tl.constexpr, rows: tl.constexpr, times: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Count ties, find the lowest tied target, and add up likelihoods, for some of the targets."""
    q = tl.arange(0, width)
    top = tl.load(best + q)
    n_ties = tl.zeros((width,), dtype=tl.int64)
    first = tl.zeros((width,), dtype=tl.int64) + 9223372036854775807
    added = tl.zeros((width,), dtype=tl.int64)
    for step in range(times):
        t = (tl.program_id(0).to(tl.int64) * times + step) * rows + tl.arange(0, rows)
        inside = (t < n)[:, None]
        score = tl.load(scores + t[:, None] * width + q[None, :], mask=inside, other=-2147483648).to(tl.int64)
        below = top[None, :] - score
        equal = (below == 0) & inside
        n_ties += tl.sum(equal.to(tl.int64), axis=0)
        names = tl.load(order + t, mask=t < n, other=9223372036854775807)[:, None]
        first = tl.minimum(first, tl.min(tl.where(equal, names, 9223372036854775807), axis=0))
        if sure:
            away = below.to(tl.float64) * tl.load(nats)
            value = tl.exp(-away) * unit + 0.5
            near = (away < far) & inside
            down = tl.floor(value)
            rest = value - down
            unsure = near & ((rest <= value * doubt) | (1.0 - rest <= value * doubt))
            added += tl.sum(tl.where(near & (unsure == 0), down, 0.0).to(tl.int64), axis=0)
            slot = tl.atomic_add(slips + tl.zeros((rows, width), dtype=tl.int32), 1, mask=unsure).to(tl.int64)
            kept = unsure & (slot < room)
            tl.store(slips + 1 + slot, q[None, :].to(tl.int64) + tl.zeros_like(below), mask=kept)
            tl.store(below_of + slot, below, mask=kept)
    tl.atomic_add(ties + q, n_ties)
    tl.atomic_min(lowest + q, first)
    if sure:
        tl.atomic_add(total + q, added)


def score_all(pairs: Any, out: Any, doubt: float) -> tuple[Any, Any]:
    """Fill ``out`` (n, q); return the places where the rounding is in doubt, and the sums (…, K) there."""
    (n, width), kinds = out.shape, len(pairs.base)
    where = torch.zeros(_ROOM + 1, dtype=torch.int64, device=out.device)
    sums = torch.empty((_ROOM, kinds), dtype=torch.int32, device=out.device)
    _score[(triton.cdiv(n, _TARGETS),)](
        pairs.row, pairs.token, pairs.bits, pairs.holds, pairs.alone, pairs.worth, pairs.shown, pairs.base, pairs.away,
        out, pairs.size, where, sums, n, len(pairs.row), pairs.shown.shape[1], _ROOM, pairs.most, doubt,
        per_pair=pairs.per_pair, kinds=kinds, words=len(pairs.bits), per_nat=float(GRID), targets=_TARGETS, width=width,
        num_warps=_WARPS,
    )  # fmt: skip
    found = int(where[0])
    if found > _ROOM:
        raise RuntimeError(f"{found} of {out.numel()} roundings are in doubt: that many cannot be")
    return where[1 : 1 + found], sums[:found]


def add_up(scores: Any, order: Any, best: Any, nats: float | None, doubt: float) -> tuple[Any, Any, Any, Any]:
    """Return ties, lowest tied target and total of each query, and (query, steps below) where rounding is in doubt."""
    n, width = scores.shape
    ties, total = torch.zeros_like(best), torch.zeros_like(best)
    lowest = torch.full_like(best, torch.iinfo(torch.int64).max)
    slips, below = (torch.zeros(_ROOM + 1, dtype=torch.int64, device=scores.device) for _ in range(2))
    step = torch.tensor([nats or 0.0], dtype=torch.float64, device=scores.device)  # a plain argument would lose digits
    _add[(triton.cdiv(n, _ROWS * _TIMES),)](
        scores, order, best, ties, lowest, total, slips, below, step, n, _ROOM, UNIT, FAR, doubt,
        sure=nats is not None, rows=_ROWS, times=_TIMES, width=width, num_warps=_WARPS,
    )  # fmt: skip
    found = int(slips[0])
    if found > _ROOM:
        raise RuntimeError(f"{found} of {scores.numel()} likelihoods are in doubt: that many cannot be")
    return ties, lowest, total, torch.stack([slips[1 : 1 + found], below[:found]], dim=1)
