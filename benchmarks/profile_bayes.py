"""ProfileBayes: how many links are right beside the attacks of the papers, and time and memory at a million targets.

All of it needs the visit rates of jha (REIDRISK_DATA).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from reidrisk import attacks, measure, populations, topics
from reidrisk.errors import ReidRiskError
from reidrisk.studies.data import data_file
from reidrisk.traces import Traces

API = topics.TopicsAPI(n_topics=349)
ATTACKS: dict[str, Callable[[], attacks.Attack[Traces]]] = {
    "Hamming": attacks.Hamming,
    "WeightedHamming": lambda: attacks.WeightedHamming(5, 0.05),
    "LooseSets": attacks.LooseSets,
    "ProfileBayes": lambda: attacks.ProfileBayes(5, 0.05),
}


def two_sites(rates: populations.Rates, seed: int, epochs: int = 30) -> tuple[Traces, Traces]:
    """Return what two sites see of people with these rates."""
    sets = API.profiles(rates, epochs=epochs, seed=seed)
    one, two = (API.expose(sets, seed=seed, site=site) for site in ("a", "b"))
    return one, two


def people(matrix: np.ndarray, model: str, n: int, seed: int) -> populations.Rates:
    if model == "real":
        return populations.real(matrix)
    return {"iid": populations.iid, "crossover": populations.crossover}[model](matrix, n, seed)


def sure_links(probability: np.ndarray, right: np.ndarray, wrong: float = 0.04) -> float:
    """Return the share of right links of an attacker who answers while at most so many answers are wrong."""
    order = np.argsort(-probability, kind="stable")
    within = np.cumsum(1.0 - right[order]) / len(right) <= wrong
    return float(np.cumsum(right[order])[within][-1] / len(right)) if within.any() else 0.0


def shown(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def compare(matrix: np.ndarray, seeds: int) -> None:
    """Print rates of right links, mean and range over seeds, and the reliability of ProfileBayes's probability."""
    for model in ("iid", "crossover", "real"):
        rates: dict[str, list[float]] = {name: [] for name in ATTACKS}
        sure: dict[str, list[float]] = {name: [] for name in ATTACKS}
        wrong: dict[str, list[float]] = {name: [] for name in ATTACKS}
        matched, said, errors = [], [], []
        for seed in range(seeds):
            a, b = two_sites(people(matrix, model, 1_000, seed), seed)
            for name, make in ATTACKS.items():
                risk = measure.random_user(make(), a, b)
                rates[name].append(risk.rate)
                wrong[name].append(risk.incorrect)
                links = make().fit(a).link(b, probability=True)
                if links.probability is not None:
                    sure[name].append(sure_links(links.probability, np.asarray(risk.per_user)))
                if name == "ProfileBayes":
                    said.append((links.probability, np.asarray(risk.per_user)))
                    errors.append(reliability(*said[-1])[1])
            matched.append(measure.matching(ATTACKS["ProfileBayes"](), a, b, seed=0, orders=1).rate)
        print(f"\n{model}, 30 epochs, {seeds} seeds: mean (lowest to highest)")
        for name in ATTACKS:
            at = shown(sure[name]) if sure[name] else "-"
            print(f"  {name:16} right {shown(rates[name])}   wrong {np.mean(wrong[name]):.3f}   at 4 % wrong {at}")
        print(f"  ProfileBayes, matching {shown(matched)}")
        table, pooled = reliability(*(np.concatenate(x) for x in zip(*said, strict=True)))
        print(f"  expected calibration error: all seeds {pooled:.3f}, each seed {shown(errors)}")
        for low, share, mean, right in table:
            print(
                f"    said {low:.1f} to {low + 0.1:.1f}: {share:6.1%} of the links, {mean:.3f} said, {right:.3f} right"
            )


def reliability(probability: np.ndarray, right: np.ndarray) -> tuple[list[tuple[float, float, float, float]], float]:
    """Return rows (from, share of links, mean probability, share right) by tenths, and the mean gap."""
    tenth = np.minimum((10 * probability).astype(int), 9)
    rows = []
    for b in np.unique(tenth):
        here = tenth == b
        rows.append((b / 10, float(here.mean()), float(probability[here].mean()), float(right[here].mean())))
    return rows, sum(share * abs(mean - good) for _, share, mean, good in rows)


def scale(rates: populations.Rates, queries: int) -> None:
    """Print time and memory of a sample of queries against all targets."""
    a, b = two_sites(rates, seed=0)
    rows = np.sort(np.random.default_rng(0).choice(len(b), queries, replace=False))
    asked = b.take(rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    attack = attacks.ProfileBayes(5, 0.05).fit(a)
    fitted = time.perf_counter()
    links = attack.link(asked, probability=True)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    right = float(np.mean(links.target == rows))
    weighted = attacks.WeightedHamming(5, 0.05).fit(a)
    middle = time.perf_counter()
    other = float(np.mean(weighted.link(asked).target == rows))
    last = time.perf_counter() - middle
    pairs = len(a) * queries
    print(f"\n{len(a):,} targets, {queries:,} queries, 30 epochs")
    print(f"  ProfileBayes     fit {fitted - start:6.1f} s, link with probability {done - fitted:7.1f} s, "
          f"{pairs / (done - fitted):.2g} pairs/s, right {right:.3f}, said {links.probability.mean():.3f}")  # fmt: skip
    print(f"  WeightedHamming  link {last:6.1f} s, {pairs / last:.2g} pairs/s, right {other:.3f}")
    print(f"  peak memory {peak:.2f} GiB, {before:.2f} GiB of it before the attack")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--users", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--large", action="store_true", help="10,000 queries against a million targets")
    chosen = parser.parse_args()
    try:
        matrix = populations.read_rates(data_file("topics_rates_jha/lambda-user-topic.csv.gz"), n_topics=349)
    except ReidRiskError as error:
        raise SystemExit(f"{error}") from error
    if chosen.seeds:
        compare(matrix, chosen.seeds)
    for n in chosen.users:
        scale(populations.crossover(matrix, n, 0), min(n, chosen.queries))
    if chosen.large:
        scale(populations.crossover(matrix, 1_000_000, 0), 10_000)


if __name__ == "__main__":
    main()
