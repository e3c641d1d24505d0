"""ProfileBayes: how many links are right beside the attacks of the papers, and time and memory at a million targets.

``--parts`` measures instead what each part of it is worth, what gaps cost, and bags of a large vocabulary.

All of it needs the visit rates of jha (REIDRISK_DATA).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence

import numpy as np

from reidrisk import attacks, measure, populations, topics
from reidrisk.base.errors import ReidRiskError
from reidrisk.records import Bags, Traces
from reidrisk_studies.data import data_file
from reidrisk_studies.jha import personas

API = topics.TopicsAPI(n_topics=349)
ATTACKS: dict[str, Callable[[], attacks.Attack[Traces]]] = {
    "Hamming": attacks.Hamming,
    "WeightedHamming": lambda: attacks.WeightedHamming(5, 0.05),
    "LooseSets": attacks.LooseSets,
    "ProfileBayes": lambda: attacks.ProfileBayes(5, 0.05),
}


def rates_of_jha() -> np.ndarray:
    """Return the visit rates of jha's users, or say that they are not here and stop."""
    try:
        return populations.read_rates(data_file("topics_rates_jha/lambda-user-topic.csv.gz"), n_topics=349)
    except ReidRiskError as error:
        raise SystemExit(f"{error}") from error


def two_sites(rates: populations.Rates, seed: int, epochs: int = 30) -> tuple[Traces, Traces]:
    """Return what two sites see of people with these rates."""
    one, two = sites(rates, seed, "ab", epochs)
    return one, two


def sites(rates: populations.Rates, seed: int, names: str, epochs: int = 30) -> list[Traces]:
    sets = API.top_sets(rates, epochs=epochs, seed=seed)
    return [API.expose(sets, seed=seed, site=site) for site in names]


def people(matrix: np.ndarray, model: str, n: int, seed: int) -> populations.Rates:
    if model == "real":
        return populations.real(matrix)
    return {"iid": personas.iid, "crossover": personas.crossover}[model](matrix, n, seed)


def sure_links(probability: np.ndarray, right: np.ndarray, wrong: float = 0.04) -> float:
    """Return the share of right links of an attacker who answers while at most a share ``wrong`` of links is wrong."""
    order = np.argsort(-probability, kind="stable")
    within = np.cumsum(1.0 - right[order]) / len(right) <= wrong
    return float(np.cumsum(right[order])[within][-1] / len(right)) if within.any() else 0.0


def shown(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def compare(matrix: np.ndarray, seeds: Sequence[int]) -> None:
    """Print rates of right links, mean and range over seeds, and the reliability of ProfileBayes's probability."""
    for model in ("iid", "crossover", "real"):
        rates: dict[str, list[float]] = {name: [] for name in ATTACKS}
        sure: dict[str, list[float]] = {name: [] for name in ATTACKS}
        wrong: dict[str, list[float]] = {name: [] for name in ATTACKS}
        matched, said, errors = [], [], []
        for seed in seeds:
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
        print(f"\n{model}, 30 epochs, {len(seeds)} seeds: mean (lowest to highest)")
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


def parts(matrix: np.ndarray, seeds: Sequence[int]) -> None:
    """Print right links with parts left out or tokens missing, mean and range over seeds."""
    for model in ("iid", "crossover", "real"):
        found: dict[str, list[float]] = {}
        said: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for seed in seeds:
            a, b, c = sites(people(matrix, model, 1_000, seed), seed, "abc")
            rng = np.random.default_rng(seed)
            apart = [without(x, rng.random(x.tokens.shape) < 0.3) for x in (a, b)]
            missed = rng.random(a.tokens.shape) < 0.3
            alike = [without(x, missed) for x in (a, b)]
            bayes, one_kind = attacks.ProfileBayes(5, 0.05), attacks.ProfileBayes(5, 0.05, kinds=1)
            for name, attack, one, two in (
                ("ProfileBayes", bayes, a, b),
                ("one kind of user", one_kind, a, b),
                ("without the same epoch", attacks.ProfileBayes(), a, b),
                ("30 % missing, each site its own", bayes, *apart),
                ("the same, weighted Hamming", ATTACKS["WeightedHamming"](), *apart),
                ("30 % missing, both sites the same", bayes, *alike),
                ("21 epochs", bayes, a.epochs(21), b.epochs(21)),
                ("two colluding sites", bayes, attacks.pool([a, c]), b),
            ):
                risk = measure.random_user(attack, one, two)
                found.setdefault(name, []).append(risk.rate)
                if "missing" in name:
                    sure = attack.fit(one).link(two, probability=True).probability
                    said.setdefault(name, []).append((sure, np.asarray(risk.per_user)))
        print(f"\n{model}, 30 epochs, {len(seeds)} seeds: right links, mean (lowest to highest)")
        for name, rates in found.items():
            print(f"  {name:34} {shown(rates)}", end="")
            if name in said:
                pooled = reliability(*(np.concatenate(x) for x in zip(*said[name], strict=True)))[1]
                each = [reliability(*pair)[1] for pair in said[name]]
                mean = np.mean([sure.mean() for sure, _ in said[name]])
                print(f"   said {mean:.3f}, calibration error: all seeds {pooled:.3f}, each {shown(each)}", end="")
            print()


def without(traces: Traces, missing: np.ndarray) -> Traces:
    return Traces(np.where(missing, -1, traces.tokens), traces.n_tokens)


def large_bags(seeds: Sequence[int], users: int = 600, items: int = 17_632, draws: int = 10) -> None:
    """Print right links and what was said of them for bags of rare items."""
    rates, probabilities = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        popular = 1.0 / np.arange(1, items + 1)
        taste = rng.dirichlet(50.0 * popular / popular.sum(), size=users)
        one, two = (Bags(np.stack([rng.multinomial(draws, row) for row in taste])) for _ in range(2))
        links = attacks.ProfileBayes().fit(one).link(two, probability=True)
        rates.append(float(np.mean(links.target == np.arange(users))))
        probabilities.append(float(links.probability.mean()))
    print(f"\nbags, {users} users, {items:,} items, {draws} draws: right {shown(rates)}, said {shown(probabilities)}")


def long_records(seeds: Sequence[int], users: int = 200, tokens: int = 6) -> None:
    """Print right links of long records without ``top_k``, beside the nearest histogram (Hellinger distance)."""
    print(f"\nlong records, {users} users, {tokens} tokens, {len(seeds)} seeds: right links, mean (lowest to highest)")
    for epochs in (60, 120, 240, 480, 1_000):
        ours, nearest, said = [], [], []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            chances = rng.dirichlet(np.ones(tokens), users)
            seen = [np.stack([rng.choice(tokens, epochs, p=row) for row in chances]) for _ in range(2)]
            links = attacks.ProfileBayes().fit(Traces(seen[0], tokens)).link(Traces(seen[1], tokens), probability=True)
            a, b = (np.sqrt((x[:, :, None] == np.arange(tokens)).mean(axis=1)) for x in seen)
            ours.append(float(np.mean(links.target == np.arange(users))))
            nearest.append(float(np.mean((b @ a.T).argmax(axis=1) == np.arange(users))))
            said.append(float(links.probability.mean()))
        print(f"  {epochs:5} epochs: ProfileBayes {shown(ours)}, said {np.mean(said):.3f}; histogram {shown(nearest)}")


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
    parser.add_argument("--these-seeds", type=int, nargs="+", help="seeds to use instead of the first ones")
    parser.add_argument("--parts", action="store_true", help="what each part is worth, and nothing else")
    parser.add_argument("--users", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--large", action="store_true", help="10,000 queries against a million targets")
    chosen = parser.parse_args()
    matrix = rates_of_jha()
    seeds = chosen.these_seeds or range(chosen.seeds)
    if chosen.parts:
        parts(matrix, seeds)
        large_bags(seeds)
        long_records(seeds)
        return
    if seeds:
        compare(matrix, seeds)
    for n in chosen.users:
        scale(personas.crossover(matrix, n, 0), min(n, chosen.queries))
    if chosen.large:
        scale(personas.crossover(matrix, 1_000_000, 0), 10_000)


if __name__ == "__main__":
    main()
