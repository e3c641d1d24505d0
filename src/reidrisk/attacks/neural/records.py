"""Records as the encoders take them: tokens of traces on the device, and items of bags one record after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from reidrisk.records import Bags, Traces


class TracePairs:
    """Both observers' traces of the training users, on the device."""

    def __init__(self, one: Traces, two: Traces, device: torch.device) -> None:
        self.tables = [torch.from_numpy(np.array(table.tokens, dtype=np.int32)).to(device) for table in (one, two)]

    def __call__(self, rows: Any, rng: np.random.Generator) -> Any:
        """Return what the encoder takes of both, twice: as records and as tokens."""
        chosen = torch.from_numpy(np.asarray(rows)).to(self.tables[0].device)
        one, two = (table[chosen].long() for table in self.tables)
        return one, two, one, two


class BagPairs:
    """Both observers' bags of the training users; with ``resplit`` what both hold is cut in two anew each time."""

    def __init__(self, one: Bags, two: Bags, device: torch.device, resplit: bool) -> None:
        self.counts, self.device, self.resplit = (one.counts, two.counts), device, resplit
        if resplit:
            both = (one.counts + two.counts).tocsr()
            both.sort_indices()
            self.counts = (both, both)

    def __call__(self, rows: Any, rng: np.random.Generator) -> Any:
        """Return the items of both observers' records of these users."""
        if not self.resplit:
            one, two = (items_of(counts, rows, self.device) for counts in self.counts)
            return one, two, None, None
        item, row = _gathered(self.counts[0], rows)
        # A random half of each record: places in a random order, the first half of them on one side.
        order = np.lexsort((rng.random(len(row)), row))
        sizes = np.bincount(row, minlength=len(rows))
        place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        odd = rng.random(len(rows)) < 0.5
        first = place < np.repeat((sizes + odd) // 2, sizes)
        item, row = item[order], row[order]
        one, two = (_packed(item[side], row[side], len(rows), self.device) for side in (first, ~first))
        return one, two, None, None


def items_of(counts: Any, rows: Any, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the items of these rows of a sparse matrix one after the other, and where each row starts."""
    item, row = _gathered(counts, rows)
    return _packed(item, row, len(rows), device)


def _gathered(counts: Any, rows: Any) -> tuple[Any, Any]:
    part = counts[np.asarray(rows)]
    return part.indices.astype(np.int64), np.repeat(np.arange(len(rows)), np.diff(part.indptr))


def _packed(item: Any, row: Any, n: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))[:-1]]).astype(np.int64)
    return torch.from_numpy(np.ascontiguousarray(item)).to(device), torch.from_numpy(start).to(device)
