"""How many people attacks find in a changed case: person by person, whatever pseudonyms they have."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from reidrisk.attacks import Attack, Entry
from reidrisk.attacks.registry import by_search, nameable
from reidrisk.attacks.registry import registry as entries
from reidrisk.base import DataError, Floats, Ints, Note, Risk, mean_interval
from reidrisk.measure.jackknife import Gains
from reidrisk.measure.risk import chosen_queries, credits, linked, risk_of
from reidrisk.mechanisms import TopKNoise
from reidrisk.mitigations import rows as observed
from reidrisk.mitigations.aware import Blurred
from reidrisk.mitigations.base import Side, View
from reidrisk.records import Attributes, Case, TopSets, Traces, Truth
from reidrisk.records.base import breadth
from reidrisk.search.engines import Engine

Attacker = Entry | Attack[Any]
"""An attack of the registry, made anew for what is known of each change, or one as it was handed over."""


@dataclass(frozen=True, eq=False)
class Trial:
    """How changes are tried.

    ``side`` is released and so changed. ``mechanism`` is what is known of the system, as an audit declares it.
    ``sample`` queries are asked about, drawn with ``seed``; default: as many as fit in the time. Intervals are of
    ``level``; ``engine`` is where targets are searched. ``top_sets`` are what the system held of the known people,
    row by row, where that is known; ``taxonomy`` says the parent of labels, for merging items into parents. ``items``
    are the columns that items are made of, in the files of ``"targets"`` and ``"queries"``, and ``unused`` those of the
    released file that nothing but attacks on all cells looks at.
    """

    side: Side = "queries"
    mechanism: TopKNoise | None = None
    sample: int | None = None
    seed: int = 0
    level: float = 0.95
    engine: Engine | None = None
    top_sets: TopSets | None = None
    taxonomy: Mapping[str, str] | None = None
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


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
    empty = not all(observed.sizes(table).any() for table in (case.queries, case.targets))
    if empty and not attack.reads_cells:
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


def risk_of_people(
    case: Case, rows: Ints, credit: Floats, silent: Floats, attack: Attack[Any], trial: Trial, effect: float = 1.0
) -> Risk:
    """Return the rate of people found among these queries of the case before any change.

    Its interval allows for the design ``effect`` of the row that it is compared with.
    """
    truth = Truth(np.full(len(rows), -1) if case.truth is None else case.truth.target[rows], "given")
    abstained, everyone = float(np.minimum(silent, 1.0 - credit).mean()), len(rows) == len(case.queries)
    of = (attack, case.targets, case.queries.take(rows), truth, trial.level, everyone, Gains(None, "changed"))
    found = risk_of(credit, abstained, *of)
    effect = max(effect, found.design_effect)
    low, high = mean_interval(credit, trial.level, effect)
    low, high = min(low, found.rate), max(high, found.rate)
    return replace(found, low=low, high=high, design_effect=effect, covers="queries", seed=trial.seed)


def attackers(view: View, chosen: Sequence[Attacker], trial: Trial, knows: bool) -> list[Attack[Any]]:
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
    fit = [one for one in fit if case.suits(one.attack) and not (one.together and case.one_by_one)]
    fit = [one for one in fit if one.attack.applies(case.targets, case.queries)]
    return tuple(sorted(fit, key=lambda one: is_slow(one, case)))


def is_slow(one: Attacker, case: Case) -> bool:
    """Whether an attack takes a while to learn, however few records it is asked about."""
    return seconds_of(one, case)(0) > 0.1


def seconds_of(one: Attacker, case: Case) -> Callable[[int], float]:
    """Return what an attack costs in reference seconds, by the number of queries; one of the caller's own, a search."""
    known = one if isinstance(one, Entry) else next((each for each in entries() if each.attack is type(one)), None)
    if known is not None:
        return known.cost(case.targets)
    if isinstance(case.targets, Traces):
        return by_search(case.targets)
    return lambda n: n * len(case.targets) * 1e-8


def name_of(one: Attacker) -> str:
    """Return the name by which results know an attack."""
    return one.attack.__name__ if isinstance(one, Entry) else one.name


def strongest(
    case: Case,
    views: Sequence[tuple[View, bool]],
    rows: Ints,
    chosen: Sequence[Attacker],
    trial: Trial,
    effect: float = 1.0,
) -> Risk:
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
            risk = risk_of_people(case, rows, credit, silent, attack, trial, effect)
            best = risk if best is None or risk.rate > best.rate else best
    if best is None:
        names = ", ".join(dict.fromkeys(note["attack"] for note in refused))
        raise DataError(f"none of the attacks {names} can compare these records")
    return replace(best, notes=tuple(dict.fromkeys(refused))) if refused else best


@dataclass(frozen=True, eq=False)
class Verdict:
    """What changes are held against: the ``attack`` that found most people, and its ``risk`` on these ``rows``.

    ``others`` are the attacks that were tried beside it, the stronger first. Where the row is of a part of the records
    alone, ``look`` makes that part of a case.
    """

    attack: Attacker
    risk: Risk
    rows: Ints
    others: tuple[Attacker, ...] = ()
    look: Callable[[Case], Case] | None = None

    @classmethod
    def of(cls, case: Case, attacks: Sequence[Attacker], trial: Trial) -> Self:
        """Return that of a case: every attack is tried once on the records as they are."""
        there = np.flatnonzero(case.known_truth.target >= 0)
        rows, _ = chosen_queries(len(there), trial.sample, trial.seed)
        there = there if rows is None else there[rows]
        view, tried = View(case, np.arange(len(case.queries))), []
        for one in attacks:
            with suppress(DataError):
                tried.append((one, strongest(case, [(view, False)], there, [one], trial)))
        if not tried:
            raise DataError("none of the attacks can compare these records, so no change can be measured")
        tried.sort(key=lambda pair: -pair[1].rate)
        attack, risk = tried[0]
        return cls(attack, risk, there, tuple(one for one, _ in tried[1:]))

    def on(self, case: Case, rows: Ints, trial: Trial) -> Risk:
        """Return the same risk on some of the rows: itself on all of them."""
        if len(rows) == len(self.rows):
            return self.risk
        assert self.risk.per_user is not None
        credit = self.risk.per_user[np.searchsorted(self.rows, rows)]
        low, high = mean_interval(credit, trial.level, self.risk.design_effect)
        rate = float(credit.mean())
        left = min(self.risk.abstained, 1.0 - rate)
        few = replace(self.risk, n_queries=len(rows), everyone=False, per_user=credit, rates_without=None)
        few = replace(few, rate=rate, low=min(low, rate), high=max(high, rate), level=trial.level, covers="queries")
        return replace(few, incorrect=1.0 - rate - left, abstained=left)
