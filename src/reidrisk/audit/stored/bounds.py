"""Bounds of stored tables: those for which it is enough to count where the tables are."""

import numpy as np

from reidrisk.audit.bounding import MODEL_TOKENS
from reidrisk.audit.spec import AuditSpec
from reidrisk.audit.stored.prepare import Prepared
from reidrisk.base.results import Bound
from reidrisk.bounds.matching import counted_outputs
from reidrisk.bounds.top_sets.partial import partial_information_of_counts
from reidrisk.mechanisms.popularity import popularity_of_counts
from reidrisk.search.engines.aggregates import distinct_rows, token_counts
from reidrisk.search.engines.relational import Session


def stored_bounds(session: Session, tables: Prepared, spec: AuditSpec, counts: tuple[int, ...]) -> tuple[Bound, ...]:
    """Bound each number of epochs by how many different records there are; one epoch also by how common tokens are.

    The bound of partial information over several epochs weighs every known record against every draw, which is no count
    any more: it is left out.
    """
    system, found = spec.mechanism(tables.targets.n_tokens), []
    for r in counts:
        distinct = distinct_rows(session, tables.queries.relation, r)
        found.append(counted_outputs(distinct, len(tables.queries), r, spec.level))
        if r == 1 and system.declared == "system" and tables.targets.n_tokens <= MODEL_TOKENS:
            shown = token_counts(session, tables.targets.relation, 1, tables.targets.n_tokens)
            p = popularity_of_counts(shown, system.top_k, system.noise)[0]
            if np.count_nonzero(p) >= system.top_k:  # else too few records tell any topic from noise
                n = len(tables.targets)
                found.append(partial_information_of_counts(shown[0], p, n, system.top_k, system.noise))
    return tuple(found)
