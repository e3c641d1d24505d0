"""Draw some of each record's events without replacement, however many events there are."""

from typing import Any

import numpy as np

from reidrisk.base.arrays import Ints

_MOST = 1_000_000_000  # events; NumPy draws exactly up to here


def drawn(counts: Any, sizes: Ints, rng: np.random.Generator) -> Ints:
    """Return how many of each entry of a sparse matrix are drawn, if row i gives ``sizes[i]`` of its events.

    ``counts`` is a CSR matrix of whole numbers above 0; every set of ``sizes[i]`` events of row i is equally likely
    (the multivariate hypergeometric distribution). The answer lies beside ``counts.data``.

    A row is halved again and again, and a hypergeometric draw says how many events fall into each half: halves into
    which none falls are done, so few events of a long record cost little, and a million plays cost as much as ten.
    Beyond 1,000,000,000 events in one place the draw is binomial, cut off at what there is: about as wide.

    >>> from scipy import sparse
    >>> plays = sparse.csr_array([[5, 0, 5], [0, 1_000_000, 0]])
    >>> taken = drawn(plays, np.array([4, 17]), np.random.default_rng(0))
    >>> int(taken[:2].sum()), int(taken[2])
    (4, 17)
    """
    before = np.concatenate(([0], np.cumsum(counts.data, dtype=np.int64)))
    taken = np.zeros(counts.nnz, dtype=np.int64)
    first, last = counts.indptr[:-1].astype(np.int64), counts.indptr[1:].astype(np.int64)
    need = np.minimum(np.asarray(sizes, dtype=np.int64), before[last] - before[first])
    while first.size:
        asked = need > 0
        first, last, need = first[asked], last[asked], need[asked]
        single = last - first == 1
        taken[first[single]] = need[single]
        first, last, need = first[~single], last[~single], need[~single]
        middle = (first + last) // 2
        left = _hypergeometric(before[middle] - before[first], before[last] - before[middle], need, rng)
        first, last = np.concatenate((first, middle)), np.concatenate((middle, last))
        need = np.concatenate((left, need - left))
    return taken


def _hypergeometric(good: Ints, bad: Ints, need: Ints, rng: np.random.Generator) -> Ints:
    """Draw how many of ``need`` events out of ``good + bad`` are good."""
    found = np.zeros(len(need), dtype=np.int64)
    huge = good + bad > _MOST
    found[~huge] = rng.hypergeometric(good[~huge], bad[~huge], need[~huge])
    if huge.any():
        share = need[huge] / (good[huge] + bad[huge])
        found[huge] = rng.binomial(good[huge], np.minimum(share, 1.0))
    return np.clip(found, np.maximum(need - bad, 0), np.minimum(need, good))
