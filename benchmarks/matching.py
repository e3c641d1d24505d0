"""Everybody linked at once: the most likely matching beside what else the same scores, and more knowledge, would find.

On the populations of jha, 30 epochs, and on the published one, 8 epochs. All need the visit rates of jha
(REIDRISK_DATA); ``--told`` takes minutes a seed, and is for jha's populations alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from profile_bayes import people, rates_of_jha, two_sites
from scipy.optimize import linear_sum_assignment

from reidrisk import attacks, measure, populations, topics
from reidrisk.records import Traces
from reidrisk.search import GRID
from reidrisk_studies.jha.known_rates import KnownRates

NEAR, ROUNDS = 64, 300  # targets of a query whose claims count, and rounds of messages
LIKELY = "most likely matching"


def observed(matrix: np.ndarray, model: str, n: int, seed: int) -> tuple[Traces, Traces]:
    """Return what two sites see of people of a population."""
    if model != "published":
        return two_sites(people(matrix, model, n, seed), seed)
    sets = populations.published(n, 8, seed=seed)
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    one, two = (api.expose(sets, seed=seed, site=site) for site in "ab")
    return one, two


def scores(attack: attacks.ProfileBayes, targets: Traces, queries: Traces) -> np.ndarray:
    """Return the (q, n) scores, in nats."""
    rows, found = attack.candidates(queries, len(targets))
    matrix = np.empty(rows.shape)
    np.put_along_axis(matrix, rows, found / GRID, axis=1)
    return matrix


def assigned(values: np.ndarray) -> float:
    """Return the share of right links of the assignment with the largest sum."""
    rows, columns = linear_sum_assignment(values, maximize=True)
    return float(np.mean(rows == columns))


def marginals(matrix: np.ndarray) -> np.ndarray:
    """Return how probable each link is, since no two queries have one target: by belief propagation.

    The messages are those of :mod:`reidrisk.attacks.rehearsed.settled`, passed until they hardly change any more; where
    everybody is in both tables, targets far from a query are left out, for none of them is free.
    """
    near = np.argsort(-matrix, axis=1)[:, :NEAR]
    weights = np.exp(np.take_along_axis(matrix, near, axis=1) - matrix.max(axis=1, keepdims=True))
    message = np.zeros_like(weights)
    for _ in range(ROUNDS):
        wanted = weights * np.exp(message)
        others = wanted.sum(axis=1, keepdims=True) - wanted
        claims = weights / np.maximum(others, 1e-9 * wanted)
        total = np.bincount(near.ravel(), claims.ravel(), len(matrix))
        message = 0.5 * message - 0.5 * np.log1p(np.maximum(total[near] - claims, 0.0))
    wanted = weights * np.exp(message)
    chance = np.zeros_like(matrix)
    np.put_along_axis(chance, near, wanted / wanted.sum(axis=1, keepdims=True), axis=1)
    return chance


def found(a: Traces, b: Traces, taught: dict[str, attacks.ProfileBayes]) -> dict[str, float]:
    """Return right links: one record at a time, all at once, and with what other people taught."""
    truth = np.arange(len(b))
    attack = attacks.ProfileBayes(5, 0.05).fit(a)
    attack.link(b, probability=True)  # for the temperature
    matrix = scores(attack, a, b)
    chance = marginals(matrix / (attack.temperature_ or 1.0))
    right = {
        "one record at a time": float(np.mean(matrix.argmax(axis=1) == truth)),
        LIKELY: assigned(matrix),
        "matching with the most right links expected": assigned(chance),
        "likeliest target of each, all records known": float(np.mean(chance.argmax(axis=1) == truth)),
    }
    return right | {name: assigned(scores(other.facing(a), a, b)) for name, other in taught.items()}


def shown(values: Sequence[float]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):7.4f} (standard error {error:.4f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["iid", "crossover", "real", "published"])
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--others", type=int, default=10_000, help="other people of the population to learn from")
    parser.add_argument("--told", action="store_true", help="only whoever is told the rates of every target")
    chosen = parser.parse_args()
    matrix = rates_of_jha()
    for model in chosen.models:
        taught, runs = {}, []
        if model != "real" and chosen.others and not chosen.told:
            others = observed(matrix, model, chosen.others, 1 << 40)[0]
            for kinds in (3, 8):
                name = f"most likely, {chosen.others:,} others known, {kinds} kinds"
                taught[name] = attacks.ProfileBayes(5, 0.05, kinds=kinds).fit(others)
        for seed in range(chosen.first, chosen.first + chosen.seeds):
            a, b = observed(matrix, model, 1_000, seed)
            if chosen.told:
                rates = people(matrix, model, 1_000, seed)
                told = KnownRates(rates.toarray(), 5, 0.05, whose=np.arange(len(a)))
                alone = measure.random_user(told, a, b).rate
                runs.append({"told, one at a time": alone, LIKELY: measure.matching(told, a, b, seed=0, orders=1).rate})
            else:
                runs.append(found(a, b, taught))
        print(f"\n{model}, seeds {chosen.first} to {chosen.first + chosen.seeds - 1}: right links; beyond '{LIKELY}'")
        for name in runs[0]:
            each, gains = zip(*((run[name], run[name] - run[LIKELY]) for run in runs), strict=True)
            print(f"  {name:46} {shown(each)}   {shown(gains)}", flush=True)


if __name__ == "__main__":
    main()
