"""What runs on stored tables within the time given: joins on everyone, the others on people who are drawn."""

import numpy as np

from reidrisk.attacks import Presence
from reidrisk.attacks.positional import PositionalAttack
from reidrisk.attacks.registry import Entry, nameable
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.audit import plan
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.stored.prepare import Prepared
from reidrisk.base.errors import OptionError
from reidrisk.records import Traces
from reidrisk.search.engines.relational import Session, patterns_of


def check_stored(spec: AuditSpec) -> None:
    """Refuse what needs tables in memory."""
    wanted = {
        "--what-if": spec.what_if is True,
        "--change": spec.changes,
        "--aim": spec.aim,
        "--population": spec.population,
    }
    for flag, value in wanted.items():
        if value:
            raise OptionError(f"{flag} needs tables in memory; leave it out, or audit a part of the tables with it")


def usual_attacks(session: Session, tables: Prepared) -> list[Entry]:
    """Return the default attacks that have something to go by, as far as a thousand records of each table say."""
    both, n_epochs = (tables.targets, tables.queries), tables.targets.n_epochs
    gaps = all(len(patterns_of(session, one.relation, n_epochs)) > 1 for one in both)
    some = []
    for one in both:
        found = session.fetch(f"SELECT * FROM {one.relation} LIMIT 1000")
        some.append(Traces(np.stack([found[f"c{s}"] for s in range(n_epochs)], axis=1), one.n_tokens))
    usual = (one for one in nameable(Traces) if one.default and n_epochs >= one.epochs)
    return [one for one in usual if (gaps if one.attack is Presence else one.attack.applies(*some))]


def planned(
    spec: AuditSpec, tables: Prepared, asked: list[Entry], usual: list[Entry], counts: tuple[int, ...], one_in: int
) -> tuple[list[Entry], int | None, tuple[plan.NotRun, ...]]:
    """Return the attacks that run, how many people are drawn for those that score pairs, and what does not run.

    Where one person in ``one_in`` was taken, the plan is that of all.
    """
    if spec.attacks is not None:  # a saved spec names what ran, see audit.plan
        free = planned(spec.model_copy(update={"attacks": None, "sample": None}), tables, usual, usual, counts, one_in)
        if (tuple(one.name for one in free[0]), free[1]) == (spec.attacks, spec.sample):
            return free
    names = [one.name for one in asked]
    not_run = [plan.NotRun(one.name, "not asked") for one in usual if one.name not in names]
    unable = [one for one in asked if not _by_shards(one)]
    if unable and spec.attacks is not None:
        raise OptionError(f"{unable[0].name} needs all targets in memory; audit a part of the tables with it")
    not_run += [plan.NotRun(one.name, "stored") for one in unable]
    asked = [one for one in asked if one not in unable]
    n, looks = len(tables.queries), sum(counts) / tables.targets.n_epochs
    fewest, size = min(n, plan.ENOUGH), _Size(tables, one_in)
    joined = [one.name for one in asked if issubclass(one.attack, PositionalAttack)]
    pairs = {one.name: one.cost(size) for one in asked if one.name not in joined}
    running = list(asked)
    if spec.sample is not None:
        return running, min(spec.sample, n), tuple(not_run)

    def seconds(q: int) -> float:
        return sum(looks * cost(q) for cost in pairs.values())

    while pairs and spec.attacks is None and seconds(fewest) > spec.budget:
        dearest = max(pairs, key=lambda name: pairs[name](fewest))
        not_run.append(plan.NotRun(dearest, "time", float(looks * pairs.pop(dearest)(fewest))))
    running = [one for one in running if one.name in pairs or one.name in joined]
    return running, plan.largest(min(n, 20_000), fewest, lambda q: seconds(q) <= spec.budget), tuple(not_run)


def _by_shards(one: Entry) -> bool:
    """Whether an attack can be asked shard by shard, with what it has learnt before."""
    return issubclass(one.attack, ScoredAttack) and one.attack._laid_out is not ScoredAttack._laid_out


class _Size:
    """How large stored targets are: what attacks ask for to say what they cost."""

    def __init__(self, tables: Prepared, one_in: int) -> None:
        self.n_epochs, self.n_tokens = tables.targets.n_epochs, tables.targets.n_tokens
        self.tokens = np.broadcast_to(np.int8(0), (one_in * len(tables.targets), self.n_epochs))

    def __len__(self) -> int:
        return len(self.tokens)
