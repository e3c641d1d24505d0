"""The NumPy twin of the kernels: the whole (queries x targets) score matrix, for tests and small tables only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.search.weights import PairWeights, RangeWeights, Weights

__all__ = ["best", "candidates", "scores"]

Tokens = npt.NDArray[np.signedinteger[Any]]


def scores(targets: Tokens, queries: Tokens, weights: Weights | PairWeights) -> npt.NDArray[np.int64]:
    """Return the (q, n) matrix of scores."""
    if isinstance(weights, PairWeights):
        shape = (len(queries), len(targets), queries.shape[1])
        pairs = np.broadcast_to(queries[:, None], shape), np.broadcast_to(targets[None], shape)
        return np.asarray(weights.of(*pairs).sum(axis=2))
    gain, mismatch = weights.of(queries)
    same = queries[:, None, :] == targets[None, :, :]
    seen = targets[None, :, :] >= 0
    found = ((mismatch[:, None, :] + gain[:, None, :] * same) * seen).sum(axis=2)
    if isinstance(weights, RangeWeights):
        first, last, worth = (table[:, None] for table in weights.ranges(queries))
        held = targets[None, :, :, None]
        found = found + (worth * ((first <= held) & (held <= last))).sum(axis=(2, 3))
    return np.asarray(found)


def best(
    targets: Tokens, queries: Tokens, weights: Weights | PairWeights
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return best score, number of targets that share it, and the lowest of these."""
    matrix = scores(targets, queries, weights)
    top = matrix.max(axis=1)
    return top, (matrix == top[:, None]).sum(axis=1), matrix.argmax(axis=1)


def candidates(
    targets: Tokens, queries: Tokens, weights: Weights | PairWeights, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the k best targets of each query and their scores, best first, lower row first among equals."""
    matrix = scores(targets, queries, weights)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(matrix, order, axis=1)
