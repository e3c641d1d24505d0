"""t-closeness as a distance: how far a cohort is from the population in either direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.base.results import Spoken
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.gaps import cohort_blocks, excess


@dataclass(frozen=True, eq=False)
class Closeness(Spoken):
    """Distance of each cohort from the population, and the k and t for which the assignment is t-close.

    Attributes
    ----------
    distance : (m,) array
        Of the category that is farthest.
    category : (m,) array of int
        Its column.
    worst : float
        Largest distance: the least t for which the assignment satisfies t-closeness.
    k : int
        Users in the smallest cohort.
    """

    distance: npt.NDArray[np.float64]
    category: npt.NDArray[np.int64]
    worst: float
    k: int

    def satisfied(self, k: int, t: float) -> bool:
        """Tell whether the assignment is k-anonymous and t-close."""
        return self.k >= k and self.worst <= t


def closeness(counts: CohortCounts) -> Closeness:
    r"""Return the distance of t-closeness of every cohort (floc, Sensitivity).

    For a category a user either visited it or did not, so the two distributions have two values, and their distance
    (total variation, and the earth mover's distance of the original definition alike) is

    .. math:: \max_X \left|\mathrm{CohortFreq}(X, C) - \mathrm{PopulationFreq}(X)\right|.

    The sensitivity gap is the same without the bars: it overlooks a category that a cohort *avoids*. The paper says
    that every cohort that is not sensitive satisfies t-closeness; that holds for the one-sided gap, not for this
    distance.

    Examples
    --------
    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> counts = count_visits([0, 0, 1, 1], [[0], [0], [1], [0]])
    >>> found = closeness(counts)
    >>> found.distance.tolist(), found.satisfied(k=2, t=0.25)     # the gap of cohort 0 is -0.25
    ([0.25, 0.25], True)
    """
    distance = np.empty(counts.cohorts.size)
    category = np.empty(counts.cohorts.size, dtype=np.int64)
    for rows in cohort_blocks(counts):
        away = np.abs(excess(counts, rows))
        category[rows] = away.argmax(axis=1)
        distance[rows] = away.max(axis=1) / (counts.sizes[rows].astype(np.float64) * counts.n_users)
    return Closeness(distance, category, float(distance.max()), counts.k)
