"""A search for an aim: how often its answer holds for fresh people of the same population, and how long it takes.

Both people in groups of one taste, where quick attacks are the strongest, and two logs of the same time, in which weak
tastes say little and common days much. Fresh people are judged with every attack that an audit runs by default.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from reidrisk import Bags, mitigations
from reidrisk.mitigations.scoring import Verdict, strongest, usual_attacks
from reidrisk.records import Case, Events, Truth
from reidrisk.scenarios import TwoTables


def groups(people: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    tastes = rng.gamma(0.3, 2.0, (people, 40))
    return Case(*(Bags(rng.poisson(tastes)) for _ in range(2)), Truth(np.arange(people), "rows"))


def logs(people: int, seed: int, days: int = 180, events: int = 30, shared: float = 0.12) -> Case:
    """Return two logs: a share of the second one's events is on days of the first one's, a third of them the same."""
    rng = np.random.default_rng(seed)
    popular = np.random.default_rng(0).dirichlet(np.full(40, 0.5))
    tastes = np.stack([rng.dirichlet(60.0 * popular + 1e-3) for _ in range(people)])
    who, when, what = ([[], []] for _ in range(3))
    for person in range(people):
        for side in range(2):
            many = 1 + rng.poisson(events - 1)
            day, item = rng.integers(days, size=many), rng.choice(len(popular), size=many, p=tastes[person])
            if side == 1:
                same, of = rng.random(many) < shared, rng.integers(len(when[0][-1]), size=many)
                day = np.where(same, when[0][-1][of], day)
                item = np.where(same & (rng.random(many) < 1 / 3), what[0][-1][of], item)
            when[side].append(day)
            who[side].append(np.full(many, person))
            what[side].append(item)
    start = np.datetime64("2024-01-01")
    columns = [[np.concatenate(one[side]) for one in (who, what, when)] for side in range(2)]
    tables = [{"who": who, "what": what, "day": start + day} for who, what, day in columns]
    return TwoTables(*(Events(table, user="who", items="what", time="day") for table in tables)).case(seed)


WORLDS = {"groups": groups, "logs": logs}


def fresh_rate(change: mitigations.Mitigation, worlds: list[Case]) -> tuple[float, str]:
    """Return the mean rate that the strongest of all attacks reaches on fresh people, and which one that is."""
    rates: dict[str, list[float]] = {}
    for case in worlds:
        views = [(change.released(case, 1), False), (change.known_to_attacker(case, 1), True)]
        rows = np.arange(len(case.queries))
        for one in usual_attacks(case):
            risk = strongest(case, views, rows, [one], mitigations.Trial())
            rates.setdefault(one.attack.__name__, []).append(risk.rate)
    means = {name: float(np.mean(each)) for name, each in rates.items()}
    best = max(means, key=lambda name: means[name])
    return means[best], best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=list(WORLDS), default="logs")
    parser.add_argument("--people", type=int, default=600)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="seed of the first trial")
    parser.add_argument("--aim", type=float, default=0.05)
    parser.add_argument("--budget", type=float, default=60.0, help="reference seconds for a search")
    parser.add_argument("--fresh", type=int, default=1, help="fresh populations on which an answer is judged")
    asked = parser.parse_args()
    make = WORLDS[asked.world]
    worlds = [make(asked.people, 1_000_000 + i) for i in range(asked.fresh)]
    known: dict[str, tuple[float, str]] = {}
    held, seconds = [], []
    for seed in range(asked.first, asked.first + asked.trials):
        case = make(asked.people, seed)
        trial = mitigations.Trial(seed=seed)
        verdict = Verdict.of(case, usual_attacks(case), trial)
        began = time.process_time()
        answer = mitigations.search(case, asked.aim, budget=asked.budget, trial=trial, verdict=verdict)
        seconds.append(time.process_time() - began)
        before = f"{verdict.risk.rate:.3f} by {verdict.risk.attack}"
        if answer.found is None:
            print(f"{seed}: {before}; none confirmed, best {answer.best.change}", flush=True)
            continue
        text, risk = answer.found.change, answer.found.risk
        if text not in known:
            known[text] = fresh_rate(mitigations.named(text), worlds)
        rate, attack = known[text]
        held.append(rate <= asked.aim)
        promised = f"{risk.rate:.3f} (at most {risk.high:.3f}) by {risk.attack}"
        print(f"{seed}: {before}; {text}, {promised}; fresh people {rate:.3f} by {attack}", flush=True)
    print(f"an answer in {len(held)} of {asked.trials} trials; fresh people within {asked.aim:g} in {sum(held)}")
    print(f"a search takes {np.median(seconds):.1f} s of processor time at {asked.people:,} people")


if __name__ == "__main__":
    main()
