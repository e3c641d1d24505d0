"""Batches: members who are published together for good, so that no comparison of versions tells one of them.

Every matrix that is handed out is the mean of whole batches. What a rebuild may do to them follows from the two
conditions of :mod:`~reidrisk.bandits.service.aggregates.isolation`:

1. A new batch has at least k members who were in none before. Former members join it if each batch that they were in
   keeps at least k members who are in no other.
2. If one member of a batch withdraws, the whole batch is dissolved at the next rebuild: the rest of it alone would
   differ from the old sum by exactly the record that was withdrawn.
3. Updates are taken over row by row, where at least k members changed every cell of the row that changed, comparably.

Members are told apart by who they are, never by revision: somebody who returns, or shares the same again, is not new.
The rules count members, not people: whoever holds k - 1 members of a batch can subtract them.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.bandits.service.aggregates.isolation import Memberships, exclusive, hidden, movable, returning
from reidrisk.bandits.sharing.grouping import microaggregates
from reidrisk.base.arrays import Floats


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
    first_batch: int | None = None  # the first batch ever, of many that there may have been
    withdrawals: int = 0


@dataclass(frozen=True)
class RebuildPlan:
    """What a rebuild does to the batches; members by their place in the list."""

    dissolved: tuple[int, ...]  # batches that end
    formed: tuple[tuple[int, ...], ...]  # members of each new batch
    updated: dict[int, tuple[int, ...]]  # rows of members' latest records that take the place of the published ones

    @property
    def changes(self) -> bool:
        """Whether it does anything."""
        return bool(self.dissolved or self.formed or self.updated)


def plan(
    members: Sequence[Member], sizes: Mapping[int, int], history: Memberships, k: int, least: int | None = None
) -> RebuildPlan:
    """Plan a rebuild; ``sizes`` are the members that each batch had when it was formed.

    ``history`` has the members of every batch ever formed, those who withdrew included. At least ``k`` members hide
    each other, and ``least`` (default: k) are new in a batch: the more beyond k, the more may return and update.

    >>> new = [Member(f"a{i}", 1, np.eye(2), np.array([float(i)])) for i in range(5)]
    >>> plan(new, {}, {}, k=3).formed, plan(new[:2], {}, {}, k=3).formed
    (((0, 1, 2, 3, 4),), ())
    """
    least = k if least is None else least
    present = _present(members, sizes)
    dissolved = {batch for batch, found in present.items() if len(found) < sizes[batch] or sizes[batch] < least}
    updated: dict[int, tuple[int, ...]] = {}
    for batch, found in present.items():
        if batch not in dissolved:
            updated |= _taken_over(members, found, batch, k)
    new = [i for i, member in enumerate(members) if member.first_batch is None]
    formed: list[list[int]] = []
    if len(new) >= least:
        profiles = np.array([members[i].profile for i in new])
        labels = microaggregates(profiles, least)
        formed = [[new[j] for j in np.flatnonzero(labels == label)] for label in range(labels.max() + 1)]
        centres = np.array([profiles[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
        waiting = {m.agent: i for i, m in enumerate(members) if _waits(m, dissolved)}
        for agent in returning(list(waiting), history, k):
            i = waiting[agent]
            formed[int(((centres - members[i].profile) ** 2).sum(axis=1).argmin())].append(i)
    return RebuildPlan(tuple(sorted(dissolved)), tuple(tuple(sorted(batch)) for batch in formed), updated)


def _present(members: Sequence[Member], sizes: Mapping[int, int]) -> dict[int, list[int]]:
    present: dict[int, list[int]] = {batch: [] for batch in sizes}
    for i, member in enumerate(members):
        if member.batch is not None:
            present[member.batch].append(i)
    return present


def _waits(member: Member, dissolved: Set[int]) -> bool:
    """Return whether a former member is in no batch that goes on."""
    return member.first_batch is not None and (member.batch is None or member.batch in dissolved)


def _taken_over(members: Sequence[Member], found: Sequence[int], batch: int, k: int) -> dict[int, tuple[int, ...]]:
    """Return the rows of the latest records of a batch that are published, by member."""
    latest = np.array([members[i].matrix for i in found])
    counted = np.array([members[i].first_batch == batch for i in found])
    moved = movable(_published(members, found), latest, counted, k)
    return {i: tuple(np.flatnonzero(rows).tolist()) for i, rows in zip(found, moved, strict=True) if rows.any()}


def _published(members: Sequence[Member], found: Sequence[int]) -> Floats:
    return np.array([members[i].published_matrix for i in found], dtype=np.float64)


def applied(members: Sequence[Member], made: RebuildPlan, highest: int) -> tuple[list[Member], list[int]]:
    """Return the members as they are after a plan, and the numbers of its new batches."""
    after = [replace(m, batch=None) if m.batch in made.dissolved else m for m in members]
    numbers = list(range(highest + 1, highest + 1 + len(made.formed)))
    for number, batch in zip(numbers, made.formed, strict=True):
        for i in batch:
            first = number if after[i].first_batch is None else after[i].first_batch
            after[i] = replace(
                after[i],
                batch=number,
                first_batch=first,
                published_revision=after[i].revision,
                published_matrix=after[i].matrix,
                published_profile=after[i].profile,
            )
    for i, rows in made.updated.items():
        matrix = np.array(after[i].published_matrix)
        matrix[list(rows)] = after[i].matrix[list(rows)]
        after[i] = replace(after[i], published_revision=after[i].revision, published_matrix=matrix)
    return after, numbers


def check(
    before: Sequence[Member], after: Sequence[Member], sizes: Mapping[int, int], history: Memberships, k: int
) -> None:
    """Refuse a state that isolates somebody, by the two conditions, whatever planned it.

    ``sizes`` are of the batches that are handed out ``after``, ``history`` has the members of every batch ever formed,
    these included.
    """
    present = _present(after, sizes)
    for batch, found in present.items():
        if len(found) != sizes[batch] or len(found) < k:
            raise AssertionError(f"batch {batch} of {sizes[batch]} would be published with {len(found)} members")
        kept = [i for i in found if before[i].batch == batch]
        if kept:
            counted = np.array([after[i].first_batch == batch for i in kept])
            if not hidden(_published(after, kept) - _published(before, kept), counted, k).all():
                raise AssertionError(f"changes of fewer than {k} members of batch {batch} would be published")
    formed = {batch for batch, found in present.items() if before[found[0]].batch != batch}
    left = exclusive(history)
    earlier = exclusive({batch: found for batch, found in history.items() if batch not in formed})
    for batch in history:
        if k > 1 and len(left[batch]) < k and left[batch] != earlier.get(batch):
            raise AssertionError(f"all but {len(left[batch])} members of batch {batch} would be published with others")
