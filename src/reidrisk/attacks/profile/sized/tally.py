"""Bags as the model takes them: counts in units of their greatest common divisor, totals, and an order of content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.order import content_keys

_SMOOTHING = 0.5  # records that hold an item beyond those seen to: then no item of a query is impossible


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of bags: ``counts`` holds whole numbers, ``unit`` of them are one event.

    Where every count is even, two are one event: that doubles what was written down, not what was seen. ``clock``
    holds the hours of the day, as bags do; ``None``: not known, or of no account.
    """

    counts: Any
    unit: int = 1
    clock: Any = None

    @classmethod
    def of(cls, bags: Bags) -> Tally:
        """Count, in the unit of these records."""
        held = bags.counts.copy()
        held.sort_indices()
        return cls(held, max(int(np.gcd.reduce(held.data, initial=0)), 1), bags.clock)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> Tally:
        """Return the chosen records, in that order and in the same unit."""
        return Tally(self.counts[rows], self.unit, None if self.clock is None else self.clock[rows])

    def once(self) -> Tally:
        """Return the same with each item once."""
        held = self.counts.copy()
        held.data = np.ones_like(held.data)
        return Tally(held)

    @property
    def events(self) -> Floats:
        """How many events each entry stands for."""
        return np.asarray(self.counts.data / self.unit)

    @property
    def rows(self) -> Ints:
        """Record of each entry."""
        return np.asarray(np.repeat(np.arange(len(self)), self.variety))

    @property
    def variety(self) -> Ints:
        """How many different items each record holds."""
        return np.asarray(np.diff(self.counts.indptr), dtype=np.int64)

    @cached_property
    def totals(self) -> Floats:
        """How many events each record holds."""
        return np.asarray(self.counts.sum(axis=1)).ravel() / self.unit

    @cached_property
    def distinct(self) -> bool:
        """Whether no record holds an item twice."""
        return bool((self.counts.data == self.unit).all())

    @cached_property
    def holders(self) -> Ints:
        """How many records hold each item."""
        return np.bincount(self.counts.indices, minlength=self.counts.shape[1]).astype(np.int64)

    @property
    def popularity(self) -> Floats:
        """Probability of each item in an event of anybody, by how many records hold it.

        Not by how often they do: one record that plays an item a thousand times does not make it popular.
        """
        smoothed = self.holders + _SMOOTHING
        return np.asarray(smoothed / smoothed.sum())

    def in_order(self, holders: Ints) -> Ints:
        """Return the rows in the order of what they hold: what is drawn by it depends neither on rows nor on names.

        Records are told apart by how much they hold and how popular that is, and, last, by who else holds the items.
        """
        times, popular = self.counts.data.astype(np.int64), holders[self.counts.indices].astype(np.int64)
        parts = [popular**2, times * popular, popular, times**2, times]
        _, (last,) = content_keys([self.counts], self.unit)
        return np.lexsort([last, *(self._sums(part) for part in parts), self.variety])

    def _sums(self, values: Any) -> Any:
        ends = np.concatenate([np.zeros(1, dtype=values.dtype), np.cumsum(values, dtype=values.dtype)])
        return ends[self.counts.indptr[1:]] - ends[self.counts.indptr[:-1]]
