"""Forecasts of the rate among more people, beside exact runs with that many: predicted, measured, and what was missed.

The published population is measured among 1,000, 10,000 and 100,000 people and forecast for ten and a hundred times as
many (up to --largest); real data is measured on a tenth of its people (a hundredth too, where there are 10,000) and
forecast for all; simulated people of nine kinds are measured among 2,000 and forecast for 60,000, whose rate is that of
2,000 others. How the ways are put together was chosen on the first sets and on other seeds of the simulated people;
those held back had no say. Every row counts, however few are found. Beside the forecast stands what a user would write
down otherwise: the measured rate itself, as if it stayed the same.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.readers import READERS
from data.simulated import KINDS, people

from reidrisk import Traces, bench, measure, populations, topics
from reidrisk.attacks import Attack, NaiveBayes, TfIdf, WeightedHamming
from reidrisk.bench.sources import load
from reidrisk.records import Case, Truth

SEED = 7
QUERIES = 2_000
HERE = Path(__file__).parent
SETS = ("foursquare", "online-retail-choice", "cdnow", "lastfm", "msweb-choice")
HELD_BACK = ("online-retail-held-back", "msweb-held-back", "topics-users", "msnbc")


class Row(NamedTuple):
    """One curve: from how many people to how many, what was forecast and what was measured."""

    data: str
    attack: str
    start: int
    end: int
    before: float
    rate: float
    low: float
    high: float
    measured: float

    @property
    def held(self) -> bool:
        return self.low <= self.measured <= self.high


def published(largest: int) -> Iterator[Row]:
    """Forecast from people of the published population; the same people are among the larger ones."""
    sets = populations.published(largest, 8, seed=SEED)
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    known = api.expose(sets, seed=SEED, site="one")
    everyone = api.expose(sets, seed=SEED, site="two").take(np.arange(min(100_000, largest)))
    del sets
    for start in (1_000, 10_000, 100_000):
        ends = [n for n in (10 * start, 100 * start) if n <= largest]
        if ends:
            yield from _from(start, ends, known, everyone.take(np.arange(start)))


def _from(start: int, ends: list[int], known: Traces, asked: Traces) -> Iterator[Row]:
    rows = np.sort(np.random.default_rng(SEED).choice(start, min(QUERIES, start), replace=False))
    for epochs in (1, 2, 4, 8):
        for attack in (WeightedHamming(5, 0.05), NaiveBayes()):
            queries = asked.epochs(epochs).take(rows)
            small = known.take(slice(0, start)).epochs(epochs)
            found = measure.forecast(attack, small, queries, ends, truth=rows, sample=None, seed=SEED)
            for one in found.predicted:
                if isinstance(attack, NaiveBayes) and one.population > 1_000_000:
                    continue  # its counts of ten million do not fit into memory here
                targets = known.take(slice(0, one.population)).epochs(epochs)
                exact = measure.random_user(attack, targets, queries, truth=rows, sample=len(rows) - 1, seed=SEED)
                yield row(f"published, {epochs} weeks", found, one, exact.rate)


def real(names: tuple[str, ...], folder: Path) -> Iterator[Row]:
    """Forecast from a tenth of the people, and from a hundredth of many, to all of them."""
    manifest = bench.read_manifest(HERE / "data" / "manifest.toml")
    for data in manifest.only(list(names)).sets:
        read = load(data, folder, 20_000, SEED, READERS)
        for setting in ("halves", "later", "knows-2", "knows-4", "one-in-five"):
            case = None if not hasattr(read, "user") else bench.SETTINGS[setting](read, SEED)
            if case is None:
                continue
            for attack in (TfIdf(), NaiveBayes()):
                for part in (10, 100) if len(case.targets) >= 10_000 else (10,):
                    yield from from_a_part(f"{data.name}, {setting}", case, attack, part)


def from_a_part(name: str, case: Case, attack: Attack, part: int) -> Iterator[Row]:
    truth: Truth = case.truth
    sample = min(QUERIES, len(case.queries) - 1)
    whole = measure.random_user(attack, case.targets, case.queries, truth, sample=sample, seed=SEED)
    if whole.rate * sample < 10:
        return  # too few are found to tell a forecast from another
    n = max(len(case.targets) // part, 60)
    people = np.sort(
        np.random.default_rng(SEED).choice(np.unique(truth.target), min(n, len(case.queries)), replace=False)
    )
    rows = np.flatnonzero(np.isin(truth.target, people))
    own = np.searchsorted(people, truth.target[rows])
    found = measure.forecast(
        attack, case.targets.take(people), case.queries.take(rows), len(case.targets), truth=own, seed=SEED
    )
    yield row(name, found, found.predicted[0], whole.rate)


def simulated(seeds: int, start: int = 2_000, end: int = 60_000) -> Iterator[Row]:
    """Forecast from simulated people of every kind; the truth is measured on others than are forecast from."""
    for kind in KINDS:
        for seed in range(seeds):
            known, asked, attack = people(kind, end, seed)
            first, others = np.arange(start), np.arange(start, 2 * start)
            found = measure.forecast(attack, known.take(first), asked.take(first), end, truth=first, seed=SEED)
            exact = measure.random_user(attack, known, asked.take(others), truth=others)
            yield row(f"simulated, {kind}", found, found.predicted[0], exact.rate)


def row(data: str, found: measure.Forecast, one: measure.Predicted, measured: float) -> Row:
    before = found.measured[-1][1]
    made = Row(data, found.attack, found.n_targets, one.population, before, one.rate, one.low, one.high, measured)
    said = "" if made.held else "missed"
    print(
        f"| {data} | {found.attack} | {made.start:,} | {made.end:,} | {made.before:.2g} | {made.rate:.2g} "
        f"| {made.low:.2g} to {made.high:.2g} | {made.measured:.2g} | {said} |",
        flush=True,
    )
    return made


def summary(what: str, rows: list[Row]) -> None:
    if not rows:
        return
    errors = np.array([abs(one.rate / one.measured - 1) for one in rows])
    stay = np.array([abs(one.before / one.measured - 1) for one in rows])
    widths = np.median([one.high / max(one.low, 1e-12) for one in rows])
    held = sum(one.held for one in rows)
    print(
        f"{what}: {held} of {len(rows)} inside the interval, median width a factor of {widths:.2f}, median error "
        f"{np.median(errors):.0%}; taking the measured rate as it is: {np.median(stay):.0%}"
    )


def _names(rows: dict[str, list[Row]]) -> list[str]:
    return list(dict.fromkeys(one.data for one in rows.get("simulated", [])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000, help="people of the published population")
    parser.add_argument("--seeds", type=int, default=6, help="draws of each kind of simulated people")
    parser.add_argument("--only", choices=["published", "real", "simulated"])
    parser.add_argument("--out", type=Path, help="write the rows here, as JSON")
    asked = parser.parse_args()
    folder = Path(os.environ.get("REIDRISK_DATA", "../shared/data"))
    began = time.process_time()
    print("| data | attack | from | to | measured there | forecast | 90 % interval | measured | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows: dict[str, list[Row]] = {"published": [], "choice": [], "held back": []}
    if asked.only in (None, "published"):
        rows["published"] = list(published(asked.largest))
    if asked.only in (None, "real"):
        rows["choice"], rows["held back"] = list(real(SETS, folder)), list(real(HELD_BACK, folder))
    if asked.only in (None, "simulated"):
        rows["simulated"] = list(simulated(asked.seeds))
    together = [one for part in rows.values() for one in part]
    kinds = {name: [one for one in rows.get("simulated", []) if one.data == name] for name in _names(rows)}
    for what, part in (*rows.items(), *kinds.items(), ("all", together)):
        summary(what, part)
    summary("a hundredfold", [one for one in together if one.end >= 50 * one.start])
    print(f"{time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    if asked.out is not None:
        asked.out.write_text(json.dumps({what: [one._asdict() for one in part] for what, part in rows.items()}))


if __name__ == "__main__":
    main()
