"""What an audit will do: how many queries it scores, at which numbers of epochs, with which attacks."""

import math
from collections.abc import Sequence
from typing import Any

from reidrisk import attacks
from reidrisk.attacks.registry import by_search, entry, nameable
from reidrisk.audit.spec import AuditSpec, usual_epochs
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Traces

_SECONDS = 60.0  # what all attacks may take by default, in reference seconds; beyond, queries are sampled
_FEWEST = 1_000  # queries that are scored at least, however long it takes


def attack_names(spec: AuditSpec, targets: Traces, queries: Traces) -> tuple[str, ...]:
    """Return the attacks to run: as asked, or the default ones that are quick enough and have something to learn."""
    if spec.attacks is not None:
        return spec.attacks
    usual = (one for one in nameable(Traces) if one.default and targets.n_epochs >= one.epochs)
    fast = (one for one in usual if quick(one, targets, len(queries)))
    return tuple(one.name for one in fast if one.attack.applies(targets, queries))


def quick(one: attacks.Entry, targets: Any, n_queries: int) -> bool:
    """Whether an attack may run without being asked: what it costs for all queries is not above its own limit."""
    return one.up_to == math.inf or one.cost(targets)(n_queries) <= one.up_to


def sample_size(spec: AuditSpec, targets: Traces, queries: Traces) -> int | None:
    """Return how many queries to score: as asked, or as many as all attacks take a minute for; ``None`` means all.

    The minute is of reference seconds, and of one look at all epochs.
    """
    if spec.everyone and spec.sample is not None:
        raise OptionError("choose a sample of queries or everyone, not both")
    if spec.everyone or spec.sample is not None:
        return spec.sample
    size = len(queries)
    # Attacks of the caller's own count as one search. Costs do not depend on the machine, so neither does the sample.
    named = (entry(name).cost for name in attack_names(spec, targets, queries))
    costs = [cost(targets) for cost in (by_search, *named)]
    while size > _FEWEST and sum(seconds(size) for seconds in costs) > _SECONDS:
        size //= 2
    return None if size == len(queries) else size


def epoch_counts(spec: AuditSpec, n_epochs: int) -> tuple[int, ...]:
    """Return the numbers of epochs to look at: as asked, or 1, 2, 4, … and all."""
    if spec.epochs is None:
        return usual_epochs(n_epochs)
    wrong = [r for r in spec.epochs if not 1 <= r <= n_epochs]
    if wrong or not spec.epochs:
        raise OptionError(f"the tables have {n_epochs} epochs; cannot look at the first {wrong[0] if wrong else 0}")
    return tuple(sorted(set(spec.epochs)))


def with_tokens(counts: tuple[int, ...], targets: Traces, queries: Traces) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of epochs to look at, and those in which a table holds no token at all."""
    kept = tuple(r for r in counts if targets.epochs(r).observed.any() and queries.epochs(r).observed.any())
    if not kept:
        which = "known records" if not targets.epochs(counts[-1]).observed.any() else "records to identify"
        raise DataError(f"the {which} hold no token in the first {counts[-1]} epochs; look at more of them (--epochs)")
    return kept, tuple(r for r in counts if r not in kept)


def chosen_attacks(
    spec: AuditSpec, n_tokens: int, own: Sequence[attacks.Attack[Any]] = ()
) -> list[attacks.Attack[Any]]:
    """Return the attacks that the spec names, in one fixed order, with what it declares of the system; then ``own``."""
    mechanism = spec.mechanism(n_tokens)
    named = [one for one in nameable(Traces) if one.name in (spec.attacks or ())]
    if not named and not own:
        raise OptionError(f"choose at least one attack of: {', '.join(one.name for one in nameable(Traces))}")
    chosen: list[attacks.Attack[Any]] = [one.attack.knowing(mechanism, spec.seed or 0) for one in named]
    for attack in own:
        if not isinstance(attack, attacks.Attack):
            raise OptionError(f"attacks are objects such as attacks.LooseSets(), not {type(attack).__name__}")
        if attack.name in [other.name for other in chosen]:
            raise OptionError(f"there are two attacks called {attack.name}; give one of them another name")
        chosen.append(attack)
    return chosen
