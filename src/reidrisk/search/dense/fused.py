"""The sweep of a search among vectors as one kernel: products on matrix units, and the best two kept in registers.

A program takes a tile of queries and goes through all targets, tile by tile; no product leaves the chip. The place of a
target within its tile stands in the lowest seven bits of its value, so that one maximum finds both. That moves a value
by at most 2^-16 of itself, which the margin allows for.
"""

from types import SimpleNamespace
from typing import Any

try:
    import torch
    import triton
    import triton.language as tl
except ModuleNotFoundError:  # torch for a processor comes without
    triton, tl = None, SimpleNamespace(constexpr=None)

HERE = triton is not None
_jit: Any = (lambda kernel: kernel) if triton is None else triton.jit
_TILE_Q, _TILE_N = 128, 128


@_jit
def _best_two(  # type: ignore[no-untyped-def]
    asked, known, bias, value_out, second_out, target_out, n_queries, n_targets,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Go through all targets with a tile of queries, and write the best two values and the target of the best."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    lane, column = tl.arange(0, D), tl.arange(0, BN)
    here = row < n_queries
    x = tl.load(asked + row[:, None].to(tl.int64) * D + lane[None, :], mask=here[:, None], other=0.0)
    best = tl.full((BM,), float("-inf"), tl.float32)
    second = tl.full((BM,), float("-inf"), tl.float32)
    tile_of_best = tl.zeros((BM,), tl.int32)
    for start in range(0, n_targets, BN):
        place = start + column
        there = place < n_targets
        y = tl.load(known + place[None, :].to(tl.int64) * D + lane[:, None], mask=there[None, :], other=0.0)
        b = tl.load(bias + place, mask=there, other=float("-inf"))
        found = tl.dot(x, y) + b[None, :]
        packed = (found.to(tl.int32, bitcast=True) & -128) | column[None, :]
        marked = tl.where(there[None, :], packed.to(tl.float32, bitcast=True), float("-inf"))
        first = tl.max(marked, axis=1)
        rest = tl.max(tl.where(marked == first[:, None], float("-inf"), marked), axis=1)
        second = tl.maximum(tl.maximum(second, rest), tl.minimum(best, first))
        tile_of_best = tl.where(first > best, start, tile_of_best)
        best = tl.maximum(best, first)
    inside = best.to(tl.int32, bitcast=True) & 127
    tl.store(value_out + row, best, mask=here)
    tl.store(second_out + row, second, mask=here)
    tl.store(target_out + row, (tile_of_best + inside).to(tl.int64), mask=here)


def best_two(known: Any, bias: Any, asked: Any, warps: int = 8, stages: int = 3) -> tuple[Any, Any, Any]:
    """Return the best and second-best value of each query over all targets, and the target of the best."""
    d = known.shape[1]
    width = max(16, 1 << (d - 1).bit_length())
    if width != d:  # matrix units take powers of two; zeros change no product
        known, asked = (torch.nn.functional.pad(part, (0, width - d)) for part in (known, asked))
    known, asked = known.contiguous(), asked.contiguous()
    q = len(asked)
    value, second = (torch.empty(q, dtype=torch.float32, device=asked.device) for _ in range(2))
    target = torch.empty(q, dtype=torch.int64, device=asked.device)
    tile_q, tile_n = (_TILE_Q, _TILE_N) if width <= 256 else (32, 64)
    grid = (triton.cdiv(q, tile_q),)
    _best_two[grid](
        asked,
        known,
        bias,
        value,
        second,
        target,
        q,
        len(known),
        D=width,
        BM=tile_q,
        BN=tile_n,
        num_warps=warps,
        num_stages=stages,
    )
    return value, second, target
