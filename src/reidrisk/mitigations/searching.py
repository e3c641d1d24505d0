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
from reidrisk.mitigations.scoring import Trial
from reidrisk.mitigations.system import System, of_system
from reidrisk.mitigations.together import Together
from reidrisk.mitigations.trying import Run, Tried, Utility, planned, try_one
from reidrisk.records import Case

_FEWEST = 40  # people of each half
_MARGIN = 1.5  # times the half-width of the interval by which a choice must stay below the aim, to be confirmed likely
_CONFIRMED = 3  # changes that are looked at again, on the other half, at most
_PAIRED = 4  # kinds of changes of which pairs are tried

Ladder = tuple[Mitigation, ...]


@dataclass(frozen=True, eq=False)
class Found(Result):
    """What a search came to.

    ``found`` is the change that keeps most of those whose upper end is within ``max_risk``, measured on the half of the
    people that had no part in the choice; ``None``: no change was confirmed. ``best`` is, on that half, the one that
    came closest, and ``before`` the risk as it is. ``level`` is that of each interval of the ``looked_at`` changes: the
    one asked for, divided by how many may be looked at.
    """

    max_risk: float
    before: Risk
    found: Tried | None
    best: Tried
    looked_at: tuple[Tried, ...]
    level: float

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
) -> Found:
    """Find the change that keeps most of the records and leaves at most ``max_risk`` of the people to be found.

    People are halved; all targets stay. On one half, for each kind of change (default: all that fit the records, people
    being left out apart), the mildest strength is found by bisection whose interval stays well within the aim, first
    with the quick attacks and then with all. If none does, pairs of changes are tried. Three changes, fixed before the
    other half is looked at (the one that keeps most, one step more of it, and the next), are measured there one after
    the other, at a level divided by three; the first whose upper end is within the aim is the answer. A choice on the
    same people would look safer than it is.

    ``budget`` is in reference seconds, ``utility`` a use of the records by which what is kept is judged, as for
    :func:`reidrisk.mitigations.tried`.

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
    run, _ = planned(case, [one for ladder in ladders for one in ladder[::4]], attacks, trial, budget, utility)
    choose, confirm = _halves(case, run.rows, trial.seed)
    chooser = _Chooser(replace(run, rows=choose), aim)
    kinds = []
    for place, ladder in enumerate(ladders):
        tell(ladder[0].name, place / (2 * len(ladders)))
        kinds.append(chooser.mildest(ladder))
    good = [one for one in kinds if one.good]
    if not good:
        promising = sorted(range(len(kinds)), key=lambda i: kinds[i].tried.risk.high)[:_PAIRED]
        for number, (one, two) in enumerate(combinations(sorted(promising, key=lambda i: _late(ladders[i])), 2)):
            tell(f"{ladders[one][0].name} + {ladders[two][0].name}", 0.5 + number / 20)
            kinds.append(chooser.mildest(_paired(ladders[one], ladders[two])))
        good = [one for one in kinds if one.good]
    order = sorted(good, key=lambda one: -one.tried.kept.overall) or sorted(kinds, key=lambda one: one.tried.risk.high)
    level = 1.0 - (1.0 - trial.level) / _CONFIRMED
    judge = replace(run, rows=confirm, trial=replace(trial, level=level))
    looked_at: list[Tried] = []
    for change in _to_confirm(order):
        tell(change.text, 0.9)
        looked_at.append(try_one(judge, change, full=True))
        if looked_at[-1].risk.high <= aim:
            break
    last = looked_at[-1] if looked_at[-1].risk.high <= aim else None
    best = last or min(looked_at, key=lambda one: one.risk.high)
    return Found(aim, judge.before(confirm, True), last, best, tuple(looked_at), level)


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


@dataclass(frozen=True, eq=False)
class _Chooser:
    """Finds strengths on the half of the people that is for choosing."""

    run: Run
    aim: float

    def mildest(self, ladder: Ladder) -> _Choice:
        """Return the mildest strength of a ladder that is likely within the aim, or else its strongest."""
        seen: dict[int, Tried] = {}

        def good(place: int, full: bool) -> bool:
            seen[place] = try_one(self.run, ladder[place], full)
            risk = seen[place].risk
            return risk.rate + _MARGIN * (risk.high - risk.rate) <= self.aim

        place = first(len(ladder), lambda i: good(i, full=not self.run.slow))
        if self.run.slow:
            while place < len(ladder) and not good(place, full=True):
                place += 1
        if place < len(ladder):
            return _Choice(ladder, place, seen[place], True)
        last = len(ladder) - 1
        if last not in seen or not seen[last].full:
            good(last, full=True)
        return _Choice(ladder, last, seen[last], False)


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
