"""Timeline: when each event of a record happened, so that two logs of the same time can be laid over each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reidrisk.base import Array, Bools, DataError, Floats, Ints, frozen
from reidrisk.records.parts import InParts


@dataclass(frozen=True, eq=False)
class Timeline(InParts):
    """What each record holds, event by event: ``item`` and ``time``, in order of record and time.

    Those from ``start[i]`` to ``start[i + 1]`` are of record i. Times are seconds since 1970 where ``is_calendar``,
    else plain numbers. ``visit`` numbers the visits of each record from 0 on, where these are known.

    >>> moments = Timeline(np.array([0, 2, 3]), np.array([1, 0, 1]), np.array([0.0, 60.0, 60.0]), is_calendar=True)
    >>> moments.owner.tolist(), moments.take(np.array([1])).time.tolist()
    ([0, 0, 1], [60.0])
    >>> moments.kept(moments.item == 1).start.tolist(), moments.regrouped(np.array([0, 1, 1]), 2).item.tolist()
    ([0, 1, 2], [1, 0, 1])
    """

    start: Ints
    item: Array
    time: Floats
    is_calendar: bool
    visit: Array | None = None

    def __post_init__(self) -> None:
        n, start = len(self.time), self.start
        if start[0] != 0 or start[-1] != n or (np.diff(start) < 0).any() or len(self.item) != n:
            raise DataError(f"start must rise from 0 to the {n:,} events, one number more than there are records")
        for part in (start, self.item, self.time):
            frozen(part)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.start) - 1

    def take(self, rows: Ints | slice) -> Timeline:
        """Return the moments of the chosen records, in that order."""
        return self._at(*self.places(rows))

    def kept(self, chosen: Bools) -> Timeline:
        """Return the chosen events, of the same records: some may have none left."""
        return self._at(np.flatnonzero(chosen), np.concatenate(([0], np.cumsum(chosen)))[self.start])

    def regrouped(self, row: Ints, n: int) -> Timeline:
        """Return the same events of ``n`` other records, each event of the one in ``row``."""
        start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=n))))
        return replace(self._at(np.lexsort((self.item, self.time, row)), start), visit=None)

    def renamed(self, tokens: Ints) -> Timeline:
        """Return the same moments with item i as ``tokens[i]``; -1 = left out."""
        new = replace(self, item=np.asarray(tokens)[self.item])
        return new.kept(new.item >= 0) if (new.item < 0).any() else new

    def with_items(self, item: Array) -> Timeline:
        """Return the same moments with another item in each."""
        return replace(self, item=item)

    def beside(self, other: Timeline) -> Timeline:
        """Return these records, then those of another table."""
        start = np.concatenate((self.start, other.start[1:] + len(self)))
        item, time = np.concatenate((self.item, other.item)), np.concatenate((self.time, other.time))
        return Timeline(start, item, time, self.is_calendar)

    def _at(self, places: Ints, start: Ints) -> Timeline:
        visit = None if self.visit is None else self.visit[places]
        return Timeline(start, self.item[places], self.time[places], self.is_calendar, visit)
