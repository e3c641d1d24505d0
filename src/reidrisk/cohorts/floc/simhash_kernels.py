"""Compiled SimHash: the Gaussians of a feature, and the signs of their sums; the twin is ``simhash.reference``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reidrisk.base.kernels import njit
from reidrisk.cohorts.floc.cityhash_kernels import seeded_pair
from reidrisk.cohorts.floc.simhash import SCALE, TWO_PI


@njit(cache=True, nogil=True, inline="always")
def _gaussian(d: int, feature: Any) -> Any:  # pragma: no cover - compiled
    place = np.uint64(d)
    one = np.float64(seeded_pair(place, feature, np.uint64(1))) / SCALE
    two = np.float64(seeded_pair(feature, place, np.uint64(2))) / SCALE
    return math.sqrt(-2.0 * math.log(one)) * math.cos(TWO_PI * two)


@njit(cache=True, nogil=True)
def gaussians(features: Any, out: Any) -> None:  # pragma: no cover - compiled
    """Fill ``out`` (features, bits) with the Gaussian of each feature and bit."""
    for i in range(features.size):
        for d in range(out.shape[1]):
            out[i, d] = _gaussian(d, features[i])


@njit(cache=True, nogil=True)
def sign_bits(
    starts: Any, ranks: Any, features: Any, place: Any, cache: Any, bits: int, hashes: Any, counts: Any
) -> None:  # pragma: no cover - compiled
    """Fill in the SimHash of each user and the number of distinct features; ``place`` -1 means not in the cache."""
    sums = np.empty(bits)
    for user in range(hashes.size):
        own = np.sort(ranks[starts[user] : starts[user + 1]])
        sums[:] = 0.0
        last, distinct = -1, 0
        for rank in own:
            if rank == last:
                continue
            last = rank
            distinct += 1
            row = place[rank]
            if row >= 0:
                for d in range(bits):
                    sums[d] += cache[row, d]
            else:
                for d in range(bits):
                    sums[d] += _gaussian(d, features[rank])
        value = np.uint64(0)
        for d in range(bits):
            if sums[d] > 0.0:
                value |= np.uint64(1) << np.uint64(d)
        hashes[user] = value
        counts[user] = distinct
