"""Habits by hour of the day: when people are there at all, what they then have, and how far they repeat themselves.

A record is there in hour h, and then has item i, with probabilities

    b g_h / g + (1 - b) p_h    and    r d_ih / d_h + (1 - r) m_i,    m_i = a d_i / d + (1 - a) p_i,

where g_h of the g hours in which the person was there are such hours of the day, and d_ih of its d items, d_h of them
in such hours. Each counts once per day and hour, however often it was had: events of one moment do not make a habit. p
is by how many records have it. The shares r, a and b are those under which what the records of one table have is most
likely, each given the rest of its record (expectation-maximisation).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.arrays import Bools, Floats, Ints
from reidrisk.records.calendar import HOURS

_ROUNDS = 30  # of expectation-maximisation
_LEAST = 1e-3  # no part of a mixture is ruled out; shares are rounded to this, so that no order matters


class Shares(NamedTuple):
    """How far people repeat themselves: an item in its hour, the ``items`` of any hour, and the ``hours``."""

    repeat: float = 0.3
    items: float = 0.5
    hours: float = 0.5

    def within(self) -> Shares:
        """Return the shares on their grid, none of them 0 or 1."""
        return Shares(*(min(max(round(one, 3), _LEAST), 1.0 - _LEAST) for one in self))


@dataclass(frozen=True, eq=False)
class HourCells:
    """On how many days records have each item in each hour, each item in any hour, and anything in each hour."""

    joint: Any  # (n, 24 items)
    items: Any  # (n, items)
    there: Any  # (n, 24)

    @classmethod
    def of(cls, clock: Any) -> HourCells:
        """Return those of the hours that bags hold (``Bags.clock``)."""
        from scipy import sparse

        joint, there = clock[:, :-HOURS], clock[:, -HOURS:]
        for one in (joint, there):
            one.sort_indices()
        shape = (joint.shape[0], joint.shape[1] // HOURS)
        items = sparse.csr_array((joint.data.copy(), joint.indices // HOURS, joint.indptr.copy()), shape)
        items.sum_duplicates()
        return cls(joint, items, there)

    @cached_property
    def total(self) -> Ints:
        """In how many hours each record is there; 0: hours are not known."""
        return np.asarray(self.there.sum(axis=1), dtype=np.int64).ravel()

    @property
    def known(self) -> Bools:
        """Of which records hours are known."""
        return self.total > 0

    @cached_property
    def places(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Row, item, hour and number of days of each entry."""
        return rows_of(self.joint), self.joint.indices // HOURS, self.joint.indices % HOURS, self.joint.data

    @cached_property
    def by_hour(self) -> Ints:
        """How many items each record has in each hour: (n, 24)."""
        row, _, hour, times = self.places
        found = np.zeros(self.there.shape, dtype=np.int64)
        np.add.at(found, (row, hour), times)
        return found

    def repeated(self) -> Any:
        """Return the (n, 24 items) entries of records whose hours are known."""
        row, _, _, times = self.places
        return _with_data(self.joint, self.known[row] * times)


@dataclass(frozen=True, eq=False)
class HourHabits:
    """The shares, and how ``popular`` items and ``popular_hours`` are."""

    shares: Shares
    popular: Floats
    popular_hours: Floats

    @classmethod
    def learnt(cls, cells: HourCells) -> HourHabits:
        """Learn how common items and hours are, and the shares under which what records hold is most likely."""
        often = np.bincount(cells.items.indices, minlength=cells.items.shape[1]) + 0.5
        there = np.bincount(cells.there.indices[cells.there.data > 0], minlength=HOURS) + 0.5
        popular, popular_hours = often / often.sum(), there / there.sum()
        return cls(_most_likely(cells, popular, popular_hours), popular, popular_hours)

    def items(self, cells: HourCells) -> Any:
        """Return the log of m_i over what it is for somebody who does not have i, (n, items)."""
        total, row = np.maximum(_sizes(cells.items), 1), rows_of(cells.items)
        anybody, a = self.popular[cells.items.indices], self.shares.items
        return _with_data(cells.items, np.log1p(a * cells.items.data / total[row] / ((1.0 - a) * anybody)))

    def hours(self, cells: HourCells, share: float | None = None) -> tuple[Any, float]:
        """Return the log of how likely each hour is, over that of one in which nobody was, (n, 24), and log (1 - b).

        The first is 0, and so counts nothing, where a record was never; ``share`` is b, default: the one learnt.
        """
        b = self.shares.hours if share is None else share
        row, ratio = rows_of(cells.there), cells.there.data / self.popular_hours[cells.there.indices]
        return _with_data(cells.there, np.log1p(b / (1.0 - b) * ratio / cells.total[row])), float(np.log1p(-b))

    def repeated(self, cells: HourCells) -> Any:
        """Return the log of how likely item i is in hour h, over that of one not had then, (n, 24 items)."""
        total, (row, item, hour, times), shares = np.maximum(_sizes(cells.items), 1), cells.places, self.shares
        own = _mixed(shares.items, _at(cells.items, row, item) / total[row], self.popular[item]).both
        again = shares.repeat / (1.0 - shares.repeat) * times / np.maximum(cells.by_hour[row, hour], 1) / own
        return _with_data(cells.joint, cells.known[row] * np.log1p(again))


def rows_of(held: Any) -> Ints:
    """Return the row of each entry of a ``csr_array``."""
    return np.asarray(np.repeat(np.arange(held.shape[0]), np.diff(held.indptr)))


def _most_likely(cells: HourCells, popular: Floats, popular_hours: Floats) -> Shares:
    """Return the shares under which each item and hour is most likely given the others of its record."""
    row, item, hour, times = cells.places
    total = _sizes(cells.items)
    some = np.flatnonzero(total[row] > 1)
    row, item, hour, times = row[some], item[some], hour[some], times[some]
    own = (_at(cells.items, row, item) - 1) / (total[row] - 1)
    again = cells.known[row] * (times - 1) / np.maximum(cells.by_hour[row, hour] - 1, 1)
    who, when, days = rows_of(cells.there), cells.there.indices, cells.there.data
    often = np.flatnonzero(cells.total[who] > 1)
    who, when, days = who[often], when[often], days[often]
    left = cells.total[who] - 1
    found = Shares()
    for _ in range(_ROUNDS):
        items = _mixed(found.items, own, popular[item])
        repeated = _mixed(found.repeat, again, items.both)
        hours = _mixed(found.hours, (days - 1) / left, popular_hours[when])
        other = times * (1.0 - repeated.own)
        found = Shares(
            _mean(repeated.own, times, found.repeat),
            _mean(items.own, other, found.items),
            _mean(hours.own, days, found.hours),
        )
    return found.within()


class _Mixture(NamedTuple):
    both: Floats  # probability
    own: Floats  # share of it that is the first part's


def _mixed(share: float, first: Floats, second: Floats) -> _Mixture:
    both = share * first + (1.0 - share) * second
    return _Mixture(both, share * first / both)


def _mean(values: Floats, weight: Any, otherwise: float) -> float:
    whole = float(weight.sum())
    return float((values * weight).sum()) / whole if whole > 0.0 else otherwise


def _sizes(held: Any) -> Ints:
    return np.asarray(held.sum(axis=1), dtype=np.int64).ravel()


def _with_data(held: Any, data: Any) -> Any:
    from scipy import sparse

    return sparse.csr_array((data, held.indices, held.indptr), shape=held.shape)


def _at(held: Any, row: Ints, column: Ints) -> Ints:
    """Return entries of a csr_array in canonical order, all of which are there."""
    width = np.int64(held.shape[1])
    return np.asarray(held.data[np.searchsorted(rows_of(held) * width + held.indices, row * width + column)])
