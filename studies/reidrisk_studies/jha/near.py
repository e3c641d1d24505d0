"""Weighted Hamming with no answer beyond a distance (jha, Figure 5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from reidrisk.attacks import Links, WeightedHamming
from reidrisk.attacks.pooled import Observed
from reidrisk.base.errors import OptionError
from reidrisk.mechanisms import popularity, token_probabilities
from reidrisk.records import Traces
from reidrisk.search import GRID
from reidrisk.search.engines import Engine
from reidrisk.search.weights import AnyWeights

__all__ = ["NearHamming"]


class NearHamming(WeightedHamming):
    """Give no answer where Theorem 1's distance to the best target is larger than ``max_distance``, in nats.

    Examples
    --------
    >>> targets = Traces([[0, 3], [0, 1], [2, 1], [0, 2]], n_tokens=5)
    >>> NearHamming(2, 0.05, max_distance=1.0).fit(targets).link(Traces([[2, 3]], n_tokens=5)).target.tolist()
    [-1]
    """

    def __init__(self, top_k: int, noise: float, per_epoch: bool = False, max_distance: float = np.inf) -> None:
        super().__init__(top_k, noise, per_epoch)
        self.max_distance = max_distance

    def _weights(self, targets: Traces) -> AnyWeights:
        if not self.max_distance >= 0.0:
            raise OptionError(f"max_distance is a distance in nats of at least 0, not {self.max_distance}")
        q_in, q_out = token_probabilities(targets.n_tokens, self.top_k, self.noise)
        seen = q_out + (q_in - q_out) * popularity(targets, self.top_k, self.noise, self.per_epoch)
        self._log_seen = np.log(np.maximum(seen, np.exp(-50.0)))
        return super()._weights(targets)

    def link(self, queries: Observed, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to its best target, or to none where even that one is farther than ``max_distance``."""
        links = super().link(queries, probability, engine=engine)
        # Where nothing was seen by both, the distance is 0 and tells nothing: no answer.
        distance, together = self._apart(queries, links.target)
        return replace(links, target=np.where(together & (distance <= self.max_distance), links.target, -1))

    def distance(self, queries: Observed, target_index: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return Theorem 1's distance of each query to the given target, in nats, over the epochs seen by both."""
        return self._apart(queries, target_index)[0]

    def _apart(
        self, queries: Observed, target_index: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Return the distances, and whether there is any epoch seen by both."""
        _, index, tokens = self._posed(queries)
        rows = self._rows(target_index, len(tokens), len(index))
        seen = (tokens >= 0) & (index.tokens[rows] >= 0)
        epochs = self._columns(tokens.shape[1] // self._known.n_epochs) % len(self._log_seen)
        alone = np.where(seen, self._log_seen[epochs, np.where(seen, tokens, 0)], 0.0)
        distance = -(self.score(queries, target_index) / GRID + alone.sum(axis=1))
        return np.asarray(distance), np.asarray(seen.any(axis=1))
