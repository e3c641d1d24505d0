"""One order of records that depends on what they hold and not on where they stand.

What is learnt from targets is a sum of floats, and what is drawn from them is drawn row by row: both would change with
the order of the rows. So ProfileBayes learns and draws in this order, and shuffled tables give the same probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.profile.counts import Counts
from reidrisk.base.kernels import njit


def by_content(counts: Counts) -> npt.NDArray[np.int64]:
    """Return the rows in the order of what they hold; which of two equal ones comes first makes no difference.

    Examples
    --------
    >>> from reidrisk import Traces
    >>> from reidrisk.attacks.profile.counts import Ladder, count
    >>> by_content(count(Traces([[3, 1], [0, 2], [-1, 2]], n_tokens=5), Ladder(2, 1))).tolist()
    [2, 1, 0]
    """
    order, spare = np.arange(len(counts)), np.empty(len(counts), dtype=np.int64)
    return np.asarray(_sorted(order, spare, counts.start, counts.token, counts.count, counts.epochs))


@njit(nogil=True, cache=True)
def _sorted(
    order: Any, spare: Any, start: Any, token: Any, count: Any, epochs: Any
) -> Any:  # pragma: no cover - compiled
    """Sort by merging runs of 1, 2, 4, … rows."""
    n, width = len(order), 1
    while width < n:
        for left in range(0, n, 2 * width):
            middle, end = min(left + width, n), min(left + 2 * width, n)
            i, j = left, middle
            for k in range(left, end):
                if j >= end or (i < middle and not _before(order[j], order[i], start, token, count, epochs)):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order


@njit(nogil=True, cache=True)
def _before(a: Any, b: Any, start: Any, token: Any, count: Any, epochs: Any) -> Any:  # pragma: no cover - compiled
    """Return whether row a comes before row b: by its epochs, or, in bags, by tokens and counts."""
    for s in range(epochs.shape[1]):
        if epochs[a, s] != epochs[b, s]:
            return epochs[a, s] < epochs[b, s]
    size, other = start[a + 1] - start[a], start[b + 1] - start[b]
    if size != other:
        return size < other
    for place in range(size):
        p, q = start[a] + place, start[b] + place
        if token[p] != token[q]:
            return token[p] < token[q]
        if count[p] != count[q]:
            return count[p] < count[q]
    return False
