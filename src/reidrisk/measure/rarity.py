"""How rare something is, in a few levels: what people are told apart by, and what records are taken apart into."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from reidrisk.base import Bools, Floats


def by_rarity(share: Floats, ends: Sequence[float]) -> dict[str, Bools]:
    """Return who or what is of each level of rarity, cut at rising ``ends``; a share of infinity is of none.

    A level is a code with its ends, of which the lower one belongs to it.

    >>> found = by_rarity(np.array([0.0, 0.001, 0.5, np.inf]), (0.001, 0.01))
    >>> {level: np.flatnonzero(is_of).tolist() for level, is_of in found.items()}
    {'below-0.001': [0], '0.001-to-0.01': [1], 'from-0.01': [2]}
    """
    between = {f"{low:g}-to-{high:g}": (low, high) for low, high in pairwise(ends)}
    levels = {f"below-{ends[0]:g}": (0.0, ends[0]), **between, f"from-{ends[-1]:g}": (ends[-1], np.inf)}
    return {level: (share >= low) & (share < high) for level, (low, high) in levels.items()}
