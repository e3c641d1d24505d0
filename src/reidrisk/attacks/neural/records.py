"""Records as the encoders take them: tokens of traces on the device, and items of bags one record after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch

from reidrisk.records import Bags, Traces


class TracePairs:
    """Both observers' traces of the training users, on the device; at a share of ``shorter`` times cut short."""

    def __init__(self, one: Traces, two: Traces, device: torch.device, shorter: float = 0.0) -> None:
        self.shorter, self.n_epochs = shorter, one.n_epochs
        self.tables = [torch.from_numpy(np.array(table.tokens, dtype=np.int32)).to(device) for table in (one, two)]

    def __call__(self, rows: Any, rng: np.random.Generator | None) -> Any:
        """Return what the encoder takes of both, twice: as records and as tokens."""
        chosen = torch.from_numpy(np.asarray(rows)).to(self.tables[0].device)
        one, two = (table[chosen].long() for table in self.tables)
        if self.shorter and rng is not None and rng.random() < self.shorter:
            kept = int(rng.integers(1, self.n_epochs + 1))
            one[:, kept:], two[:, kept:] = -1, -1
        return one, two, one, two


class BagPairs:
    """Both observers' bags of the training users, their items ``redealt`` each time or as they are."""

    def __init__(self, one: Bags, two: Bags, device: torch.device, redealt: bool = False) -> None:
        self.counts, self.device, self.redealt = (one.counts, two.counts), device, redealt

    def __call__(self, rows: Any, rng: np.random.Generator | None) -> Any:
        """Return the items of both observers' records of these users."""
        one, two = (counts[np.asarray(rows)] for counts in self.counts)
        if self.redealt and rng is not None:
            one, two = dealt_anew(one, two, rng)
        return items_of(one, self.device), items_of(two, self.device), None, None


def with_missing_end(table: Traces, epochs: int) -> Traces:
    """Return the same records with that many more epochs, in which nothing was observed."""
    nothing = np.full((len(table), epochs), -1, dtype=table.tokens.dtype)
    return Traces(np.hstack([table.tokens, nothing]), table.n_tokens, users=table.users, vocabulary=table.vocabulary)


def distinct_rows(table: Traces | Bags) -> tuple[Any, Any]:
    """Return one row of each distinct record, and for every row the number of its record among these."""
    if isinstance(table, Traces):
        tokens = np.ascontiguousarray(table.tokens)
        rows = tokens.view(np.dtype((np.void, tokens.dtype.itemsize * tokens.shape[1]))).ravel()
    else:
        counts = table.counts
        items = (counts.indices[a:b].tobytes() for a, b in pairwise(counts.indptr))
        numbers: dict[bytes, int] = {}
        rows = np.array([numbers.setdefault(held, len(numbers)) for held in items])
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    return first, group


def dealt_anew(one: Any, two: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Deal what both rows of a user hold (sparse counts) to the two at random, as many items to each as before."""
    from scipy import sparse

    parts = [(np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices) for part in (one, two)]
    user, item = (np.concatenate(both) for both in zip(*parts, strict=True))
    order = np.lexsort((rng.random(len(user)), user))
    user, item = user[order], item[order]
    first = np.arange(len(user)) - np.searchsorted(user, user) < np.diff(one.indptr)[user]
    new = []
    for side in (first, ~first):
        starts = np.concatenate([[0], np.cumsum(np.bincount(user[side], minlength=one.shape[0]))])
        new.append(sparse.csr_array((np.ones(side.sum(), dtype=np.int64), item[side], starts), shape=one.shape))
    return new[0], new[1]


def items_of(part: Any, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the items of a sparse matrix one row after the other, and where each row starts."""
    item, start = part.indices.astype(np.int64), part.indptr[:-1].astype(np.int64)
    return torch.from_numpy(item).to(device), torch.from_numpy(start).to(device)
