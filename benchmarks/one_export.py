"""One raw export, ten million events of 200,000 people: both questions, with every default attack, in one command.

Beside it, what somebody would do by hand: the nearest histogram (Hellinger) by a sparse product of SciPy, for as many
people as were asked about. It finds no more people than the audit says.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from reidrisk.audit import AuditSpec, Exports, run
from reidrisk.records import Events
from reidrisk.scenarios import Split


def simulated(n_people: int, n_events: int, n_items: int = 2_000, seed: int = 0) -> pl.DataFrame:
    """Return a log: people with eight favourites each, who buy something popular now and then."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, n_items + 1)
    steps = np.cumsum(popular / popular.sum())
    favourites = np.searchsorted(steps, rng.random((n_people, 8))).clip(max=n_items - 1)
    who = rng.integers(0, n_people, n_events)
    own = favourites[who, rng.integers(0, 8, n_events)]
    item = np.where(rng.random(n_events) < 0.5, own, np.searchsorted(steps, rng.random(n_events)).clip(max=n_items - 1))
    second = rng.integers(0, 365 * 86_400, n_events)
    when = pl.Series(second).cast(pl.Int64) * 1_000_000 + 1_700_000_000_000_000
    return pl.DataFrame({"customer": who, "category": item, "time": when.cast(pl.Datetime("us"))})


def by_hand(log: Events, n_asked: int, seed: int) -> tuple[float, float]:
    """Return the share of people whose nearest histogram is their own, and how long that took."""
    from scipy import sparse

    targets, queries, truth = Split(log).case(seed)
    rows = np.random.default_rng(seed).permutation(len(queries))[:n_asked]
    started = time.perf_counter()
    known, asked = (sparse.csr_array(side.counts, dtype=np.float64) for side in (targets, queries.take(rows)))
    for side in (known, asked):
        side.data = np.sqrt(side.data / np.repeat(side.sum(axis=1), np.diff(side.indptr)))
    right = 0
    for start in range(0, len(rows), 200):
        scores = (asked[start : start + 200] @ known.T).toarray()
        right += int((scores.argmax(axis=1) == truth.target[rows[start : start + 200]]).sum())
    return right / len(rows), time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200_000)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--budget", type=float, default=60.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        simulated(asked.people, asked.events).write_parquet(path)
        started = time.perf_counter()
        told: list[str] = []

        def tell(stage: str, share: float) -> None:
            told.append(f"{time.perf_counter() - started:7.1f} s  {share:4.0%}  {stage}")
            print(told[-1], flush=True)

        found = run(AuditSpec(inputs=Exports(files=(str(path),)), seed=1, budget=asked.budget), tell)
        seconds = time.perf_counter() - started
        work = time.process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        for one in found.questions:
            worst = one.strongest
            print(f"{one.scenario.code}: {worst.attack} finds {worst.rate:.4f} of {one.n_scored:,} asked; ", end="")
            print(f"not run: {[each.attack for each in one.not_run]}")
        split = next(one for one in found.questions if one.scenario.code == "scenario-split")
        log = Events(pl.read_parquet(path), user="customer", items="category", time="time")
        rate, alone = by_hand(log, split.n_scored, seed=1)
        print(f"audit: {seconds:.0f} s ({work:.0f} s of processor time in all), {peak:.1f} GB")
        print(f"nearest histogram by hand: {alone:.1f} s, finds {rate:.4f}")


if __name__ == "__main__":
    main()
