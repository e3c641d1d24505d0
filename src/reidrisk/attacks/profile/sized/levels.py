r"""Levels: dense records, in which nearly everybody does nearly everything, told apart by who does more of what.

Minutes at each level of activity by hour of the day, say: counts are large, come in bursts, and what a person does in
one week differs from the next by more than chance. Let l_i be the logarithm of item i's share (log(p c_i / m + floor)
for p items and m events, less the mean over items), x of a target and y of a query what it has beyond the mean of its
table, in units of its standard deviation. Items go together: who is up early does many things early. So x and y are
turned to the axes v_k of C, the correlations between items in both tables, drawn towards independence as far as so few
records demand (Ledoit and Wolf 2004), and divided by the root of C there, c_k. On each axis a person keeps to their own
with the correlation

    r_k = 1 - a - b n_k / c_k,   n_k = sum_i v_ki^2 (scatter of l_i) / (variance of l_i)

where the scatter is that of counting single events, b how many of them come in one burst, and a is the rest that one
person's records differ by. Axes are taken for normal and independent, numbers beyond 2 drawn in, so that the log
Bayes factor is

    sum_k  r_k x_k y_k / (1 - r_k^2)  -  r_k^2 (x_k^2 + y_k^2) / (2 (1 - r_k^2))  -  log(1 - r_k^2) / 2,

less log Z: no target may be likelier to have made what strangers did than anybody is, so that Z is the mean of the
factor over other targets in the place of queries, where that is above 1. (People come in sorts, which no normal curve
knows: then many are alike, and whoever is near looks like the right one.)

Nothing is asked of who is whom: a and b are those under which the queries are most likely. The
same is done with roots of shares instead of logarithms, which know better what few events say, and the score is the
mean of the two: either is now and then misled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reidrisk.attacks.profile.sized.scale import Scale, evenly
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.base.arrays import Floats, Ints

FLOORS = 0.03, 0.0  # of a share beside an even one; 0: levels are roots
_HELD, _LARGE = 0.5, 8.0  # share of cells that are not empty, and their median, from which a table is dense
_FEWEST, _MOST = 3, 512  # items that are compared
_RECORDS = 20, 5_000  # of each table: from which something is learnt, and at most


@dataclass(frozen=True, eq=False)
class ItemLevels:
    """The ``items`` that are compared, and the ``scales`` on which they are."""

    items: Ints
    scales: tuple[Scale, ...]

    @classmethod
    def learnt(cls, targets: Tally, queries: Tally) -> ItemLevels | None:
        """Learn what is usual, and what goes together, where both tables are dense; ``None`` where they are not.

        >>> from reidrisk import Bags
        >>> counts = np.random.default_rng(0).poisson(50.0, size=(30, 6))
        >>> table = Tally.of(Bags(counts))
        >>> ItemLevels.learnt(table, table).width, ItemLevels.learnt(table, table.once())
        (12, None)
        """
        items = np.flatnonzero((targets.holders > 0) & (queries.holders > 0))
        if not _FEWEST <= len(items) <= _MOST or min(len(targets), len(queries)) < _RECORDS[0]:
            return None
        # In the order of what they hold: neither rows nor names matter.
        known, asked = (
            _counts(table.take(evenly(table.in_order(targets.holders), _RECORDS[1])), items)
            for table in (targets, queries)
        )
        if not (_dense(known) and _dense(asked)):
            return None
        return cls(items, tuple(Scale.learnt(known, asked, floor) for floor in FLOORS))

    @property
    def width(self) -> int:
        """How many numbers a record has."""
        return len(self.items) * len(self.scales)

    def likeliest(self, targets: Tally, queries: Tally, weight: Floats) -> ItemLevels:
        """Return the same with the noise by which queries are most likely; a target stands for ``weight`` of them."""
        known, asked = _counts(targets, self.items), _counts(queries, self.items)
        return replace(self, scales=tuple(scale.likeliest(known, asked, weight) for scale in self.scales))

    def of_targets(self, table: Tally) -> tuple[Floats, Floats]:
        """Return the weights of targets (n, width), and what each adds to the score of every query."""
        counts = _counts(table, self.items)
        return _mean([scale.of_targets(counts) for scale in self.scales])

    def of_queries(self, table: Tally) -> tuple[Floats, Floats]:
        """Return the weights of queries (q, width), and what each adds to the score of every target."""
        counts = _counts(table, self.items)
        return _mean([scale.of_queries(counts) for scale in self.scales])

    def anybody(self, queries: Tally, popularity: Floats) -> Floats:
        """Return how much likelier the events of each query are if anybody made them than if independent.

        Each order of the events is as likely.
        """
        from scipy.special import gammaln

        counts = _counts(queries, self.items)
        orders = gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1)
        density = np.mean([scale.density(counts) for scale in self.scales], axis=0)
        return np.asarray(density - orders - counts @ np.log(popularity[self.items]))


def _mean(parts: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the weights of which the product is the mean of the parts' products, and the mean of the rest."""
    weights = np.hstack([weight for weight, _ in parts]) / np.sqrt(len(parts))
    return weights, np.mean([alone for _, alone in parts], axis=0)


def _counts(table: Tally, items: Ints) -> Floats:
    return np.asarray(table.counts[:, items].toarray() / table.unit)


def _dense(counts: Floats) -> bool:
    held = counts > 0.0
    return bool(held.mean() >= _HELD and np.median(counts[held]) >= _LARGE)
