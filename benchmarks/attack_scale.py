"""Exact best matches: our lattice and scan beside brute-force NumPy, SciPy's cdist and FAISS, in pairs per second.

Every method answers the same question, which target agrees with a query in most epochs, on the same two tables in the
same run. The slow ones get fewer queries; pairs per second make them comparable. `--large` adds ten million users.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from reidrisk import populations, topics
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.records import Traces
from reidrisk.search import Index, lattice, scan

SEED = 0


def two_sites(users: int, epochs: int) -> tuple[Traces, Traces]:
    """Return what two sites see of the published population."""
    sets = populations.published(users, epochs, seed=SEED)
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    one, two = (api.expose(sets, seed=SEED, site=site) for site in ("one", "two"))
    return one, two


def long_traces(users: int, epochs: int) -> tuple[Traces, Traces]:
    """Return random traces of any length; comparing pairs takes as long whatever the tokens are."""
    rng = np.random.default_rng(SEED)
    tokens = rng.integers(0, 469, (users, epochs)).astype(np.int16)
    other = np.where(rng.random(tokens.shape) < 0.2, tokens, rng.integers(0, 469, tokens.shape)).astype(np.int16)
    return Traces(tokens, 469), Traces(other, 469)


def by_numpy(targets: np.ndarray, queries: np.ndarray) -> np.ndarray:
    best = np.empty(len(queries), dtype=np.int64)
    for i, query in enumerate(queries):
        best[i] = (targets == query).sum(axis=1).max()
    return best


def by_cdist(targets: np.ndarray, queries: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    best = np.empty(len(queries), dtype=np.int64)
    wide = targets.astype(np.float64)
    for start in range(0, len(queries), 64):
        part = queries[start : start + 64].astype(np.float64)
        best[start : start + 64] = np.rint((1 - cdist(part, wide, "hamming").min(axis=1)) * targets.shape[1])
    return best


def by_faiss(targets: np.ndarray, queries: np.ndarray, n_tokens: int) -> np.ndarray | None:
    """Inner products of one-hot vectors count agreements: the best a user would find there."""
    try:
        import faiss
    except ModuleNotFoundError:
        return None
    r = targets.shape[1]

    def one_hot(tokens: np.ndarray) -> np.ndarray:
        vectors = np.zeros((len(tokens), r * n_tokens), dtype=np.float32)
        np.put_along_axis(vectors, tokens + np.arange(r) * n_tokens, 1.0, axis=1)
        return vectors

    best = np.full(len(queries), -1.0)
    asked = one_hot(queries)
    for start in range(0, len(targets), 10_000):  # all targets at once would take r * n_tokens * 4 bytes each
        index = faiss.IndexFlatIP(r * n_tokens)
        index.add(one_hot(targets[start : start + 10_000]))
        best = np.maximum(best, index.search(asked, 1)[0].ravel())
    return np.rint(best).astype(np.int64)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def compare(title: str, targets: Traces, queries: Traces, few: int, with_lattice: bool) -> None:
    """Print one table of methods, all checked against each other."""
    n, q, r, n_tokens = len(targets), len(queries), targets.n_epochs, targets.n_tokens
    weights = Hamming().fit(targets).weights_
    print(f"\n{title}: {n:,} targets x {q:,} queries, r = {r}")
    rows = []
    a, b = targets.tokens.astype(np.int64), queries.tokens.astype(np.int64)
    for name, work, size in (
        ("NumPy, one query at a time", lambda: by_numpy(a, b[:few]), few),
        ("scipy cdist 'hamming'", lambda: by_cdist(a, b[:few]), few),
        ("FAISS, one-hot inner product", lambda: by_faiss(a, b[:few], n_tokens), few),
        ("reidrisk scan", lambda: scan.best(Index(targets.tokens, n_tokens), queries.tokens, weights).score, q),
        ("reidrisk lattice", lambda: lattice.best(Index(targets.tokens, n_tokens), queries.tokens, weights).score, q),
    ):
        if name == "reidrisk lattice" and not with_lattice:
            continue
        seconds, found = timed(work)
        if found is None:
            print(f"  {name}: not installed")
            continue
        rows.append((name, seconds, n * size / seconds, np.asarray(found)[:few]))
    for name, _, _, found in rows[1:]:
        if not np.array_equal(found, rows[0][3]):
            raise SystemExit(f"{name} disagrees with {rows[0][0]}")
    ours = next(rate for name, _, rate, _ in rows if name == "reidrisk scan")
    for name, seconds, rate, _ in rows:
        print(f"  {name:30} {seconds:8.2f} s  {rate:10.3g} pairs/s   scan is {ours / rate:10.3g} times as fast")


def growth(sizes: list[int], epochs: list[int]) -> None:
    """Print how the lattice's time grows with users and epochs."""
    print("\ngrowth of the lattice, weighted attack, everyone against everyone")
    last: dict[int, float] = {}
    for r in epochs:
        for n in sizes:
            targets, queries = two_sites(n, r)
            weights = WeightedHamming(5, 0.05).fit(targets).weights_
            search = partial(lattice.best, Index(targets.tokens, 469), queries.tokens, weights)
            seconds = min(timed(search)[0] for _ in range(3 if r <= 4 else 1))  # the least disturbed run
            ratio = f"{seconds / last[r]:5.2f} times the half" if r in last else ""
            print(f"  r = {r}  n = {n:>10,}  {seconds:8.2f} s  {n * n / seconds:10.3g} pairs/s  {ratio}")
            last[r] = seconds
    print(f"  peak memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--large", action="store_true", help="ten million users, r = 4 and r = 8")
    chosen = parser.parse_args()
    warm = two_sites(1_000, 2)
    weights = Hamming().fit(warm[0]).weights_
    for method in (scan.best, lattice.best):  # compile before the clock runs
        method(Index(warm[0].tokens, 469), warm[1].tokens, weights)
    compare("short traces", *two_sites(chosen.users, 4), few=200, with_lattice=True)
    compare("long traces", *long_traces(chosen.users, 30), few=200, with_lattice=False)
    growth([500_000, 1_000_000, 2_000_000], [4])
    growth([200_000], [1, 2, 4, 6, 8])
    if chosen.large:
        growth([2_500_000, 5_000_000, 10_000_000], [4])
        growth([10_000_000], [8])


if __name__ == "__main__":
    main()
