"""Visits: which events of a record happened together, so that a rehearsal does not tear them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Array, Bools, DataError, Floats, Ints, frozen
from reidrisk.base.frames import Codes
from reidrisk.records.calendar import periods
from reidrisk.records.parts import InParts

_TOGETHER = 1.2  # events per visit, on average, from which visits tell something


@dataclass(frozen=True, eq=False)
class Visits(InParts):
    """What each record holds, visit by visit: an invoice, a session, a day.

    ``counts`` is a (visits, n_tokens) CSR matrix, no row of it empty; those from ``start[i]`` to ``start[i + 1]`` are
    of record i.

    >>> from scipy import sparse
    >>> visits = Visits(sparse.csr_array([[1, 1, 0], [0, 0, 2], [0, 3, 0]]), np.array([0, 2, 3]))
    >>> visits.owner.tolist(), visits.sizes.tolist()
    ([0, 0, 1], [2, 2, 3])
    >>> visits.together().toarray().tolist()
    [[1, 1, 2], [0, 3, 0]]
    """

    counts: Any
    start: Ints

    def __post_init__(self) -> None:
        start, n = self.start, self.counts.shape[0]
        if start.ndim != 1 or not len(start) or start[0] != 0 or start[-1] != n or (np.diff(start) < 0).any():
            raise DataError(f"start must rise from 0 to the {n:,} visits, one number more than there are records")
        if (np.diff(self.counts.indptr) == 0).any():
            raise DataError("a visit holds nothing; leave it out")
        if not self.counts.has_canonical_format:
            raise DataError("the items of a visit must rise; put the matrix in order with sum_duplicates()")
        frozen(self.counts.data)
        frozen(start)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    @property
    def sizes(self) -> Ints:
        """How many events each visit has."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64).ravel()

    def together(self) -> Any:
        """Return the (n, n_tokens) counts of the records that these visits make up."""
        from scipy import sparse

        ones = np.ones(len(self), dtype=np.int64)
        shape = (len(self.start) - 1, len(self))
        counts = sparse.csr_array((ones, np.arange(len(self)), self.start), shape=shape) @ self.counts
        counts.sum_duplicates()  # puts items in order
        return counts

    def take(self, rows: Ints | slice) -> Visits:
        """Return the visits of the chosen records, in that order."""
        place, start = self.places(rows)
        return Visits(self.counts[place], start)

    def keep(self, chosen: Bools) -> Visits:
        """Return the chosen visits, of the same records: some may have none left."""
        before = np.concatenate(([0], np.cumsum(chosen)))
        return Visits(self.counts[np.flatnonzero(chosen)], before[self.start])

    def draw(self, wanted: Ints, most: Ints, rng: np.random.Generator) -> Bools:
        """Choose visits of each record in random order, up to where they come closest to ``wanted`` events.

        They hold at most ``most`` events together; a visit that is larger is passed over, the first other one is always
        taken.
        """
        sizes, owner = self.sizes, self.owner
        fits = np.flatnonzero(sizes <= most[owner])
        order = fits[np.lexsort((rng.random(len(fits)), owner[fits]))]
        chosen = np.zeros(len(self), dtype=bool)
        if not len(order):
            return chosen
        own, size, place = owner[order], sizes[order], np.arange(len(order))
        first = np.flatnonzero(np.diff(own, prepend=-1))
        many = np.diff(first, append=len(order))
        so_far = np.cumsum(size)
        so_far -= np.repeat(so_far[first] - size[first], many)
        off = np.where(so_far <= most[own], np.abs(so_far - wanted[own]).astype(np.float64), np.inf)
        nearest = off == np.repeat(np.minimum.reduceat(off, first), many)
        last = np.minimum.reduceat(np.where(nearest, place, len(order)), first)
        chosen[order[place <= np.repeat(last, many)]] = True
        return chosen


def grouped(user: Array, label: Array, entries: tuple[Any, Any], shape: tuple[int, int]) -> Visits:
    """Return the visits of (n, n_tokens) records: events of one user and one label, which lie together, are a visit.

    ``entries`` are the amount and the item of each event.
    """
    from scipy import sparse

    new = first_of_visits(user, label)
    start = np.concatenate(([0], np.cumsum(np.bincount(user[new], minlength=shape[0]))))
    amount, item = entries
    counts = sparse.coo_array((amount, (np.cumsum(new) - 1, item)), shape=(int(new.sum()), shape[1])).tocsr()
    if counts.nnz and counts.data.max() < 2**31:
        counts.data = counts.data.astype(np.int32)  # half the memory; sums are taken in 64 bits
    return Visits(counts, start)


def first_of_visits(user: Array, label: Array) -> Bools:
    """Say which events begin a visit; those of one user and label lie together."""
    return np.concatenate((np.ones(min(len(user), 1), dtype=bool), (np.diff(user) != 0) | (np.diff(label) != 0)))


def usual_visits(user: Codes, time: Floats | None, is_calendar: bool) -> Array | None:
    """Return a label of each event's visit where nothing says what one is: its moment, or else its day.

    ``None`` where there is no time, or nearly every event would be a visit of its own. ``user`` rises, within it times.

    >>> usual_visits(np.array([0, 0, 1]), np.array([4.0, 4.0, 5.0]), False).tolist()
    [4.0, 4.0, 5.0]
    >>> usual_visits(np.array([0, 0, 1]), np.array([4.0, 5.0, 5.0]), False) is None
    True
    """
    if time is None:
        return None
    labels = (time, periods(time, True, "day")) if is_calendar else (time,)
    often = (one for one in labels if len(user) >= _TOGETHER * max(first_of_visits(user, one).sum(), 1))
    return next(often, None)
