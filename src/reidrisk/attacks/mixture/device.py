"""The search of MixtureBayes in torch, on a GPU or, for tests, on the CPU; its answers are those of the kernels.

Factors are multiplied and added in the kernel's order, in double precision. A score is the rounded logarithm of such a
sum, which grows with it: only targets whose sum is within one step of the best can share its score, and theirs are
rounded as everywhere else, by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.extras import require
from reidrisk.base.parallel import slices
from reidrisk.search.answer import Best
from reidrisk.search.weights import GRID, to_grid

_SUMS = 1 << 28  # sums held at once, of 8 bytes
_STEP = 1.0 - 2.0 / GRID  # below this multiple of the best sum a score is lower for certain


def best(
    factors: Callable[[int, int, Ints], Floats],
    targets: Any,
    queries: Ints,
    least: float,
    device: str = "cuda",
) -> Best:
    """Return best score, number of ties and lowest tied target of each query, from tables of factors by type."""
    torch = require("torch", "neural", "searching on a GPU")
    by_type = targets.by_type
    shown = [np.unique(queries[:, i], return_inverse=True) for i in range(queries.shape[1])]
    places = torch.as_tensor(np.stack([place for _, place in shown], axis=1), device=device)
    held = torch.as_tensor(targets.tokens.astype(np.int64), device=device)
    kinds = np.flatnonzero(np.diff(by_type.indptr)).tolist()
    tables = {kind: [factors(kind, i, tokens) for i, (tokens, _) in enumerate(shown)] for kind in kinds}
    score, n_ties, target = (np.zeros(len(queries), dtype=np.int64) for _ in range(3))
    for part in slices(len(queries), _SUMS // len(targets)):
        sums = torch.zeros((part.stop - part.start, len(targets)), dtype=torch.float64, device=device)
        for kind in kinds:
            of_type = slice(by_type.indptr[kind], by_type.indptr[kind + 1])
            rows = torch.as_tensor(by_type.indices[of_type].astype(np.int64), device=device)
            product = torch.as_tensor(by_type.data[of_type], device=device)[None, :]
            for i, table in enumerate(tables[kind]):
                mine = torch.as_tensor(table, device=device)[places[part, i]]
                product = product * mine[:, held[rows, i]]
            sums.index_add_(1, rows, product)
        sums.clamp_(min=least)
        most = sums.amax(dim=1)
        near = (sums >= most[:, None] * _STEP).nonzero()
        value = to_grid(np.log(sums[near[:, 0], near[:, 1]].cpu().numpy()))
        found = near.cpu().numpy()
        top = np.full(part.stop - part.start, np.iinfo(np.int64).min)
        np.maximum.at(top, found[:, 0], value)
        ties = value == top[found[:, 0]]
        score[part] = top
        n_ties[part] = np.bincount(found[ties, 0], minlength=len(top))
        lowest = np.full(len(top), len(targets))
        np.minimum.at(lowest, found[ties, 0], found[ties, 1])
        target[part] = lowest
    return Best(score, n_ties, target)
