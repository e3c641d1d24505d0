"""The curves of jha, Figures 3 and 4: 1,000 users, strict, loose and weighted Hamming at every number of epochs to 40.

Beside `measure.curve`, a straightforward program: sets of Python for the set attacks, one query at a time in NumPy for
the weighted distances. Both must count the same right and wrong links. `--large` adds Figure 8: 100,000 users, N = 30.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np

from reidrisk import attacks, measure, populations, topics
from reidrisk_studies.jha import personas

TOP_K, NOISE = 5, 0.05


def people(path: Path | None, n: int):
    """Return the rates of i.i.d. personas of a rate file, or of people with five topics each without one."""
    if path is None:
        return personas.distinct(n, seed=0)
    return personas.iid(populations.read_rates(path), n, seed=0)


def two_sites(rates, epochs: int):
    api = topics.TopicsAPI(rates.n_topics, TOP_K, NOISE)
    sets = api.top_sets(rates, epochs, seed=0)
    return tuple(api.expose(sets, seed=0, site=site) for site in "ab")


def every_attack():
    return {
        "strict": attacks.StrictSets(),
        "loose": attacks.LooseSets(),
        "weighted": attacks.WeightedHamming(TOP_K, NOISE),
    }


def ours(a, b, epochs: range) -> dict[str, list[tuple[float, float]]]:
    return {
        name: [(risk.rate, risk.incorrect) for risk in measure.curve(attack, a, b, epochs)]
        for name, attack in every_attack().items()
    }


def profiles(tokens: np.ndarray) -> tuple[list[frozenset], list[frozenset]]:
    """Return the global and the denoised profile, f = 2, of every user."""
    counts = [Counter(row) for row in tokens.tolist()]
    return [frozenset(c) for c in counts], [frozenset(t for t, times in c.items() if times >= 2) for c in counts]


def strict(tokens_a: np.ndarray, tokens_b: np.ndarray) -> tuple[float, float]:
    kept_a, kept_b = profiles(tokens_a)[1], profiles(tokens_b)[1]
    times_a, times_b = Counter(kept_a), Counter(kept_b)
    owner = {kept: i for i, kept in enumerate(kept_a)}
    right = wrong = 0
    for i, kept in enumerate(kept_b):
        if kept and times_b[kept] == 1 and times_a[kept] == 1:
            right += owner[kept] == i
            wrong += owner[kept] != i
    return right / len(kept_b), wrong / len(kept_b)


def loose(tokens_a: np.ndarray, tokens_b: np.ndarray) -> tuple[float, float]:
    (seen_a, kept_a), (seen_b, kept_b) = profiles(tokens_a), profiles(tokens_b)
    right = wrong = 0
    for i, (seen, kept) in enumerate(zip(seen_b, kept_b, strict=True)):
        fits = [
            j for j, (s, k) in enumerate(zip(seen_a, kept_a, strict=True)) if kept and k and kept <= s and k <= seen
        ]
        if len(fits) == 1:
            right += fits[0] == i
            wrong += fits[0] != i
    return right / len(kept_b), wrong / len(kept_b)


def weighted(
    tokens_a: np.ndarray, tokens_b: np.ndarray, match: np.ndarray, mismatch: np.ndarray
) -> tuple[float, float]:
    credit = 0.0
    for i, query in enumerate(tokens_b):
        score = np.where(tokens_a == query, match[query], mismatch[query]).sum(axis=1)
        best = score == score.max()
        credit += best[i] / best.sum()
    return credit / len(tokens_b), 1.0 - credit / len(tokens_b)


def straightforward(a, b, epochs: range) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {"strict": [], "loose": [], "weighted": []}
    for r in epochs:
        one, two = a.tokens[:, :r], b.tokens[:, :r]
        weights = attacks.WeightedHamming(TOP_K, NOISE).fit(a.epochs(r)).weights_
        found["strict"].append(strict(one, two))
        found["loose"].append(loose(one, two))
        found["weighted"].append(weighted(one, two, weights.match[0], weights.mismatch[0]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=Path, help="rate matrix as CSV (no header), such as the one of the paper")
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also 100,000 users at 30 epochs, strict and loose")
    options = parser.parse_args()
    a, b = two_sites(people(options.rates, options.users), options.epochs)
    epochs = range(1, options.epochs + 1)
    ours(a, b, range(1, 3))  # compile
    times = []
    for _ in range(options.runs):
        start = time.perf_counter()
        fast = ours(a, b, epochs)
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    slow = straightforward(a, b, epochs)
    plain = time.perf_counter() - start
    for name in slow:
        assert np.allclose(fast[name], slow[name], atol=1e-9), name
    seconds = float(np.median(times))
    print(f"{options.users:,} users, 3 attacks, epochs 1 to {options.epochs}; the same links counted by both")
    print(f"  measure.curve      {seconds:8.2f} s (median of {options.runs}; {min(times):.2f} to {max(times):.2f})")
    print(f"  straightforward    {plain:8.2f} s = {plain / seconds:.0f} times as long")
    for name, points in fast.items():
        print(f"  {name:9s} correct {points[-1][0]:.3f}, incorrect {points[-1][1]:.3f} at {options.epochs} epochs")
    if options.large:
        a, b = two_sites(people(options.rates, 100_000), 30)
        for name in ("strict", "loose"):
            start = time.perf_counter()
            risk = measure.random_user(every_attack()[name], a, b)
            took = time.perf_counter() - start
            found = f"correct {risk.rate:.4f}, incorrect {risk.incorrect:.4f}"
            print(f"100,000 users, 30 epochs, {name}: {took:.1f} s, {found}")


if __name__ == "__main__":
    main()
