"""What would lower it: each change, the people whom an adapted attacker finds, the difference, and what is kept."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks import Attack, Entry
from reidrisk.base import DataError, Difference, Ints, Note, OptionError, Progress, Result, Risk, Steps, of_class
from reidrisk.measure.comparison import difference
from reidrisk.measure.risk import chosen_queries
from reidrisk.mitigations.base import Mitigation, View, with_something
from reidrisk.mitigations.cells import telling, with_cells
from reidrisk.mitigations.coarsen import to_parents
from reidrisk.mitigations.cost import Kept, kept
from reidrisk.mitigations.generalise import DropColumns
from reidrisk.mitigations.registry import registry
from reidrisk.mitigations.rows import sizes
from reidrisk.mitigations.scoring import (
    Attacker,
    Trial,
    Verdict,
    is_slow,
    name_of,
    seconds_of,
    strongest,
    usual_attacks,
)
from reidrisk.mitigations.system import System, of_system
from reidrisk.records import Case

_FEWEST = 300  # limit: people below which a rate says too little, unless there are no more
_LEAST = 3  # limit: changes that the attack of the verdict measures, however long it takes
_ADVISED = 6  # limit: changes that all further attacks measure
_LEAD = 1 / 2  # limit: of the time that is left, for the attack of the verdict; the other slow ones have the rest
_SCREEN = 1 / 4  # limit: of the time, for the quick attacks that choose which strengths are measured in full

Utility = Callable[[Any], float]  # what the released records are used for, as a number: the larger, the better


@dataclass(frozen=True, eq=False)
class Tried(Result):
    """One change: ``risk`` is of the strongest attacker who knows of it, ``naive`` of the strongest who does not.

    Both are of people who are still released, with anything at all. ``difference`` is the people found before minus
    after, paired on the same people where nobody is left out, ``kept`` what the change leaves of the records, and
    ``vanishes`` the share of what it gains against somebody who does not know of it that is lost against somebody who
    does. ``attacks`` are those that measured it. ``full``: whether that of the verdict was among them; where it was
    not, the numbers only say what is worth measuring. ``pareto``: whether no other change that was measured alike finds
    fewer people and keeps as much, or keeps more at the same risk.
    """

    change: str
    risk: Risk
    naive: Risk
    difference: Difference
    kept: Kept
    full: bool = True
    pareto: bool = False
    notes: tuple[Note, ...] = ()
    attacks: tuple[str, ...] = ()
    vanishes: float = 0.0


@dataclass(frozen=True, eq=False)
class Refused(Result):
    """A change that was not tried, and why."""

    change: str
    why: str


@dataclass(frozen=True, eq=False)
class WhatIf(Result):
    """All changes that were tried, and the risk ``before`` any of them: the row of the verdict.

    Where there was no time for all people of that row, ``before`` is of the same attack on those of them whom the
    changes were tried on. ``attacks`` measured every Pareto-optimal change, ``left_out`` did not for lack of time.
    """

    before: Risk
    tried: tuple[Tried, ...]
    attacks: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    side: str = "queries"
    refused: tuple[Refused, ...] = ()

    @property
    def best(self) -> tuple[Tried, ...]:
        """The Pareto-optimal changes, the one with the lowest risk first."""
        return tuple(sorted((one for one in self.tried if one.pareto), key=lambda one: one.risk.rate))


@dataclass(frozen=True, eq=False)
class Run:
    """What all changes have in common: the case, who is asked about, the verdict, and who attacks.

    ``quick`` attacks screen; the ``lead``, that of the verdict, is among them unless it is slow; ``further`` are the
    other slow ones, the stronger first.
    """

    case: Case
    rows: Ints
    trial: Trial
    verdict: Verdict
    quick: tuple[Attacker, ...]
    further: tuple[Attacker, ...]
    utility: Utility | None

    @property
    def slow(self) -> tuple[Attacker, ...]:
        """The attack of the verdict, where it does not screen."""
        return () if self.verdict.attack in self.quick else (self.verdict.attack,)

    @property
    def before(self) -> Risk:
        """The risk as it is."""
        return self.verdict.on(self.case, self.rows, self.trial)

    def seconds(self, attacks: Sequence[Attacker], change: Mitigation | None = None) -> float:
        """Return what it takes to measure a change; default: one that an attacker may know of."""
        views = 2 if change is None or change.helps_to_know(self.trial.side) else 1
        return sum(
            views * (2 if one is self.verdict.attack and self.verdict.look else 1) * self.once(one) for one in attacks
        )

    def once(self, one: Attacker) -> float:
        """Return what an attack costs on the people who are asked about."""
        return seconds_of(one, self.case)(len(self.rows))

    def measured(self, change: Mitigation, attacks: Sequence[Attacker], known: Tried | None = None) -> Tried:
        """Measure a change with these attacks, beside those that are ``known`` of it."""
        case, trial = self.case, self.trial
        released = change.released(case, trial.seed, trial.side)
        # Whoever is left out, or has nothing left, is in no file that is released: they are not counted as not found.
        target = released.case.known_truth.target
        there = sizes(released.case.targets)[target] if trial.side == "targets" else sizes(released.case.queries)
        rows = np.intersect1d(self.rows, released.part_of[(target >= 0) & (there > 0)])
        whole, released = released, with_something(released)
        if len(rows) < min(_FEWEST, len(self.rows) // 4):
            raise DataError(f"{change.text} leaves {len(rows)} people to be judged by; ask about more of them")
        naive = risk = self._strongest(released, False, rows, attacks, None if known is None else known.naive)
        if change.helps_to_know(trial.side):
            view = with_something(change.known_to_attacker(case, trial.seed, trial.side, rows))
            aware = self._strongest(view, True, rows, attacks, None if known is None else known.risk)
            # Who knows of a change may still do as if they did not.
            risk = aware if aware.rate > naive.rate else naive
        left = kept(case, whole, trial.side) if known is None else known.kept
        if self.utility is not None and known is None:
            name = "targets" if trial.side == "targets" else "queries"
            before, after = (float(self.utility(getattr(one, name))) for one in (case, released.case))
            left = replace(left, utility=(before, after))
        notes = released.case.notes[len(case.notes) :]
        names = tuple(dict.fromkeys((*(known.attacks if known else ()), *map(name_of, attacks))))
        full, gained = name_of(self.verdict.attack) in names, self.before.rate - naive.rate
        vanishes = min(1.0, (risk.rate - naive.rate) / gained) if gained > 0.0 else 0.0
        gap = self._difference(risk, change.text)
        return Tried(change.text, risk, naive, gap, left, full, False, notes, names, vanishes)

    def _strongest(self, view: View, knows: bool, rows: Ints, attacks: Sequence[Attacker], known: Risk | None) -> Risk:
        """Return the most that any of these attacks finds, or what is known of others, if that is more."""
        found, why, effect = [] if known is None else [known], None, self.verdict.risk.design_effect
        looked = self.verdict.look
        for look in (None, looked) if looked is not None and self.verdict.attack in attacks else (None,):
            who = attacks if look is None else [self.verdict.attack]
            try:
                seen = view if look is None else replace(view, case=look(view.case))
                if any(one.attack.reads_cells if isinstance(one, Entry) else one.reads_cells for one in who):
                    seen = with_cells(self.case, seen, self.trial.items)
                found.append(strongest(self.case, [(seen, knows)], rows, who, self.trial, effect))
            except DataError as problem:
                why = problem
        if not found:
            assert why is not None
            raise why
        return max(found, key=lambda risk: risk.rate)

    def _difference(self, after: Risk, name: str) -> Difference:
        """Return people found before minus after: paired, or where people are left out, of two rates (Zou, Donner)."""
        before = self.before
        if after.n_queries == before.n_queries:
            return difference(before, after, names=("as it is", name))
        gap = before.rate - after.rate
        low = gap - math.hypot(before.rate - before.low, after.high - after.rate)
        high = gap + math.hypot(before.high - before.rate, after.rate - after.low)
        return Difference("as it is", name, after.n_epochs, gap, low, high, after.level, after.n_queries, "queries")


def tried(
    case: Case,
    changes: Sequence[Mitigation] | None = None,
    attacks: Sequence[Attack[Any]] | None = None,
    trial: Trial | None = None,
    budget: float = 60.0,
    utility: Utility | None = None,
    progress: Progress | None = None,
    verdict: Verdict | None = None,
) -> WhatIf:
    """Try changes on the same people, with attackers who know of them, and say what each buys and costs.

    ``changes``: default, the usual strengths of all that fit the records. Each is met by the attack of the ``verdict``
    and by the others that were tried for it (default: the ``attacks``, or those an audit runs on such records, each
    tried once on the records as they are). All are fitted again on the changed records, as they are released and as
    whoever knows of the change makes them; the strongest counts. Where the attack of the verdict is slow, quick ones
    choose which changes it measures: as many as there is time for in the ``budget`` of reference seconds, three at
    least. The other slow ones then measure those that are Pareto-optimal, as far as there is time. Queries are sampled
    so that it suffices. A change that does not fit the records is ``refused``. ``utility`` is a use of the released
    records, a function from them to a number.

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
    chosen = usual_changes(case, trial) if changes is None else tuple(changes)
    wrong = next((one for one in chosen if not isinstance(one, Mitigation)), None)
    if wrong is not None:
        raise OptionError(f"changes are values such as mitigations.Rotate(4), not {wrong!r}; read texts with named()")
    run = planned(case, verdict, attacks, trial, len(chosen), budget, utility)
    steps = Steps(progress, total=2.0 * len(chosen) + 1.0)
    found: dict[Mitigation, Tried] = {}
    refused = []
    for one in chosen:
        steps.begin(one.text, 1.0)
        try:
            fits = one.within(trial, case)
            found[fits] = run.measured(fits, run.quick or run.slow)
        except (DataError, OptionError) as why:
            refused.append(Refused(one.text, str(why)))
    left = budget - sum(run.seconds(run.quick, one) for one in found)
    if run.quick and run.slow:
        for one in _promising(found)[: max(_LEAST, int(_LEAD * left / run.seconds(run.slow)))]:
            steps.begin(one.text, 1.0)
            found[one] = run.measured(one, run.slow, found[one])
            left -= run.seconds(run.slow, one)
    best = [one for one in _promising(found) if found[one].full and not _beaten(found[one], found.values())]
    best = best[: min(max(_LEAST, int(left / max(run.seconds(run.further), 1e-9))), _ADVISED)]
    attacks_run, left_out = [*map(name_of, (*run.quick, *run.slow))], list[str]()
    for other in run.further:
        needed = sum(run.seconds([other], one) for one in best)
        (attacks_run if needed <= left else left_out).append(name_of(other))
        if needed <= left:
            left -= needed
            found |= {one: run.measured(one, [other], found[one]) for one in best}
    alike = [found[one] for one in best]
    done = tuple(replace(one, pareto=one in alike and not _beaten(one, alike)) for one in found.values())
    return WhatIf(run.before, done, tuple(attacks_run), tuple(left_out), trial.side, tuple(refused))


def shortest(case: Case, verdict: Verdict, trial: Trial | None = None) -> float:
    """Return the reference seconds that the usual changes take at least, on the fewest people.

    >>> from reidrisk import Traces
    >>> from reidrisk.records import Truth
    >>> table = Traces(np.zeros((50, 2), dtype=int), n_tokens=4)
    >>> case = Case(table, table, Truth(np.arange(50), "rows"))
    >>> shortest(case, Verdict.of(case, usual_attacks(case)[:1], Trial())) < 1.0
    True
    """
    trial = trial or Trial()
    run = planned(case, verdict, None, trial, len(usual_changes(case, trial)), 0.0, None)
    return sum(run.seconds(run.quick, one) for one in usual_changes(case, trial)) + _LEAST * run.seconds(run.slow)


def usual_changes(case: Case, trial: Trial | None = None) -> tuple[Mitigation, ...]:
    """Return the usual strengths of all changes that fit the records of a case."""
    trial, found = trial or Trial(), []
    side = trial.side
    for entry in registry():
        if type(case.queries) in entry.kinds:
            own = of_system(trial, System.strengths) if entry.mitigation is System else entry.mitigation.usual(case)
            if entry.mitigation is DropColumns:
                names = telling(case, trial.unused)
                own = (
                    *own,
                    *(DropColumns(names[:n]) for n in dict.fromkeys((1, 2, len(names))) if n <= len(names) > 0),
                )
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
    verdict: Verdict | None,
    attacks: Sequence[Attack[Any]] | None,
    trial: Trial,
    n_changes: int,
    budget: float,
    utility: Utility | None,
) -> Run:
    """Choose queries so that quick attacks fit in the time: by reference seconds, the same on every machine."""
    if case.truth is None:
        raise DataError("who is whom is not known in this case, so no change can be measured; give the true pairs")
    if attacks is not None and not attacks:
        raise OptionError("there is no attack to try changes with; leave attacks out, or give at least one")
    verdict = verdict or Verdict.of(case, attacks or usual_attacks(case), trial)
    every = (verdict.attack, *verdict.others)
    quick = tuple(one for one in every if attacks is not None or not is_slow(one, case))
    size = n = len(verdict.rows)
    while size > 2 * _FEWEST and 2 * n_changes * sum(seconds_of(one, case)(size) for one in quick) > _SCREEN * budget:
        size //= 2
    part, _ = chosen_queries(n, size, trial.seed)
    rows = verdict.rows if part is None else verdict.rows[part]
    return Run(case, rows, trial, verdict, quick, tuple(one for one in every[1:] if one not in quick), utility)


def _promising(found: dict[Mitigation, Tried]) -> list[Mitigation]:
    """Return changes in the order in which they are worth measuring: two strengths of each kind, then the others.

    In turn the one that is worth most and the one with the lowest risk, so that few show the whole range; worth is the
    share of the risk that is removed and the share of the records that is kept.
    """

    def worth(one: Mitigation) -> float:
        it = found[one]
        before = it.risk.rate + it.difference.difference
        return it.kept.overall + (it.difference.difference / before if before > 0 else 0.0)

    both = sorted(found, key=worth, reverse=True), sorted(found, key=lambda one: found[one].risk.rate)
    order = list(dict.fromkeys(one for pair in zip(*both, strict=True) for one in pair))
    place = {one: sum(type(other) is type(one) for other in order[:i]) for i, one in enumerate(order)}
    return sorted(order, key=lambda one: place[one] >= 2)


def _beaten(one: Tried, others: Iterable[Tried]) -> bool:
    """Whether another change that was measured in full is at least as good in risk and in what is kept, and better."""
    mine = (one.risk.rate, -one.kept.overall)
    theirs = [(other.risk.rate, -other.kept.overall) for other in others if other.full]
    return any(each != mine and each[0] <= mine[0] and each[1] <= mine[1] for each in theirs)
