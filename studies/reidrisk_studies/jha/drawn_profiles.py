"""Probabilistic profiles: topics drawn in proportion to the week's visits instead of the most visited ones.

jha (Section 9.2) proposes them without saying how; here a set is drawn without replacement, each topic in proportion to
its visits in that week.
"""

from __future__ import annotations

import numpy as np

from reidrisk.base.streams import blocks, stream
from reidrisk.populations.rates import BLOCK, Rates
from reidrisk.records import TopSets

__all__ = ["drawn_sets"]


def drawn_sets(rates: Rates, epochs: int, size: int, seed: int, lots: str = "everybody") -> TopSets:
    """Simulate visits, and draw the set of each user and epoch in proportion to them.

    User u visits topic t n_t ~ Poisson(lambda[u, t]) times in an epoch; the set takes one topic after the other, each
    with probability n_t over the visits to the topics that are left. A set that is still short is padded with random
    topics, as in :meth:`reidrisk.topics.TopicsAPI.profiles`.

    Parameters
    ----------
    rates : Rates
        Mean weekly visits.
    epochs, size : int
        Number of epochs, and of topics in a set.
    seed : int
        Of the visits, the draws and the padding.
    lots : str
        For whom the set is drawn: another name, other draws from the same visits.

    Examples
    --------
    >>> from reidrisk import populations
    >>> rates = populations.real([[30.0, 10.0, 0.0]] * 2000)
    >>> first = drawn_sets(rates, epochs=1, size=1, seed=0).tokens.ravel()
    >>> bool(0.72 < np.mean(first == 0) < 0.78), bool((first == 2).any())
    (True, False)
    """
    sets = np.full((len(rates), epochs, size), -1, dtype=np.min_scalar_type(-rates.n_topics))
    for block, start, _ in blocks(len(rates), BLOCK):
        part = rates.block(block).tocsr()
        users = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        for epoch in range(epochs):
            visits = stream(seed, f"visits of drawn sets, epoch {epoch}", block).poisson(part.data)
            visited = np.flatnonzero(visits)
            # Drawing without replacement in proportion to w is a race of exponential clocks of speed w.
            rng = stream(seed, f"lots of {lots}, epoch {epoch}", block)
            clocks = rng.standard_exponential(len(part.data))[visited] / visits[visited]
            order = visited[np.lexsort((clocks, users[visited]))]
            mine = users[order]
            place = np.arange(len(order)) - np.searchsorted(mine, mine)
            taken = place < size
            sets[start + mine[taken], epoch, place[taken]] = part.indices[order][taken]
    return TopSets(sets, rates.n_topics).padded(seed)
