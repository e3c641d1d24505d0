"""One cohort per week is one token per epoch: sequences of cohorts as traces, each cohort k-anonymous in every week."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reidrisk.base import Bools, DataError, Ints, Result, Spoken, UInts, whole
from reidrisk.base.plain import MEMORY
from reidrisk.cohorts.floc.simhash import BITS, domain_lists, signatures
from reidrisk.cohorts.floc.sorting_lsh import MIN_DOMAINS, SortingLSH
from reidrisk.records import Traces

__all__ = ["AssignmentSummary", "CohortSizes", "WeeklyCohorts", "assignment_summary", "weekly_cohorts"]


@dataclass(frozen=True, eq=False)
class WeeklyCohorts(Spoken):
    """Cohorts of the same users in several weeks, by one table: what every site is shown, -1 for no cohort."""

    traces: Traces = field(metadata=MEMORY)
    table: SortingLSH = field(metadata=MEMORY)
    k: tuple[int, ...]  # users in the smallest cohort of each week
    largest: tuple[int, ...]  # and in the largest


def weekly_cohorts(
    histories: Sequence[Any], min_size: int, min_domains: int = MIN_DOMAINS, bits: int = BITS, users: Any = None
) -> WeeklyCohorts:
    """Assign a cohort to every user in every week, by one table: cohorts hold ``min_size`` users or none in each.

    A table is fitted to each week (:meth:`SortingLSH.fit`), and only the cuts that all of them make are kept, so that
    cohorts are unions of those of each week: k-anonymity holds in every week by itself. Nothing holds for the sequence.
    ``histories`` has one entry per week: the domains of all users, as for :func:`simhash`, in the same order. Users
    with fewer than ``min_domains`` distinct domains in a week have no cohort in it.

    >>> weeks = [[[f"{(u + w) * i % 997}.org" for i in range(1, 10)] for u in range(2_000)] for w in range(3)]
    >>> found = weekly_cohorts(weeks, min_size=200)
    >>> found.traces.n_epochs, min(found.k) >= 200
    (3, True)
    """
    if not len(histories):
        raise DataError("there is no week; give at least one")
    min_domains = whole("min_domains", min_domains, least=0)
    hashes: list[UInts] = []
    known: list[Bools] = []
    for number, week in enumerate(histories):
        lists = domain_lists(week)
        if lists.single or lists.starts.size - 1 != (hashes[0].size if hashes else lists.starts.size - 1):
            raise DataError(f"week {number} has another number of users than week 0; give a list for each user")
        found, counts = signatures(lists, bits)
        hashes.append(found)
        known.append(counts >= min_domains)
    table = _common_table(hashes, known, min_size, bits)
    cohorts = [np.where(has, table.assign(found), -1) for found, has in zip(hashes, known, strict=True)]
    traces = Traces(np.stack(cohorts, axis=1), n_tokens=len(table), users=users)
    weeks = assignment_summary(traces.tokens, len(table)).weeks
    return WeeklyCohorts(traces, table, tuple(week.smallest for week in weeks), tuple(week.largest for week in weeks))


def _common_table(hashes: Sequence[UInts], known: Sequence[Bools], min_size: int, bits: int) -> SortingLSH:
    """Return the table of the cuts that the tables of all weeks make."""
    cuts = []
    for number, (found, has) in enumerate(zip(hashes, known, strict=True)):
        if has.sum() < min_size:
            few = f"week {number} has {int(has.sum()):,} users with enough domains"
            raise DataError(f"{few}, who cannot fill a cohort of {min_size:,}; lower min_size or min_domains")
        table = SortingLSH.fit(found[has], min_size, bits)
        cuts.append(set(np.cumsum(2 ** table.log_sizes.astype(object)).tolist()))
    sizes = np.diff(np.array([0, *sorted(set.intersection(*cuts))], dtype=object))
    # Halves of halves: what is left between two common cuts is again a power of two.
    return SortingLSH(np.array([int(size).bit_length() - 1 for size in sizes]), bits=bits, fitted=True)


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


def assignment_summary(cohorts: Ints, n_cohorts: int, dropped: int = 0) -> AssignmentSummary:
    """Return how large the cohorts are: one row per user, one column per week, -1 where a user has none.

    >>> assignment_summary(np.array([[0], [0], [1], [1], [1], [-1]]), n_cohorts=4).weeks[0]
    CohortSizes(week=0, users=6, without=1, cohorts=2, smallest=2, largest=3)
    """
    weeks = []
    for number, week in enumerate(cohorts.T):
        used = np.unique(week[week >= 0], return_counts=True)[1].tolist()
        ends = (min(used), max(used)) if used else (0, 0)
        weeks.append(CohortSizes(number, week.size, int((week < 0).sum()), len(used), *ends))
    return AssignmentSummary(n_cohorts, dropped, tuple(weeks))
