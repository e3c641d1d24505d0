"""A search for an aim: how often its answer holds for fresh people of the same population, and how long it takes.

Beside it stands what a user would do by hand: try the usual strengths on everybody and take the mildest whose rate is
within the aim. Both answers are judged on fresh people, with the strongest attack of those that were used.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from reidrisk import Bags, mitigations
from reidrisk.mitigations.scoring import is_slow, strongest, usual_attacks
from reidrisk.records import Case, Truth


def world(people: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    tastes = rng.gamma(0.3, 2.0, (people, 40))
    return Case(*(Bags(rng.poisson(tastes)) for _ in range(2)), Truth(np.arange(people), "rows"))


def fresh_rate(change: mitigations.Mitigation, worlds: list[Case]) -> float:
    """Return the mean rate that the strongest attack reaches on fresh people."""
    rates = []
    for case in worlds:
        views = [(change.released(case, 1), False), (change.known_to_attacker(case, 1), True)]
        attacks = [one for one in usual_attacks(case) if not is_slow(one, case)]
        rates.append(strongest(case, views, np.arange(len(case.queries)), attacks, mitigations.Trial()).rate)
    return float(np.mean(rates))


def by_hand(case: Case, aim: float) -> mitigations.Mitigation | None:
    """Return the change that keeps most of those whose rate on these people is within the aim."""
    found = mitigations.tried(case, budget=5.0)
    good = [one for one in found.tried if one.risk.rate <= aim and not one.change.startswith("drop-people")]
    return mitigations.named(max(good, key=lambda one: one.kept.overall).change) if good else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--aim", type=float, default=0.15)
    parser.add_argument("--budget", type=float, default=5.0, help="reference seconds for a search")
    parser.add_argument("--no-hand", action="store_true", help="leave out what a user would do by hand")
    asked = parser.parse_args()
    worlds = [world(asked.people, 1_000_000 + i) for i in range(4)]
    known: dict[str, float] = {}
    held: dict[str, list[bool]] = {"search": [], "by hand": []}
    seconds = []
    for seed in range(asked.trials):
        case = world(asked.people, seed)
        began = time.process_time()
        answer = mitigations.search(case, asked.aim, budget=asked.budget, trial=mitigations.Trial(seed=seed))
        seconds.append(time.process_time() - began)
        found = None if answer.found is None else mitigations.named(answer.found.change)
        for how, change in (("search", found), ("by hand", None if asked.no_hand else by_hand(case, asked.aim))):
            if change is not None:
                if change.text not in known:
                    known[change.text] = fresh_rate(change, worlds)
                held[how].append(known[change.text] <= asked.aim)
                print(f"{seed}: {how}, {change.text}, {known[change.text]:.4f} of fresh people found", flush=True)
    for how, kept in held.items():
        print(f"{how}: an answer in {len(kept)} of {asked.trials} trials; fresh people within the aim in {sum(kept)}")
    print(f"a search takes {np.median(seconds):.1f} s of processor time at {asked.people:,} people")


if __name__ == "__main__":
    main()
