"""The empty cohort: what blocked users have in common, since 'no cohort' is an answer too."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.plain import MEMORY
from reidrisk.base.results import Result, Spoken
from reidrisk.cohorts.sensitivity.blocklist import Blocklist
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.significance import gap_intervals


@dataclass(frozen=True, eq=False)
class EmptyProfile(Result):
    """How a group of users differs from the population: its sensitivity gap, and ``off_by(0.02)`` of its categories.

    ``difference`` (c,) is the frequency of each in the group less that in the population; it stays out of JSON.
    """

    n_users: int
    gap: float
    low: float
    high: float
    off_by_two_points: int
    difference: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False, metadata=MEMORY)

    def off_by(self, limit: float = 0.02) -> int:
        """Return how many categories deviate from the population, up or down, by more than ``limit``."""
        return int((np.abs(self.difference) > limit).sum())


@dataclass(frozen=True, eq=False)
class EmptyCohort(Spoken):
    """The profile of all blocked users, and of what a site sees as 'no cohort': with those who never had one."""

    blocked: EmptyProfile
    everyone_without: EmptyProfile
    t: float
    n_shown: int


def empty_cohort(counts: CohortCounts, blocklist: Blocklist, level: float = 0.95) -> EmptyCohort:
    """Return the sensitivity profile of the users who are shown without a cohort (floc, The empty cohort).

    All blocked cohorts could share one anomalous category, and then being blocked would give it away. In the paper, at
    t = 0.05, two categories deviate by more than 0.02, none by more than 0.05. Counts are those **before** blocking.

    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> counts = count_visits([0, 0, 1, 1, -1, -1], [[1], [1], [0], [0], [0], [0]])
    >>> found = empty_cohort(counts, Blocklist((0,), t=0.5))
    >>> round(found.blocked.gap, 3), round(found.everyone_without.gap, 3)
    (0.667, 0.167)
    """
    blocked = np.isin(counts.cohorts, np.array(blocklist.cohorts, dtype=np.int64))
    visits = counts.visits[blocked].sum(axis=0, dtype=np.int64)
    size = int(counts.sizes[blocked].sum())
    if not size:
        raise DataError("no user is in a blocked cohort; there is no empty cohort to look at")
    never = counts.population - counts.visits.sum(axis=0, dtype=np.int64)
    return EmptyCohort(
        blocked=_profile(counts, visits, size, level),
        everyone_without=_profile(counts, visits + never, size + counts.n_without, level),
        t=blocklist.t,
        n_shown=int(counts.sizes[~blocked].sum()),
    )


def _profile(counts: CohortCounts, visits: npt.NDArray[np.int64], size: int, level: float) -> EmptyProfile:
    # The group is one more cohort, so its gap has an interval like any other.
    one = np.zeros(1, dtype=np.int64)
    group = replace(counts, cohorts=one, sizes=np.array([size]), visits=visits[None].astype(np.int32))
    difference = visits / size - counts.population_freq
    low, high = gap_intervals(group, level)
    found = EmptyProfile(size, float(difference.max()), float(low[0]), float(high[0]), 0, difference)
    return replace(found, off_by_two_points=found.off_by(0.02))
