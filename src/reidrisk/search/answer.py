"""The answers of a search, how those of several sets of targets become one, and what follows from blocks of scores."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from reidrisk.base import Ints, OptionError, Progress, Signed, slices

UNIT = float(1 << 36)  # fixed point of a sum of likelihoods over targets: ten million of them stay below 2^63
FAR = 26.0  # nats below the best from which on a likelihood is less than half a step of the fixed point


class Best(NamedTuple):
    """Best score of each query, the number of targets that share it, and the lowest such target."""

    score: Ints
    n_ties: Ints
    target: Ints


class Candidates(NamedTuple):
    """The k best targets of each query (q, k) and their scores: best first, the lower row first among equals."""

    target: Ints
    score: Ints


def merged(one: Best, two: Best) -> Best:
    """Merge the answers of the same queries over two disjoint sets of targets.

    Associative and commutative, so the targets may be cut anywhere.
    """
    score = np.maximum(one.score, two.score)
    n_ties = np.where(one.score == score, one.n_ties, 0) + np.where(two.score == score, two.n_ties, 0)
    lowest = (np.where(part.score == score, part.target, np.iinfo(np.int64).max) for part in (one, two))
    return Best(score, n_ties, np.minimum(*lowest))


def merged_candidates(parts: Sequence[Candidates], k: int) -> Candidates:
    """Merge the candidates of the same queries over disjoint sets of targets: the k best, or all there are."""
    target, score = (np.concatenate(some, axis=1) for some in zip(*parts, strict=True))
    order = np.lexsort((target, -score), axis=1)[:, :k]
    return Candidates(np.take_along_axis(target, order, axis=1), np.take_along_axis(score, order, axis=1))


def k_best(values: Ints, k: int) -> Ints:
    """Return the places of the k highest values, highest first, the first among equals first."""
    if k < len(values) // 4:
        limit = np.partition(values, len(values) - k)[len(values) - k]
        near = np.flatnonzero(values >= limit)
        return near[np.argsort(-values[near], kind="stable")[:k]]
    return np.argsort(-values, kind="stable")[:k]


def check_k(k: int, n_targets: int) -> None:
    """Refuse to give no candidate, or more of them than there are targets."""
    if not 1 <= k <= n_targets:
        raise OptionError(f"cannot give {k} candidates of {n_targets} targets; choose from 1 to that number")


class ByBlocks(ABC):
    """A scorer that gives all scores of a few queries; targets and queries have a length, queries can be sliced."""

    at_once: ClassVar[int] = 2_000_000  # scores held at once

    @abstractmethod
    def scores(self, targets: Any, queries: Any, reach: Ints | None = None) -> Signed:
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

    def _blocks(self, targets: Any, queries: Any) -> Iterator[tuple[slice, Signed]]:
        for part in slices(len(queries), self.at_once // len(targets)):
            yield part, self.scores(targets, queries[part])
