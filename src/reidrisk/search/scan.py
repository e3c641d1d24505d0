"""Blocked scan of all targets for each query: exact, for any number of epochs, with missing tokens.

Targets are walked in blocks that stay in the nearest cache; a thread owns its queries.
"""

from typing import Any

import numpy as np

from reidrisk.base import Array, Ints, OptionError, Progress, Signed, each, slices
from reidrisk.search import scan_kernels as kernels
from reidrisk.search.answer import Best, Candidates, check_k
from reidrisk.search.index import Index, Tokens, unsigned
from reidrisk.search.weights import AnyWeights, PairWeights, RangeWeights, check_fit

_BLOCK = 4_096  # targets; their scores (16 KiB) and one column of tokens (8 KiB) fit the first-level cache
_QUERIES = 64  # queries handed to a thread at a time, at least


def best(
    index: Index, queries: Tokens, weights: AnyWeights, threads: int | None = None, progress: Progress | None = None
) -> Best:
    """Find for each query (q, r) the best score among all targets, its ties and the lowest tied target."""
    found = Best(*(np.empty(len(queries), dtype=np.int64) for _ in range(3)))
    _over_queries(kernels.best_rows, index, queries, weights, found, threads=threads, progress=progress)
    return found


def totals(index: Index, queries: Tokens, weights: AnyWeights, score: Ints) -> Ints:
    """Return sum over targets of exp(its score - ``score``) in steps of 1 / UNIT; scores are log-likelihoods."""
    if not weights.per_nat:
        raise OptionError("these scores are counts, not likelihoods: they have no posterior")
    total = np.empty(len(queries), dtype=np.int64)
    _over_queries(kernels.posterior_sums, index, queries, weights, (score, total), 1.0 / weights.per_nat)
    return total


def candidates(index: Index, queries: Tokens, weights: AnyWeights, k: int) -> Candidates:
    """Return (q, k) best targets and their scores: best first, lower row first among equals."""
    check_k(k, index.n_users)
    found = Candidates(*(np.empty((len(queries), k), dtype=np.int64) for _ in range(2)))
    _over_queries(kernels.candidate_rows, index, queries, weights, found)
    return found


def scores(index: Index, queries: Tokens, weights: AnyWeights, threads: int | None = None) -> Signed:
    """Return the (q, n) scores of every query with every target: for as many queries as fit in memory."""
    out = np.empty((len(queries), index.n_users), dtype=_accumulator(index, weights))
    _over_queries(kernels.all_scores, index, queries, weights, (out,), threads=threads)
    return out


def _over_queries(
    kernel: Any,
    index: Index,
    queries: Tokens,
    weights: AnyWeights,
    by_query: tuple[Array, ...],
    *options: float,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Run a kernel over parts of the queries; it fills the arrays that have an entry for each query."""
    check_fit(index, queries, weights)
    pairs = _pair_table(index, weights)
    targets = kernels.ScanTargets(index.columns, index.missing, index.has_gaps)

    def work(part: slice) -> None:
        asked = _prepared(index, queries[part], weights, pairs)
        kernel(targets, asked, *(values[part] for values in by_query), *options, _BLOCK)

    # Parts long enough that handing them out costs nothing, short enough that their weights take no memory.
    size = max(_QUERIES, min(4_096, int(1e7 / max(index.n_users * index.n_epochs, 1))))
    parts = slices(len(queries), size)
    each(work, parts, threads, progress, "searching")


def _prepared(index: Index, queries: Tokens, weights: AnyWeights, pairs: Any) -> kernels.Queries:
    """Cast some queries' tokens to the targets' type, and look their weights up."""
    none = np.zeros((len(queries), 1), dtype=np.int64)
    gain, mismatch = (none, none) if isinstance(weights, PairWeights) else weights.of(queries)
    worth = gain.astype(pairs.dtype), mismatch.astype(pairs.dtype)
    tokens, nowhere = unsigned(queries, index.n_tokens), np.zeros((len(queries), 1, 0), dtype=np.int64)
    first, last, near = weights.ranges(queries) if isinstance(weights, RangeWeights) else (nowhere,) * 3
    low, high = (np.ascontiguousarray(ends.astype(tokens.dtype)) for ends in (first, last))
    return kernels.Queries(tokens, *worth, pairs, low, high, np.ascontiguousarray(near.astype(pairs.dtype)))


def _pair_table(index: Index, weights: AnyWeights) -> Signed:
    """Return the weights of pairs with a last column for missing target tokens, which are worth nothing."""
    dtype = _accumulator(index, weights)
    if not isinstance(weights, PairWeights):
        return np.zeros((0, 0, 0), dtype=dtype)
    table = np.zeros((len(weights.table), index.n_tokens, index.n_tokens + 1), dtype=dtype)
    table[:, :, :-1] = weights.table
    return table


def _accumulator(index: Index, weights: AnyWeights) -> type[np.signedinteger[Any]]:
    """Return the narrowest type in which no sum of these weights can overflow."""
    parts = [weights.table] if isinstance(weights, PairWeights) else [weights.match, weights.mismatch]
    if isinstance(weights, RangeWeights):
        parts.extend(weights.worth)
    largest = 2 * sum(int(np.abs(part).max(initial=0)) for part in parts) * index.n_epochs
    return np.int32 if largest < np.iinfo(np.int32).max else np.int64
