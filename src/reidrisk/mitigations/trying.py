"""What would lower it: each change, the people whom an adapted attacker finds, the difference, and what is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from reidrisk.attacks import Attack, Entry
from reidrisk.attacks.registry import by_search
from reidrisk.attacks.registry import registry as entries
from reidrisk.base import DataError, Difference, Ints, Note, OptionError, Progress, Result, Risk, Steps, of_class
from reidrisk.measure.comparison import difference
from reidrisk.measure.risk import chosen_queries
from reidrisk.mitigations.base import Mitigation, View
from reidrisk.mitigations.coarsen import to_parents
from reidrisk.mitigations.cost import Kept, kept
from reidrisk.mitigations.registry import registry
from reidrisk.mitigations.scoring import Trial, is_slow, strongest, usual_attacks
from reidrisk.mitigations.system import System, of_system
from reidrisk.records import Case, Traces

_FEWEST = 300  # people below which a rate says too little, unless there are no more
_FULL = 2  # strengths of a change that are tried with every attack

Utility = Callable[[Any], float]  # what the released records are used for, as a number: the larger, the better


@dataclass(frozen=True, eq=False)
class Tried(Result):
    """One change: ``risk`` is of the strongest attacker who knows of it, ``naive`` of the strongest who does not.

    ``difference`` is people found before minus after, on the same people, ``kept`` what the change leaves of the
    records. ``full``: whether every attack was tried, or the quick ones alone. ``pareto``: whether no other change
    that was tried in full finds fewer people and keeps as much, or keeps more at the same risk.
    """

    change: str
    risk: Risk
    naive: Risk
    difference: Difference
    kept: Kept
    full: bool = True
    pareto: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class WhatIf(Result):
    """All changes that were tried, and the risk ``before`` any of them, on the same people."""

    before: Risk
    tried: tuple[Tried, ...]
    attacks: tuple[str, ...]
    left_out: tuple[str, ...] = ()  # attacks that an audit runs and for which there was no time here
    side: str = "queries"
    refused: tuple[str, ...] = ()  # usual changes that would have left too little to judge them by

    @property
    def best(self) -> tuple[Tried, ...]:
        """The Pareto-optimal changes, the one with the lowest risk first."""
        return tuple(sorted((one for one in self.tried if one.pareto), key=lambda one: one.risk.rate))


@dataclass(frozen=True, eq=False)
class Run:
    """What all changes have in common: the case, who is asked about, and the attackers."""

    case: Case
    rows: Ints
    trial: Trial
    quick: tuple[Entry | Attack[Any], ...]
    slow: tuple[Entry, ...]
    utility: Utility | None
    _before: dict[tuple[bool, bytes], Risk] = field(default_factory=dict)

    def before(self, rows: Ints, full: bool) -> Risk:
        """Return the risk as it is of these queries; most changes are judged by the same ones."""
        key = (full, rows.tobytes())
        if key not in self._before:
            view = View(self.case, np.arange(len(self.case.queries)))
            self._before[key] = strongest(self.case, [(view, False)], rows, self.attacks(full), self.trial)
        return self._before[key]

    def attacks(self, full: bool) -> tuple[Any, ...]:
        """Return the attackers: all, or the quick ones."""
        return (*self.quick, *self.slow) if full else self.quick


def tried(
    case: Case,
    changes: Sequence[Mitigation] | None = None,
    attacks: Sequence[Attack[Any]] | None = None,
    trial: Trial | None = None,
    budget: float = 60.0,
    utility: Utility | None = None,
    progress: Progress | None = None,
) -> WhatIf:
    """Try changes on the same people, with attackers who know of them, and say what each buys and costs.

    ``changes``: default, the usual strengths of all that fit the records. Each is met by the ``attacks`` (default:
    those an audit runs on such records), fitted again on the changed records, as they are released and as whoever knows
    of the change makes them; the strongest counts. First all strengths are tried with the quick attacks, then the best
    two of each change with all, within a ``budget`` of reference seconds; queries are sampled so that it suffices.
    ``utility`` is a use of the released records, a function from them to a number.

    >>> from reidrisk import Traces, mitigations
    >>> rng = np.random.default_rng(0)
    >>> table = Traces(rng.integers(8, size=(60, 6)), n_tokens=8)
    >>> from reidrisk.records import Truth
    >>> found = tried(Case(table, table, Truth(np.arange(60), "rows")), [mitigations.Shorten(periods=1)])
    >>> found.before.rate, found.tried[0].risk.rate < 0.2
    (1.0, True)
    """
    trial = trial or Trial()
    of_class("what is changed", case, Case, "a Case, such as scenarios.Split(log).case(seed=1)")
    if case.truth is None:
        raise DataError("who is whom is not known in this case, so no change can be measured; give the true pairs")
    chosen = usual_changes(case, trial) if changes is None else tuple(changes)
    wrong = next((one for one in chosen if not isinstance(one, Mitigation)), None)
    if wrong is not None:
        raise OptionError(f"changes are values such as mitigations.Rotate(4), not {wrong!r}; read texts with named()")
    chosen = tuple(one.within(trial) for one in chosen)
    run, out = planned(case, chosen, attacks, trial, budget, utility)
    steps = Steps(progress, total=2.0 * len(chosen) + 1.0)
    steps.begin("unchanged", 1.0)
    found, judged, refused = [], [], []
    for one in chosen:
        steps.begin(one.text, 1.0)
        try:
            found.append(try_one(run, one, full=not run.slow))
        except DataError:
            if changes is not None:
                raise
            refused.append(one.text)  # nobody asked for it by name
        else:
            judged.append(one)
    if run.slow:
        for place in _promising(judged, found):
            steps.begin(judged[place].text, 1.0)
            found[place] = try_one(run, judged[place], full=True)
    names = tuple(one.attack.__name__ if isinstance(one, Entry) else one.name for one in run.attacks(True))
    return WhatIf(run.before(run.rows, True), with_pareto(found), names, out, trial.side, tuple(refused))


def shortest(case: Case, trial: Trial | None = None) -> float:
    """Return the reference seconds that the usual changes take at least: with the quick attacks, on the fewest people.

    >>> from reidrisk import Traces
    >>> table = Traces(np.zeros((50, 2), dtype=int), n_tokens=4)
    >>> shortest(Case(table, table, None)) < 1.0
    True
    """
    usual = usual_attacks(case)
    quick = [one for one in usual if not is_slow(one, case)] or list(usual)
    size = min(len(case.queries), 2 * _FEWEST)
    return (2 * len(usual_changes(case, trial)) + 1) * sum(attack_cost(one, case)(size) for one in quick)


def usual_changes(case: Case, trial: Trial | None = None) -> tuple[Mitigation, ...]:
    """Return the usual strengths of all changes that fit the records of a case."""
    trial, found = trial or Trial(), []
    side = trial.side
    for entry in registry():
        if type(case.queries) in entry.kinds:
            own = of_system(trial, System.strengths) if entry.mitigation is System else entry.mitigation.usual(case)
            for one in own:
                try:
                    one.check(case, 0, side)
                except DataError:
                    break  # a change that these records do not allow
                found.append(one)
    merged = None if trial.taxonomy is None else to_parents(case, trial.taxonomy)
    return tuple(found) if merged is None else (*found, merged)


def planned(
    case: Case,
    changes: Sequence[Mitigation],
    attacks: Sequence[Attack[Any]] | None,
    trial: Trial,
    budget: float,
    utility: Utility | None,
) -> tuple[Run, tuple[str, ...]]:
    """Choose attacks and queries so that all fits in the time: by reference seconds, the same on every machine."""
    quick: tuple[Any, ...] = tuple(attacks or ())
    slow: tuple[Entry, ...] = ()
    if attacks is None:
        usual = usual_attacks(case)
        quick = tuple(one for one in usual if not is_slow(one, case))
        slow = tuple(one for one in usual if is_slow(one, case))
        if not quick:
            quick, slow = slow, ()
    elif not quick:
        raise OptionError("there is no attack to try changes with; leave attacks out, or give at least one")
    costs = {one: attack_cost(one, case) for one in (*quick, *slow)}
    size = len(case.queries) if trial.sample is None else min(trial.sample, len(case.queries))
    views = 2 * len(changes) + 1
    while trial.sample is None and size > 2 * _FEWEST and views * sum(costs[one](size) for one in quick) > budget / 2:
        size //= 2
    left = budget - views * sum(costs[one](size) for one in quick)
    fit: list[Entry] = []
    out: list[Entry] = []
    kinds = len({type(one) for one in changes})
    for one in sorted(slow, key=lambda one: costs[one](size)):
        needed = (2 * _FULL * kinds + 1) * costs[one](size)
        (fit if needed <= left else out).append(one)
        left -= needed if needed <= left else 0.0
    rows, _ = chosen_queries(len(case.queries), size, trial.seed)
    rows = np.arange(len(case.queries)) if rows is None else rows
    return Run(case, rows, trial, quick, tuple(fit), utility), tuple(one.name for one in out)


def attack_cost(one: Entry | Attack[Any], case: Case) -> Callable[[int], float]:
    """Return what an attack costs in reference seconds, by the number of queries; one of the caller's own, a search."""
    known = one if isinstance(one, Entry) else next((each for each in entries() if each.attack is type(one)), None)
    if known is not None:
        return known.cost(case.targets)
    if isinstance(case.targets, Traces):
        return by_search(case.targets)
    return lambda n: n * len(case.targets) * 1e-8


def try_one(run: Run, change: Mitigation, full: bool) -> Tried:
    """Measure one change: with every attack, or with the quick ones alone."""
    case, trial = run.case, run.trial
    released = change.released(case, trial.seed, trial.side)
    rows = run.rows if released.asked is None else np.intersect1d(run.rows, released.asked)
    if len(rows) < min(_FEWEST, len(run.rows) // 2):
        raise DataError(f"{change.text} leaves {len(rows)} queries to be judged by; ask about more of them")
    risk = naive = strongest(case, [(released, False)], rows, run.attacks(full), trial)
    if change.helps_to_know(trial.side):
        known = change.known_to_attacker(case, trial.seed, trial.side, rows)
        aware = strongest(case, [(known, True)], rows, run.attacks(full), trial)
        # Who knows of a change may still do as if they did not.
        risk = aware if aware.rate > naive.rate else naive
    left = kept(case, released, trial.side, trial.seed)
    if run.utility is not None:
        name = "targets" if trial.side == "targets" else "queries"
        before, after = (float(run.utility(getattr(one, name))) for one in (case, released.case))
        left = replace(left, utility=(before, after))
    gap = difference(run.before(rows, full), risk, names=("as it is", change.text))
    notes = released.case.notes[len(case.notes) :]
    return Tried(change.text, risk, naive, gap, left, full, notes=notes)


def _promising(changes: Sequence[Mitigation], found: Sequence[Tried]) -> list[int]:
    """Return the places of the best two strengths of each change: the most risk removed and the most kept."""

    def worth(place: int) -> float:
        one = found[place]
        before = one.risk.rate + one.difference.difference
        return one.kept.overall + (one.difference.difference / before if before > 0 else 0.0)

    places = sorted(range(len(found)), key=lambda place: type(changes[place]).__name__)
    groups = groupby(places, key=lambda place: type(changes[place]).__name__)
    return sorted(place for _, group in groups for place in sorted(group, key=worth, reverse=True)[:_FULL])


def with_pareto(found: Sequence[Tried]) -> tuple[Tried, ...]:
    """Mark the changes of which no other one is at least as good in risk and in what is kept, and better in one."""
    full = [one for one in found if one.full]

    def beaten(one: Tried) -> bool:
        return any(
            other.risk.rate <= one.risk.rate
            and other.kept.overall >= one.kept.overall
            and (other.risk.rate, other.kept.overall) != (one.risk.rate, one.kept.overall)
            for other in full
        )

    return tuple(replace(one, pareto=one.full and not beaten(one)) for one in found)
