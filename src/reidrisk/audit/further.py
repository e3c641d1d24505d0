"""What an audit is asked beside the risk: what would lower it, what gives people away, and what if there were more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk import measure, mitigations
from reidrisk.attacks import Attack
from reidrisk.audit.spec import AuditSpec
from reidrisk.base.errors import DataError
from reidrisk.base.notes import Note
from reidrisk.base.progress import Progress
from reidrisk.base.results import Result
from reidrisk.mitigations import Trial
from reidrisk.records import Case, Truth
from reidrisk.search.engines import Engine

_PEOPLE = 2_000  # records that are asked about where the records are taken apart


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
    return spec.what_if or bool(spec.changes) or spec.aim is not None or spec.population is not None


def further(
    case: Case,
    spec: AuditSpec,
    strongest: Attack[Any] | None,
    *,
    questions: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Further | None:
    """Answer what the spec asks for beside the risk; nothing where it asks for nothing or who is whom is not known.

    ``strongest`` is the attack that found most people: it says what gives them away, and what if there were more.
    Where the case is one of several ``questions``, each has its part of ``spec.what_if_budget``.
    """
    if case.truth is None or strongest is None or not is_asked(spec):
        return None
    known = _with_counterpart(case)
    trial = Trial(mechanism=spec.mechanism(case.targets.n_tokens), seed=spec.seed or 0, level=spec.level, engine=engine)
    budget, changes = spec.what_if_budget / questions, [mitigations.named(text) for text in spec.changes or ()]
    notes: list[Note] = []
    what_if = aim = parts = ahead = None
    if spec.what_if or changes:
        what_if = mitigations.tried(known, changes or None, None, trial, budget, progress=progress)
        if not what_if.tried:
            what_if = None
            notes.append(Note("no-change-fits"))
    if spec.what_if:
        parts = _parts(known, spec, strongest, notes)
    if spec.aim is not None:
        aim = mitigations.search(known, spec.aim, budget, trial=trial, progress=progress)
    if spec.population is not None:
        given = (known.targets, known.queries, spec.population, known.truth)
        ahead = measure.forecast(strongest, *given, seed=spec.seed)
    return Further(what_if, aim, parts, ahead, tuple(notes))


def _parts(case: Case, spec: AuditSpec, attack: Attack[Any], notes: list[Note]) -> measure.Attribution | None:
    given = (case.targets, case.queries, case.truth)
    try:
        return measure.attribution(
            attack, *given, sample=_PEOPLE, seed=spec.seed, level=spec.level, min_group=spec.min_group
        )
    except DataError:
        notes.append(Note("nothing-to-take-apart"))
        return None


def _with_counterpart(case: Case) -> Case:
    """Return the case without people who are not among the targets: they would dilute every rate."""
    truth = case.known_truth
    rows = np.flatnonzero(truth.target >= 0)
    if len(rows) == len(truth.target):
        return case
    return Case(case.targets, case.queries.take(rows), Truth(truth.target[rows], truth.origin), case.notes)


def strongest_of(attacks: Sequence[Attack[Any]], name: str | None) -> Attack[Any] | None:
    """Return the attack of this name."""
    return next((attack for attack in attacks if attack.name == name), None)
