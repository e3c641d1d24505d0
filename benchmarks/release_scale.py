"""Counting pairs of tokens, and drawing synthetic users: ours beside what SciPy and NumPy offer, in the same run.

Counting: a product of sparse 0/1 matrices. Drawing: `Generator.choice` for the users of each type, epoch and slot. The
counts must agree. `--users 10000000` for the size that is aimed at; the others then get a million.
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time

import numpy as np
from scipy import sparse

from reidrisk import populations, release
from reidrisk.release.counts.pairs import count_pairs

OTHERS = 1_000_000


def seconds(work):
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def sparse_counts(tokens: np.ndarray, n_tokens: int) -> np.ndarray:
    n, _, k = tokens.shape
    rows = np.arange(0, n * k + 1, k)
    one, two = (
        sparse.csr_array((np.ones(n * k, dtype=np.int64), tokens[:, e].ravel().astype(np.int64), rows), (n, n_tokens))
        for e in (0, 1)
    )
    products = [one.T @ one, two.T @ two, one.T @ two]
    return np.stack([np.asarray(product.todense()) for product in products])


def by_choice(model: release.TypeMixture, n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    types = rng.integers(model.n_types, size=n)
    order = np.argsort(types, kind="stable")
    ends = np.searchsorted(types[order], np.arange(model.n_types + 1))
    tokens = np.empty((n, model.n_epochs, model.k), dtype=np.int64)
    for epoch in range(model.n_epochs):
        p = model.probabilities(epoch)
        for t in range(model.n_types):
            rows = order[ends[t] : ends[t + 1]]
            for s in range(model.k):
                tokens[rows, epoch, s] = rng.choice(model.n_tokens, size=len(rows), p=p[t, s])
    tokens.sort(axis=2)
    return tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000)
    users = parser.parse_args().users
    few = min(users, OTHERS)
    sets = populations.published(users, epochs=2)
    count_pairs(sets.take(slice(0, 100)))
    ours, _ = seconds(lambda: count_pairs(sets))
    theirs, products = seconds(lambda: sparse_counts(sets.tokens[:few], sets.n_tokens))
    tables = count_pairs(sets.take(slice(0, few))).tables
    off = ~np.eye(sets.n_tokens, dtype=bool)
    for name, product in zip(("f11", "f22", "f12"), products, strict=True):
        assert np.array_equal(tables[name], product if name == "f12" else product * off), name
    print(f"count, {users:,} users x 2 epochs: {ours:.2f} s; sparse product {theirs / few * users:.2f} s", end="")
    print(f" ({theirs / few * users / ours:.1f} times)" + (f", scaled from {few:,}" if few < users else ""))
    whole, stats = seconds(lambda: release.statistics(sets, math.log(3), 1e-15))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"statistics with discrete noise: {whole:.1f} s, peak {peak:.2f} GiB")

    rng = np.random.default_rng(0)
    theta = rng.normal(scale=2.5, size=(500, 4, 5, sets.n_tokens)) + np.log(np.maximum(stats.single, 1e-6))
    model = release.TypeMixture(theta, statement=release.PUBLISHED)
    model.sample(10, seed=0)
    ours, _ = seconds(lambda: model.sample(few, seed=0))
    theirs, _ = seconds(lambda: by_choice(model, few))
    print(f"draw {few:,} users x 4 epochs: {ours:.2f} s; by choice {theirs:.2f} s ({theirs / ours:.1f} times)")
    with tempfile.TemporaryDirectory() as folder:
        ours, _ = seconds(lambda: release.write_users(model, users, 0, folder))
    print(f"draw and write {users:,} users x 4 epochs: {ours:.1f} s")


if __name__ == "__main__":
    main()
