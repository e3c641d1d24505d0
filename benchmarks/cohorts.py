"""Cohorts: SimHash of many users beside plain Python, and cohort sensitivity beside a polars group-by and SciPy.

Each pair answers the same question on the same data in one run, and the answers are compared. The slow way of SimHash
gets fewer users; users per second make the two comparable. `--large` adds a million users and ten million users.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from scipy import sparse

from reidrisk import cohorts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "cohorts"))
from cohort_twins import sim_hash

SEED = 0
N_COHORTS, N_CATEGORIES = 33_872, 200


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def peak() -> float:
    """Return the peak memory of this process in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def histories(users: int, domains: int = 30) -> pa.LargeListArray:
    """Return ``domains`` hosts per user out of a million, few of them visited by many."""
    rng = np.random.default_rng(SEED)
    names = pa.array([f"site-{i}.example.com" for i in range(1_000_000)], type=pa.large_string())
    codes = np.minimum(rng.zipf(1.2, users * domains) - 1, 999_999)
    return pa.LargeListArray.from_arrays(
        pa.array(np.arange(0, users * domains + 1, domains)), names.take(pa.array(codes))
    )


def hashing(users: int, few: int = 200) -> None:
    """Print the speed of SimHash."""
    given = histories(users)
    seconds, found = timed(lambda: cohorts.simhash(given))
    slow, expected = timed(lambda: [sim_hash(row) for row in given[:few].to_pylist()])
    if found[:few].tolist() != expected:
        raise SystemExit("the SimHashes disagree")
    ratio = slow / few / (seconds / users)
    print(f"SimHash of {users:,} users x 30 domains: {seconds:.1f} s, {users / seconds:,.0f} users/s, {peak():.1f} GiB")
    print(f"  plain Python: {few / slow:,.0f} users/s; ours is {ratio:,.0f} times as fast")


def visits(users: int) -> tuple[np.ndarray, sparse.csr_array]:
    """Return a cohort for each user, some without, and about five sensitive visits a user."""
    rng = np.random.default_rng(SEED)
    popular = rng.beta(0.4, 12, N_CATEGORIES)
    starts = np.concatenate([[0], np.cumsum(rng.poisson(5, users))])
    columns = rng.choice(N_CATEGORIES, size=starts[-1], p=popular / popular.sum()).astype(np.int32)
    table = sparse.csr_array((np.ones(columns.size, dtype=np.int8), columns, starts), shape=(users, N_CATEGORIES))
    return rng.integers(-1, N_COHORTS, users), table


def by_group_by(assignment: np.ndarray, table: sparse.csr_array) -> np.ndarray:
    """Count users by cohort and category the way a user of polars would."""
    rows = np.repeat(np.arange(len(assignment)), np.diff(table.indptr))
    frame = pl.DataFrame({"user": rows, "cohort": assignment[rows], "category": table.indices}).lazy()
    counted = frame.unique().filter(pl.col("cohort") >= 0).group_by("cohort", "category").len().collect()
    counts = np.zeros((N_COHORTS, N_CATEGORIES), dtype=np.int64)
    counts[counted["cohort"], counted["category"]] = counted["len"]
    return counts


def by_product(assignment: np.ndarray, table: sparse.csr_array) -> np.ndarray:
    """Count them as a product of two sparse 0/1 matrices."""
    cohort = np.flatnonzero(assignment >= 0)
    ones = np.ones(cohort.size, dtype=np.int64)
    groups = sparse.csr_array((ones, (assignment[cohort], cohort)), shape=(N_COHORTS, len(assignment)))
    once = table.astype(np.int64)
    once.sum_duplicates()
    once.data[:] = 1
    return (groups @ once).toarray()


def measuring(users: int, compare: bool) -> None:
    """Print the speed of counting, and of the whole measurement with intervals, tests and baseline."""
    assignment, table = visits(users)
    print(f"\nsensitivity: {users:,} users x {N_COHORTS:,} cohorts x {N_CATEGORIES} categories, {table.nnz:,} visits")
    ours, counts = timed(lambda: cohorts.count_visits(assignment, table))
    print(f"  counting: ours {ours:.2f} s")
    if compare:
        for name, work in (("polars group-by", by_group_by), ("SciPy product", by_product)):
            seconds, other = timed(lambda work=work: work(assignment, table))
            if not np.array_equal(other[counts.cohorts], counts.visits):
                raise SystemExit(f"{name} disagrees")
            print(f"  counting: {name} {seconds:.2f} s, {seconds / ours:.1f} times ours")
    seconds, found = timed(lambda: cohorts.sensitivity(assignment, table))
    print(f"  everything: {seconds:.1f} s, peak of the process {peak():.1f} GiB")
    print(f"  {found.summary.reading}")


def reading(users: int) -> None:
    """Print the speed of turning a table of visits into categories."""
    rng = np.random.default_rng(SEED)
    frame = pl.DataFrame({"user": rng.integers(0, users, 5 * users), "token": rng.integers(0, 2_000, 5 * users)})
    labels = pl.DataFrame({"token": np.arange(1_000), "category": [f"c{i % N_CATEGORIES}" for i in range(1_000)]})
    seconds, _ = timed(lambda: cohorts.category_visits(frame, labels, users=pl.Series("user", np.arange(users))))
    print(f"\n{len(frame):,} visits of {users:,} users to categories: {seconds:.1f} s, {peak():.1f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="a million histories, ten million users")
    chosen = parser.parse_args()
    cohorts.simhash([["a.org"]])  # compile before the clock runs
    cohorts.sensitivity([0, 1], sparse.csr_array(np.eye(2, dtype=np.int8)))
    hashing(1_000_000 if chosen.large else 100_000)
    measuring(1_000_000, compare=True)
    if chosen.large:
        measuring(10_000_000, compare=False)
    reading(10_000_000 if chosen.large else 1_000_000)


if __name__ == "__main__":
    main()
