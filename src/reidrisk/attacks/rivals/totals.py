"""Totals: link to the target that holds as much as the query; what it holds makes no difference."""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.rivals.base import Counted, Rival, counts_of, sizes_of
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags

_FEWEST = 20  # records of either side below which an audit does not ask it
_STEPS = 1 << 16  # of a logarithm: totals up to 65,000 stay apart, and sums of products below 2^62


@register(kinds=(Bags,), cost=per_pair(2e-9), default=True, whole=True)
class Totals(Rival):
    """Link to the target of the nearest total: score = -(log(m + 1) - log(l + 1) - shift)^2 for m and l events.

    ``shift`` is the difference of the medians over queries and targets: a second table may be of twice the time. It
    is what remains to go by where every item was renamed, or replaced by another one, and says how far a protection of
    items can help at all. Renaming items and shuffling people change nothing. A query ties with all targets of a total.

    >>> attack = Totals().fit(Bags([[9, 0], [2, 3], [90, 0]]))
    >>> attack.link(Bags([[0, 18], [0, 10], [0, 180]])).target.tolist()
    [0, 1, 2]
    """

    description = (
        "Compares how much two records hold, and nothing else: who does much in one table may do much in the other. "
        "It knows nothing of the system, and what a record holds makes no difference (our own)."
    )
    kinds = (Bags,)
    by_size = True
    of_parts = "no"
    one_scale = False  # the query's own square is left out
    rehearses = True  # records that were cut have the totals of the cut: no part of a rehearsal

    @classmethod
    def applies(cls, targets: Any, queries: Any) -> bool:
        """Whether there are enough records on both sides, and they differ in how much they hold.

        >>> alike, apart = Bags([[2, 0], [1, 1]] * 10), Bags([[2, 0], [1, 3]] * 10)
        >>> Totals.applies(apart, apart), Totals.applies(apart, alike)
        (True, False)
        """
        sizes = [sizes_of(counts_of(side)) for side in (targets, queries)]
        return all(len(one) >= _FEWEST and int(np.ptp(one)) > 0 for one in sizes)

    def fit(self, targets: Counted) -> Self:
        """Add up what targets hold."""
        self._shift: int | None = None
        return super().fit(targets)

    def look_around(self, queries: Counted) -> Self:
        """Learn by how much one table holds more than the other, once after each fit."""
        self._refuse_unfitted("_known")
        if self._shift is None and len(queries):
            self._shift = self._middle - int(np.median(self._logs(counts_of(self._table(queries)[1]))))
        return self

    @property
    def compares_queries(self) -> bool:
        """One number depends on the others: the median."""
        return False

    def _learn(self, counts: Any) -> None:
        self._middle = int(np.median(self._logs(counts)))

    def _weigh_targets(self, counts: Any) -> Any:
        logs = self._logs(counts)
        return _columns(logs, logs**2)

    def _weigh_queries(self, counts: Any) -> Any:
        # -(x - y)^2 less the constant -x^2 of the query.
        logs = self._logs(counts) + (self._shift or 0)
        return _columns(2 * logs, np.full(len(logs), -1))

    def _posed(self, queries: Counted) -> Any:
        self.look_around(queries)
        return super()._posed(queries)

    @staticmethod
    def _logs(counts: Any) -> Ints:
        logs: Floats = np.log1p(sizes_of(counts).astype(np.float64))
        return np.rint(logs * _STEPS).astype(np.int64)


def _columns(*columns: Ints) -> Any:
    from scipy import sparse

    return sparse.csr_array(np.column_stack(columns).astype(np.int64))
