"""How many clusters: the scores by which the paper looked for a number (galozy, Section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.bandits.sharing.grouping import clusters_of, embedding
from reidrisk.base.errors import OptionError
from reidrisk.base.extras import require
from reidrisk.base.results import Result
from reidrisk.base.streams import stream

__all__ = ["ClusterScore", "cluster_scores"]


@dataclass(frozen=True, eq=False)
class ClusterScore(Result):
    """Scores of one number of clusters: low is good for the first three, high for Calinski-Harabasz.

    ``smallest`` and ``largest`` are the sizes of the clusters: a cluster of one hides nobody.
    """

    n_clusters: int
    aic: float
    bic: float
    davies_bouldin: float
    calinski_harabasz: float
    smallest: int
    largest: int


def cluster_scores(profiles: npt.ArrayLike, counts: Sequence[int], seed: int = 0) -> tuple[ClusterScore, ...]:
    """Score several numbers of clusters of the embedded profiles.

    k-means on the 2-dimensional t-SNE embedding, as :class:`Clusters` does it; the Akaike and Bayesian information
    criteria are those of a mixture of as many spherical Gaussians there.

    Parameters
    ----------
    profiles : (n, p) array
        Metadata of the users.
    counts : sequence of int
        Numbers of clusters, from 2 to n - 1.
    seed : int
        Seed of t-SNE, k-means and the mixture.

    Examples
    --------
    >>> import numpy as np
    >>> far_apart = np.repeat(np.eye(3) * 50, 8, axis=0) + np.random.default_rng(0).normal(size=(24, 3))
    >>> scores = cluster_scores(far_apart, [2, 3, 6])
    >>> max(scores, key=lambda s: s.calinski_harabasz).n_clusters in (3, 6), scores[1].smallest
    (True, 8)
    """
    table = np.asarray(profiles, dtype=np.float64)
    n = len(table)
    for count in counts:
        if not 2 <= count < n:
            raise OptionError(f"scores exist for 2 to {n - 1} clusters of {n} users, not for {count}")
    metrics = require("sklearn.metrics", "bandits", "cluster scores")
    mixture = require("sklearn.mixture", "bandits", "cluster scores")
    points = embedding(table, seed)
    state = int(stream(seed, "mixture of clusters").integers(2**31))
    found = []
    for count in counts:
        labels = clusters_of(points, count, seed)
        model = mixture.GaussianMixture(count, covariance_type="spherical", random_state=state).fit(points)
        sizes = np.bincount(labels)
        found.append(
            ClusterScore(
                n_clusters=int(count),
                aic=float(model.aic(points)),
                bic=float(model.bic(points)),
                davies_bouldin=float(metrics.davies_bouldin_score(points, labels)),
                calinski_harabasz=float(metrics.calinski_harabasz_score(points, labels)),
                smallest=int(sizes.min()),
                largest=int(sizes.max()),
            )
        )
    return tuple(found)
