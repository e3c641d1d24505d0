r"""Facts that somebody knows of a person, who is in the table: events of a query are some of its target's own.

Each event of a query is wrong with probability w, and then anybody's; else it is one of the n events of the target,
drawn without replacement. Of an item that a query has c times and the target d times, k = min(c, d) are held. With
m events in a query, and p how popular items are, the ratio of its probability to that of events of anybody is

    w^m  prod_i (c choose k) (d)_k ((1 - w) / (w p_i))^k  /  (n)_h,   (d)_k = d (d - 1) … (d - k + 1),

h events being held. Only the likeliest way to be wrong is counted. log n^h / (n)_h is taken from a line through h = s
and h = s - 1, with s the smallest size of a query: exact where at most one event is wrong of queries of one size, and
else too low. A target that has fewer of an item than is known of it is hardly the right one, which no form says that
draws with replacement. Where each fact is another item, they are drawn from the items of the target, however often it
has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reidrisk.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from reidrisk.attacks.profile.sized.tally import Tally

WRONG = (1e-4, 0.003, 0.03, 0.1, 0.2, 0.3)
"""Shares of wrong facts that are tried."""
MOST = 512
"""Facts of a query, at most."""
_LARGEST = 64  # times that an item is known of somebody: more is taken for as much
_EXACT = 8  # counts of a target that are tabulated one by one, beyond twice as many as are known
_HALVES, _DOUBLINGS = 2, 31  # steps of a doubling in which larger counts are tabulated, and how many there are


class FactWeights(NamedTuple):
    """Entries of rows: record, column beyond the items and their level, value."""

    row: Ints
    column: Any
    value: Floats


@dataclass(frozen=True)
class Facts:
    """A share of ``wrong`` facts; ``items``: each is another item of the target.

    At least ``size`` facts are known of somebody, and at most ``times`` one of an item.
    """

    wrong: float
    items: bool = False
    size: int = 1
    times: int = 1

    @classmethod
    def like(cls, queries: Tally, wrong: float, items: bool = False) -> Facts:
        """Return what such queries are, if they are facts."""
        times = int(np.clip(math.ceil(queries.events.max(initial=1.0)), 1, _LARGEST))
        some = queries.totals[queries.totals > 0.0]
        return cls(wrong, items, int(max(some.min(initial=MOST), 1.0)), times)

    def of(self, table: Tally) -> tuple[Floats, Floats]:
        """Return how many facts there are in each entry of the table, and in each record."""
        if self.items:
            return np.ones(table.counts.nnz), table.variety.astype(np.float64)
        return table.events, table.totals

    @property
    def knots(self) -> Floats:
        """Counts of a target at which facts known more than once are tabulated: whole numbers, then steps."""
        if self.times == 1:
            return np.zeros(0)
        whole = 2 * self.times + _EXACT
        more = whole * 2.0 ** (np.arange(1, _HALVES * _DOUBLINGS + 1) / _HALVES)
        return np.concatenate([np.arange(1.0, whole + 1.0), more])

    def wrongly(self, totals: Floats) -> Floats:
        """Return the level of a fact that a target of so many does not hold."""
        once, last = without_replacement(totals, self.size)
        return np.asarray(math.log(self.wrong) + once - last)

    def present(self, totals: Floats, popularity: Floats) -> Floats:
        """Return what a fact adds that a target of so many holds once, of an item so popular."""
        _, last = without_replacement(totals, self.size)
        return np.asarray(math.log1p(-self.wrong) - math.log(self.wrong) + last - np.log(totals * popularity))

    def again_of_targets(self, row: Ints, item: Ints, held: Floats, present: Floats) -> Iterator[FactWeights]:
        """Give where each count lies between knots, and the same times what a fact adds."""
        knots = self.knots
        low = np.clip(np.searchsorted(knots, held, side="right") - 1, 0, len(knots) - 2)
        part = np.log(held / knots[low]) / np.log(knots[low + 1] / knots[low])
        for step, weight in ((0, 1.0 - part), (1, part)):
            column = 2 * (item * len(knots) + low + step)
            yield FactWeights(row, column, weight)
            yield FactWeights(row, column + 1, weight * present)

    def again_of_queries(self, row: Ints, item: Ints, times: Floats) -> Iterator[FactWeights]:
        """Give what facts after the first of an item add at each knot, and how many of them are held there."""
        knots, times = self.knots, np.minimum(times, self.times)
        for level, knot in enumerate(knots):
            k = np.minimum(times, math.floor(knot))
            column = 2 * (item * len(knots) + level)
            yield FactWeights(row, column, _log_falling(knot - 1.0, k - 1.0) + _log_choose(times, k))
            yield FactWeights(row, column + 1, k - 1.0)


def without_replacement(totals: Floats, size: int) -> tuple[Floats, Floats]:
    """Return by how much likelier a fact is for being one of k drawn without replacement: their mean, and the last.

    Of n, they are log(n^k / (n)_k) / k and log(n / (n - k + 1)), with k = min(n, ``size``).

    >>> [np.exp(2.0 * one).round(3).tolist() for one in without_replacement(np.array([3.0, 100.0]), 2)]
    [[1.5, 1.01], [2.25, 1.02]]
    """
    k = np.minimum(totals, size)
    return np.log(totals) - _log_falling(totals, k) / k, np.log(totals / (totals - k + 1.0))


def _log_falling(n: Any, k: Any) -> Floats:
    """Return log n (n - 1) … (n - k + 1)."""
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(n - k + 1.0))


def _log_choose(n: Any, k: Any) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
