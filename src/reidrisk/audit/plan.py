"""What an audit will do: how many queries it scores, at which numbers of epochs, with which attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reidrisk import attacks, search
from reidrisk.audit.result import Assumption
from reidrisk.audit.spec import AttackName, AuditSpec, usual_epochs
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Traces

__all__ = ["CLASSES", "attack_names", "chosen_attacks", "epoch_counts", "sample_size", "with_tokens"]

CLASSES: dict[AttackName, str] = {
    "hamming": "Hamming",
    "weighted-hamming": "WeightedHamming",
    "profile-bayes": "ProfileBayes",
}
"""What the attacks that a spec names are called in a result."""

_SECONDS = 30.0
"""What one attack may take by default, roughly, on two cores; where it would take longer, queries are sampled."""

_BAYES_TOKENS = 10_000_000_000
"""Pairs of records times epochs that ProfileBayes looks at by default: about half a minute on two cores."""

_BAYES_AT_ONCE = 120_000_000
"""The same, up to which ProfileBayes runs without being asked for.

For 3,000 records of 12 epochs the whole audit took 5.2 seconds of one core once compiled, 1.4 without ProfileBayes."""


def attack_names(spec: AuditSpec, targets: Traces, queries: Traces) -> tuple[AttackName, ...]:
    """Return the attacks to run: as asked, or those that take seconds; of one epoch there is nothing to learn."""
    if spec.attacks is not None:
        return spec.attacks
    work = len(targets) * len(queries) * targets.n_epochs
    if work > _BAYES_AT_ONCE or targets.n_epochs == 1:
        return ("hamming", "weighted-hamming")
    return ("hamming", "weighted-hamming", "profile-bayes")


def sample_size(spec: AuditSpec, targets: Traces, queries: Traces) -> int | None:
    """Return how many queries to score, as asked or so many as take about half a minute; ``None`` means all."""
    if spec.everyone:
        if spec.sample is not None:
            raise OptionError("choose a sample of queries or everyone, not both")
        return None
    if spec.sample is not None:
        return spec.sample
    index = search.Index(targets.tokens, targets.n_tokens)
    size = len(queries)
    # On the processor and with all the memory it wants: the sample must not depend on the machine.
    while size > 1_000 and search.choose(index, size, memory=1 << 60, device="cpu").seconds > _SECONDS:
        size //= 2
    if "profile-bayes" in (spec.attacks or ()):
        while size > 1_000 and size * len(targets) * targets.n_epochs > _BAYES_TOKENS:
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


def with_tokens(
    counts: tuple[int, ...], targets: Traces, queries: Traces
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Assumption, ...]]:
    """Return the numbers of epochs to look at, those in which a table holds no token at all, and a note on these."""
    kept = tuple(r for r in counts if targets.epochs(r).observed.any() and queries.epochs(r).observed.any())
    if not kept:
        which = "known records" if not targets.epochs(counts[-1]).observed.any() else "records to identify"
        raise DataError(f"the {which} hold no token in the first {counts[-1]} epochs; look at more of them (--epochs)")
    skipped = tuple(r for r in counts if r not in kept)
    if not skipped:
        return counts, (), ()
    left_out = ", ".join(str(r) for r in skipped)
    note = Assumption(
        f"In the first {left_out} epochs one of the tables holds no token, so nothing was measured there.",
        "Where tokens are missing because a table starts late, cut both tables to the epochs they share.",
    )
    return kept, skipped, (note,)


def chosen_attacks(
    spec: AuditSpec, n_tokens: int, own: Sequence[attacks.Attack[Any]] = ()
) -> list[attacks.Attack[Any]]:
    """Return the attacks that the spec names, in one fixed order, with what it declares of the system; then ``own``."""
    top_k, noise = spec.parameters(n_tokens)
    known: dict[str, attacks.Attack[Any]] = {
        "hamming": attacks.Hamming(),
        "weighted-hamming": attacks.WeightedHamming(top_k=top_k, noise=noise),
        # Of a system that was not declared nothing is assumed about the same epoch.
        "profile-bayes": attacks.ProfileBayes(
            top_k if spec.system == "topics" or spec.top_k else None, noise, seed=spec.seed or 0
        ),
    }
    if not spec.attacks and not own:
        raise OptionError(f"choose at least one attack of: {', '.join(known)}")
    chosen = [attack for name, attack in known.items() if name in (spec.attacks or ())]
    for attack in own:
        if not isinstance(attack, attacks.Attack):
            raise OptionError(f"attacks are objects such as attacks.LooseSets(), not {type(attack).__name__}")
        if attack.name in [other.name for other in chosen]:
            raise OptionError(f"there are two attacks called {attack.name}; give one of them another name")
        chosen.append(attack)
    return chosen
