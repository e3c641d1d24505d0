"""One order of people and items, and one unit of counts, in whatever order and unit they came.

What is drawn by lot is drawn row by row and item by item. So that it does not matter where people stand in a table, nor
how items are numbered, both are put in an order of what they hold: a number of each item is made of the numbers of the
records that hold it, and of each record of the numbers of its items, in turns (colour refinement).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.records.bags import Bags
from reidrisk.records.visits import Visits

_TURNS = 3
_SALTS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)  # of the two tables
_Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Order:
    """The rows of ``targets`` and ``queries`` in order, the new number of each of the ``items``, and the ``unit``.

    Of records that hold the same, or cannot be told apart, the first comes first: that makes no difference.
    """

    targets: Ints
    queries: Ints
    items: Ints
    unit: int

    @classmethod
    def of(cls, targets: Bags, queries: Bags) -> Order:
        """Return the order of two tables.

        >>> one, two = Bags([[2, 0, 4], [0, 2, 2], [6, 6, 0]]), Bags([[2, 0, 2]])
        >>> order = Order.of(one, two)
        >>> rows, names = np.array([2, 0, 1]), np.array([1, 2, 0])
        >>> moved, asked = one.take(rows).renumbered(names, 3), two.renumbered(names, 3)
        >>> known = Order.of(moved, asked).known(moved)
        >>> bool((known.counts != order.known(one).counts).nnz == 0), order.unit
        (True, 2)
        """
        both = targets, queries
        held = [bags.counts if bags.visits is None else bags.visits.counts for bags in both]
        unit = max(math.gcd(*(int(np.gcd.reduce(counts.data, initial=0)) for counts in held)), 1)
        items, rows = content_keys([bags.counts for bags in both], unit)
        places = np.empty(len(items), dtype=np.int64)
        places[np.argsort(items, kind="stable")] = np.arange(len(items))
        one, two = (np.argsort(keys, kind="stable") for keys in rows)
        return cls(one, two, places, unit)

    @property
    def back(self) -> Ints:
        """Where each target stands in the order."""
        places = np.empty(len(self.targets), dtype=np.int64)
        places[self.targets] = np.arange(len(places))
        return places

    def known(self, targets: Bags) -> Bags:
        """Return the targets in this order."""
        return self.asked(targets.take(self.targets))

    def asked(self, bags: Bags) -> Bags:
        """Return records with items as numbered here, counts in the unit, in the order in which they come."""
        moved = bags.renumbered(self.items, bags.n_tokens)
        return moved if self.unit == 1 else _in_units(moved, self.unit)


def content_keys(tables: Sequence[Any], unit: int = 1) -> tuple[_Keys, list[_Keys]]:
    """Return a number of each item, and of each record of one or two tables: of what they hold, whatever it is called.

    ``tables`` are sparse counts over the same items, taken in the ``unit``.

    >>> from scipy import sparse
    >>> _, (rows,) = content_keys([sparse.csr_array([[1, 2, 0], [0, 2, 1], [1, 1, 1]])])
    >>> bool(rows[0] == rows[1]), bool(rows[0] == rows[2])
    (True, False)
    """
    sides = [(lines, lines.tocsc()) for lines in tables]
    items, rows = np.zeros(tables[0].shape[1], np.uint64), [np.zeros(lines.shape[0], np.uint64) for lines in tables]
    with np.errstate(over="ignore"):
        for _ in range(_TURNS):
            for salt, (_, columns), keys in zip(_SALTS, sides, rows, strict=False):
                items = _mixed(items * salt + _summed(columns, keys, unit))
            rows = [_mixed(keys + _summed(lines, items, unit)) for (lines, _), keys in zip(sides, rows, strict=True)]
    return items, rows


def _mixed(keys: _Keys) -> _Keys:
    """Return numbers that look drawn by lot, the same for the same (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def _summed(held: Any, keys: _Keys, unit: int) -> _Keys:
    """Return the sum over what each row of ``held``, or column, holds: of the keys of that, mixed with its counts."""
    mixed = _mixed(keys[held.indices] + (held.data // unit).astype(np.uint64))
    before = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return np.asarray(before[held.indptr[1:]] - before[held.indptr[:-1]])


def _in_units(bags: Bags, unit: int) -> Bags:
    """Return the same with counts in units; parts of a unit, which only records seen later hold, are rounded up."""
    if bags.visits is None:
        return _with_hours(bags.with_counts(-(-bags.counts.data // unit)), bags)
    held = bags.visits.counts.copy()
    held.data = -(-held.data // unit)
    return _with_hours(bags.with_visits(Visits(held, bags.visits.start)), bags)


def _with_hours(new: Bags, old: Bags) -> Bags:
    return new if old.clock is None else new.with_clock(old.clock)
