"""Browsing histories into top sets: replay, against a plain loop over the rows that counts topics in dictionaries.

Both start from the same Parquet file and the same classifier, and must fill as many places of the sets. Browsers by
the specification are timed as well, on as many visits as --browsed says. Seconds are of processor time, all threads
together, so that other work on the machine matters little.

    python benchmarks/replay_histories.py --visits 10_000_000 --users 100_000 --no-loop
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import Counter, defaultdict
from heapq import nlargest
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from reidrisk import topics

DAY, WEEK, WEEKS, TOP_K = 86_400, 7 * 86_400, 8, 5
TOPICS, HOSTS = 469, 20_000


def write_visits(path: Path, visits: int, users: int) -> None:
    """Write visits of everybody to a few favourite hosts and to popular ones, in the order of time."""
    rng = np.random.default_rng(0)
    user = rng.integers(users, size=visits)
    popular = (HOSTS * rng.random(visits) ** 3).astype(np.int64)
    favourite = (user * 7919 + rng.integers(12, size=visits) * 104_729) % HOSTS
    host = np.where(rng.random(visits) < 0.7, favourite, popular)
    names = pa.array([f"www.site{i}.com" for i in range(HOSTS)])
    when = pa.array(np.sort(rng.integers(WEEKS * WEEK, size=visits)))
    table = {"user": pa.array(user), "timestamp": when, "host": names.take(pa.array(host))}
    pq.write_table(pa.table(table), path)


def classifier() -> topics.HostClassifier:
    """Half of the hosts are listed, with one or two of 469 topics."""
    rng = np.random.default_rng(1)
    tree = topics.Taxonomy({i + 1: f"/Topic {i}" for i in range(TOPICS)})
    listed = {
        f"site{i}.com": (rng.choice(TOPICS, size=1 + i % 2, replace=False) + 1).tolist() for i in range(HOSTS // 2)
    }
    return topics.HostClassifier(tree, listed)


def loop(path: Path, known: topics.HostClassifier) -> dict[tuple[int, int], list[int]]:
    """Return the counts of the five most visited topics of each user and week, the way one writes it first."""
    table = pq.read_table(path)
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    cache: dict[str, tuple[int, ...]] = {}
    columns = (table[name].to_pylist() for name in ("user", "timestamp", "host"))
    for user, when, host in zip(*columns, strict=True):
        if host not in cache:
            cache[host] = tuple(known.classify([host])[0] or ())
        week = counts[user, when // WEEK]
        for topic in cache[host]:
            week[topic] += 1
    return {cell: nlargest(TOP_K, week.values()) for cell, week in counts.items()}


def ours(path: Path, known: topics.HostClassifier) -> topics.Replay:
    return topics.replay(topics.read_histories(path), known, TOP_K, start=0)


def main() -> None:
    number = lambda text: int(text.replace("_", ""))  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", type=number, default=1_000_000)
    parser.add_argument("--users", type=number, default=10_000)
    parser.add_argument("--browsed", type=number, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-loop", action="store_true", help="leave out the slow loop")
    options = parser.parse_args()
    known = classifier()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        write_visits(path, options.visits, options.users)
        times = []
        for _ in range(options.runs):
            start = time.process_time()
            found = ours(path, known)
            times.append(time.process_time() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        seconds = float(np.median(times))
        print(f"{options.visits:,} visits of {options.users:,} people in {WEEKS} weeks, reading included")
        print(f"  topics.replay  {seconds:7.2f} s (median of {options.runs}; {min(times):.2f} to {max(times):.2f}), "
              f"peak {peak:.1f} GiB, with the making of the file")  # fmt: skip
        if not options.no_loop:
            start = time.process_time()
            slow = loop(path, known)
            plain = time.process_time() - start
            # Which of equals is kept is drawn; how many places are filled is not.
            assert found.top_sets.tokens.size - found.n_padding == sum(map(len, slow.values()))
            print(f"  plain loop     {plain:7.2f} s = {plain / seconds:.0f} times as long")
        few = Path(folder) / "few.parquet"
        write_visits(few, options.browsed, max(2, options.browsed // 1_000))
        replayed = ours(few, known)
        start = time.process_time()
        topics.browse(replayed, known, ["a.com", "b.com"])
        took = time.process_time() - start
        print(f"{options.browsed:,} visits through browsers by the specification (topics.browse): {took:.2f} s, "
              f"{1e6 * took / options.browsed:.0f} microseconds a visit")  # fmt: skip


if __name__ == "__main__":
    main()
