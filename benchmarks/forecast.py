"""Forecasts of the rate among more people, beside exact runs with that many: predicted, measured, and what was missed.

The published population is measured among 100,000 people and forecast for a million and ten million (--largest); real
data is measured on a tenth of its people (a hundredth too, where there are 10,000) and forecast for all. The families'
weights were chosen on other draws of the first sets; those held back had no say. Beside the forecast stands what a user
would write down otherwise: the measured rate itself, as if it stayed the same.
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

from reidrisk import bench, measure, populations, topics
from reidrisk.attacks import Attack, NaiveBayes, TfIdf, WeightedHamming
from reidrisk.bench.reading import load
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

    @property
    def counts(self) -> bool:
        """Whether enough people are found, ten, to tell one forecast from another."""
        return self.measured * QUERIES >= 10


def published(largest: int) -> Iterator[Row]:
    """Forecast from 100,000 people of the published population; the same people are among the larger ones."""
    start = 100_000
    sets = populations.published(largest, 8, seed=SEED)
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    known = api.expose(sets, seed=SEED, site="one")
    asked = api.expose(sets, seed=SEED, site="two").take(np.arange(start))
    del sets
    rows = np.sort(np.random.default_rng(SEED).choice(start, QUERIES, replace=False))
    ends = [n for n in (1_000_000, 10_000_000) if n <= largest]
    for epochs in (1, 2, 4, 8):
        for attack in (WeightedHamming(5, 0.05), NaiveBayes()):
            queries = asked.epochs(epochs).take(rows)
            small = known.take(slice(0, start)).epochs(epochs)
            found = measure.forecast(attack, small, queries, ends, truth=rows, sample=None, seed=SEED)
            for one in found.predicted:
                if isinstance(attack, NaiveBayes) and one.population > 1_000_000:
                    continue  # its counts of ten million do not fit into memory here
                targets = known.take(slice(0, one.population)).epochs(epochs)
                exact = measure.random_user(attack, targets, queries, truth=rows, sample=QUERIES - 1, seed=SEED)
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


def row(data: str, found: measure.Forecast, one: measure.Predicted, measured: float) -> Row:
    before = found.measured[-1][1]
    made = Row(data, found.attack, found.n_targets, one.population, before, one.rate, one.low, one.high, measured)
    said = "few found" if not made.counts else "" if made.held else "missed"
    print(
        f"| {data} | {found.attack} | {made.start:,} | {made.end:,} | {made.before:.4f} | {made.rate:.4f} "
        f"| {made.low:.4f} to {made.high:.4f} | {made.measured:.4f} | {said} |",
        flush=True,
    )
    return made


def summary(what: str, every: list[Row]) -> None:
    rows = [one for one in every if one.counts]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000, help="people of the published population")
    parser.add_argument("--only", choices=["published", "real"])
    parser.add_argument("--out", type=Path, help="write the rows here, as JSON")
    asked = parser.parse_args()
    folder = Path(os.environ.get("REIDRISK_DATA", "../shared/data"))
    began = time.perf_counter()
    print("| data | attack | from | to | measured there | forecast | 90 % interval | measured | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows: dict[str, list[Row]] = {"published": [], "choice": [], "held back": []}
    if asked.only != "real":
        rows["published"] = list(published(asked.largest))
    if asked.only != "published":
        rows["choice"], rows["held back"] = list(real(SETS, folder)), list(real(HELD_BACK, folder))
    together = [one for part in rows.values() for one in part]
    for what, part in (*rows.items(), ("all", together)):
        summary(what, part)
    summary("a hundredfold", [one for one in together if one.end >= 50 * one.start])
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if asked.out is not None:
        asked.out.write_text(json.dumps({what: [one._asdict() for one in part] for what, part in rows.items()}))


if __name__ == "__main__":
    main()
