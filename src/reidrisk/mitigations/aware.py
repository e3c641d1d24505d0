"""Blurred: the attacker who knows with what probability an item is random, and weighs what records share by it."""

from typing import Any

import numpy as np

from reidrisk.attacks import NaiveBayes
from reidrisk.attacks.rivals.base import rows_of, sizes_of, with_column, with_data
from reidrisk.base.options import between_0_and_1


class Blurred(NaiveBayes):
    """Link to the target that makes the query most likely if each of its items is any item with probability ``noise``.

    With d_i of l events of a target, V items and the smoothing s of :class:`reidrisk.attacks.NaiveBayes`,

        log P(q | t) = sum_i c_i log((1 - noise) (d_i + s) / (l + s V) + noise / V).

    An item that only the query holds says next to nothing then: it may be random.

    >>> from reidrisk import Bags
    >>> attack = Blurred(noise=0.5).fit(Bags([[8, 2, 0], [1, 9, 0]]))
    >>> attack.link(Bags([[4, 1, 0], [0, 0, 0]])).n_ties.tolist()
    [1, 2]
    """

    description = (
        "Takes the events of a record for draws from those of one target or, with a known probability, from all items "
        "alike, and links to the target that makes them most likely (naive Bayes with known noise)."
    )

    def __init__(self, noise: float, smoothing: float | None = None) -> None:
        super().__init__(smoothing)
        self.noise = between_0_and_1("noise", noise)

    def _weigh_targets(self, counts: Any) -> Any:
        s, width = self.smoothing_, counts.shape[1]
        whole = sizes_of(counts) + s * width
        nothing = (1.0 - self.noise) * s / whole + self.noise / width
        row = rows_of(counts)
        held = (1.0 - self.noise) * (counts.data + s) / whole[row] + self.noise / width
        return with_column(with_data(counts, np.log(held / nothing[row])), np.log(nothing))
