"""What to block: what thresholds cost, blocklists, how they age and travel, and what the blocked have in common."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reidrisk.base import ArrayLike, DataError, Floats, Ints, OptionError, Result, Spoken
from reidrisk.base.plain import MEMORY
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment
from reidrisk.cohorts.sensitivity.gaps import Gaps, exceeding, gaps
from reidrisk.cohorts.sensitivity.significance import gap_intervals

__all__ = ["Blocklist", "BlocklistChanges", "BlocklistCheck", "EmptyCohort", "EmptyProfile", "FrequencyHistogram"]
__all__ += ["ThresholdCurve", "blocklist_changes", "check_blocklist", "empty_cohort", "frequency_histogram"]
__all__ += ["threshold_curve"]

Ends = tuple[Floats, Floats]

THRESHOLDS = tuple(round(0.005 * i, 3) for i in range(1, 61))
"""From 0.005 to 0.3; the paper's figure has thresholds of this range."""

_EDGES = tuple(round(0.01 * i, 2) for i in range(101))


@dataclass(frozen=True, eq=False)
class ThresholdCurve(Spoken):
    """The share of cohorts, and of users with a cohort, that each threshold blocks (floc, Utility vs privacy)."""

    t: tuple[float, ...]
    cohorts: tuple[float, ...]
    users: tuple[float, ...]
    certain: tuple[float, ...]  # share of the cohorts whose interval lies above t as a whole
    possible: tuple[float, ...]  # share of those whose interval reaches above it
    n_cohorts: int
    level: float = 0.95
    noisy: bool = False


@dataclass(frozen=True, eq=False)
class FrequencyHistogram(Spoken):
    """How many categories are visited by which share of users; bin ``i`` goes from edge ``i`` up to edge ``i + 1``."""

    edges: tuple[float, ...]
    categories: tuple[int, ...]
    below: float
    share_below: float


def threshold_curve(
    counts: CohortCounts, thresholds: Sequence[float] | None = None, level: float = 0.95
) -> ThresholdCurve:
    """Return what each threshold would block; default: from 0.005 to 0.3.

    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> counts = count_visits([0, 0, 1, 1, 1, 1], [[1], [1], [0], [0], [0], [0]])
    >>> curve = threshold_curve(counts, [0.1, 0.7])
    >>> curve.cohorts, [round(share, 2) for share in curve.users]
    ((0.5, 0.0), [0.33, 0.0])
    """
    thresholds = THRESHOLDS if thresholds is None else thresholds
    if not len(thresholds) or any(b <= a for a, b in itertools.pairwise(thresholds)):
        raise OptionError("thresholds must ascend, and there must be at least one")
    return curve_of(counts, gaps(counts), gap_intervals(counts, level), thresholds, level)


def curve_of(
    counts: CohortCounts, found: Gaps, ends: Ends, thresholds: Sequence[float], level: float, noisy: bool = False
) -> ThresholdCurve:
    """Return what each threshold would block, by gaps and the ends of their intervals; noisy gaps are not exact."""
    above = [found[1] > t if noisy else exceeding(counts, found, t) for t in thresholds]
    sizes = counts.sizes
    return ThresholdCurve(
        t=tuple(map(float, thresholds)),
        cohorts=tuple(float(chosen.mean()) for chosen in above),
        users=tuple(float(sizes[chosen].sum() / sizes.sum()) for chosen in above),
        certain=tuple(float((ends[0] > t).mean()) for t in thresholds),
        possible=tuple(float((ends[1] > t).mean()) for t in thresholds),
        n_cohorts=sizes.size,
        level=float(level),
        noisy=noisy,
    )


def frequency_histogram(
    counts: CohortCounts, edges: Sequence[float] | None = None, below: float = 0.05
) -> FrequencyHistogram:
    """Return how many categories each share of the population visited (floc, figure of Definition 1)."""
    bins = np.asarray(_EDGES if edges is None else edges, dtype=np.float64)
    if bins.size < 2 or (np.diff(bins) <= 0).any():
        raise OptionError("edges must ascend, and there must be at least two")
    freq = counts.population_freq
    if freq.min() < bins[0] or freq.max() > bins[-1]:
        raise DataError(f"frequencies go from {freq.min():g} to {freq.max():g}; give edges that hold them all")
    return FrequencyHistogram(
        edges=tuple(bins.tolist()),
        categories=tuple(np.histogram(freq, bins)[0].tolist()),
        below=float(below),
        share_below=float((freq < below).mean()),
    )


@dataclass(frozen=True, eq=False)
class Blocklist(Result):
    """Cohorts to block, ascending: all that is published, without sizes, gaps or categories (floc, Implementation).

    >>> blocklist = Blocklist((3, 8), t=0.1)
    >>> blocklist.apply([8, 2, -1, 3]).tolist(), 8 in blocklist, len(blocklist)
    ([-1, 2, -1, -1], True, 2)
    """

    cohorts: tuple[int, ...]
    t: float
    rule: str = "plain"

    def __post_init__(self) -> None:
        chosen = as_assignment(self.cohorts).tolist() if self.cohorts else []
        if any(cohort < 0 for cohort in chosen):
            raise DataError("a blocklist names cohorts from 0 on; -1 is no cohort")
        object.__setattr__(self, "cohorts", tuple(sorted(set(chosen))))

    def __len__(self) -> int:
        return len(self.cohorts)

    def __contains__(self, cohort: int) -> bool:
        return cohort in set(self.cohorts)

    def apply(self, assignment: ArrayLike) -> Ints:
        """Return what sites are shown: -1 for users of a blocked cohort, as for those without one."""
        assigned = as_assignment(assignment)
        return np.where(np.isin(assigned, np.array(self.cohorts, dtype=np.int64)), -1, assigned)


@dataclass(frozen=True, eq=False)
class BlocklistCheck(Spoken):
    """A blocklist learnt on some users, held against the counts of all."""

    n_cohorts: int
    t: float
    sensitive: int
    caught: int
    missed: int
    needless: int  # blocked and not sensitive
    absent: int  # blocked and without users
    users_blocked: float  # share of the users with a cohort who are in a blocked one
    largest_left: float  # largest gap among cohorts that are not blocked


@dataclass(frozen=True, eq=False)
class BlocklistChanges(Spoken):
    """How many cohorts change sides from one blocklist to the next; one entry per step in each field."""

    blocked: tuple[int, ...]
    added: tuple[int, ...]
    removed: tuple[int, ...]
    stayed: tuple[int, ...]


def check_blocklist(blocklist: Blocklist, counts: CohortCounts, t: float | None = None) -> BlocklistCheck:
    """Hold a blocklist against the counts of all users: what it catches, misses and blocks needlessly.

    Chrome learnt its list on users who sync their history and applied it to everyone (floc, Implementation). Default:
    the threshold ``t`` of the blocklist.

    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> counts = count_visits([0, 0, 1, 1, 2, 2], [[1], [1], [0], [1], [0], [0]])
    >>> found = check_blocklist(Blocklist((1, 9), t=0.1), counts)
    >>> found.caught, found.missed, found.needless, found.absent
    (0, 1, 1, 1)
    """
    limit, found = blocklist.t if t is None else t, gaps(counts)
    sensitive = exceeding(counts, found, limit)
    blocked = np.isin(counts.cohorts, np.array(blocklist.cohorts, dtype=np.int64))
    left = found[1][~blocked]
    return BlocklistCheck(
        n_cohorts=counts.cohorts.size,
        t=float(limit),
        sensitive=int(sensitive.sum()),
        caught=int((sensitive & blocked).sum()),
        missed=int((sensitive & ~blocked).sum()),
        needless=int((blocked & ~sensitive).sum()),
        absent=len(blocklist) - int(blocked.sum()),
        users_blocked=float(counts.sizes[blocked].sum() / counts.sizes.sum()),
        largest_left=float(left.max()) if left.size else 0.0,
    )


def blocklist_changes(blocklists: Sequence[Blocklist]) -> BlocklistChanges:
    """Compare blocklists that follow each other in time: how many cohorts change sides at each refresh."""
    if len(blocklists) < 2:
        raise DataError(f"give at least two blocklists to compare, not {len(blocklists)}")
    sets = [set(blocklist.cohorts) for blocklist in blocklists]
    steps = list(itertools.pairwise(sets))
    return BlocklistChanges(
        blocked=tuple(map(len, sets)),
        added=tuple(len(new - old) for old, new in steps),
        removed=tuple(len(old - new) for old, new in steps),
        stayed=tuple(len(old & new) for old, new in steps),
    )


@dataclass(frozen=True, eq=False)
class EmptyProfile(Result):
    """How a group of users differs from the population: its sensitivity gap, and ``off_by(0.02)`` of its categories."""

    n_users: int
    gap: float
    low: float
    high: float
    off_by_two_points: int
    # (c,): the frequency of each category in the group less that in the population
    difference: Floats = field(default_factory=lambda: np.zeros(0), repr=False, metadata=MEMORY)

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


def _profile(counts: CohortCounts, visits: Ints, size: int, level: float) -> EmptyProfile:
    # The group is one more cohort, so its gap has an interval like any other.
    one = np.zeros(1, dtype=np.int64)
    group = replace(counts, cohorts=one, sizes=np.array([size]), visits=visits[None].astype(np.int32))
    difference = visits / size - counts.population_freq
    low, high = gap_intervals(group, level)
    found = EmptyProfile(size, float(difference.max()), float(low[0]), float(high[0]), 0, difference)
    return replace(found, off_by_two_points=found.off_by(0.02))
