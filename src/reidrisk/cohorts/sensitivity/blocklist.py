"""Blocklists: the cohorts a browser keeps to itself, published without a word on why; how they age and travel."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.results import Result, Spoken
from reidrisk.cohorts.sensitivity.counts import CohortCounts, as_assignment
from reidrisk.cohorts.sensitivity.gaps import exceeding, gaps


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

    def apply(self, assignment: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return what sites are shown: -1 for users of a blocked cohort, as for those without one."""
        assigned = as_assignment(assignment)
        return np.where(np.isin(assigned, np.array(self.cohorts, dtype=np.int64)), -1, assigned)


@dataclass(frozen=True, eq=False)
class BlocklistCheck(Spoken):
    """A blocklist learnt on some users, held against the counts of all.

    ``needless`` cohorts are blocked and not sensitive, ``absent`` ones blocked and without users. ``users_blocked`` is
    a share of the users with a cohort, ``largest_left`` the largest gap among cohorts that are not blocked.
    """

    n_cohorts: int
    t: float
    sensitive: int
    caught: int
    missed: int
    needless: int
    absent: int
    users_blocked: float
    largest_left: float


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
