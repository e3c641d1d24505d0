"""What follows from the scores of some queries with every target: the best, and candidates."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best, Candidates, k_best

_SCORES = 2_000_000  # scores held at once


class ByBlocks(ABC):
    """A scorer that gives all scores of a few queries; targets and queries have a length, queries can be sliced."""

    @abstractmethod
    def scores(self, targets: Any, queries: Any, reach: Ints | None = None) -> npt.NDArray[np.signedinteger[Any]]:
        """Return the (q, n) scores; those more than ``reach`` (q,) below a query's best may be any lower number."""

    @abstractmethod
    def pairs(self, targets: Any, queries: Any, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""

    def best(self, targets: Any, queries: Any, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        score, n_ties, target = (np.zeros(len(queries), dtype=np.int64) for _ in range(3))
        for part, scores in self._blocks(targets, queries):
            target[part] = scores.argmax(axis=1)
            score[part] = scores.max(axis=1)
            n_ties[part] = (scores == score[part, None]).sum(axis=1)
        return Best(score, n_ties, target)

    def candidates(self, targets: Any, queries: Any, k: int) -> Candidates:
        """Find the k best targets of each query."""
        found = Candidates(*(np.zeros((len(queries), k), dtype=np.int64) for _ in range(2)))
        for part, scores in self._blocks(targets, queries):
            for i, values in enumerate(scores, start=part.start):
                found.target[i] = k_best(values, k)
                found.score[i] = values[found.target[i]]
        return found

    def _blocks(self, targets: Any, queries: Any) -> Iterator[tuple[slice, npt.NDArray[np.signedinteger[Any]]]]:
        size = max(1, _SCORES // len(targets))
        for start in range(0, len(queries), size):
            part = slice(start, min(start + size, len(queries)))
            yield part, self.scores(targets, queries[part])
