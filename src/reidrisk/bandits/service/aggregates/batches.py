"""Batches: members who are published together for good, so that no comparison of versions tells one of them.

Every matrix that is handed out is the mean of whole batches, and three rules keep any weighted sum of all that was ever
handed out from being about fewer than k members:

1. A new batch has at least k members who were in none before. (Take the latest batch that has a weight in the sum:
   its k new members are in no other batch of the sum, so their records do not cancel.)
2. If one member of a batch withdraws, the whole batch is dissolved at the next rebuild: the rest of it alone would
   differ from the old sum by exactly the record that was withdrawn. Who stays behind joins the next new batch nearby.
3. Updates are taken over only where at least k members of a batch changed, by comparable amounts (the largest at most
   twice the k-th): k - 1 changes of nothing would hide nobody's.

Members are told apart by who they are, never by revision: somebody who returns, or shares the same again, is not new.
The rules count members, not people: whoever holds k - 1 of the memberships can subtract them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.bandits.sharing.grouping import microaggregates
from reidrisk.base.arrays import Floats

_COMPARABLE = 2.0  # times that the largest change taken over may be as large as the k-th


@dataclass(frozen=True, eq=False)
class Member:
    """A member with the record that was shared last, and the one that is part of a batch."""

    agent: str
    revision: int
    matrix: Floats  # (d, d)
    profile: Floats  # (p,)
    batch: int | None = None
    published_revision: int | None = None
    published_matrix: Floats | None = None
    published_profile: Floats | None = None
    ever_published: bool = False
    withdrawals: int = 0

    @property
    def change(self) -> float:
        """How far the record shared last is from the published one, in its most changed cell."""
        if self.published_matrix is None or self.revision == self.published_revision:
            return 0.0
        return float(np.abs(self.matrix - self.published_matrix).max())


@dataclass(frozen=True)
class RebuildPlan:
    """What a rebuild does to the batches; members by their place in the list."""

    dissolved: tuple[int, ...]  # batches that end
    formed: tuple[tuple[int, ...], ...]  # members of each new batch
    updated: tuple[int, ...]  # members whose latest record takes the place of the published one

    @property
    def changes(self) -> bool:
        """Whether it does anything."""
        return bool(self.dissolved or self.formed or self.updated)


def plan(members: Sequence[Member], sizes: dict[int, int], k: int) -> RebuildPlan:
    """Plan a rebuild; ``sizes`` are the members that each batch had when it was formed, ``k`` the fewest in one.

    >>> new = [Member(f"a{i}", 1, np.eye(2), np.array([float(i)])) for i in range(5)]
    >>> plan(new, {}, k=3).formed, plan(new[:2], {}, k=3).formed
    (((0, 1, 2, 3, 4),), ())
    """
    present: dict[int, list[int]] = {batch: [] for batch in sizes}
    for i, member in enumerate(members):
        if member.batch is not None:
            present[member.batch].append(i)
    dissolved = {batch for batch, found in present.items() if len(found) < sizes[batch] or sizes[batch] < k}
    updated = [i for batch, found in present.items() if batch not in dissolved for i in _taken_over(members, found, k)]
    new = [i for i, member in enumerate(members) if member.batch is None and not member.ever_published]
    left = [i for i, m in enumerate(members) if m.ever_published and (m.batch is None or m.batch in dissolved)]
    formed: list[list[int]] = []
    if len(new) >= k:
        profiles = np.array([members[i].profile for i in new])
        labels = microaggregates(profiles, k)
        formed = [[new[j] for j in np.flatnonzero(labels == label)] for label in range(labels.max() + 1)]
        centres = np.array([profiles[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
        for i in left:
            formed[int(((centres - members[i].profile) ** 2).sum(axis=1).argmin())].append(i)
    return RebuildPlan(
        tuple(sorted(dissolved)), tuple(tuple(sorted(batch)) for batch in formed), tuple(sorted(updated))
    )


def _taken_over(members: Sequence[Member], batch: Sequence[int], k: int) -> list[int]:
    """Return the members of a batch whose changes are published: comparable ones, at least k, or none.

    Larger changes than the others' wait: they would be told apart in the sum.
    """
    changed = sorted((i for i in batch if members[i].change > 0.0), key=lambda i: -members[i].change)
    for first in range(len(changed) - k + 1):
        if members[changed[first]].change <= _COMPARABLE * members[changed[first + k - 1]].change:
            return changed[first:]
    return []


def applied(members: Sequence[Member], made: RebuildPlan, highest: int) -> tuple[list[Member], list[int]]:
    """Return the members as they are after a plan, and the numbers of its new batches."""
    after = [replace(m, batch=None) if m.batch in made.dissolved else m for m in members]
    numbers = list(range(highest + 1, highest + 1 + len(made.formed)))
    for number, batch in zip(numbers, made.formed, strict=True):
        for i in batch:
            after[i] = _with_latest(replace(after[i], batch=number, ever_published=True))
    for i in made.updated:
        after[i] = _with_latest(after[i])
    return after, numbers


def _with_latest(member: Member) -> Member:
    return replace(
        member,
        published_revision=member.revision,
        published_matrix=member.matrix,
        published_profile=member.profile,
    )
