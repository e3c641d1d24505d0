"""The search of ProfileBayes in torch, on a GPU or, for tests, on the CPU; its answers are those of the kernels.

Sums are whole numbers of 32 bits. Logarithms and exponentials are rounded to whole numbers; where two libraries might
round them differently, which is rare, the pair is handed back and done as it is defined. This module needs torch, NumPy
and numba alone.
"""

import math
from typing import Any

import numpy as np

from reidrisk.attacks.profile import kernel
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.device_targets import BITS, DeviceTargets, RungPairs, Unsuited
from reidrisk.base import Ints
from reidrisk.search.answer import FAR, UNIT, Best
from reidrisk.search.weights import GRID

_DOUBT = 1e-8  # steps of the grid: two libraries' logarithms are within 1e-10 of each other
_SLIPS = 2e-15  # of a likelihood: two libraries' exponentials are within 5e-16 of each other


def search(
    targets: DeviceTargets, queries: Counts, away: Ints, per_nat: float | None = None, given: Ints | None = None
) -> tuple[Best, Ints]:
    """Find the best target of every query, all on one rung, and with ``per_nat`` the total relative to it or ``given``.

    Raises :class:`Unsuited` where that cannot be done on the device.
    """
    torch, n, width = targets.torch, len(queries), targets.at_once()
    found, total = Best(*(np.zeros(n, dtype=np.int64) for _ in range(3))), np.zeros(n, dtype=np.int64)
    try:
        order = torch.cat([group.order for group in targets.groups])
        scores = torch.empty((len(order), width), dtype=torch.int32, device=targets.device)
        for start in range(0, n, width):
            rows = np.arange(start, min(start + width, n))
            asked, first = queries.take(rows), 0
            for group in targets.groups:
                pairs = targets.facing(group, asked, away[rows], width)
                score_all(torch, pairs, scores[first : first + len(group.order)])
                first += len(group.order)
            best = scores.amax(dim=0).to(torch.int64)
            if given is not None:
                best[: len(rows)] = torch.from_numpy(given[rows]).to(targets.device)
            sums = add_up(torch, scores, order, best, None if per_nat is None else 1.0 / per_nat)
            for values, mine in zip((*found, total), (best, *sums), strict=True):
                values[rows] = mine[: len(rows)].cpu().numpy()
    except torch.OutOfMemoryError as error:
        raise Unsuited from error
    return found, total


def score_all(torch: Any, pairs: RungPairs, out: Any) -> None:
    """Fill ``out`` (n, q) with the scores of all pairs, on the grid."""
    kernels = _kernels(out.device.type)
    if kernels is not None:
        where, sums = kernels.score_all(pairs, out, _DOUBT)
    else:
        where, sums = _score_plainly(torch, pairs, out)
    if len(where):
        exact = np.empty(len(where), dtype=np.int64)
        kernel.combined_rows(np.ascontiguousarray(sums.cpu().numpy().astype(np.int64)), exact)
        row, column = where // out.shape[1], where % out.shape[1]
        values = torch.from_numpy(exact).to(out.device) - pairs.alone[row] - pairs.away[column]
        out[row, column] = values.to(torch.int32)


def _score_plainly(torch: Any, pairs: RungPairs, out: Any) -> tuple[Any, Any]:
    """Score entry by entry; return where the rounding is in doubt, and the sums (…, K) there."""
    sums = pairs.holds[:, :, None] + pairs.base[:, None, :]
    for e in range(len(pairs.row)):
        met = torch.zeros(out.shape, dtype=torch.int64, device=out.device)
        for w in range(len(pairs.bits)):
            both = (pairs.bits[w, e][:, None] & pairs.shown[w][pairs.token[e]]).to(torch.int64)
            for bit in range(BITS):
                met += (both >> bit) & 1
        if pairs.per_pair > 1:
            met = (met + pairs.per_pair // 2) // pairs.per_pair
        rows = pairs.row[e].to(torch.int64)[:, None] + met.clamp(max=pairs.most)
        columns = torch.arange(out.shape[1], device=out.device)
        for z in range(len(sums)):
            sums[z] += pairs.worth[rows, z, columns]
    top = sums.amax(dim=0)
    steps = torch.log(torch.exp((sums - top).to(torch.float64) / GRID).sum(dim=0)) * GRID
    out[:] = top + torch.round(steps).to(torch.int32) - pairs.alone[:, None] - pairs.away[None, :]
    where = torch.nonzero(((steps - torch.floor(steps) - 0.5).abs() < _DOUBT).reshape(-1)).squeeze(1)
    return where, sums.reshape(len(sums), -1).T[where]


def add_up(torch: Any, scores: Any, order: Any, best: Any, nats: float | None) -> tuple[Any, Any, Any]:
    """Return how many targets have each query's best score, the lowest of them, and the sum of all likelihoods."""
    kernels = _kernels(scores.device.type)
    if kernels is not None:
        ties, lowest, total, slips = kernels.add_up(scores, order, best, nats, _SLIPS)
    else:
        ties, lowest, total, slips = _add_plainly(torch, scores, order, best, nats)
    for q, below in slips.tolist():
        total[q] += int(math.exp(-(below * (nats or 0.0))) * UNIT + 0.5)
    return ties, lowest, total


def _add_plainly(torch: Any, scores: Any, order: Any, best: Any, nats: float | None) -> tuple[Any, Any, Any, Any]:
    equal = scores == best
    ties = equal.sum(dim=0)
    lowest = torch.where(equal, order[:, None], torch.iinfo(torch.int64).max).amin(dim=0)
    below = best - scores.to(torch.int64)
    if nats is None:
        return ties, lowest, torch.zeros_like(best), below.new_zeros((0, 2))
    away = below.to(torch.float64) * nats
    value = torch.exp(-away) * UNIT + 0.5
    near = away < FAR
    doubt = near & ((value - torch.round(value)).abs() <= value * _SLIPS)
    total = torch.where(near & ~doubt, torch.floor(value), 0.0).to(torch.int64).sum(dim=0)
    row, q = torch.nonzero(doubt, as_tuple=True)
    return ties, lowest, total, torch.stack([q, below[row, q]], dim=1)


def _kernels(device: str) -> Any:
    """Return the fused kernels for this device, or ``None`` where there are none."""
    from reidrisk.attacks.profile import fused

    return fused if device == "cuda" and fused.HERE else None
