"""How many people attacks find in a changed case: person by person, whatever pseudonyms they have."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks import Attack, Clock, Entry
from reidrisk.attacks.registry import nameable
from reidrisk.base import DataError, Floats, Ints, Note, Risk, mean_interval
from reidrisk.measure.jackknife import queries_per_person
from reidrisk.measure.risk import credits, linked
from reidrisk.mechanisms import TopKNoise
from reidrisk.mitigations import rows as observed
from reidrisk.mitigations.aware import Blurred
from reidrisk.mitigations.base import Side, View
from reidrisk.records import Attributes, Case, TopSets
from reidrisk.records.base import breadth
from reidrisk.search.engines import Engine


@dataclass(frozen=True, eq=False)
class Trial:
    """How changes are tried.

    ``side`` is released and so changed. ``mechanism`` is what is known of the system, as an audit declares it.
    ``sample`` queries are asked about, drawn with ``seed``; default: as many as fit in the time. Intervals are of
    ``level``; ``engine`` is where targets are searched. ``top_sets`` are what the system held of the known people,
    row by row, where that is known; ``taxonomy`` says the parent of labels, for merging items into parents.
    """

    side: Side = "queries"
    mechanism: TopKNoise | None = None
    sample: int | None = None
    seed: int = 0
    level: float = 0.95
    engine: Engine | None = None
    top_sets: TopSets | None = None
    taxonomy: Mapping[str, str] | None = None


def found(attack: Attack[Any], view: View, rows: Ints, engine: Engine | None = None) -> tuple[Floats, Floats]:
    """Return how likely each of these queries is found, and whether it was left without any answer.

    ``rows`` are queries before the change, ascending. A person with several pseudonyms is found if any is linked to
    them: 1 - prod (1 - credit). A query that the change left out is found by nobody.
    """
    case = view.case
    chosen = np.flatnonzero(np.isin(view.part_of, rows))
    missed, silent = np.ones(len(rows)), np.ones(len(rows))
    if not len(chosen) or case.truth is None:
        return 1.0 - missed, silent
    place = np.searchsorted(rows, view.part_of[chosen])
    target = case.truth.target[chosen]
    asked = case.queries.take(chosen)
    if not all(observed.sizes(table).any() for table in (case.queries, case.targets)):
        # Nothing is left to compare: everybody ties with everybody.
        credit = np.where(target >= 0, 1.0 / len(case.targets), 0.0)
        answered = np.ones(len(chosen), dtype=np.bool_)
    else:
        attack.fit(case.targets).look_around(case.queries)
        links = linked(attack, asked, engine)
        answered = links.target >= 0
        credit = np.zeros(len(chosen))
        for right in _also(view, target):
            credit += credits(attack, asked, links, right)
    np.multiply.at(missed, place, 1.0 - np.minimum(credit, 1.0))
    np.multiply.at(silent, place, 1.0 - answered)
    return 1.0 - missed, silent


def _also(view: View, target: Ints) -> list[Ints]:
    """Return rows of targets that are right for each query, -1 = none: one list for each of a person's records."""
    if view.known_as is None:
        return [target]
    of = view.known_as[np.maximum(target, 0)]
    first = np.searchsorted(view.known_as, of)
    many = np.searchsorted(view.known_as, of, side="right") - first
    return [np.where((target >= 0) & (n < many), first + n, -1) for n in range(int(many.max(initial=1)))]


def risk_of_people(case: Case, rows: Ints, credit: Floats, silent: Floats, attack: str, trial: Trial) -> Risk:
    """Return the rate of people found among these queries of the case before any change."""
    truth = np.zeros(0, dtype=np.int64) if case.truth is None else case.truth.target[rows]
    crowd = queries_per_person(truth)
    low, high = mean_interval(credit, trial.level, crowd)
    rate, abstained = float(credit.mean()), float(np.minimum(silent, 1.0 - credit).mean())
    return Risk(
        rate=rate,
        low=min(low, rate),
        high=max(high, rate),
        incorrect=max(0.0, 1.0 - rate - abstained),
        abstained=abstained,
        baseline=float(np.mean(truth >= 0)) / len(case.targets),
        n_targets=len(case.targets),
        n_queries=len(rows),
        attack=attack,
        n_epochs=getattr(case.queries, "n_epochs", 0),
        level=trial.level,
        everyone=len(rows) == len(case.queries),
        seed=trial.seed,
        per_user=credit,
        design_effect=crowd,
        queries_per_person=crowd,
    )


def attackers(view: View, chosen: Sequence[Entry | Attack[Any]], trial: Trial, knows: bool) -> list[Attack[Any]]:
    """Return the attackers who meet this view; who ``knows`` of the change is told of its noise."""
    n = breadth(view.case.targets)
    system = trial.mechanism or TopKNoise(min(2, n), 0.0, n, "nothing")
    if knows and view.mechanism is not None:
        system = view.mechanism
    noise = 1.0 - (1.0 - system.noise) * (1.0 - (view.noise if knows else 0.0))
    told = TopKNoise(min(system.top_k, n), min(noise, 0.999), n, system.declared)
    made = [one.attack.knowing(told, trial.seed) if isinstance(one, Entry) else one for one in chosen]
    made = [view.case.met_by(attack) for attack in made]
    # Most attacks have no use for a noise that they are told of. Where the caller left the choice, one that has joins.
    usual = any(isinstance(one, Entry) for one in chosen) and not isinstance(view.case.queries, Attributes)
    both = 1.0 - (1.0 - min(view.noise, 0.999)) ** 2  # of either side, as far as two records agree
    return [*made, Blurred(both)] if knows and usual and both > 0.0 else made


def usual_attacks(case: Case) -> tuple[Entry, ...]:
    """Return the attacks that an audit runs on such records without being asked, the quick ones first."""
    periods = getattr(case.targets, "n_epochs", math.inf)
    fit = [one for one in nameable(type(case.targets)) if one.default and periods >= one.epochs]
    fit = [one for one in fit if one.attack.applies(case.targets, case.queries)]
    fit = [one for one in fit if not one.attack.reads_cells]  # changed records have no cells of a file
    # Changes are of items, and what they leave of the hours is not known: without the hours, both are measured alike.
    fit = [one for one in fit if one.attack is not Clock]
    return tuple(sorted(fit, key=lambda one: is_slow(one, case)))


def is_slow(one: Entry, case: Case) -> bool:
    """Whether an attack takes a while to learn, however few records it is asked about."""
    return one.cost(case.targets)(0) > 0.1


def strongest(case: Case, views: Sequence[tuple[View, bool]], rows: Ints, chosen: Sequence[Any], trial: Trial) -> Risk:
    """Return the largest rate of people found that any of these attackers reaches with any of these views."""
    best: Risk | None = None
    refused: list[Note] = []
    for view, knows in views:
        for attack in attackers(view, chosen, trial, knows):
            try:
                credit, silent = found(attack, view, rows, trial.engine)
            except DataError:  # too little is left of the records for this attack
                refused.append(Note("too-little-left", attack=attack.name))
                continue
            risk = risk_of_people(case, rows, credit, silent, attack.name, trial)
            best = risk if best is None or risk.rate > best.rate else best
    if best is None:
        raise DataError(
            f"none of the attacks {', '.join(note['attack'] for note in refused)} can compare these records"
        )
    return replace(best, notes=tuple(dict.fromkeys(refused))) if refused else best
