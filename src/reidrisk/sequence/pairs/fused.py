"""Every query with every target through the pair network in one Triton kernel: the best score of each block of targets.

For a query, W (q * t) = (W diag q) t: its matrix is made once, and a block of targets meets it in the matrix units, in
bfloat16 with sums in float32. The rest of a pair stays in registers, and nothing of the size of all pairs is written:
of each query and block only the best score. Blocks near the best are scored again in float64 by the caller.
"""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reidrisk.sequence.pairs.network import KINDS, PairNetwork, Tower

try:
    import triton
    import triton.language as tl
except ModuleNotFoundError:  # torch for a processor comes without
    triton, tl = None, SimpleNamespace(constexpr=None)

BLOCK = 128  # targets of a block
_QUERIES = 2_048  # whose matrices are held at once
_EACH = 64  # queries that one program goes through, with its targets in registers
_jit: Any = (lambda kernel: kernel) if triton is None else triton.jit


def available() -> bool:
    """Tell whether there are a GPU and Triton."""
    return triton is not None and bool(torch.cuda.is_available())


def fits(network: PairNetwork) -> bool:
    """Tell whether the kernel takes a network of this size: powers of two from 16 on."""
    return all(n >= 16 and n & (n - 1) == 0 for n in (network.sizes.width, network.sizes.hidden))


@_jit
def _scan(  # type: ignore[no-untyped-def]
    vector, projected, tokens, weighed, asked, shown, first, worth, last, out, n, n_queries,
    D: tl.constexpr, H: tl.constexpr, R: tl.constexpr, BT: tl.constexpr, EACH: tl.constexpr,
):  # fmt: skip
    """Score a block of targets with some queries; of each query the best score is written."""
    block = tl.program_id(0)
    begin = tl.program_id(1) * EACH
    rows = block * BT + tl.arange(0, BT)
    there = rows < n
    d = tl.arange(0, D)
    h = tl.arange(0, H)
    t = tl.load(vector + rows[:, None] * D + d[None, :], mask=there[:, None], other=0.0)
    own = tl.load(projected + rows[:, None] * H + h[None, :], mask=there[:, None], other=0.0)
    weight = tl.load(last + h)
    for i in range(begin, tl.minimum(begin + EACH, n_queries)):
        w = tl.load(weighed + i * D * H + d[:, None] * H + h[None, :])
        units = tl.dot(t, w) + own.to(tl.float32)
        units += tl.load(asked + i * H + h)[None, :]
        for s in tl.static_range(R):
            token = tl.load(shown + i * R + s)
            held = tl.zeros((BT,), dtype=tl.float32)
            for other in tl.static_range(R):
                column = tl.load(tokens + other * n + rows, mask=there, other=-1)
                held += (column == token).to(tl.float32)
            column = tl.load(tokens + s * n + rows, mask=there, other=-1)
            same = (column == token).to(tl.float32)
            once = tl.where(held > 0.0, tl.load(first + i * R + s), 0.0)
            base = worth + i * 3 * R * H + s * H + h
            units += same[:, None] * tl.load(base)[None, :]
            units += once[:, None] * tl.load(base + R * H)[None, :]
            units += (held - same)[:, None] * tl.load(base + 2 * R * H)[None, :]
        active = tl.where(h[None, :] == 0, units, tl.maximum(units, 0.0))
        score = tl.sum(active * weight[None, :], axis=1)
        score = tl.where(there, score, float("-inf"))
        tl.store(out + block.to(tl.int64) * n_queries + i, tl.max(score, axis=0))


def block_best(network: PairNetwork, targets: Tower, queries: Tower) -> Tensor:
    """Return (blocks, q) the best score of each query in each block of :data:`BLOCK` targets, in low precision."""
    n, q = len(targets.vector), len(queries.vector)
    d, h = network.sizes.width, network.sizes.hidden
    vector, projected = (part.to(torch.bfloat16).contiguous() for part in (targets.vector, targets.projected))
    r = 0 if targets.tokens is None else targets.tokens.shape[1]
    device = vector.device
    tokens = torch.zeros(1, dtype=torch.int32, device=device)
    if targets.tokens is not None:
        tokens = targets.tokens.to(torch.int32).T.contiguous()
    last = network.last.detach().float().clone()
    last[0] = 1.0
    n_blocks = -(-n // BLOCK)
    found = torch.empty((n_blocks, q), dtype=torch.float32, device=device)
    for start in range(0, q, _QUERIES):
        part = queries.rows(slice(start, start + _QUERIES))
        size = len(part.vector)
        weighed = (part.vector[:, :, None] * network.product).to(torch.bfloat16).contiguous()
        shown, first, worth = tokens, last, last
        if part.tokens is not None and r:
            shown = torch.where(part.tokens < 0, -2, part.tokens).to(torch.int32).contiguous()
            again = torch.tril(part.tokens[:, :, None] == part.tokens[:, None, :], diagonal=-1).any(dim=-1)
            first = (~again).float().contiguous()
            worth = network.tables(part).detach().float().contiguous()
            assert worth.shape == (size, KINDS * r, h)
        out = torch.empty((n_blocks, size), dtype=torch.float32, device=device)
        _scan[(n_blocks, -(-size // _EACH))](
            vector, projected, tokens, weighed, part.projected.float().contiguous(), shown, first, worth, last, out,
            n, size, D=d, H=h, R=r, BT=BLOCK, EACH=_EACH, num_warps=8,
        )  # fmt: skip
        found[:, start : start + size] = out
    return found
