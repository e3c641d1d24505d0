"""Simple attacks at a million targets: exact best matches by products of sparse rows, beside scipy's sparse product.

Both get 1,000 queries of 30 items. Time is for each posting hit: a pair of a query and a target that share an item,
counted once for each item they share.
"""

import argparse
import time

import numpy as np
from scipy import sparse

from reidrisk.search import SparseDot, SparseRows

ITEMS = 30


def table(rng: np.random.Generator, n: int, vocabulary: int, spread: str) -> sparse.csr_array:
    """Return rows of items, all alike or as popular as words are, with weights as of a logarithm."""
    popularity = 1.0 / np.arange(1, vocabulary + 1) ** (1.0 if spread == "words" else 0.0)
    at = np.searchsorted(np.cumsum(popularity) / popularity.sum(), rng.random((n, ITEMS)))
    rows = np.repeat(np.arange(n), ITEMS)
    weights = rng.integers(1 << 15, 1 << 19, n * ITEMS)
    return sparse.csr_array((weights, (rows, at.ravel())), shape=(n, vocabulary))


def by_scipy(targets: sparse.csr_array, queries: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return best score and number of ties of each query, from products of 50 queries at a time."""
    best, ties = [], []
    for start in range(0, queries.shape[0], 50):
        found = queries[start : start + 50] @ targets
        top = np.maximum.reduceat(found.data, found.indptr[:-1])
        best.append(top)
        ties.append(np.add.reduceat(found.data == np.repeat(top, np.diff(found.indptr)), found.indptr[:-1]))
    return np.concatenate(best), np.concatenate(ties)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1_000)
    asked = parser.parse_args()
    for vocabulary, spread in ((10_000, "words"), (1_000, "alike"), (10_000, "alike")):
        rng = np.random.default_rng(0)
        rows = table(rng, asked.targets, vocabulary, spread)
        chosen = rows[rng.integers(0, asked.targets, asked.queries)]
        chosen.data[:] = rng.integers(1, 4, chosen.nnz)
        hits = int(np.bincount(rows.indices, minlength=vocabulary)[chosen.indices].sum())
        targets, queries, columns = SparseRows(rows), SparseRows(chosen), rows.T.tocsr()
        began = time.perf_counter()
        SparseDot().best(targets, queries[:2])  # compiled, and laid out, which is done once
        laid_out = time.perf_counter() - began
        seconds = {}
        for threads in (1, None):
            began = time.perf_counter()
            found = SparseDot(threads=threads).best(targets, queries)
            seconds["one thread" if threads else "all cores"] = time.perf_counter() - began
        began = time.perf_counter()
        best, ties = by_scipy(columns, chosen)
        seconds["scipy, one thread"] = time.perf_counter() - began
        assert np.array_equal(best, found.score)
        assert np.array_equal(ties, found.n_ties)
        print(f"{vocabulary:,} items, {spread}: {hits / asked.queries:,.0f} hits per query, layout {laid_out:.1f} s")
        for name, taken in seconds.items():
            ratio = seconds["scipy, one thread"] / taken
            print(f"  {name}: {taken:.2f} s, {taken / hits * 1e9:.2f} ns per hit, {ratio:.1f} times scipy's speed")


if __name__ == "__main__":
    main()
