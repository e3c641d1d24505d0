"""What would lower it, what gives people away, and a search for an aim: processor time and wall time of each.

Beside them stands one audit of the same case: what a user would run again after every change by hand.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from reidrisk import Bags, attacks, measure, mitigations, populations, topics
from reidrisk.audit import AuditSpec, audit_case
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Attributes, Case, Truth


def timed(what: str, run: Callable[[], Any]) -> tuple[Any, float]:
    """Run, and print the processor time of all threads beside the time on the clock."""
    began, clock = time.process_time(), time.perf_counter()
    found = run()
    used, passed = time.process_time() - began, time.perf_counter() - clock
    print(f"{what}: {used:.1f} s of processor time, {passed:.1f} s on the clock", flush=True)
    return found, used


def weeks(people: int, periods: int) -> tuple[Case, mitigations.Trial]:
    """Return what two sites see of the published population, and what is declared of the system."""
    sets = populations.published(people, periods, seed=0)
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    seen = (api.expose(sets, seed=0, site=site) for site in ("one", "two"))
    return Case(*seen, Truth(np.arange(people), "simulated")), mitigations.Trial(
        mechanism=TopKNoise(5, 0.05, sets.n_tokens)
    )


def changes(people: int, periods: int, budget: float) -> None:
    case, trial = weeks(people, periods)
    name = f"{people:,} people x {periods} periods"
    _, once = timed(f"one audit, {name}", lambda: audit_case(case, AuditSpec(system="topics", seed=0, budget=budget)))
    found, used = timed(f"what if, {name}", lambda: mitigations.tried(case, trial=trial, budget=budget))
    full = sum(one.full for one in found.tried)
    print(
        f"  {len(found.tried)} changes, {full} in full, on {found.before.n_queries:,} people; {used / once:.1f} audits"
    )


def parts(people: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    table = {f"column {i}": rng.integers(2 + 6 * i, size=people) for i in range(columns)}
    known = Attributes(table, columns=dict.fromkeys(table, "category"))
    given = (known, known, Truth(np.arange(people), "rows"))
    timed(
        f"what gives people away, {people:,} x {columns} attributes",
        lambda: measure.attribution(attacks.FellegiSunter(), *given, seed=0),
    )


def aim(people: int) -> None:
    rng = np.random.default_rng(0)
    tastes = rng.gamma(0.3, 2.0, (people, 40))
    case = Case(*(Bags(rng.poisson(tastes)) for _ in range(2)), Truth(np.arange(people), "rows"))
    found, _ = timed(f"search for an aim, {people:,} people", lambda: mitigations.search(case, 0.05))
    print(f"  {found.best.change}: {found.best.risk.rate:.3f} (up to {found.best.risk.high:.3f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["changes", "demo", "parts", "aim"])
    asked = parser.parse_args().only
    if asked in (None, "changes"):
        changes(3_000, 12, 60.0)
    if asked in (None, "demo"):
        changes(100_000, 8, 60.0)
    if asked in (None, "parts"):
        parts(30_000, 12)
    if asked in (None, "aim"):
        aim(5_000)


if __name__ == "__main__":
    main()
