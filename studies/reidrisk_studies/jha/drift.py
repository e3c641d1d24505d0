"""Interests that change from week to week: topic by topic, a user takes over the rate of somebody else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from reidrisk.base.errors import OptionError
from reidrisk.base.options import from_0_to_1
from reidrisk.base.streams import checked_seed, stream
from reidrisk.populations.rates import BLOCK, Rates

__all__ = ["Drifting", "drifting"]


class Drifting(Rates):
    """Rates that are other ones in every epoch; made by :func:`drifting`, simulated by ``TopicsAPI.profiles``.

    ``block`` and ``toarray`` give the rates of the first epoch, ``stretches`` those of all.

    Attributes
    ----------
    share : float
        Probability that the rate of a user and topic is replaced from one epoch to the next.
    """

    __slots__ = ("_seed", "_start", "share")

    def __init__(self, rates: Rates, share: float, seed: int) -> None:
        super().__init__(rates.n_users, rates.n_topics, f"{rates.model}, drifting", rates._make)
        self._start, self.share, self._seed = rates, share, seed

    @property
    def half_life(self) -> float:
        """Epochs after which half of a user's rates are no longer those of the start: log 2 / -log(1 - share)."""
        return math.inf if self.share == 0.0 else math.log(0.5) / math.log1p(-self.share) if self.share < 1.0 else 0.0

    def stretches(self, index: int, epochs: int) -> Iterator[tuple[int, int, Any]]:
        """Yield (first epoch, last + 1, rates) of a block: a stretch is one epoch."""
        if self.share == 0.0:
            yield from super().stretches(index, epochs)
            return
        from scipy import sparse  # half a second nobody else should pay for

        # The block is drawn whole, so that a larger population starts with the same users.
        start = self._start._make(index).toarray()
        donors = start if len(start) > 1 else self._start._make(0).toarray()
        now = start.copy()
        for epoch in range(epochs):
            if epoch:
                rng = stream(self._seed, f"populations.drift in epoch {epoch}", index)
                shift = rng.integers(1, len(donors), size=len(now))
                users, topics = np.nonzero(rng.random(now.shape, dtype=np.float32) < self.share)
                now[users, topics] = donors[(users + shift[users]) % len(donors), topics]
            yield epoch, epoch + 1, sparse.csr_array(now[: self.n_users - index * BLOCK])


def drifting(rates: Rates, share: float, seed: int) -> Rates:
    """Let interests drift: in every epoch, each topic's rate is with probability ``share`` that of another user.

    lambda[u, t](e) = lambda[u, t](e - 1) with probability 1 - share, else lambda[d, t](0), where the donor d is a user
    drawn uniformly among the others of the block of 4,096, one for each user and epoch. After h epochs a rate is
    untouched with probability (1 - share)^h; how common each topic is and how often its visitors visit it stays the
    same on average, so that only persistence changes. With share 0 the result is that of ``rates``, bit for bit. jha
    (Section 9.1) names constant interests as a limit of its own populations.

    Parameters
    ----------
    rates : Rates
        The population at the start, of at least two users.
    share : float
        Probability of a replacement from one epoch to the next, from 0 to 1; 0.023 is a half-life of 30 epochs.
    seed : int
        Seed; more users or epochs leave the first ones as they are.

    Examples
    --------
    >>> from reidrisk_studies.jha.personas import distinct
    >>> rates = drifting(distinct(1000, n_topics=40), share=0.1, seed=0)
    >>> rates, round(rates.half_life, 1)
    (Rates(1,000 users x 40 topics, distinct, drifting), 6.6)
    >>> first, last = [part.toarray() for _, _, part in rates.stretches(0, 8)][:: 7]
    >>> before = first > 0
    >>> bool(0.4 < (last[before] > 0).mean() < 0.6)            # 0.9^7 = 0.48, and some came back
    True
    """
    if not isinstance(rates, Rates):
        raise OptionError(f"drifting needs Rates, not {type(rates).__name__}; give populations.real(matrix)")
    if isinstance(rates, Drifting):
        raise OptionError("these rates drift already; give the constant ones")
    share = from_0_to_1("share", share)
    if len(rates) < 2:
        raise OptionError("drift takes interests from other users, but there is only 1; give at least 2")
    return Drifting(rates, share, checked_seed(seed))
