"""Hellinger: link to the target whose shares of items are nearest; it models nothing."""

from typing import Any

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import UNIT_STEPS, Rival, rows_of, sizes_of, with_data
from reidrisk.records import Bags, Traces


@register(kinds=(Bags, Traces), cost=per_item(2e-10), default=True)
class Hellinger(Rival):
    """Link to the target with the nearest shares: score = sum over items of sqrt(share in query x share in target).

    With c_i of m events of a query and d_i of l events of a target, the Bhattacharyya coefficient

        sum_i sqrt(c_i / m) sqrt(d_i / l),

    which is 1 - H^2 with H the Hellinger distance of the two histograms. Doubling the counts of either side, renaming
    items and shuffling people change nothing. A query that shares nothing with anybody ties with everybody.

    >>> attack = Hellinger().fit(Bags([[8, 2, 0], [1, 9, 0]]))
    >>> attack.link(Bags([[4, 1, 0], [0, 0, 5]])).n_ties.tolist()
    [1, 2]
    """

    description = (
        "Compares which share of a record each item makes up, and links to the target with the nearest shares. "
        "It models nothing and knows nothing of the system (Hellinger distance of two histograms)."
    )
    steps = UNIT_STEPS

    def _weigh_targets(self, counts: Any) -> Any:
        return with_data(counts, np.sqrt(counts.data / sizes_of(counts)[rows_of(counts)]))

    _weigh_queries = _weigh_targets
