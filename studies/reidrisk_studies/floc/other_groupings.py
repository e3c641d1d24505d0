"""Other ways to group users, to compare SortingLSH with: prefixes of SimHashes, and k-means."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.options import whole_up_to
from reidrisk.base.streams import stream
from reidrisk.cohorts.floc.simhash import BITS
from reidrisk.cohorts.floc.sorting_lsh import as_hashes

_MOST_CELLS = 1 << 28  # 2 GiB of float64
_START = 10_000  # users among whom the first centres are drawn: k-means++ looks at all centres for each


def prefix_lsh(hashes: npt.ArrayLike, prefix: int, bits: int = BITS) -> npt.NDArray[np.int64]:
    """Group users whose SimHashes agree in their first ``prefix`` bits, the highest ones.

    All cohorts take the same part of the space, so how many people share one is left to chance: k-anonymity does not
    follow, and :func:`k_anonymity` says what came out.

    Examples
    --------
    >>> prefix_lsh([0b000, 0b001, 0b110], prefix=2, bits=3).tolist()
    [0, 0, 3]
    """
    bits = whole_up_to("bits", bits, 63)
    prefix = whole_up_to("prefix", prefix, bits, least=0, limit=f"{bits}, the number of bits")
    return (as_hashes(hashes, bits) >> np.uint64(bits - prefix)).astype(np.int64)


def kmeans(features: Any, n_cohorts: int, min_size: int = 1, seed: int = 0) -> npt.NDArray[np.int64]:
    """Group users by k-means (SciPy, k-means++ start on a sample), no group smaller than ``min_size``.

    K-means alone gives no smallest size. Here the smallest cohort is given up, and its users go to the nearest of the
    other centres, until all that are left are large enough; so fewer than ``n_cohorts`` may come out.

    Parameters
    ----------
    features : (n, d) array or ``scipy.sparse`` matrix
        What users are compared by: domains or categories visited, 0/1 or weighted.
    n_cohorts : int
        Number of cohorts to begin with.
    min_size : int
        The k of k-anonymity.
    seed : int
        Of the start.

    Returns
    -------
    (n,) array of int64
        Cohorts, numbered from 0 without gaps.

    Examples
    --------
    >>> found = kmeans([[0.0], [0.1], [5.0], [5.1], [9.0]], n_cohorts=3, min_size=2)
    >>> sorted(np.bincount(found).tolist())
    [2, 3]
    """
    from scipy.cluster.vq import kmeans2, vq

    points = _as_points(features)
    n = len(points)
    n_cohorts = whole_up_to("n_cohorts", n_cohorts, n, limit=f"the {n:,} users")
    min_size = whole_up_to("min_size", min_size, n, limit=f"the {n:,} users")
    rng = stream(seed, "k-means cohorts")
    chosen = rng.choice(n, size=min(n, max(_START, 5 * n_cohorts)), replace=False, shuffle=False)
    start = np.unique(points[np.sort(chosen)], axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about centres that lose all their users; they are dropped below
        if len(start) > n_cohorts:  # k-means++ cannot draw more centres than there are places
            start, _ = kmeans2(start, n_cohorts, minit="++", iter=1, rng=rng)
        centres, _ = kmeans2(points, start, minit="matrix", iter=25)
    assigned, _ = vq(points, centres, check_finite=False)
    sizes = np.bincount(assigned, minlength=len(centres))
    alive = np.flatnonzero(sizes)
    while alive.size and sizes[alive].min() < min_size:
        smallest = alive[np.argmin(sizes[alive])]
        alive = alive[alive != smallest]
        homeless = assigned == smallest  # for all others the nearest centre is still there
        assigned[homeless] = alive[vq(points[homeless], centres[alive], check_finite=False)[0]]
        sizes = np.bincount(assigned, minlength=len(centres))
    return np.unique(assigned, return_inverse=True)[1].astype(np.int64)


def _as_points(features: Any) -> npt.NDArray[np.float64]:
    shape = getattr(features, "shape", None) or np.shape(features)
    if len(shape) != 2 or not all(shape):
        raise DataError(f"features have the shape {tuple(shape)}; give one row for each user and at least one column")
    if shape[0] * shape[1] > _MOST_CELLS:
        raise DataError(
            f"{shape[0]:,} users x {shape[1]:,} features are too many for k-means; sample users, or give fewer columns"
        )
    try:
        points = np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("features must be numbers, one row for each user") from error
    if not np.isfinite(points).all():
        row = int(np.argmax(~np.isfinite(points).all(axis=1)))
        raise DataError(f"the features of user {row} are not all finite; give numbers")
    return points
