"""What a change costs: how much of the released records, and of what they say, is as it was.

**Kept** is the share of the released events that are as they were: still there, with the item they had. An event is a
row of a log, a cell of a table, a unit of a count; how much it counts makes no difference. Replacing 60 % of the items
by random ones of m keeps 1 - 0.6 + 0.6 / m: the chance of drawing the same item again counts. Cells that now share a
value with others are not as they were, whichever of the values stands for all. Of vectors, see :class:`Kept`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Ints, Result
from reidrisk.mitigations.base import Side, View
from reidrisk.mitigations.rows import events
from reidrisk.records import Attributes, Bags, Case, Vectors


@dataclass(frozen=True, eq=False)
class Kept(Result):
    """What a change leaves of the released records, each from 0 (nothing) to 1 (everything).

    ``observations``: the share of events that are as they were (:mod:`reidrisk.mitigations.cost`); ``sizes``: 1 - the
    mean absolute change of how much a record holds, relative to what it held (of several pseudonyms, the one that holds
    most); ``people``: the share who are still in the release. Of vectors, ``observations`` is the share of the squared
    spread that is as it was, and ``sizes`` compares the spread itself. ``utility`` is what the caller's own use of the
    records gives, before and after.
    """

    observations: float
    sizes: float
    people: float = 1.0
    utility: tuple[float, float] | None = None

    @property
    def overall(self) -> float:
        """The share of observations that are as they were, in one record; or, where there is a utility, what it keeps.

        It is the smaller of ``observations`` and ``sizes``: whatever is under several pseudonyms is as it was, and only
        what the largest of them holds can still be used together.
        """
        if self.utility is not None:
            before, after = self.utility
            return float(np.clip(after / before, 0.0, 1.0)) if before else float(after == before)
        return min(self.observations, self.sizes)


def kept(case: Case, view: View, side: Side = "queries") -> Kept:
    """Compare the released records before and after a change.

    >>> from reidrisk import Bags, mitigations
    >>> table = Bags([[2, 1, 0], [2, 0, 1], [1, 1, 1]])
    >>> case = Case(table, table, None)
    >>> kept(case, mitigations.SuppressRare(k=3).released(case)).observations.__round__(2)
    0.56
    """
    name = "targets" if side == "targets" else "queries"
    one, two = getattr(case, name), getattr(view.case, name)
    if isinstance(one, Vectors):
        return _of_vectors(one, two)
    before, after = (np.asarray(_events(table).sum(axis=1), dtype=np.float64).ravel() for table in (one, two))
    part_of = view.part_of if name == "queries" else view.known_as
    owner = np.arange(len(after)) if part_of is None else part_of
    asked = np.arange(len(before)) if view.asked is None else view.asked
    if view.asked is not None and name == "targets":
        asked = np.unique(case.known_truth.target[asked][case.known_truth.target[asked] >= 0])
    largest = np.zeros(len(before))
    np.maximum.at(largest, owner, after)
    total = max(float(before[asked].sum()), 1.0)
    return Kept(
        observations=_as_they_were(case, view, name, asked) / total,
        sizes=max(0.0, 1.0 - float(np.abs(before - largest)[asked].sum()) / total),
        people=float((largest[asked] > 0).sum() / max((before[asked] > 0).sum(), 1)),
    )


def _of_vectors(before: Vectors, after: Vectors) -> Kept:
    """Compare points: what differs from the point before is lost, and so are dimensions that are not there any more."""
    x, y = (
        (table.values if table.several is None else table.several.values).astype(np.float64)
        for table in (before, after)
    )
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    spread, left = max(float((x**2).sum()), 1e-300), max(float((y**2).sum()), 1e-300)
    same = 1.0 / (1.0 + float(((x - y) ** 2).sum()) / spread) if x.shape == y.shape else min(1.0, left / spread)
    return Kept(same, min(left, spread) / max(left, spread))


def _events(table: Any) -> Any:
    """Return how many events each record has of each item."""
    return events(table) if isinstance(table, Bags) else table.bags().counts


def _as_they_were(case: Case, view: View, name: str, asked: Ints) -> float:
    """Return how many events of those asked about are there still with the item they had, whoever they are now of."""
    seen = view if view.plain is None or not isinstance(case.queries, Bags) else view.plain
    one, two = getattr(case, name), getattr(seen.case, name)
    part_of = seen.part_of if name == "queries" else seen.known_as
    part_of = np.arange(len(two)) if part_of is None else part_of
    part = np.flatnonzero(np.isin(part_of, asked))
    if isinstance(one, Bags):
        again = 1.0 - view.replaced + view.replaced / one.n_tokens  # a random item may be the same
        return again * _same(_events(one), _events(two)[part], part_of[part])
    then, now = one.tokens[part_of[part]].astype(np.int64), two.tokens[part].astype(np.int64)
    same = (now >= 0) & (now == then)
    if isinstance(one, Attributes):
        same &= ~np.isin(now, now[(now >= 0) & (now != then)])  # a value that now stands for others too
    return float(same.sum())


def _same(before: Any, after: Any, owner: Ints) -> int:
    """Return how many events each person had and still has, whatever pseudonym they are under."""
    from scipy import sparse

    n, width = before.shape[0], after.shape[1]
    ones = np.ones(len(owner), dtype=np.int64)
    together = sparse.csr_array((ones, (owner, np.arange(len(owner)))), shape=(n, len(owner))) @ after
    wide = sparse.csr_array((before.data, before.indices, before.indptr), shape=(n, width))
    return int(wide.minimum(together).sum())
