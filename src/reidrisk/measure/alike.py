"""Records that hold the same are asked once: whatever an attack answers to one of them, it answers to all."""

from typing import Any

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.records import Traces


def distinct(records: Any, attack: Any = None) -> tuple[Ints, Ints]:
    """Return the row of the first of each kind of record, and for each record the place of its kind.

    Of records other than traces and attributes, each is taken to be its own kind; and of all, where the attack reads
    more than they hold.

    >>> first, kind = distinct(Traces([[1, 2], [3, 4], [1, 2]], n_tokens=9))
    >>> first.tolist(), kind.tolist()
    ([0, 1], [0, 1, 0])
    """
    n = len(records)
    if not isinstance(records, Traces) or n < 2 or getattr(attack, "reads_cells", False):
        return np.arange(n), np.arange(n)
    rows = np.ascontiguousarray(records.tokens)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, kind = np.unique(whole, return_index=True, return_inverse=True)
    return first.astype(np.int64), kind.astype(np.int64)
