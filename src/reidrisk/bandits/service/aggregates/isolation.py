"""Isolation: no linear combination of all that was ever handed out is about fewer than k members of a batch.

In the worst case an outsider knows the sum over the members of every version of every batch, cell by cell, and every
record of members of other batches. What a member contributes to a cell is unknown; it stays the same unknown until the
cell changes. Two conditions are kept, batch by batch:

1. *Exclusive members*: at least k members of a batch are in no other batch, before or after.
2. *Hidden changes*: from a version of a batch to the next, a row of the matrix changes for nobody, or at least k
   members, of those who were in no batch before, change every cell of it that anybody changes, each by at least a
   tenth of the largest change in that cell.

Then whatever a combination of released cells says about a member, it says together with k - 1 others, or more, of one
of that member's batches; whoever holds none of them cannot take them out. Proof, for one cell. Versions of a batch in
which the cell is the same are one row. Let v be in the support of the sum over batches b and versions j of a_bj r_bj;
v is in a batch b with some a_bj other than 0, and j is the first of these. If a later version changed the cell, the k
members of condition 2 had in r_bj a contribution that r_bj is the last row to hold: earlier rows of b have no weight,
earlier batches do not have these members, later ones take their records as they are then. It does not cancel. If j
is the last version, the k exclusive members are in no other batch, and in b only r_bj has weight and holds their last
contribution. Either way k members of b are in the support, or exclusive ones and v themselves. Sums over cells of a
row are covered as well, though its cells add up to 1: the k members of condition 2 are the same in all of its changed
cells, so a weight that differs between these cells meets every one of them, and one that does not says nothing.

A cell that goes back to an earlier value counts as changed: earlier records are not kept to compare it with.
"""

from collections.abc import Mapping, Sequence, Set

import numpy as np

from reidrisk.base.arrays import Bools, Floats, Ints

COMPARABLE = 10.0  # prior: the p % rule of disclosure control at p = 10, against k - 2 members in league

RESOLUTION = 1e-9  # unit: what is handed out is rounded to 9 digits; a smaller change is none

Memberships = Mapping[int, Set[str]]  # every batch ever formed, by its number in order, with its members


def exclusive(memberships: Memberships) -> dict[int, set[str]]:
    """Return the members of each batch who are in no other.

    >>> {batch: sorted(found) for batch, found in exclusive({1: {"a", "b"}, 2: {"b", "c", "d"}}).items()}
    {1: ['a'], 2: ['c', 'd']}
    """
    times: dict[str, int] = {}
    for found in memberships.values():
        for agent in found:
            times[agent] = times.get(agent, 0) + 1
    return {batch: {agent for agent in found if times[agent] == 1} for batch, found in memberships.items()}


def returning(waiting: Sequence[str], memberships: Memberships, k: int) -> list[str]:
    """Return those of former members who may be published with another batch, the first ones first.

    Every batch that they were in keeps at least k exclusive members without them.

    >>> returning(["b", "c", "d"], {1: {"a", "b", "c", "d", "e"}}, k=3)
    ['b', 'c']
    """
    left, free = exclusive(memberships), []
    for agent in waiting:
        kept = {batch: left[batch] - {agent} for batch, found in memberships.items() if agent in found}
        if k == 1 or all(len(others) >= k for others in kept.values()):
            free.append(agent)
            left |= kept
    return free


def hidden(change: Floats, counted: Bools, k: int) -> Bools:
    """Return which rows (r,) of changes (n, r, d) of a batch keep condition 2; ``counted`` (n,) are new in the batch.

    >>> change = np.array([[[0.2, -0.2, 0.0]], [[0.1, -0.1, 0.0]], [[0.3, 0.0, -0.3]]])
    >>> hidden(change[:2], np.ones(2, bool), 2), hidden(change, np.ones(3, bool), 2)
    (array([ True]), array([False]))
    """
    if k == 1:  # whatever is about anybody is about one member
        return np.ones(change.shape[1], dtype=bool)
    far, moved = _far(np.abs(change))
    enough = ((far | ~moved).all(axis=2) & counted[:, None]).sum(axis=0) >= k
    return np.asarray(enough | ~moved.any(axis=1))


def movable(published: Floats, latest: Floats, counted: Bools, k: int) -> Bools:
    """Return which rows (n, r) of members' latest records (n, r, d) take the place of the published ones.

    Where a row of all who changed it is not hidden, the largest change waits in the cell in which most others are too
    small beside it; and so on, until the rest are hidden or too few.
    """
    size = np.abs(latest - published)
    moving = np.asarray((size > RESOLUTION).any(axis=2))
    while True:
        change = size * moving[:, :, None]
        bad = np.flatnonzero(~hidden(change, counted, k))
        if not len(bad):
            return moving
        far, moved = _far(change[:, bad])
        worst: Ints = (counted[:, None, None] & moved & ~far).sum(axis=0).argmax(axis=1)
        moving[change[:, bad, worst].argmax(axis=0), bad] = False
        moving[:, moving[counted].sum(axis=0) < k] = False


def _far(size: Floats) -> tuple[Bools, Bools]:
    """Return whose changes (n, r, d) are comparable with the largest in the cell, and which cells (r, d) change."""
    largest = size.max(axis=0)
    return size * COMPARABLE >= largest, largest > RESOLUTION
