"""The answer of a search for each query, and how the answers of two sets of targets become one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Best(NamedTuple):
    """Best score of each query, the number of targets that share it, and the lowest such target."""

    score: npt.NDArray[np.int64]
    n_ties: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]


def merged(one: Best, two: Best) -> Best:
    """Merge the answers of the same queries over two disjoint sets of targets.

    Associative and commutative, so the targets may be cut anywhere.

    Examples
    --------
    >>> a = Best(np.array([5, 3]), np.array([1, 2]), np.array([0, 1]))
    >>> b = Best(np.array([5, 4]), np.array([2, 1]), np.array([7, 8]))
    >>> [part.tolist() for part in merged(a, b)]
    [[5, 4], [3, 1], [0, 8]]
    """
    score = np.maximum(one.score, two.score)
    n_ties = np.where(one.score == score, one.n_ties, 0) + np.where(two.score == score, two.n_ties, 0)
    nobody = np.iinfo(np.int64).max
    lowest = [np.where(part.score == score, part.target, nobody) for part in (one, two)]
    return Best(score, n_ties, np.minimum(lowest[0], lowest[1]))
