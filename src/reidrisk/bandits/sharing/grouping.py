"""Who is like whom, by profile: nearest neighbours, clusters, and groups of a guaranteed size."""

from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats, Ints, OptionError, first_seen, require, slices, stream

BLOCK_CELLS = 1 << 19  # distances held at a time, 4 MiB of them: what fits a cache is also the fastest

_FEW = 128  # up to this many passes over a row are faster than sorting it
_PERPLEXITY = 30.0  # the usual one of t-SNE; it must stay well below the number of users


def neighbours(profiles: Floats, order: int = 1) -> Ints:
    """Return the user with the ``order``-th nearest profile for each user; among equals the lower row comes first."""
    from scipy.spatial.distance import cdist

    n = len(profiles)
    if order >= n:
        raise OptionError(f"there is no neighbour {order} among {n} users; everyone has {n - 1}")
    found = np.empty(n, dtype=np.int64)
    for block in slices(n, BLOCK_CELLS // n):
        distance = cdist(profiles[block], profiles, "sqeuclidean")
        distance[np.arange(len(distance)), np.arange(n)[block]] = np.inf
        found[block] = _nth_least(distance, order)
    return found


def _nth_least(values: Floats, order: int) -> Ints:
    """Return the column of the ``order``-th least value of each row, the lower among equals; values are overwritten."""
    if order > _FEW:
        return np.asarray(np.argsort(values, axis=1, kind="stable")[:, order - 1])
    rows = np.arange(len(values))
    for _ in range(order - 1):
        values[rows, np.argmin(values, axis=1)] = np.inf
    return np.asarray(np.argmin(values, axis=1), dtype=np.int64)


def clusters(profiles: Floats, n_clusters: int, seed: int = 0) -> Ints:
    """Return the cluster of each user: t-SNE to 2 dimensions, then k-means (galozy, Section 6.1).

    They depend on the order of users only among those with equal profiles, and are numbered by their first member.
    """
    n = len(profiles)
    if n_clusters > n:
        raise OptionError(f"there are {n} users, so no {n_clusters} clusters; choose at most {n}")
    return clusters_of(embedding(profiles, seed), n_clusters, seed)


def clusters_of(points: Floats, n_clusters: int, seed: int) -> Ints:
    """Return the k-means cluster of each embedded user."""
    library = require("sklearn.cluster", "bandits", "k-means clustering")
    order = _fixed_order(points)
    state = int(stream(seed, "k-means").integers(2**31))
    labels = np.empty(len(points), dtype=np.int64)
    with _one_thread():
        labels[order] = library.KMeans(n_clusters, n_init=10, random_state=state).fit_predict(points[order])
    return first_seen(labels)[0]


def embedding(profiles: Floats, seed: int = 0) -> Floats:
    """Return the t-SNE embedding of the profiles in 2 dimensions, the same for any order of the users."""
    n = len(profiles)
    if n < 3:
        # A profile of one number has no second coordinate: it is 0 for everyone.
        return np.pad(profiles[:, :2].astype(np.float64), ((0, 0), (0, max(0, 2 - profiles.shape[1]))))
    library = require("sklearn.manifold", "bandits", "t-SNE")
    order = _fixed_order(profiles)
    state, perplexity = int(stream(seed, "t-SNE").integers(2**31)), min(_PERPLEXITY, (n - 1) / 3)
    with _one_thread():
        # Random start: the other one, by principal components, fails where all profiles are the same.
        model = library.TSNE(2, perplexity=perplexity, init="random", random_state=state)
        points = np.empty((n, 2))
        points[order] = model.fit_transform(profiles[order].astype(np.float64))
    return points


def microaggregates(profiles: Floats, k: int) -> Ints:
    """Return groups of at least k users with near profiles, at most 2k - 1: MDAV (Domingo-Ferrer and Torra, 2005).

    The user farthest from the mean and the k - 1 nearest to it make a group, so do the user farthest from *that* one
    and its k - 1 nearest, and so on.
    """
    n = len(profiles)
    if k > n:
        raise OptionError(f"groups of {k} cannot be made of {n} users; choose k of at most {n}")
    order = _fixed_order(profiles)
    points, left, labels, group = profiles[order], np.arange(n), np.empty(n, dtype=np.int64), 0

    def taken(centre: Floats) -> Ints:
        nonlocal left, group
        near = np.argsort(((points[left] - centre) ** 2).sum(axis=1), kind="stable")[:k]
        labels[order[left[near]]] = group
        left, group = np.delete(left, near), group + 1
        return near

    while len(left) >= 3 * k:
        farthest = points[left[_farthest(points[left], points[left].mean(axis=0))]]
        opposite = points[left[_farthest(points[left], farthest)]]
        taken(farthest)
        taken(opposite)
    if len(left) >= 2 * k:
        taken(points[left[_farthest(points[left], points[left].mean(axis=0))]])
    labels[order[left]] = group
    return first_seen(labels)[0]


def _farthest(points: Floats, centre: Floats) -> int:
    return int(np.argmax(((points - centre) ** 2).sum(axis=1)))


def _fixed_order(points: Floats) -> Ints:
    """Return an order of the rows that depends on their values alone."""
    return np.lexsort(points.T[::-1])


def _one_thread() -> Any:
    """Keep the libraries below to one thread: sums in another order would move the embedding."""
    return require("threadpoolctl", "bandits", "clustering").threadpool_limits(1)


def needs_profiles(profiles: Floats | None, step: object) -> Floats:
    """Return the profiles, or say that the step cannot do without."""
    if profiles is None:
        raise DataError(f"{step} compares users by their profiles; give profiles=, a row for each user")
    return profiles
