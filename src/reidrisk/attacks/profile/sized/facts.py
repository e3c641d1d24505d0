r"""Queries that are facts about a person in the table: some of the target's own events, drawn without replacement.

Each event of a query is wrong with probability w, and then anybody's; else it is one of the n events of the target. Of
an item that a query has c times and the target d times, k = min(c, d) are held. With m events in a query, h of them
held, and p how popular items are, the ratio of its probability to that of events of anybody is

    w^m  prod_i (c choose k) (d)_k ((1 - w) / (w p_i))^k  /  (n)_h,   (d)_k = d (d - 1) … (d - k + 1).

Only the likeliest way to be wrong is counted. log n^h / (n)_h is tabulated at h = m for up to a dozen sizes of queries,
and falls from there by log n / (n - s + 1) for each event that is not held, s being the usual size: exact where all are
held, or all but one of a usual query. A target that has fewer of an item than is known of it is hardly the right one,
which no form says that draws with replacement. With ``items``, each fact is a different item, and how often the target
has it does not matter.
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
MOST_FACTS = 512
"""Facts of a query, at most."""
MOST_TIMES = 64
"""Times that one item is known of somebody, at most."""
_EXACT = 8  # counts of a target that are tabulated one by one, beyond as many as are known
_HALVES, _DOUBLINGS = 6, 24  # steps of half a doubling in which larger counts are tabulated, and then whole ones


class FactWeights(NamedTuple):
    """Entries of sparse rows: record, column after those of items and sizes, value."""

    row: Ints
    column: Any
    value: Floats


@dataclass(frozen=True)
class Facts:
    """A share of ``wrong`` facts; ``items``: each is another item of the target.

    Usually ``size`` facts are known of somebody, and at most ``times`` one of an item.
    """

    wrong: float
    items: bool = False
    size: int = 1
    times: int = 1

    @classmethod
    def like(cls, queries: Tally, wrong: float, items: bool = False) -> Facts:
        """Return what such queries are, if they are facts."""
        times = int(np.clip(math.ceil(queries.events.max(initial=1.0)), 1, MOST_TIMES))
        some = queries.totals[queries.totals > 0.0]
        return cls(wrong, items, int(np.clip(np.median(some), 1, MOST_FACTS)) if len(some) else 1, times)

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
        whole = self.times + _EXACT
        halves = whole * 2.0 ** (np.arange(1, _HALVES + 1) / 2.0)
        more = halves[-1] * 2.0 ** np.arange(1, _DOUBLINGS + 1)
        return np.concatenate([np.arange(1.0, whole + 1.0), halves, more])

    def missing(self, totals: Floats) -> Floats:
        """Return the level of a fact that targets with these totals do not hold."""
        return math.log(self.wrong) - _last(totals, self.size)

    def present(self, totals: Floats, popularity: Floats) -> Floats:
        """Return what a fact adds that targets with these totals hold once, of items this popular."""
        odds = math.log1p(-self.wrong) - math.log(self.wrong)
        return np.asarray(odds + _last(totals, self.size) - np.log(totals * popularity))

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


def without_replacement(totals: Floats, size: int) -> Floats:
    """Return by how much likelier k facts are for being drawn without replacement from n.

    That is log n^k / (n)_k, with k = min(n, ``size``).

    >>> np.exp(without_replacement(np.array([3.0, 100.0]), 2)).round(3).tolist()
    [1.5, 1.01]
    """
    k = np.minimum(totals, size)
    return np.asarray(k * np.log(totals) - _log_falling(totals, k))


def _last(totals: Floats, size: int) -> Floats:
    """Return by how much the last of k facts is likelier than with replacement: log n / (n - k + 1)."""
    return np.asarray(np.log(totals / (totals - np.minimum(totals, size) + 1.0)))


def _log_falling(n: Any, k: Any) -> Floats:
    """Return log n (n - 1) … (n - k + 1)."""
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(n - k + 1.0))


def _log_choose(n: Any, k: Any) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
