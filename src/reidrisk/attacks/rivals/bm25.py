"""BM25: the ranking function of search engines, with a query's items as words and targets as documents."""

from typing import Any

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Rival, holders, rows_of, sizes_of, with_data
from reidrisk.base.errors import OptionError
from reidrisk.records import Bags, Traces


@register(kinds=(Bags, Traces), cost=per_item(2e-10), default=True)
class BM25(Rival):
    """Link to the target that a search for the query's items would rank first (Robertson and Zaragoza 2009).

    With c_i events of the query, d_i of l of the target, l_mean the mean of l over the n targets, n_i of which hold i,

        score = sum_i c_i log(1 + (n - n_i + 1/2) / (n_i + 1/2)) d_i (k1 + 1) / (d_i + k1 (1 - b + b l / l_mean)).

    ``k1`` is how far further events of an item count, ``b`` how far large records are marked down. Renaming items and
    shuffling people change nothing; doubling the targets' counts does, doubling the queries' does not. A query that
    shares nothing with anybody ties with everybody.

    >>> attack = BM25().fit(Bags([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]))
    >>> attack.link(Bags([[1, 0, 2, 0]])).target.tolist()
    [1]
    """

    description = (
        "Searches for the items of a record as a search engine does for words, and links to the target ranked first. "
        "It knows nothing of the system (Okapi BM25)."
    )

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        if not 0.0 <= k1 < np.inf:
            raise OptionError(f"k1 must be a finite number of at least 0, not {k1!r}")
        if not 0.0 <= b <= 1.0:
            raise OptionError(f"b must lie in [0, 1], not {b!r}")
        self.k1, self.b = k1, b

    def _learn(self, counts: Any) -> None:
        n, held = counts.shape[0], holders(counts)
        self.rarity_ = np.log1p((n - held + 0.5) / (held + 0.5))
        self._per_size = n / max(int(sizes_of(counts).sum()), 1)

    def _weigh_targets(self, counts: Any) -> Any:
        relative = sizes_of(counts) * self._per_size
        flattened = self.k1 * (1.0 - self.b + self.b * relative[rows_of(counts)])
        rarity = self.rarity_[counts.indices]
        return with_data(counts, rarity * counts.data * (self.k1 + 1.0) / (counts.data + flattened))

    def _weigh_queries(self, counts: Any) -> Any:
        return counts
