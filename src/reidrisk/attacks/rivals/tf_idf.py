"""TfIdf: link to the target with the most similar items, where rare items count for more."""

from typing import Any

import numpy as np

from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import UNIT_STEPS, Rival, holders, rows_of, with_data
from reidrisk.records import Attributes, Bags, Traces

_SQUARES = 1 << 32  # steps in which squares are added up: in whole numbers, so that the order of items cannot matter


@register(kinds=(Bags, Traces, Attributes), cost=per_item(2e-10), default=True)
class TfIdf(Rival):
    """Link to the target with the largest cosine of counts, where rare items weigh more (Salton and Buckley 1988).

    c events of an item that n_i of n targets hold weigh (1 + log c) (log((1 + n) / (1 + n_i)) + 1). Renaming items and
    shuffling people change nothing; doubling every count does, since the logarithm flattens large ones. A query that
    shares nothing with anybody ties with everybody.

    >>> attack = TfIdf().fit(Bags([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]))
    >>> attack.link(Bags([[1, 0, 2, 0]])).target.tolist()
    [1]
    """

    description = (
        "Compares the items of two records by the cosine of their weights, where an item that few targets hold counts "
        "for more. It knows nothing of the system (tf-idf, as in search for documents)."
    )
    steps = UNIT_STEPS

    def _learn(self, counts: Any) -> None:
        self.rarity_ = np.log((1 + counts.shape[0]) / (1 + holders(counts))) + 1.0

    def _weigh_targets(self, counts: Any) -> Any:
        weights = (1.0 + np.log(counts.data)) * self.rarity_[counts.indices]
        rows, squares = rows_of(counts), np.zeros(counts.shape[0], dtype=np.int64)
        np.add.at(squares, rows, np.rint(weights**2 * _SQUARES).astype(np.int64))
        return with_data(counts, weights / np.sqrt(squares / _SQUARES)[rows])

    _weigh_queries = _weigh_targets
