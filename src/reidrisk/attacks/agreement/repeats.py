"""Whether people have several queries: more of them want one target than strangers would."""

import math

import numpy as np

from reidrisk.base.arrays import Ints

_USUAL = 0.95  # of strangers' best scores: two queries above it that want one target are of one person


def have_several(target: Ints, score: Ints, others: Ints) -> bool:
    """Whether people have several queries: clearly more than one in twenty wants a target that a better one wants too.

    Only queries count whose best ``score`` is higher than most people's would be who are not among the targets: as
    high as the best scores of ``others``, which are targets with those of other people.

    >>> target, others = np.arange(100) % 50, np.zeros(100, dtype=int)
    >>> have_several(target, np.full(100, 5), others), have_several(target, np.full(100, -5), others)
    (True, False)
    """
    high = score > np.quantile(others, _USUAL)
    twice = int(high.sum()) - len(np.unique(target[high]))
    chance = (1.0 - _USUAL) * len(target)
    return twice > chance + 3.0 * math.sqrt(chance) + 3.0
