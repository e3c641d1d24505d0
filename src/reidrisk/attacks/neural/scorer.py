"""The score of the neural attack, for an engine: logits in float64 on the grid; low precision finds candidates."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from reidrisk.base.arrays import Ints
from reidrisk.base.parallel import slices
from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best, ByBlocks, Candidates
from reidrisk.search.weights import GRID
from reidrisk.sequence.pairs import fused
from reidrisk.sequence.pairs.network import PairNetwork, Tower

_UNITS = 8_000_000  # units of pairs held at once
_MANY = 50_000  # targets from which on a GPU looks at blocks first
_NEAR = 4  # blocks of a query that are scored again


@dataclass(frozen=True, eq=False)
class Encoded:
    """Records after encoder and tower; ``group`` numbers what is distinct, so that equal records score equally."""

    side: Tower
    group: Ints

    def __len__(self) -> int:
        return len(self.side.vector)

    def __getitem__(self, rows: Any) -> Encoded:
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        there = chosen if isinstance(rows, slice) else torch.as_tensor(chosen, device=self.side.vector.device)
        return Encoded(self.side.rows(there), self.group[chosen])

    take = __getitem__

    def distinct(self) -> tuple[Encoded, Ints, Ints]:
        """Return what is distinct, the lowest row of each, and how many rows hold it."""
        _, first, count = np.unique(self.group, return_index=True, return_counts=True)
        return self[first], first, count


@dataclass(frozen=True, eq=False)
class PairScorer(ByBlocks):
    """Scores by a pair network whose weights are float64."""

    network: PairNetwork
    exact: PairNetwork = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", copy.deepcopy(self.network).double().eval())

    def scores(self, targets: Encoded, queries: Encoded, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        found = np.empty((len(queries), len(targets)), dtype=np.int64)
        size = max(1, _UNITS // (len(targets) * self.network.sizes.hidden))
        with torch.inference_mode():
            for part in slices(len(queries), size):
                found[part] = on_grid(self.exact.logits(queries.side.rows(part), targets.side))
        return found

    def pairs(self, targets: Encoded, queries: Encoded, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        return self.among(targets, queries, np.asarray(rows)[:, None])[:, 0]

    def among(self, targets: Encoded, queries: Encoded, rows: Ints) -> Ints:
        """Return the (q, k) scores of each query with the target rows given for it."""
        found = np.empty(rows.shape, dtype=np.int64)
        size = max(1, _UNITS // (rows.shape[1] * self.network.sizes.hidden))
        with torch.inference_mode():
            for part in slices(len(rows), size):
                chosen = torch.as_tensor(rows[part], device=targets.side.vector.device)
                found[part] = on_grid(self.exact.among(queries.side.rows(part), targets.side.rows(chosen)))
        return found

    def best(self, targets: Encoded, queries: Encoded, progress: Progress | None = None) -> Best:
        """Find best score, ties and lowest tied target; on a GPU among the blocks that low precision finds best."""
        if not (targets.side.vector.is_cuda and len(targets) >= _MANY):
            return super().best(targets, queries, progress)
        return self.best_distinct(targets, queries, fused.available() and fused.fits(self.network))

    def best_distinct(self, targets: Encoded, queries: Encoded, in_blocks: bool) -> Best:
        """Find the same by scoring what is distinct once; ``in_blocks`` by low precision first, where it is much.

        Equal records, of which there may be many, are all counted as ties. Different records that tie to the last step
        of the grid are so in the best blocks alone.
        """
        few, first, count = targets.distinct()
        found = Best(*(np.zeros(len(queries), dtype=np.int64) for _ in range(3)))
        size = 8_192 if in_blocks else max(1, 4 * _UNITS // (len(few) * self.network.sizes.hidden))
        for part in slices(len(queries), size):
            if in_blocks and len(few) >= _MANY:
                with torch.inference_mode():
                    near = self._near(few, queries[part])
                scores = self.among(few, queries[part], np.maximum(near, 0))
                scores[near < 0] = np.iinfo(np.int64).min
                near = np.maximum(near, 0)
            else:
                scores, near = self.scores(few, queries[part]), np.arange(len(few))[None]
            best = scores.max(axis=1)
            ties = scores == best[:, None]
            found.score[part] = best
            found.n_ties[part] = np.where(ties, count[near], 0).sum(axis=1)
            found.target[part] = np.where(ties, first[near], np.iinfo(np.int64).max).min(axis=1)
        return found

    def _near(self, targets: Encoded, queries: Encoded) -> Ints:
        """Return the (q, k) targets of the best blocks; -1 past the end of the last one."""
        best = fused.block_best(self.network, _single(targets.side), _single(queries.side))
        blocks = torch.topk(best, min(_NEAR, len(best)), dim=0).indices.T.cpu().numpy()
        rows = (blocks[:, :, None] * fused.BLOCK + np.arange(fused.BLOCK)).reshape(len(queries), -1)
        return np.where(rows < len(targets), rows, -1)

    def candidates(self, targets: Encoded, queries: Encoded, k: int) -> Candidates:
        """Find the k best targets of each query, among all of them."""
        return super().candidates(targets, queries, k)


def _single(side: Tower) -> Tower:
    return Tower(side.vector.float(), side.projected.float(), side.tokens)


def on_grid(logits: torch.Tensor) -> Any:
    """Round logits in nats to the grid of scores."""
    return torch.round(logits * GRID).to(torch.int64).cpu().numpy()
