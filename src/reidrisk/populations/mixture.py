"""Synthetic people drawn from a mixture of types (dick, Algorithm 2): the same seed gives the same people."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.parallel import each
from reidrisk.base.streams import BLOCK, blocks, checked_seed, stream
from reidrisk.records import TopSets


class Sampler(Protocol):
    """What can draw users: :class:`reidrisk.release.TypeMixture`, or anything with the same method."""

    def sample(self, n: int, seed: int) -> TopSets:
        """Draw ``n`` users; sets may be short."""


def mixture(model: Sampler, n: int, seed: int = 0) -> TopSets:
    """Draw a population from a fitted model (dick, Algorithm 2): (n, r, k) tokens, every set full.

    A set in which two slots drew the same token is short. It is padded with random tokens once per user and epoch, so
    that every observer sees the same padding (dick, Section 5).

    Examples
    --------
    >>> from reidrisk.populations import TypeMixture
    >>> mixture(TypeMixture(np.zeros((3, 2, 2, 9))), 1000, seed=0).is_padded
    True
    """
    if not callable(getattr(model, "sample", None)):
        raise DataError(
            f"a population is drawn from a fitted model such as release.TypeMixture, not from {type(model).__name__}"
        )
    seed = checked_seed(seed)
    return model.sample(n, seed).padded(seed)


def draw(
    steps: npt.NDArray[np.float64], start: int, stop: int, seed: int, threads: int | None = None
) -> npt.NDArray[Any]:
    """Draw the sets of the users from ``start``, the first of a block, to ``stop``: tokens ascending, -1 behind.

    ``steps``, (T, r, k, N), are the cumulative probabilities of each slot; the last one of a slot is 1. A user is the
    same whoever else is drawn, on any number of threads.
    """
    from reidrisk.populations.draw_kernels import draw_sets  # the compiler is loaded by those who sample

    n_types, n_epochs, k, n_tokens = steps.shape
    tokens = np.empty((stop - start, n_epochs, k), dtype=np.min_scalar_type(-n_tokens))

    def fill(part: tuple[int, int, int]) -> None:
        block, first, last = part
        rng = stream(seed, "release sample", start // BLOCK + block)
        # A block is always drawn whole, so that a larger sample starts with the same users.
        types = rng.integers(n_types, size=BLOCK)[: last - first]
        uniform = rng.random((BLOCK, n_epochs, k))[: last - first]
        # Users of one type together: their probabilities stay in the cache.
        draw_sets(np.argsort(types, kind="stable"), types, uniform, steps, tokens[first:last])

    for _ in each(fill, blocks(stop - start, BLOCK), threads):
        pass
    return tokens
