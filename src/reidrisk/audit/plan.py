"""What an audit will do within the time given: which attacks run, on how many records, and which cannot."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from reidrisk import attacks
from reidrisk.attacks.registry import by_search, entry, nameable, per_item
from reidrisk.attacks.vectors.nearest import per_product
from reidrisk.audit.axis import Axis
from reidrisk.audit.spec import AuditSpec
from reidrisk.base import OptionError, Result
from reidrisk.base.options import option
from reidrisk.measure import jackknife
from reidrisk.records import Case, Traces, Vectors
from reidrisk.records.base import breadth

ENOUGH = 300  # people that an attack is tried on at least, or all, if there are fewer; otherwise it counts as not run

_SOME = 4_000  # queries of a check beside the rows
_BOUND = 4e-6  # reference seconds of the bounds of a known system, for each known record and epoch

WhyNot = Literal["time", "not asked", "few people", "stored", "nothing to learn"]


@dataclass(frozen=True, eq=False)
class NotRun(Result):
    """A default attack that applies and did not run, by its name, and why.

    ``"time"``: even on :data:`ENOUGH` people it would have taken ``seconds`` reference seconds, more than there are;
    ``"not asked"``: others were named; ``"few people"``: it ran, on too few people to count;
    ``"stored"``: it needs all targets in memory, and they are not there; ``"nothing to learn"``: it
    refused these records.
    """

    attack: str
    why: WhyNot
    seconds: float | None = None


class AuditPlan(NamedTuple):
    """The names of the attacks to run, how many queries to score (None: all), what does not run, and the cost."""

    names: tuple[str, ...]
    sample: int | None
    not_run: tuple[NotRun, ...]
    seconds: float


def applicable(case: Case) -> tuple[attacks.Entry, ...]:
    """Return the default attacks on such records that have something to learn and to go by."""
    targets, queries = case.targets, case.queries
    epochs = targets.n_epochs if isinstance(targets, Traces) else math.inf  # others have as many as it takes
    usual = (one for one in nameable(type(targets)) if one.default and epochs >= one.epochs)
    usual = (one for one in usual if case.suits(one.attack))
    met = (one for one in usual if not (one.together and case.one_by_one))
    return tuple(one for one in met if one.attack.applies(targets, queries))


def planned(spec: AuditSpec, case: Case, axis: Axis, budget: float, own: int = 0) -> AuditPlan:
    """Return what runs within ``budget`` reference seconds: all default attacks, or those named, with ``own`` more.

    Queries are sampled where all of them take longer, never targets. The dearest of the attacks that were not named is
    left out where even a sample of :data:`ENOUGH` people takes longer. Reference seconds do not depend on the machine,
    so neither does the sample.
    """
    if spec.everyone and spec.sample is not None:
        raise OptionError("choose a sample of queries or everyone, not both")
    if spec.attacks is not None and not spec.everyone:
        # A saved spec names what ran: what its plan had no time for was not left out by anybody's choice.
        free = planned(spec.model_copy(update={"attacks": None, "sample": None}), case, axis, budget, own)
        if (free.names, free.sample) == (spec.attacks, spec.sample):
            return free
    usual = applicable(case)
    running = list(usual) if spec.attacks is None else [entry(name) for name in spec.attacks]
    _check_kinds(running, case)
    if axis.size not in axis.counts:
        running = [one for one in running if not _needs_whole(one, spec, axis)]
    running_names = [one.name for one in running]
    not_run = [NotRun(one.name, "not asked") for one in usual if one.name not in running_names]
    n, fewest = len(case.queries), enough(case)
    if spec.everyone or spec.sample is not None:
        size, needed = min(spec.sample or n, n), budget
    else:
        work = len(axis.looks), sum(axis.share(look) for look in axis.looks)
        # Attacks of the caller's own count as one search each. One more look says how sure the strongest is.
        costs: dict[str, Callable[[int], float]] = {one.name: _cost(one, case.targets, work) for one in running}
        search = _searched(case.targets)
        extra = [lambda q: own * work[1] * search(q), search, lambda q: _beside(running, case, axis, spec)]
        while len(costs) > 1 and spec.attacks is None and _total([*costs.values(), *extra], fewest) > budget:
            dearest = max(costs, key=lambda name: costs[name](fewest))
            not_run.append(NotRun(dearest, "time", float(costs.pop(dearest)(fewest))))
        running = [one for one in running if one.name in costs]
        rows = len(axis.looks) * (len(costs) + own)
        # Where everyone is scored, how links change when somebody leaves is followed in each row.
        scores = len(case.targets) * n
        again = 4e-9 * rows * scores if case.truth is not None and scores <= jackknife.PAIRS else 0.0
        size = largest(n, fewest, lambda q: _total([*costs.values(), *extra], q) + again * (q == n) <= budget)
        needed = _total([*costs.values(), *extra], size) + again * (size == n)
    if size < fewest:
        not_run += [NotRun(one.name, "few people") for one in usual if one in running]
    return AuditPlan(tuple(one.name for one in running), None if size >= n else size, tuple(not_run), needed)


def enough(case: Case) -> int:
    """Return how many queries are asked of :data:`ENOUGH` people, or of all of them, if there are fewer."""
    n = len(case.queries)
    people = n
    if case.truth is not None:
        found = case.truth.target[case.truth.target >= 0]
        people = len(np.unique(found)) + n - len(found)
    return min(n, math.ceil(ENOUGH * n / max(people, 1)))


def _cost(one: attacks.Entry, targets: Any, work: tuple[int, float]) -> Callable[[int], float]:
    """Return what all looks cost: an attack learns at each, and compares what there is to see."""
    seconds = one.cost(targets)
    looks, times = (1, 1.0) if one.whole else work
    learning = seconds(0)
    return lambda n_queries: looks * learning + times * (seconds(n_queries) - learning)


def _searched(targets: Any) -> Callable[[int], float]:
    if isinstance(targets, Vectors):
        return per_product()(targets)
    return by_search(targets) if isinstance(targets, Traces) else per_item(2e-10)(targets)


def _beside(running: Sequence[attacks.Entry], case: Case, axis: Axis, spec: AuditSpec) -> float:
    """Return what the check of the truth and the bounds cost, however many queries are scored."""
    checked = 0.0
    if case.truth is not None and case.truth.origin != "cut":
        costs = [one.cost(case.targets) for one in running if is_quick(one.attack.__name__, case.targets)]
        looks = max(sum(look.n > 1 for look in axis.looks), 1) if axis.name == "epochs" else 1
        # Both halves of the targets are fitted, and both halves of the queries; each is asked up to some thousand.
        checked = looks * sum(3.5 * seconds(0) + 0.5 * seconds(_SOME) for seconds in costs)
    if axis.name != "epochs" or spec.mechanism(breadth(case.targets)).declared != "system":
        return checked
    return checked + _BOUND * len(case.targets) * sum(axis.counts)


def _total(costs: Sequence[Callable[[int], float]], n_queries: int) -> float:
    return sum(seconds(n_queries) for seconds in costs)


def largest(n: int, fewest: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number of queries that fits, in steps of its second digit; never below ``fewest``."""
    if fits(n):
        return n
    low, high = fewest, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    step = int(10 ** max(0, len(str(low)) - 2))
    return max(fewest, int(low - low % step))


def _needs_whole(one: attacks.Entry, spec: AuditSpec, axis: Axis) -> bool:
    """Whether an attack is for whole records, which are not looked at; refuse it where it was named."""
    if one.whole and spec.attacks is not None:
        raise OptionError(
            f"{one.name} compares whole records; look at all {axis.size:,} {axis.name} too ({option('epochs')})"
        )
    return one.whole


def compares(spec: AuditSpec, case: Case) -> bool:
    """Whether the attacks that a spec names, if any, compare such records."""
    return all(type(case.targets) in entry(name).kinds for name in spec.attacks or ())


def _check_kinds(running: Sequence[attacks.Entry], case: Case) -> None:
    """Refuse attacks that do not compare such records."""
    kind = type(case.targets)
    for one in running:
        if kind not in one.kinds:
            able = ", ".join(other.name for other in nameable(kind))
            raise OptionError(f"{one.name} does not compare {kind.__name__}; choose from {able}")


def chosen_attacks(
    spec: AuditSpec, targets: Any, own: Sequence[attacks.Attack[Any]] = (), case: Case | None = None
) -> list[attacks.Attack[Any]]:
    """Return the attacks that the spec names, in one fixed order, with what it declares of the system; then ``own``.

    Each is as it meets the ``case``, if any: where queries are met one by one, none weighs them against each other.
    """
    known = nameable(type(targets))
    named = [one for one in known if one.name in (spec.attacks or ())]
    if not named and not own:
        raise OptionError(f"choose at least one attack of: {', '.join(one.name for one in known)}")
    if not isinstance(targets, Traces):  # the plainest comes first: the others are compared with it
        named.sort(key=lambda one: (one.whole, one.cost(targets)(1)))
    mechanism = spec.mechanism(breadth(targets))
    chosen: list[attacks.Attack[Any]] = [one.attack.knowing(mechanism, spec.seed or 0) for one in named]
    for attack in own:
        if not isinstance(attack, attacks.Attack):
            raise OptionError(f"attacks are objects such as attacks.LooseSets(), not {type(attack).__name__}")
        if attack.name in [other.name for other in chosen]:
            raise OptionError(f"there are two attacks called {attack.name}; give one of them another name")
        chosen.append(attack)
    return chosen if case is None else [case.met_by(attack) for attack in chosen]


def for_whole(name: str) -> bool:
    """Whether an attack, by the name of its class, is for whole records only."""
    return any(one.whole and one.attack.__name__ == name for one in attacks.registry())


def is_quick(name: str, targets: Any) -> bool:
    """Whether an attack, by the name of its class, takes at most a reference second for some thousand queries."""
    known = [one for one in attacks.registry() if one.attack.__name__ == name]
    return all(not one.whole and one.cost(targets)(_SOME) <= 1.0 for one in known)
