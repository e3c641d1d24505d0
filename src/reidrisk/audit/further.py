"""What an audit is asked beside the risk: what would lower it, what gives people away, and what if there were more."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk import measure, mitigations
from reidrisk.attacks import Attack, Rehearsed, registry
from reidrisk.audit.spec import AuditSpec
from reidrisk.base import DataError, Ints, Note, OptionError, Progress, Result, Risk
from reidrisk.base.options import option
from reidrisk.io.taxonomy import read_taxonomy, roots
from reidrisk.mitigations import Trial
from reidrisk.mitigations.base import Side
from reidrisk.mitigations.scoring import Verdict, seconds_of
from reidrisk.records import Attributes, Case, TopSets, Traces, Truth
from reidrisk.records.base import breadth
from reidrisk.search.engines import Engine

_PEOPLE, _FEWEST = 2_000, 300  # limit: records that are asked about where they are taken apart, at most and at least
_KINDS, _PAIRS = (
    4,
    7,
)  # limit: parts of records without periods or columns; measurements beside one with and one without each
_FOR_PARTS = 1 / 3  # limit: of the time: what gives people away


@dataclass(frozen=True, eq=False)
class Further(Result):
    """Answers that were asked for beside the risk; ``None``: not asked for, or there is none, as ``notes`` say."""

    what_if: mitigations.WhatIf | None = None
    aim: mitigations.Found | None = None
    attribution: measure.Attribution | None = None
    forecast: measure.Forecast | None = None
    notes: tuple[Note, ...] = ()


def is_asked(spec: AuditSpec) -> bool:
    """Whether a spec asks for anything beside the risk."""
    return bool(spec.what_if or spec.changes or spec.taxonomy) or spec.aim is not None or spec.population is not None


def further(
    case: Case,
    spec: AuditSpec,
    verdict: Verdict | None,
    *,
    scenario: Note | None = None,
    plain: Attack[Any] | None = None,
    strongest: Attack[Any] | None = None,
    engine: Engine | None = None,
    top_sets: TopSets | None = None,
    read: Sequence[Note] = (),
    progress: Progress | None = None,
) -> Further | None:
    """Answer what the spec asks for beside the risk; nothing where it asks for nothing or who is whom is not known.

    Changes are held against the ``verdict``. ``strongest`` is its attack as it was fitted: it says what if there were
    more. What gives people away says the strongest of those that learn quickly, ``plain``, since it learns anew for
    each part; default: the strongest. Of ``spec.what_if_budget``, changes have two thirds, and what gives people away
    the rest. ``read`` are the notes on how the files were understood.
    """
    if case.truth is None or verdict is None or strongest is None or not is_asked(spec):
        return None
    known = _with_counterpart(case)
    system = spec.mechanism(breadth(case.targets))
    side = released_side(scenario)
    kinds = None if spec.taxonomy is None or case.compound else read_taxonomy(spec.taxonomy)
    trial = Trial(side, system, None, spec.seed or 0, spec.level, engine, top_sets, kinds)
    if read:
        files = {"targets": read[0], "queries": read[-1]}
        unused = files["targets" if side == "targets" else "queries"]["unused"]
        trial = replace(trial, items={name: tuple(one["items"]) for name, one in files.items()}, unused=tuple(unused))
    budget, changes = spec.what_if_budget, [mitigations.named(text) for text in spec.changes or ()]
    notes: list[Note] = [] if kinds is None else _missed(known, kinds)
    if case.compound and (spec.what_if or spec.taxonomy):
        notes.append(Note("items-known-with-more"))
    what_if = aim = parts = ahead = None
    if spec.what_if or changes:
        time = budget * (1.0 - _FOR_PARTS) if spec.what_if else budget
        what_if = _changes(case, spec, changes, trial, time, notes, verdict, progress)
    if spec.what_if or kinds is not None:
        parts = _parts(known, spec, plain or strongest, budget * _FOR_PARTS, notes, kinds)
    if spec.aim is not None:
        aim = mitigations.search(case, spec.aim, budget, trial=trial, progress=progress, verdict=verdict)
    if spec.population is not None:
        given = (known.targets, known.queries, spec.population, known.truth)
        ahead = measure.forecast(strongest, *given, seed=spec.seed)
    return Further(what_if, aim, parts, ahead, tuple(notes))


def verdict_of(
    worst: Risk | None,
    risks: Sequence[Risk],
    rows: Ints,
    chosen: Sequence[Attack[Any]],
    own: Sequence[Attack[Any]],
    look: Callable[[Case], Case] | None,
) -> Verdict | None:
    """Return what changes are held against: the strongest row, and the ``chosen`` attacks by the most each found."""
    if worst is None or worst.attack not in {one.name for one in chosen}:
        return None
    most = {risk.attack: max(one.rate for one in risks if one.attack == risk.attack) for risk in risks}
    by_class = {one.attack: one for one in registry()}
    # Those of the caller's own are taken as they are; others are made anew for what is known of each change.
    found = {one.name: one if one in own else by_class.get(type(one), one) for one in chosen if one.name in most}
    others = sorted((name for name in found if name != worst.attack), key=lambda name: -most[name])
    return Verdict(found[worst.attack], worst, rows, tuple(found[name] for name in others), look)


def _missed(case: Case, kinds: Mapping[str, str]) -> list[Note]:
    """Return how many items a taxonomy misses; refuse one that names none of them, and records without labels."""
    vocabulary = case.queries.vocabulary
    if vocabulary is None or isinstance(case.queries, Attributes):
        what = "columns" if vocabulary is not None else "no labels"
        raise OptionError(
            f"these records have {what}, and a taxonomy is of labels of items; leave it out ({option('taxonomy')})"
        )
    named = roots(kinds)
    missed = sum(label not in named for label in vocabulary.labels)
    if missed == len(vocabulary):
        raise OptionError(
            f"the taxonomy names none of the {missed:,} items; give one of these labels ({option('taxonomy')})"
        )
    return [Note("taxonomy-misses", n=missed, of=len(vocabulary))] if missed else []


def released_side(scenario: Note | None) -> Side:
    """Return which records of a case are released, and so changed.

    Who knows a few facts of a person looks them up in the released table: there, the known records are the released
    ones, and the facts are the attacker's own.
    """
    return "targets" if scenario is not None and scenario.code == "scenario-knows" else "queries"


def _changes(
    case: Case,
    spec: AuditSpec,
    changes: list[mitigations.Mitigation],
    trial: Trial,
    budget: float,
    notes: list[Note],
    verdict: Verdict,
    progress: Progress | None,
) -> mitigations.WhatIf | None:
    """Try the changes; where only what fits was asked for, none if there is no time for it."""
    if spec.what_if == "fits" and not changes:
        needed = mitigations.shortest(case, verdict, trial)
        if needed > budget:
            notes.append(Note("changes-left-out", **_too_long(needed, budget, spec)))
            return None
    found = mitigations.tried(case, changes or None, None, trial, budget, progress=progress, verdict=verdict)
    if found.tried or found.refused:
        return found
    notes.append(Note("no-change-fits"))
    return None


def _parts(
    case: Case,
    spec: AuditSpec,
    attack: Attack[Any],
    budget: float,
    notes: list[Note],
    kinds: Mapping[str, str] | None = None,
) -> measure.Attribution | None:
    """Take the records apart, on as many people as there is time for; none if that are too few."""
    given = (case.targets, case.queries, case.truth)
    seconds, n = seconds_of(attack, case), len(case.queries)
    sample = min(_PEOPLE, n)
    by = None if kinds is None else roots(kinds)
    n_parts = len(set(by.values())) + 1 if by is not None else _KINDS
    runs = 2 * (case.queries.n_epochs if isinstance(case.queries, Traces) and by is None else n_parts) + _PAIRS
    while sample > _FEWEST and runs * seconds(sample) > budget:
        sample //= 2
    if runs * seconds(sample) > budget and spec.what_if == "fits":
        notes.append(Note("parts-left-out", **_too_long(runs * seconds(sample), budget, spec)))
        return None
    try:
        return measure.attribution(
            attack, *given, by, sample, seed=spec.seed, level=spec.level, min_group=spec.min_group
        )
    except DataError:
        notes.append(Note("nothing-to-take-apart"))
        return None


def _too_long(needed: float, budget: float, spec: AuditSpec) -> dict[str, float]:
    """Return the whole budget that was given, and the one that what was left out takes."""
    whole = spec.what_if_budget
    return {"seconds": float(np.ceil(needed / budget * whole)), "budget": whole}


def _with_counterpart(case: Case) -> Case:
    """Return the case without people who are not among the targets: they would dilute every rate."""
    truth = case.known_truth
    rows = np.flatnonzero(truth.target >= 0)
    if len(rows) == len(truth.target):
        return case
    return replace(case, queries=case.queries.take(rows), truth=Truth(truth.target[rows], truth.origin))


def strongest_of(attacks: Sequence[Attack[Any]], name: str | None) -> Attack[Any] | None:
    """Return the attack of this name."""
    return next((attack for attack in attacks if attack.name == name), None)


def plain_of(attacks: Sequence[Attack[Any]], risks: Sequence[Risk]) -> Attack[Any] | None:
    """Return the attack with the largest rate of any row among those that do not rehearse, and take changed records."""
    plain = {one.name: one for one in attacks if not isinstance(one, Rehearsed) and not one.reads_cells}
    rows = [risk for risk in risks if risk.attack in plain]
    return plain[max(rows, key=lambda risk: risk.rate).attack] if rows else None
