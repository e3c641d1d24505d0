"""How large the cohorts of an assignment are, in one week or in several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.base.results import Result, Spoken


@dataclass(frozen=True, eq=False)
class CohortSizes(Result):
    """Users and cohorts of one week: how many, how many users without a cohort, and the smallest and largest cohort."""

    week: int
    users: int
    without: int
    cohorts: int
    smallest: int
    largest: int


@dataclass(frozen=True, eq=False)
class AssignmentSummary(Spoken):
    """What an assignment of cohorts looks like; ``dropped_visits`` had no registrable domain."""

    n_cohorts: int
    dropped_visits: int
    weeks: tuple[CohortSizes, ...]


def assignment_summary(cohorts: npt.NDArray[np.int64], n_cohorts: int, dropped: int = 0) -> AssignmentSummary:
    """Return how large the cohorts are: one row per user, one column per week, -1 where a user has none.

    Examples
    --------
    >>> assignment_summary(np.array([[0], [0], [1], [1], [1], [-1]]), n_cohorts=4).weeks[0]
    CohortSizes(week=0, users=6, without=1, cohorts=2, smallest=2, largest=3)
    """
    weeks = []
    for number, week in enumerate(cohorts.T):
        used = np.unique(week[week >= 0], return_counts=True)[1].tolist()
        ends = (min(used), max(used)) if used else (0, 0)
        weeks.append(CohortSizes(number, week.size, int((week < 0).sum()), len(used), *ends))
    return AssignmentSummary(n_cohorts, dropped, tuple(weeks))
