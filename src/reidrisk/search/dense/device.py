"""The same search in torch, on a GPU or, for tests, on the CPU; answers equal the processor's bit for bit.

Rows go to the device in half precision, with what rounding took from each. One sweep over all pairs keeps the best and
the second-best value of each query. Where the second is further below the best than twice the margin, the best is
proved; otherwise the query is *close*, and all targets within the margin are found by products in single precision.
Whoever is left is scored in double precision, dimension after dimension. This module needs torch and NumPy alone; with
triton the sweep is one fused kernel (:mod:`reidrisk.search.dense.fused`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reidrisk.base.extras import require
from reidrisk.base.parallel import slices
from reidrisk.search.answer import Best
from reidrisk.search.dense.margin import SINGLE, TENSOR, margin
from reidrisk.search.dense.rows import COSINE_STEPS, CUT_BITS, VectorRows
from reidrisk.search.weights import GRID

if TYPE_CHECKING:
    from reidrisk.search.dense.scorer import VectorScorer

_ROWS = 1 << 20  # rows brought to the device, or scored, at once
_VALUES = 1 << 28  # products held at once where a query is close
_INDEX_BITS = 7  # bits of a value that hold the place of a target within its tile
_UP = 1.0 + 1e-6


class Held(NamedTuple):
    """Rows on a device: exact ones, in half and in single precision, what they add, and lengths."""

    exact: Any
    extra: Any
    half: Any
    single: Any
    bias: Any
    length: Any
    off: Any
    square: Any


def best(scorer: VectorScorer, targets: VectorRows, queries: VectorRows, device: str = "cuda") -> Best:
    """Find best score, number of ties and lowest tied target of each query, exactly."""
    known, asked = (held(scorer, rows, device) for rows in (targets, queries))
    return settled(scorer, known, asked, sweep(known, asked))


def settled(scorer: VectorScorer, known: Held, asked: Held, swept: tuple[Any, Any, Any]) -> Best:
    """Return the exact answers: the best of a sweep where it is proved, and what a closer look finds elsewhere."""
    import torch

    value, second, target = swept
    near = margins(scorer, known, asked)
    score = _scored(scorer, known, asked, torch.arange(len(value), device=value.device), target)
    n_ties = torch.ones_like(score)
    rows = torch.nonzero(~(second < value - 2.0 * near))[:, 0]
    if len(rows):
        least = (value - 2.0 * near)[rows]
        score[rows], n_ties[rows], target[rows] = _close(scorer, known, asked, rows, least)
    return Best(*(part.cpu().numpy().astype(np.int64) for part in (score, n_ties, target)))


def held(scorer: VectorScorer, rows: VectorRows, device: str) -> Held:
    """Bring rows to the device, part by part: nothing but single precision travels."""
    torch = require("torch", "neural", "search on a GPU")
    parts: list[list[Any]] = []
    area = 1.0 if scorer.form == "cosine" else scorer.scale**2
    centre = None if scorer.centre is None else torch.from_numpy(scorer.centre).to(device)
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        exact = torch.from_numpy(np.array(some.values, order="C")).to(device)
        extra = torch.from_numpy(np.array(some.extra)).to(device)
        wide = exact.double()
        if scorer.form == "cosine":
            wide /= extra[:, None]
        else:
            wide = (wide - centre) / scorer.scale
        square = (wide * wide).sum(dim=1)
        single = wide.float()
        half = single.clamp(-60_000.0, 60_000.0).half()
        off = (half.double() - wide).square().sum(dim=1).sqrt() * _UP
        bias = torch.zeros_like(square)
        if scorer.form == "distance":
            bias = -0.5 * square
        elif scorer.form == "likelihood":
            bias = extra / area
        parts.append([exact, extra, half, single, bias.float(), square.sqrt() * _UP, off, square])
    return Held(*(torch.cat(column) for column in zip(*parts, strict=True)))


def margins(scorer: VectorScorer, known: Held, asked: Held) -> Any:
    """Return how far each query's values can be from the true ones, in a sweep whose values have cut-off bits."""
    longest, widest = float(known.length.max()), float(known.bias.abs().max())
    d = known.half.shape[1]
    length, off = (part.cpu().numpy() for part in (asked.length, asked.off))
    found = margin(d, length, longest, off, float(known.off.max()), widest, TENSOR)
    cut = 2.0 ** (_INDEX_BITS - 22) * (length * longest * 1.01 + widest)  # the place of a target stands in its value
    grid = 2.0 / GRID / scorer.scale**2 if scorer.form == "likelihood" else 0.0  # scores are rounded, too
    return asked.length.new_tensor(found + cut + grid).float() * _UP


def sweep(known: Held, asked: Held) -> tuple[Any, Any, Any]:
    """Return the best and second-best value of each query over all targets, and the target of the best."""
    from reidrisk.search.dense import fused

    if known.half.is_cuda and fused.HERE:
        return fused.best_two(known.half, known.bias, asked.half)
    return plain_best_two(known.half, known.bias, asked.half)


def plain_best_two(known: Any, bias: Any, asked: Any, size: int = 4096) -> tuple[Any, Any, Any]:
    """Return what the fused kernel does, block by block: its twin, and the way without a GPU."""
    import torch

    q = len(asked)
    value, second = (torch.full((q,), -torch.inf, device=asked.device) for _ in range(2))
    target = torch.zeros(q, dtype=torch.int64, device=asked.device)
    for start in range(0, len(known), size):
        found = asked.float() @ known[start : start + size].float().T + bias[start : start + size]
        top = found.topk(min(2, found.shape[1]), dim=1)
        first = top.values[:, 0]
        next_best = top.values[:, 1] if found.shape[1] > 1 else torch.full_like(first, -torch.inf)
        second = torch.maximum(torch.maximum(second, next_best), torch.minimum(value, first))
        target = torch.where(first > value, top.indices[:, 0] + start, target)
        value = torch.maximum(value, first)
    return value, second, target


def _close(scorer: VectorScorer, known: Held, asked: Held, rows: Any, least: Any) -> tuple[Any, Any, Any]:
    """Find the best of the queries in ``rows`` among all targets whose value may reach ``least``."""
    import torch

    n, d = len(known.exact), known.single.shape[1]
    longest, widest = float(known.length.max()), float(known.bias.abs().max())
    score = torch.full((len(rows),), torch.iinfo(torch.int64).min, dtype=torch.int64, device=rows.device)
    n_ties, target = torch.zeros_like(score), torch.full_like(score, n)
    targets = min(n, 1 << 17)
    for part in slices(len(rows), _VALUES // targets):
        asked_rows = rows[part]
        length = asked.length[asked_rows].cpu().numpy()
        off = margin(d, length, longest, bias=widest, half_spacing=4.0 * SINGLE)
        floor = least[part] - least.new_tensor(off) * _UP
        floor = floor - floor.abs() * 2.0**-22
        x = asked.single[asked_rows]
        for first in range(0, n, targets):
            values = x @ known.single[first : first + targets].T
            values += known.bias[first : first + targets]
            query, place = torch.nonzero(values >= floor[:, None], as_tuple=True)
            for some in range(0, len(query), _ROWS):
                chosen = slice(some, some + _ROWS)
                at, found = query[chosen] + part.start, place[chosen] + first
                exact = _scored(scorer, known, asked, rows[at], found)
                _update(score, n_ties, target, at, found, exact)
    return score, n_ties, target


def _update(score: Any, n_ties: Any, target: Any, at: Any, found: Any, exact: Any) -> None:
    """Take scores of pairs into best score, number of ties and lowest target of each query."""
    import torch

    before = score.clone()
    score.scatter_reduce_(0, at, exact, "amax")
    better = score > before
    n_ties[better], target[better] = 0, torch.iinfo(torch.int64).max
    level = exact == score[at]
    n_ties.index_add_(0, at[level], torch.ones_like(at[level]))
    target.scatter_reduce_(0, at[level], found[level], "amin")


def _scored(scorer: VectorScorer, known: Held, asked: Held, rows: Any, target: Any) -> Any:
    """Return exact scores of pairs: one dimension after the other, in double precision, as on the processor."""
    import torch

    out = torch.empty(len(rows), dtype=torch.int64, device=rows.device)
    for part in slices(len(rows), _ROWS):
        x, y = asked.exact[rows[part]], known.exact[target[part]]
        total = torch.zeros(len(x), dtype=torch.float64, device=x.device)
        for i in range(x.shape[1]):
            one, other = x[:, i].double(), y[:, i].double()
            if scorer.form == "distance":
                gap = one - other
                total = total + gap * gap
            else:
                total = total + one * other
        of_x, of_y = asked.extra[rows[part]], known.extra[target[part]]
        if scorer.form == "cosine":
            out[part] = torch.round(total / (of_x * of_y) * COSINE_STEPS).long()
        elif scorer.form == "likelihood":
            out[part] = torch.round((total + of_y + of_x) * GRID).long()
        else:
            out[part] = -((total.view(torch.int64) + (1 << (CUT_BITS - 1))) >> CUT_BITS)
    return out
