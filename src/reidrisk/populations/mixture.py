"""A fitted model as a population: synthetic people whose sets are full, like those of the others."""

from __future__ import annotations

from typing import Protocol

from reidrisk.base.errors import DataError
from reidrisk.base.streams import checked_seed
from reidrisk.records import TopSets

__all__ = ["Sampler", "mixture"]


class Sampler(Protocol):
    """What can draw users: :class:`reidrisk.release.TypeMixture`, or anything with the same method."""

    def sample(self, n: int, seed: int) -> TopSets:
        """Draw ``n`` users; sets may be short."""


def mixture(model: Sampler, n: int, seed: int = 0) -> TopSets:
    """Draw a population from a fitted model (dick, Algorithm 2), short sets padded.

    A set in which two slots drew the same token is short. It is padded with random tokens once per user and epoch, so
    that every observer sees the same padding (dick, Section 5).

    Parameters
    ----------
    model : Sampler
        Such as :class:`reidrisk.release.TypeMixture`.
    n : int
        Number of users.
    seed : int
        Same seed, same population.

    Returns
    -------
    TopSets
        (n, r, k) tokens, every set full.

    Examples
    --------
    >>> import numpy as np
    >>> from reidrisk import release
    >>> model = release.TypeMixture(np.zeros((3, 2, 2, 9)))
    >>> sets = mixture(model, 1000, seed=0)
    >>> sets, sets.is_padded
    (TopSets(1,000 users x 2 epochs x 2 tokens of 9), True)
    """
    if not callable(getattr(model, "sample", None)):
        raise DataError(
            f"a population is drawn from a fitted model such as release.TypeMixture, not from {type(model).__name__}"
        )
    seed = checked_seed(seed)
    return model.sample(n, seed).padded(seed)
