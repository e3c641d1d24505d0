"""Run a benchmark: every attack that needs nothing but records, on the same queries of each data set and setting."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from reidrisk.attacks import Attack, Links, registry
from reidrisk.attacks.registry import Entry
from reidrisk.base import Note, Progress, ReidRiskError, Risk, Steps, mean_interval, of_class
from reidrisk.base.specs import Spec
from reidrisk.bench.manifest import EMBEDDED, DataSet, Manifest
from reidrisk.bench.result import Assigned, Bench, Expected, Row, Used
from reidrisk.bench.settings import SETTINGS
from reidrisk.bench.sources import Reader, Sites, load
from reidrisk.measure import Calibration, calibration, difference, matching
from reidrisk.measure.risk import chosen_queries, linked, risk_of_links
from reidrisk.mechanisms import TopKNoise
from reidrisk.records import Bags, Case, Events, Traces, Truth

_SMALL = 50  # targets of a first try, which is not timed
_OF_THE_RISK = ("attack", "rate", "low", "high", "baseline", "n_targets", "n_queries", "covers")


class BenchSpec(Spec):
    """What is compared: attacks and settings by name, default: all; how many people and queries; the seed.

    In each setting, ``assigned`` of the best attacks that link queries one by one are tried with a one-to-one
    assignment, too.
    """

    attacks: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    users: int = Field(default=2_000, ge=2)
    queries: int = Field(default=500, ge=1)
    seed: int = Field(default=0, ge=0)
    level: float = Field(default=0.95, ge=0.8, le=0.9999)
    assigned: int = Field(default=0, ge=0)

    @field_validator("attacks")
    @classmethod
    def _registered(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _known(names, [entry.name for entry in _nameable()])

    @field_validator("settings")
    @classmethod
    def _settings(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return _known(names, list(SETTINGS))

    def entries(self, records: Traces | Bags) -> list[Entry]:
        """Return the attacks to run on such records."""
        epochs = getattr(records, "n_epochs", None)
        able = (entry for entry in _nameable() if type(records) in entry.kinds)
        wanted = (entry for entry in able if not self.attacks or entry.name in self.attacks)
        return [entry for entry in wanted if epochs is None or epochs >= entry.epochs]


def run(
    manifest: Manifest | None = None,
    spec: BenchSpec | None = None,
    readers: Mapping[str, Reader] | None = None,
    progress: Progress | None = None,
) -> Bench:
    """Try every attack on every data set of the manifest, default: :data:`EMBEDDED`, in every setting.

    Of a data set at most ``spec.users`` people are drawn, of a case at most ``spec.queries`` queries are scored; the
    attacker sees all records. All attacks get the same queries, so differences are paired. ``readers`` read further
    formats. What cannot be read or run is left out and noted. Where the attacker holds all queries, attacks that weigh
    them against each other do; where he knows facts of one person, they link one by one.

    >>> found = run(spec=BenchSpec(attacks=("hamming",), users=50))
    >>> [(row.data, row.setting, row.attack) for row in found.rows]
    [('published', 'two-tables', 'Hamming')]
    """
    spec, manifest = spec or BenchSpec(), manifest or EMBEDDED
    of_class("manifest", manifest, Manifest, "a Manifest, such as bench.read_manifest(path)")
    of_class("spec", spec, BenchSpec, "a BenchSpec")
    settings = [name for name in SETTINGS if not spec.settings or name in spec.settings]
    steps = Steps(progress, total=len(manifest.sets) * len(settings))
    rows: list[Row] = []
    used: list[Used] = []
    left_out = [Note("attack-needs", attack=entry.name, needs=list(entry.needs)) for entry in registry() if entry.needs]
    for data in manifest.sets:
        found = load(data, manifest.folder, spec.users, spec.seed, readers or {})
        if isinstance(found, Note):
            left_out.append(found)
            steps.begin(data.name, len(settings))
            continue
        used.append(_used(data, found))
        for name in settings:
            within = steps.within(f"{data.name}, {name}", 1.0)
            try:
                case = SETTINGS[name](found, spec.seed)
            except ReidRiskError as error:
                left_out.append(Note("setting-refused", data=data.name, setting=name, why=str(error)))
                continue
            if case is None or case.truth is None:
                continue
            mechanism = found.mechanism if isinstance(found, Sites) else None
            tried = list(_tried(case, mechanism, spec, within))
            left_out += [
                Note("attack-refused", data=data.name, setting=name, attack=entry.name, why=why)
                for entry, why in tried
                if isinstance(why, str)
            ]
            rows += _rows(data, name, _with_assigned(case, tried, mechanism, spec))
    return Bench(
        spec.seed, spec.users, spec.queries, spec.level, version("reidrisk"), tuple(rows), tuple(used), tuple(left_out)
    )


@dataclass(frozen=True, eq=False)
class _Tried:
    risk: Risk
    calibration: Calibration | None
    expected: Expected | None
    seconds: float
    assigned: Risk | None = None


def _tried(
    case: Case, mechanism: TopKNoise | None, spec: BenchSpec, progress: Progress
) -> Iterator[tuple[Entry, _Tried | str]]:
    """Give each attack with what it reached, or with why it refused."""
    entries = [one for one in spec.entries(case.targets) if spec.attacks or case.suits(one.attack)]
    small = Case(case.targets.take(np.arange(min(_SMALL, len(case.targets)))), case.queries.take(np.arange(1)), None)
    for i, entry in enumerate(entries):
        progress(entry.name, i / len(entries))
        try:
            with suppress(ReidRiskError):  # what is compiled or loaded on first use is no part of the seconds
                _linked(entry, small, small.queries, mechanism, spec)
            yield entry, _measured(entry, case, mechanism, spec)
        except ReidRiskError as error:
            yield entry, str(error)


def _measured(entry: Entry, case: Case, mechanism: TopKNoise | None, spec: BenchSpec) -> _Tried:
    targets, queries, truth = case
    rows, seed = chosen_queries(len(queries), spec.queries, spec.seed)
    asked = queries if rows is None else queries.take(rows)
    known = truth if rows is None else Truth(truth.target[rows], truth.origin)
    began = time.perf_counter()
    attack, links = _linked(entry, case, asked, mechanism, spec)
    seconds = time.perf_counter() - began
    risk = risk_of_links(attack, targets, asked, links, known, rows is None, seed, spec.level)
    sure = None
    if links.probability is not None and risk.per_user is not None:
        sure = calibration(links.probability, risk.per_user, links.n_ties, spec.seed)
    guess = getattr(attack, "estimate_", None)  # of those that rehearse
    expected = None if guess is None else Expected(guess.rate, guess.low, guess.high)
    return _Tried(risk, sure, expected, seconds)


def _linked(
    entry: Entry, case: Case, asked: Any, mechanism: TopKNoise | None, spec: BenchSpec
) -> tuple[Attack[Any], Links]:
    attack = _made(entry, case, mechanism, spec)
    return attack, linked(attack.fit(case.targets).look_around(case.queries), asked, None, probability=True)


def _made(entry: Entry, case: Case, mechanism: TopKNoise | None, spec: BenchSpec) -> Attack[Any]:
    attack = entry.attack() if mechanism is None else entry.attack.knowing(mechanism, spec.seed)
    met: Attack[Any] = case.met_by(attack)
    return met


def _with_assigned(
    case: Case, tried: Sequence[tuple[Entry, _Tried | str]], mechanism: TopKNoise | None, spec: BenchSpec
) -> list[_Tried]:
    """Return what was reached, the best attacks that link one by one also by an assignment of all queries."""
    found = [(entry, one) for entry, one in tried if not isinstance(one, str)]
    alone = sorted((one.risk for _, one in found if one.risk.setting != "matching"), key=lambda risk: -risk.rate)
    best = [risk.attack for risk in alone[: spec.assigned]]
    rows, _ = chosen_queries(len(case.queries), spec.queries, spec.seed)
    made = []
    for entry, one in found:
        if one.risk.attack in best:
            attack = _made(entry, case, mechanism, spec)
            known = case.known_truth.target
            risk = matching(attack, case.targets, case.queries, known, spec.level, spec.seed, orders=1)
            assert risk.per_user is not None
            credit = risk.per_user if rows is None else risk.per_user[rows]
            low, high = mean_interval(credit, spec.level)
            scored = replace(
                risk, rate=float(credit.mean()), low=low, high=high, n_queries=len(credit), per_user=credit
            )
            one = replace(one, assigned=scored)
        made.append(one)
    return made


def _rows(data: DataSet, setting: str, tried: Sequence[_Tried]) -> Iterator[Row]:
    """Put each attack beside the best of them on the same queries."""
    for one in tried:
        best, risk = max((other.risk for other in tried), key=lambda other: other.rate), one.risk
        gap = difference(best, risk) if best is not risk else None
        behind, low, high = (gap.difference, gap.low, gap.high) if gap else (0.0, 0.0, 0.0)
        assigned = None
        if one.assigned is not None:
            by = difference(best, one.assigned, names=("best", "assigned"))
            assigned = Assigned(one.assigned.rate, by.difference, by.low, by.high)
        yield Row(
            data=data.name,
            setting=setting,
            **{name: getattr(risk, name) for name in _OF_THE_RISK},
            behind=behind,
            behind_low=low,
            behind_high=high,
            seconds=one.seconds,
            calibration=one.calibration,
            held_back=data.held_back,
            expected=one.expected,
            together=risk.setting == "matching",
            assigned=assigned,
        )


def _used(data: DataSet, found: Events | Sites) -> Used:
    if isinstance(found, Sites):
        sizes = len(found.targets), found.targets.n_tokens, int(found.targets.observed.sum())
    else:
        sizes = found.n_users, found.n_tokens, len(found)
    return Used(data.name, data.what, data.origin, data.licence, data.held_back, *sizes)


def _nameable() -> list[Entry]:
    able = (entry for entry in registry() if not entry.needs and not entry.attack.reads_cells)  # cases hold no file
    return [entry for entry in able if {Traces, Bags} & set(entry.kinds)]


def _known(names: tuple[str, ...], known: list[str]) -> tuple[str, ...]:
    for name in names:
        if name not in known:
            raise ValueError(f"must be of {', '.join(known)}")
    return names
