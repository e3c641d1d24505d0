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
    """Both observers' bags of the training users."""

    def __init__(self, one: Bags, two: Bags, device: torch.device) -> None:
        self.counts, self.device = (one.counts, two.counts), device

    def __call__(self, rows: Any, rng: np.random.Generator | None) -> Any:
        """Return the items of both observers' records of these users."""
        one, two = (counts[np.asarray(rows)] for counts in self.counts)
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


def items_of(part: Any, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the items of a sparse matrix one row after the other, and where each row starts."""
    item, start = part.indices.astype(np.int64), part.indptr[:-1].astype(np.int64)
    return torch.from_numpy(item).to(device), torch.from_numpy(start).to(device)
