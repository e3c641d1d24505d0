"""Moments on grids of several widths: in which periods each record was there, and what it then had.

A period of one grid lies within one of the next wider grid. What happened more than once within the finest period
counts once: events of one moment are not as many coincidences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.timeline import Timeline

_CALENDAR = (604_800.0, 86_400.0, 21_600.0, 3_600.0, 600.0, 60.0, 1.0)
_STEP, _MOST = 5, 6  # how much narrower each grid is, where times are plain numbers, and how many there are at most
_FEWEST = 3.0  # periods of the widest grid within the common time, at least


def widths_of(one: Timeline, two: Timeline) -> tuple[float, ...]:
    """Return the widths of the periods, wide ones first, by which two logs of one time can be compared.

    None where they have no time in common, or dates meet plain numbers. None is narrower than the logs tell time.

    >>> days = Timeline(np.array([0, 3]), np.zeros(3, int), np.array([0.0, 86400.0, 864000.0]), is_calendar=True)
    >>> widths_of(days, days)
    (86400.0,)
    """
    if one.is_calendar != two.is_calendar or not len(one) or not len(two):
        return ()
    common = min(one.time.max(), two.time.max()) - max(one.time.min(), two.time.min())
    finest = max(_resolution(side.time, one.is_calendar) for side in (one, two))
    usual = _CALENDAR if one.is_calendar else tuple(finest * _STEP**i for i in reversed(range(_MOST)))
    return tuple(width for width in usual if finest <= width and _FEWEST * width <= common)


def _resolution(time: Floats, is_calendar: bool) -> float:
    """Return the widest usual period of which all dates are multiples, or the smallest gap of plain numbers."""
    if is_calendar:
        return next((width for width in _CALENDAR[1:] if (time % width == 0.0).all()), 0.0)
    gaps = np.diff(np.unique(time))
    return max(float(gaps.min(initial=np.inf)), float(np.ptp(time)) * 1e-6) if len(gaps) else np.inf


def offsets_of(widths: tuple[float, ...]) -> tuple[float, ...]:
    """Return by how much to move times so that a border of any grid lies well within a period of the moved one.

    >>> offsets_of((86400.0, 3600.0))
    (0.0, 45000.0)
    """
    return (0.0, sum(widths) / 2.0)


@dataclass(frozen=True, eq=False)
class Laid:
    """Different finest events of some records: ``record``, ``item``, and the period on each grid, ``bins`` (k, e)."""

    record: Ints
    item: Ints
    bins: Ints
    n: int

    def __len__(self) -> int:
        return len(self.record)

    @classmethod
    def of(cls, records: Bags, widths: tuple[float, ...], offset: float = 0.0) -> Laid:
        """Lay the moments of records on the grids, moved by ``offset``; without grids, each item of a record is one.

        >>> moments = Timeline(np.array([0, 3]), np.array([0, 0, 1]), np.array([1.0, 2.0, 70.0]), is_calendar=True)
        >>> Laid.of(Bags([[2, 1]]).with_timeline(moments), (600.0, 60.0)).bins.tolist()
        [[0, 0], [0, 1]]
        """
        moments, counts = records.timeline, records.counts
        if moments is None or not widths:
            record = np.repeat(np.arange(len(records)), np.diff(counts.indptr))
            return cls(record, counts.indices.astype(np.int64), np.zeros((0, len(record)), np.int64), len(records))
        fine = np.floor((moments.time + offset) / widths[-1]).astype(np.int64)
        owner, item = moments.owner, moments.item.astype(np.int64)
        order = np.lexsort((item, fine, owner))
        owner, item, fine = owner[order], item[order], fine[order]
        new = np.ones(len(owner), dtype=bool)
        new[1:] = (np.diff(owner) != 0) | (np.diff(item) != 0) | (np.diff(fine) != 0)
        owner, item, fine = owner[new], item[new], fine[new]
        bins = np.array([fine // round(width / widths[-1]) for width in widths], dtype=np.int64)
        return cls(owner, item, bins, moments.n)

    @property
    def sizes(self) -> Ints:
        """How many different finest events each record has."""
        return np.bincount(self.record, minlength=self.n).astype(np.int64)

    def only(self, rows: Ints) -> Laid:
        """Return the events of some records, which are numbered anew, in that order."""
        place = np.full(self.n, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero(place[self.record] >= 0)
        return Laid(place[self.record[kept]], self.item[kept], self.bins[:, kept], len(rows))


def placed(values: Ints, wanted: Ints) -> Ints:
    """Return where each wanted value is among values that rise, -1 where it is not.

    >>> placed(np.array([2, 5]), np.array([5, 3])).tolist()
    [1, -1]
    """
    if not len(values):
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[place] == wanted, place, -1)


@dataclass(frozen=True, eq=False)
class Tallied:
    """Keys that rise, and how often each occurs."""

    keys: Ints
    times: Ints

    @classmethod
    def of(cls, keys: Ints) -> Tallied:
        """Count keys; those below 0 are none."""
        return cls(*np.unique(keys[keys >= 0], return_counts=True))

    def at(self, wanted: Ints) -> Ints:
        """Return how often each wanted key occurs."""
        place = placed(self.keys, wanted)
        return np.where(place >= 0, self.times[place], 0) if len(self.keys) else np.zeros(len(wanted), dtype=np.int64)
