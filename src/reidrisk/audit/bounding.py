"""Bounds of an audit: what no attacker can beat at each number of epochs, by what is known of the system."""

import numpy as np

from reidrisk import bounds
from reidrisk.audit.spec import AuditSpec
from reidrisk.base import Bound, Stage, Steps
from reidrisk.mechanisms.popularity import popularity
from reidrisk.records import Case, TopSets

MODEL_TOKENS = 5_000  # tokens up to which the model of partial information, a table of all pairs of them, is fitted

_DRAWS = 2_000  # simulated records behind the estimate of the optimal attacker who knows one table only


def bounds_at(
    spec: AuditSpec, case: Case, top_sets: TopSets | None, counts: tuple[int, ...], steps: Steps
) -> tuple[Bound, ...]:
    """Bound each number of epochs of Traces by what is known of the system."""
    if not counts:
        return ()
    targets, queries, seed = case.targets, case.queries, spec.seed or 0
    system = spec.mechanism(targets.n_tokens)
    found: list[Bound] = []
    for r in counts:
        # The optimal attacker's estimate looks at every target as often as an attack does.
        steps.begin(Stage("bounds-at", n=r), 2 * r / targets.n_epochs)
        known, asked = targets.epochs(r), queries.epochs(r)
        if top_sets is not None:
            sets = top_sets.epochs(r)
            found += bounds.topics_full_information(sets, system.noise, asked, level=spec.level)
            if r > 1:  # for one epoch the optimum is exact and already there
                found.append(bounds.topics_optimum(sets, system.noise, samples=_DRAWS, seed=seed, level=spec.level))
        else:
            found.append(bounds.distinct_outputs(asked, level=spec.level))
        if system.declared == "system":
            p = popularity(known, system.top_k, system.noise)[0]
            if np.count_nonzero(p) < system.top_k or known.n_tokens > MODEL_TOKENS:
                continue  # too few records to tell any topic from noise, or a table of pairs that is too large
            partly = bounds.topics_partial_information
            found.append(partly(known.tokens, p, system.top_k, system.noise, _DRAWS, seed, spec.level))
    return tuple(found)
