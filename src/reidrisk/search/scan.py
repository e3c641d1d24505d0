"""Blocked scan of all targets for each query: exact, for any number of epochs, with missing tokens.

Targets are walked in blocks that stay in the nearest cache. Within a block, the scores of one query are
built epoch by epoch over a contiguous column, which the compiler turns into vector instructions. A thread
owns its queries, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import OptionError
from reidrisk.base.parallel import each
from reidrisk.base.progress import Progress
from reidrisk.search.answer import Best
from reidrisk.search.index import Index, Tokens, unsigned
from reidrisk.search.scan_kernels import UNIT, Queries, Targets, all_scores, best_rows, candidate_rows, posterior_sums
from reidrisk.search.weights import PairWeights, Weights, check_fit

_BLOCK = 4_096  # targets; their scores (16 KiB) and one column of tokens (8 KiB) fit the first-level cache
_QUERIES = 64  # queries handed to a thread at a time, at least


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
        best_rows(
            _laid_out(index),
            _prepared(index, queries[part], weights, pairs),
            found.score[part],
            found.n_ties[part],
            found.target[part],
            _BLOCK,
        )

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
        posterior_sums(
            _laid_out(index),
            _prepared(index, queries[part], weights, pairs),
            best_score[part],
            1.0 / weights.per_nat,
            total[part],
            _BLOCK,
        )

    _over_queries(index, len(queries), work, threads, progress)
    return np.asarray(UNIT / total)


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
        candidate_rows(
            _laid_out(index), _prepared(index, queries[part], weights, pairs), rows[part], score[part], _BLOCK
        )

    _over_queries(index, len(queries), work, threads, None)
    return rows, score


def scores(
    index: Index, queries: Tokens, weights: Weights | PairWeights, threads: int | None = None
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return the (q, n) scores of every query with every target: for as many queries as fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from reidrisk.search import Index
    >>> w = Weights(match=np.ones((1, 9), dtype=np.int64), mismatch=np.zeros((1, 9), dtype=np.int64), per_nat=0)
    >>> scores(Index(np.array([[1, 2], [3, 4]]), 9), np.array([[3, 4], [3, 2]]), w).tolist()
    [[0, 2], [1, 1]]
    """
    check_fit(index, queries, weights)
    pairs = _pair_table(index, weights)
    out = np.empty((len(queries), index.n_users), dtype=_accumulator(index, weights))

    def work(part: slice) -> None:
        all_scores(_laid_out(index), _prepared(index, queries[part], weights, pairs), out[part], _BLOCK)

    _over_queries(index, len(queries), work, threads, None)
    return out


def _laid_out(index: Index) -> Targets:
    return Targets(index.columns, index.missing, index.has_gaps)


def _prepared(index: Index, queries: Tokens, weights: Weights | PairWeights, pairs: Any) -> Queries:
    """Cast some queries' tokens to the targets' type, and look their weights up."""
    tokens = unsigned(queries, index.n_tokens)
    dtype = _accumulator(index, weights)
    if isinstance(weights, PairWeights):
        none = np.zeros((len(tokens), 1), dtype=dtype)
        return Queries(tokens, none, none, pairs)
    gain, mismatch = weights.of(queries)
    return Queries(tokens, gain.astype(dtype), mismatch.astype(dtype), pairs)


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
    each(work, parts, threads, progress, "searching")
