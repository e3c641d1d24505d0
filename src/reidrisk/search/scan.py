"""Blocked scan of all targets for each query: exact, for any number of epochs, with missing tokens.

Targets are walked in blocks that stay in the nearest cache. Within a block, the scores of one query are
built epoch by epoch over a contiguous column, which the compiler turns into vector instructions. A thread
owns its queries, so results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from reidrisk.engines.threads import n_threads
from reidrisk.errors import OptionError
from reidrisk.search.answer import Best
from reidrisk.search.index import Index, Tokens, unsigned
from reidrisk.search.weights import PairWeights, Weights, check_fit

__all__ = ["best", "candidates", "posterior"]

Progress = Callable[[float], None]

_BLOCK = 4_096  # targets; their scores (16 KiB) and one column of tokens (8 KiB) fit the first-level cache
_QUERIES = 64  # queries handed to a thread at a time, at least
_UNIT = float(1 << 36)  # fixed point of the posterior sum: ten million targets stay below 2^63


def best(
    index: Index,
    queries: Tokens,
    weights: Weights | PairWeights,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Best:
    """Find for each query (q, r) the best score among all targets, its ties and the lowest tied target.

    Examples
    --------
    >>> import numpy as np
    >>> from reidrisk.search import Index
    >>> w = Weights(match=np.ones((1, 9), dtype=np.int64), mismatch=np.zeros((1, 9), dtype=np.int64), per_nat=0)
    >>> found = best(Index(np.array([[1, 2], [3, 4], [3, 5]]), 9), np.array([[3, 4], [3, 8]]), w)
    >>> found.score.tolist(), found.n_ties.tolist(), found.target.tolist()
    ([2, 1], [1, 2], [1, 1])
    """
    check_fit(index, queries, weights)
    q, pairs = len(queries), _pair_table(index, weights)
    found = Best(np.empty(q, dtype=np.int64), np.empty(q, dtype=np.int64), np.empty(q, dtype=np.int64))

    def work(part: slice) -> None:
        _best(index.columns, index.missing, index.has_gaps, *_prepared(index, queries[part], weights), pairs,
              found.score[part], found.n_ties[part], found.target[part], _BLOCK)  # fmt: skip

    _over_queries(index, q, work, threads, progress)
    return found


def posterior(
    index: Index,
    queries: Tokens,
    weights: Weights | PairWeights,
    best_score: npt.NDArray[np.int64],
    threads: int | None = None,
    progress: Progress | None = None,
) -> npt.NDArray[np.float64]:
    """Return exp(best) / sum over targets of exp(score): how sure the model is of one best target.

    Scores must be log-likelihood ratios. The sum is taken in fixed point, so its order does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from reidrisk.search import Index
    >>> w = Weights(match=np.full((1, 9), 65536), mismatch=np.zeros((1, 9), dtype=np.int64))
    >>> table = Index(np.array([[1], [2]]), 9)
    >>> p = posterior(table, np.array([[1]]), w, np.array([65536]))
    >>> bool(abs(p[0] - np.e / (np.e + 1)) < 1e-9)
    True
    """
    if not weights.per_nat:
        raise OptionError("these scores are counts, not likelihoods: they have no posterior")
    check_fit(index, queries, weights)
    pairs = _pair_table(index, weights)
    total = np.empty(len(queries), dtype=np.int64)

    def work(part: slice) -> None:
        _posterior(index.columns, index.missing, index.has_gaps, *_prepared(index, queries[part], weights), pairs,
                   best_score[part], 1.0 / weights.per_nat, total[part], _BLOCK)  # fmt: skip

    _over_queries(index, len(queries), work, threads, progress)
    return np.asarray(_UNIT / total)


def candidates(
    index: Index, queries: Tokens, weights: Weights | PairWeights, k: int, threads: int | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (q, k) best targets and their scores: best first, lower row first among equals.

    Examples
    --------
    >>> import numpy as np
    >>> from reidrisk.search import Index
    >>> w = Weights(match=np.ones((1, 9), dtype=np.int64), mismatch=np.zeros((1, 9), dtype=np.int64), per_nat=0)
    >>> rows, score = candidates(Index(np.array([[1], [3], [3]]), 9), np.array([[3]]), w, k=3)
    >>> rows.tolist(), score.tolist()
    ([[1, 2, 0]], [[1, 1, 0]])
    """
    if not 1 <= k <= index.n_users:
        raise OptionError(f"cannot give {k} candidates of {index.n_users} targets; choose from 1 to that number")
    check_fit(index, queries, weights)
    pairs = _pair_table(index, weights)
    rows = np.empty((len(queries), k), dtype=np.int64)
    score = np.empty((len(queries), k), dtype=np.int64)

    def work(part: slice) -> None:
        _candidates(index.columns, index.missing, index.has_gaps, *_prepared(index, queries[part], weights), pairs,
                    rows[part], score[part], _BLOCK)  # fmt: skip

    _over_queries(index, len(queries), work, threads, None)
    return rows, score


def _prepared(index: Index, queries: Tokens, weights: Weights | PairWeights) -> tuple[Any, Any, Any]:
    """Cast some queries' tokens to the targets' type, and look their weights up."""
    tokens = unsigned(queries, index.n_tokens)
    dtype = _accumulator(index, weights)
    if isinstance(weights, PairWeights):
        none = np.zeros((len(tokens), 1), dtype=dtype)
        return tokens, none, none
    gain, mismatch = weights.of(queries)
    return tokens, gain.astype(dtype), mismatch.astype(dtype)


def _pair_table(index: Index, weights: Weights | PairWeights) -> npt.NDArray[np.signedinteger[Any]]:
    """Return the weights of pairs with a last column for missing target tokens, which are worth nothing."""
    dtype = _accumulator(index, weights)
    if not isinstance(weights, PairWeights):
        return np.zeros((0, 0, 0), dtype=dtype)
    table = np.zeros((len(weights.table), index.n_tokens, index.n_tokens + 1), dtype=dtype)
    table[:, :, :-1] = weights.table
    return table


def _accumulator(index: Index, weights: Weights | PairWeights) -> type[np.signedinteger[Any]]:
    """Return the narrowest type in which no sum of these weights can overflow."""
    parts = (weights.table,) if isinstance(weights, PairWeights) else (weights.match, weights.mismatch)
    return _narrowest(2 * sum(int(np.abs(part).max(initial=0)) for part in parts) * index.n_epochs)


def _narrowest(largest: int) -> type[np.signedinteger[Any]]:
    return np.int32 if largest < np.iinfo(np.int32).max else np.int64


def _over_queries(
    index: Index, q: int, work: Callable[[slice], None], threads: int | None, progress: Progress | None
) -> None:
    # Parts long enough that handing them out costs nothing, short enough that their weights take no memory.
    size = max(_QUERIES, min(4_096, int(1e7 / max(index.n_users * index.n_epochs, 1))))
    parts = [slice(start, min(start + size, q)) for start in range(0, q, size)]
    with ThreadPoolExecutor(n_threads(threads)) as pool:
        for done, _ in enumerate(pool.map(work, parts), start=1):
            if progress is not None:
                progress(done / len(parts))


@numba.njit(cache=True, nogil=True)
def _block_scores(
    table: Any,
    missing: Any,
    gaps: Any,
    tokens: Any,
    gain: Any,
    mismatch: Any,
    pairs: Any,
    start: Any,
    stop: Any,
    scores: Any,
) -> None:  # pragma: no cover
    """Fill scores[: stop - start] with the scores of one query against targets start .. stop."""
    size = stop - start
    if pairs.shape[0] > 0:
        scores[:size] = 0
        width = pairs.shape[1]
        for s in range(tokens.shape[0]):
            if tokens[s] == missing:
                continue
            worth = pairs[s if pairs.shape[0] > 1 else 0, tokens[s]]
            column = table[s, start:stop]
            for j in range(size):
                scores[j] += worth[min(column[j], width)]
        return
    constant = gain[0] * 0
    if not gaps:
        for s in range(tokens.shape[0]):
            constant += mismatch[s]
    for j in range(size):
        scores[j] = constant
    for s in range(tokens.shape[0]):
        token, reward = tokens[s], gain[s]
        column = table[s, start:stop]
        if reward != 0:
            for j in range(size):
                scores[j] += reward * (column[j] == token)
        if gaps and mismatch[s] != 0:
            penalty = mismatch[s]
            for j in range(size):
                scores[j] += penalty * (column[j] != missing)


@numba.njit(cache=True, nogil=True)
def _best(
    table: Any,
    missing: Any,
    gaps: Any,
    tokens: Any,
    gain: Any,
    mismatch: Any,
    pairs: Any,
    best: Any,
    ties: Any,
    first: Any,
    block: Any,
) -> None:  # pragma: no cover
    n = table.shape[1]
    scores = np.empty(block, dtype=gain.dtype)
    for i in range(tokens.shape[0]):
        top, count, where = np.int64(0), np.int64(0), np.int64(-1)
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(table, missing, gaps, tokens[i], gain[i], mismatch[i], pairs, start, stop, scores)
            here = scores[0]
            for j in range(stop - start):
                here = max(here, scores[j])
            if where < 0 or here >= top:
                equal = 0
                for j in range(stop - start):
                    equal += scores[j] == here
                if where < 0 or here > top:
                    top, count, where = np.int64(here), np.int64(0), np.int64(-1)
                count += equal
                if where < 0:
                    j = 0
                    while scores[j] != here:
                        j += 1
                    where = np.int64(start + j)
        best[i], ties[i], first[i] = top, count, where


@numba.njit(cache=True, nogil=True)
def _posterior(
    table: Any,
    missing: Any,
    gaps: Any,
    tokens: Any,
    gain: Any,
    mismatch: Any,
    pairs: Any,
    best: Any,
    nats: Any,
    total: Any,
    block: Any,
) -> None:  # pragma: no cover
    n = table.shape[1]
    scores = np.empty(block, dtype=gain.dtype)
    for i in range(tokens.shape[0]):
        weight = np.int64(0)
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(table, missing, gaps, tokens[i], gain[i], mismatch[i], pairs, start, stop, scores)
            for j in range(stop - start):
                below = (best[i] - scores[j]) * nats
                if below < 26.0:  # exp(-26) is less than one step of the fixed point
                    weight += np.int64(math.exp(-below) * _UNIT + 0.5)
        total[i] = weight


@numba.njit(cache=True, nogil=True)
def _candidates(
    table: Any,
    missing: Any,
    gaps: Any,
    tokens: Any,
    gain: Any,
    mismatch: Any,
    pairs: Any,
    rows: Any,
    score: Any,
    block: Any,
) -> None:  # pragma: no cover
    n, k = table.shape[1], rows.shape[1]
    scores = np.empty(block, dtype=gain.dtype)
    for i in range(tokens.shape[0]):
        filled = 0
        for start in range(0, n, block):
            stop = min(start + block, n)
            _block_scores(table, missing, gaps, tokens[i], gain[i], mismatch[i], pairs, start, stop, scores)
            for j in range(stop - start):
                value = scores[j]
                if filled == k and value <= score[i, k - 1]:
                    continue
                place = filled if filled < k else k - 1
                while place > 0 and score[i, place - 1] < value:
                    score[i, place], rows[i, place] = score[i, place - 1], rows[i, place - 1]
                    place -= 1
                score[i, place], rows[i, place] = value, start + j
                filled = min(filled + 1, k)
