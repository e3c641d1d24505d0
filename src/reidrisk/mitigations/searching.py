"""The cheapest change that is strong enough: found on half of the people, confirmed on the others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from reidrisk.attacks import Attack
from reidrisk.base import DataError, Ints, Progress, Result, Risk, between_0_and_1, silent, stream
from reidrisk.mitigations.base import Mitigation
from reidrisk.mitigations.people import DropPeople
from reidrisk.mitigations.registry import registry
from reidrisk.mitigations.rotate import Rotate
from reidrisk.mitigations.scoring import Attacker, Trial, Verdict, name_of
from reidrisk.mitigations.system import System, of_system
from reidrisk.mitigations.together import Together
from reidrisk.mitigations.trying import Run, Tried, Utility, planned
from reidrisk.records import Case

_FEWEST = 40  # limit: people of each half
_MARGIN = 1.5  # prior: the answer is mostly confirmed; half-widths by which a choice must stay below the aim
_CONFIRMED = 3  # limit: changes that are looked at again, on the other half, at most
_PAIRED = 4  # limit: kinds of changes of which pairs are tried
_LEAST = 3  # limit: kinds of changes that the attack of the verdict goes on from while none is found, however long

Ladder = tuple[Mitigation, ...]


@dataclass(frozen=True, eq=False)
class Found(Result):
    """What a search came to.

    ``found`` is the change that keeps most of those whose upper end is within ``max_risk``, measured by the attack of
    the verdict, and by the other ``attacks``, on the half of the people that had no part in the choice; ``None``: no
    change was confirmed. ``best`` is, on that half, the one that came closest, and ``before`` the risk as it is, the
    row of the verdict. ``left_out`` are attacks that were tried for the verdict and for which there was no time here.
    ``level`` is that of each interval of the ``looked_at`` changes: the one asked for, divided by how many may be
    looked at.
    """

    max_risk: float
    before: Risk
    found: Tried | None
    best: Tried
    looked_at: tuple[Tried, ...]
    level: float
    attacks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether a change was confirmed."""
        return self.found is not None


def search(
    case: Case,
    max_risk: float,
    budget: float = 60.0,
    changes: Sequence[type[Mitigation]] | None = None,
    attacks: Sequence[Attack[Any]] | None = None,
    trial: Trial | None = None,
    utility: Utility | None = None,
    progress: Progress | None = None,
    verdict: Verdict | None = None,
) -> Found:
    """Find the change that keeps most of the records and leaves at most ``max_risk`` of the people to be found.

    People are halved; all targets stay. On one half, for each kind of change (default: all that fit the records, people
    being left out apart), the mildest strength is found by bisection whose interval stays well within the aim, with the
    quick attacks. If none does, pairs of changes are tried. Where the attack of the ``verdict`` is slow, it goes on
    from there, kind by kind, those that keep most first, for as long as there is time and until it has found one. Three
    changes, fixed before the other half is looked at (the one that keeps most, one step more of it, and the next), are
    measured there one after the other, by that attack and by all others for which there is time, at a level divided by
    three; the first whose upper end is within the aim is the answer. A choice on the same people would look safer than
    it is.

    ``budget`` is in reference seconds; the ``verdict``, the ``attacks`` and ``utility``, a use of the records by which
    what is kept is judged, are as for :func:`reidrisk.mitigations.tried`.

    >>> from reidrisk import Bags, mitigations
    >>> from reidrisk.attacks import TfIdf
    >>> from reidrisk.records import Truth
    >>> rng = np.random.default_rng(0)
    >>> tastes = rng.gamma(0.3, 2.0, (400, 30))
    >>> shop, bank = (Bags(rng.poisson(tastes)) for _ in range(2))
    >>> case = Case(shop, bank, Truth(np.arange(400), "rows"))
    >>> answer = search(case, max_risk=0.2, changes=[mitigations.Draw], attacks=[TfIdf()])
    >>> answer.found.change, answer.found.risk.high <= 0.2
    ('draw:0.15', True)
    """
    aim, trial, tell = between_0_and_1("max_risk", max_risk), trial or Trial(), progress or silent
    if case.truth is None:
        raise DataError("who is whom is not known in this case, so no change can be measured; give the true pairs")
    ladders = list(_ladders(case, trial, changes))
    run = planned(case, verdict, attacks, trial, sum(len(ladder[::4]) for ladder in ladders), budget, utility)
    choose, confirm = _halves(case, run.rows, trial.seed)
    chooser = _Chooser(replace(run, rows=choose), aim)
    screen = run.quick or run.slow
    kinds: list[_Choice] = []
    for place, ladder in enumerate(ladders):
        tell(ladder[0].name, place / (2 * len(ladders)))
        kinds += chooser.mildest(ladder, screen)
    if not kinds:
        raise DataError("none of the changes can be measured on these records")
    if not any(one.good for one in kinds):
        promising = sorted((one for one in kinds), key=lambda one: one.tried.risk.high)[:_PAIRED]
        whole = sorted((_whole(one, ladders) for one in promising), key=_late)
        for number, (one, two) in enumerate(combinations(whole, 2)):
            tell(f"{one[0].name} + {two[0].name}", 0.5 + number / 20)
            kinds += chooser.mildest(_paired(one, two), screen)
    if run.quick and run.slow:
        tell(name_of(run.verdict.attack), 0.8)
        kinds = chooser.on_from(kinds, budget)
    good = sorted((one for one in kinds if one.good), key=lambda one: -one.tried.kept.overall)
    order = good or sorted(kinds, key=lambda one: one.tried.risk.high)
    level = 1.0 - (1.0 - trial.level) / _CONFIRMED
    judge = replace(run, rows=confirm, trial=replace(trial, level=level))
    all_run, left_out = chooser.beside(judge, budget)
    looked_at: list[Tried] = []
    for change in _to_confirm(order):
        tell(change.text, 0.9)
        looked_at.append(judge.measured(change, all_run))
        if looked_at[-1].risk.high <= aim:
            break
    last = looked_at[-1] if looked_at[-1].risk.high <= aim else None
    best = last or min(looked_at, key=lambda one: one.risk.high)
    names = (tuple(map(name_of, one)) for one in (all_run, left_out))
    return Found(aim, run.before, last, best, tuple(looked_at), level, *names)


@dataclass(frozen=True, eq=False)
class _Choice:
    """A place on a ladder, what was found there, and whether it was within the aim."""

    ladder: Ladder
    place: int
    tried: Tried
    good: bool

    @property
    def change(self) -> Mitigation:
        return self.ladder[self.place]


def _to_confirm(order: Sequence[_Choice]) -> tuple[Mitigation, ...]:
    """Return the changes to be looked at on the other half, before anything of it was seen.

    They are the first choice, one step more of it, the second choice, and further steps where there is none.
    """
    steps = list(order[0].ladder[order[0].place :])
    wanted = [*steps[:2], *(one.change for one in order[1:2]), *steps[2:], *(one.change for one in order[2:])]
    return tuple(dict.fromkeys(wanted))[:_CONFIRMED]


@dataclass(eq=False)
class _Chooser:
    """Finds strengths on the half of the people that is for choosing, and counts the reference seconds ``spent``."""

    run: Run
    aim: float
    spent: float = 0.0

    def mildest(self, ladder: Ladder, attacks: Sequence[Attacker], known: Tried | None = None) -> list[_Choice]:
        """Return the mildest strength of a ladder that is likely within the aim, or else its strongest, if any fits.

        What is ``known`` is of the first strength.
        """
        seen: dict[int, Tried] = {}

        def good(place: int) -> bool:
            self.spent += self.run.seconds(attacks, ladder[place])
            try:
                seen[place] = self.run.measured(ladder[place], attacks, known if place == 0 else None)
            except DataError:
                return True  # so strong that too few are left to judge it by
            risk = seen[place].risk
            return risk.rate + _MARGIN * (risk.high - risk.rate) <= self.aim

        place = first(len(ladder), good)
        if place in seen and place < len(ladder):
            return [_Choice(ladder, place, seen[place], True)]
        last = max(seen, default=len(ladder))
        return [_Choice(ladder, last, seen[last], False)] if seen else []

    def on_from(self, kinds: Sequence[_Choice], budget: float) -> list[_Choice]:
        """Let the attack of the verdict go on from what quick attacks chose, while there is time or none is good."""
        each = self.run.seconds(self.run.slow)
        reserved = _CONFIRMED * each
        found: list[_Choice] = []
        for one in sorted(kinds, key=lambda one: (-one.good, -one.tried.kept.overall)):
            if self.spent + reserved > budget and (any(known.good for known in found) or len(found) >= _LEAST):
                break
            found += self.mildest(one.ladder[one.place :], self.run.slow, one.tried)
        return found

    def beside(self, judge: Run, budget: float) -> tuple[tuple[Attacker, ...], tuple[Attacker, ...]]:
        """Return the attacks that confirm (of the verdict, quick ones, others while there is time), and the rest."""
        chosen, left_out = [*judge.quick, *judge.slow], list[Attacker]()
        self.spent += _CONFIRMED * judge.seconds(chosen)
        for one in judge.further:
            needed = _CONFIRMED * judge.seconds([one])
            fits = self.spent + needed <= budget
            (chosen if fits else left_out).append(one)
            self.spent += needed if fits else 0.0
        return tuple(chosen), tuple(left_out)


def _whole(one: _Choice, ladders: Sequence[Ladder]) -> Ladder:
    return next(ladder for ladder in ladders if ladder[0].name == one.ladder[0].name)


def first(n: int, good: Callable[[int], bool]) -> int:
    """Return the first of n places that is good, if all after it are, by bisection; n if the last one is not.

    >>> first(10, lambda i: i >= 7), first(3, lambda i: False)
    (7, 3)
    """
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low


def _ladders(case: Case, trial: Trial, changes: Sequence[type[Mitigation]] | None) -> Iterator[Ladder]:
    """Yield the strengths of each kind of change that fits the records."""
    fit = [one.mitigation for one in registry() if type(case.queries) in one.kinds]
    for kind in changes or [one for one in fit if one is not DropPeople]:
        ladder = of_system(trial) if kind is System else kind.ladder(case)
        try:
            ladder[0].check(case, trial.seed, trial.side)
        except (DataError, IndexError):
            if changes is not None:
                raise
            continue
        yield ladder


def _late(ladder: Ladder) -> bool:
    """Whether these changes come after others: pseudonyms are given to what is released in the end."""
    return isinstance(ladder[0], Rotate)


def _paired(one: Ladder, two: Ladder) -> Ladder:
    """Return pairs of strengths that grow together."""
    steps = max(len(one), len(two))
    places = [(i * len(one) // steps, i * len(two) // steps) for i in range(steps)]
    return tuple(Together((one[i], two[j])) for i, j in places)


def _halves(case: Case, rows: Ints, seed: int) -> tuple[Ints, Ints]:
    """Return the queries of half of the people, and those of the others."""
    truth = case.known_truth.target[rows]
    person = np.where(truth >= 0, truth, len(case.targets) + np.arange(len(rows)))
    people = np.unique(person)
    if len(people) < 2 * _FEWEST:
        raise DataError(f"a search halves the people, and needs at least {2 * _FEWEST} of them, not {len(people)}")
    chosen = np.isin(person, stream(seed, "search: halves").permutation(people)[: len(people) // 2])
    return rows[chosen], rows[~chosen]
