"""Matched: equal say of the simple attacks, and one target for each query; it learns nothing that could be wrong.

A strong attack that learns how two tables are related finds nobody where it learns that wrongly. This one stands beside
it: the scores of four simple attacks, each compared with the same query's scores of other targets, count alike. Whoever
holds two tables of the same people then lets queries bid for targets (:mod:`reidrisk.attacks.bidding`).
"""

from typing import Any, Self

import numpy as np

from reidrisk.attacks.bidding import Bidding, prices
from reidrisk.attacks.registry import per_item, register
from reidrisk.attacks.rivals.base import Counted, with_column
from reidrisk.attacks.rivals.bm25 import BM25
from reidrisk.attacks.rivals.hellinger import Hellinger
from reidrisk.attacks.rivals.naive_bayes import NaiveBayes
from reidrisk.attacks.rivals.tf_idf import TfIdf
from reidrisk.attacks.scored import Posed
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.search.sparse import SparseDot, SparseRows

STEPS = 1 << 20  # of the grid, on either side
_REFERENCE = 512  # targets with which a query's scores are compared
PER_SPREAD = 3.0  # nats of a bid for each spread of a query's scores
_PAIRS = 16_000_000  # pairs above which queries do not bid
_FEWEST = 20  # records of either side below which an audit does not ask it
_NEAR = 64  # targets for which a query bids


@register(kinds=(Bags,), cost=per_item(3e-9, 0.5), default=True, whole=True)
class Matched(Bidding[Counted]):
    """Link by the mean of the standard scores of TfIdf, BM25, Hellinger and NaiveBayes, less the price of a target.

    Prices are those at which queries that want the same targets part. Without ``jointly``, where there are more queries
    than targets, or more than 16 million pairs, there are none, and each query is linked by itself. Nothing else is
    learnt: not how the tables are related, nor which attack does best.

    >>> targets, queries = Bags([[3, 1, 0], [3, 0, 1]]), Bags([[4, 0, 0], [4, 2, 0]])
    >>> Matched(jointly=False).fit(targets).link(queries).n_ties.tolist()
    [2, 1]
    >>> Matched().fit(targets).link(queries).target.tolist()
    [1, 0]
    """

    description = (
        "Gives four simple attacks an equal say, and lets records that want the same known one bid for it. "
        "It learns nothing of how the tables are related, so that it cannot learn it wrongly (our own)."
    )
    one_scale = False  # scores are standard ones of each query
    rehearses = True  # it is made of attacks that are part of a rehearsal themselves

    @classmethod
    def applies(cls, targets: Counted, queries: Counted) -> bool:
        """Whether there are enough records for scores to have a usual spread.

        >>> Matched.applies(Bags([[1]]), Bags([[1]]))
        False
        """
        return min(len(targets), len(queries)) >= _FEWEST

    def __init__(self, jointly: bool = True) -> None:
        self.jointly = jointly

    def fit(self, targets: Counted) -> Self:
        """Fit the simple attacks."""
        self._attacks = [attack.fit(targets) for attack in (TfIdf(), BM25(), Hellinger(), NaiveBayes())]
        self._known = SparseRows(_side_by_side([_floats(attack, attack._known) for attack in self._attacks]))
        n = len(self._known)
        self._reference = np.unique(np.linspace(0, n - 1, min(n, _REFERENCE)).astype(np.int64))
        self._compared = [_floats(attack, attack._known.take(self._reference)) for attack in self._attacks]
        self._prices = None
        self._looked = False
        return self

    def look_around(self, queries: Counted) -> Self:
        """Let all queries bid for targets, once after each fit."""
        self._refuse_unfitted("_known")
        if self._looked or not len(queries):
            return self
        self._looked = True
        m, n = len(queries), len(self._known)
        if self.jointly and 2 <= m <= n and m * n <= _PAIRS:
            found = SparseDot().candidates(self._known, self._asked(queries), min(_NEAR, n))
            nats: Floats = (found.score - found.score[:, :1]).astype(np.float64) * (PER_SPREAD / STEPS**2)
            self._prices = prices(found.target, nats, n) / PER_SPREAD
        return self

    def narrowed(self, rows: Ints) -> Self:
        """Return this attacker looking at these target rows only; other queries bid for them."""
        new = super().narrowed(rows)
        new._prices, new._looked = None, False
        return new

    def _posed(self, queries: Counted) -> Posed:
        self._refuse_unfitted("_known")
        self.look_around(queries)
        asked = self._asked(queries)
        if self._prices is None:
            return Posed(SparseDot(), self._known, asked)
        cost = np.rint(self._prices * STEPS).astype(np.int64)
        return Posed(SparseDot(), _more(self._known, cost), _more(asked, np.full(len(asked), -STEPS)))

    def _asked(self, queries: Counted) -> SparseRows:
        """Return the queries' weights, such that the spread of each attack's scores with some targets is 1/4."""
        from scipy import sparse

        parts = []
        for attack, near in zip(self._attacks, self._compared, strict=True):
            asked = _floats(attack, attack._posed(queries).queries)
            scores = np.asarray((asked @ near.T).toarray())
            spread = scores.std(axis=1)
            # Of a query that is as far from all, but for rounding, scores say nothing.
            differ = spread > 1e-9 * np.abs(scores).max(axis=1)  # unit: far above float64's rounding
            share = np.where(differ, 1.0 / (len(self._attacks) * np.where(differ, spread, 1.0)), 0.0)
            parts.append(sparse.csr_array(sparse.diags_array(share) @ asked))
        return SparseRows(_side_by_side(parts))


def _floats(attack: Any, rows: SparseRows) -> Any:
    return rows.rows.astype(np.float64) / attack.steps


def _side_by_side(parts: list[Any]) -> Any:
    from scipy import sparse

    both = sparse.csr_array(sparse.hstack(parts, format="csr"))
    both.data = np.rint(both.data * STEPS)
    return both.astype(np.int64)


def _more(side: SparseRows, column: Ints) -> SparseRows:
    return SparseRows(with_column(side.rows, column))
