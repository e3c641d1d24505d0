"""How far the posterior can be trusted: the attacker cuts the targets in two, links the parts and knows who is whom.

People resemble each other in more ways than popularity says, so that a stranger with the same tastes looks like the
right one, and the posterior is too sure. It is softened by the temperature T under which the true links of a rehearsal
are most likely, exp(score / T) made to add up to 1 over the targets. The longer a query, the more it resembles
strangers in such ways: T may grow with a power of its size, which also makes up for rehearsed queries being shorter.

A rehearsal must be cut as the real tables were. Which way that is shows in what share of a query's items its best match
holds: all of them where the attacker knows facts that the targets hold as well, none where items were divided up. Where
no way looks like the real tables, some of the events that were cut off are put back into the targets.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import all_scores
from reidrisk.attacks.profile.sized.softness import Softness
from reidrisk.attacks.profile.sized.table import Table
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags
from reidrisk.records.case import Case
from reidrisk.records.cut import Way, cut

_QUERIES, _FEWEST = 500, 20
_CHANCE = 0.15  # distance that two samples of a hundred or two may well have by chance
_DOUBT = 0.35  # distance from the real tables beyond which no plain way of cutting is like them
_COOLING = 1e-4, 2.0  # bounds of 1 / T: where every rehearsed link is right, it would be as low as it may
_GROWTHS = 0.0, 0.25, 0.5  # of T with the size of queries


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Rehearsed queries, the targets they were cut from, and the row of each one's own."""

    targets: Table
    queries: Table
    truth: Ints

    def shares(self) -> Floats:
        """Return the largest share of each query's different items that a target holds."""
        return best_shares(self.targets, self.queries)


def best_shares(targets: Table, queries: Table) -> Floats:
    """Return the largest share of each query's different items that a target holds."""
    one, two = _held(queries), _held(targets)
    return np.asarray((one @ two.T.tocsr()).max(axis=1).toarray()).ravel() / np.maximum(queries.variety, 1)


def distance(one: Floats, two: Floats) -> float:
    """Return the largest difference of two distribution functions (Kolmogorov-Smirnov).

    >>> distance(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    0.5
    """
    at = np.concatenate([one, two])
    below = (np.searchsorted(np.sort(values), at, side="right") / len(values) for values in (one, two))
    return float(np.abs(next(below) - next(below)).max())


def rehearsed(targets: Table, sizes: Ints, variety: Ints, way: Way, seed: int, back: float = 0.0) -> Rehearsal | None:
    """Cut targets that stand in the order of their content; ``back`` is the share of events that are put back.

    Queries smaller than nearly all real ones are left out. ``None`` where too few remain.
    """
    whole = targets.counts.copy()
    whole.data = whole.data // targets.unit
    bags = Bags(whole)
    totals = bags.counts.sum(axis=1) if way != "apart" else np.diff(bags.counts.indptr)
    if np.count_nonzero(np.asarray(totals) >= 2) < _FEWEST:
        return None
    asked = variety if way == "apart" else sizes
    case = cut(bags, asked, seed, way)
    queries, truth = case.queries.counts, _known(case)
    held = np.diff(queries.indptr) if way == "apart" else np.asarray(queries.sum(axis=1)).ravel()
    rows = np.flatnonzero((held >= np.quantile(asked, 0.05)) & (held > 0))[:_QUERIES]
    if len(rows) < _FEWEST:
        rows = np.flatnonzero(held > 0)[:_QUERIES]
    known = case.targets.counts
    if back > 0.0:
        returned = queries.copy()
        returned.data = stream(seed, "profile bayes put back").binomial(queries.data, back)
        known = known + _at(returned, truth, known.shape)
    return Rehearsal(_table(known), _table(queries[rows]), truth[rows])


def choose(targets: Table, queries: Table, seed: int) -> Rehearsal | None:
    """Return the rehearsal that looks most like the real tables; in doubt, one whose parts may share items.

    Where few people can be found, two ways of cutting look alike. The one that leaves nothing to find is not taken
    unless it fits better than by chance, since it would call every link a guess.
    """
    real = best_shares(targets, queries)
    sizes, variety = np.rint(queries.totals).astype(np.int64), queries.variety
    ways: list[Way] = ["part", "held", "apart"]
    found = {way: rehearsed(targets, sizes, variety, way, seed) for way in ways}
    far = {way: distance(real, one.shares()) for way, one in found.items() if one is not None}
    if not far:
        return None
    best = min(far, key=lambda way: far[way])
    if best == "apart" and far.get("part", 1.0) < far["apart"] + _CHANCE:
        best = "part"
    if far[best] <= _DOUBT:
        return found[best]
    returned = [rehearsed(targets, sizes, variety, "part", seed, back) for back in (0.1, 0.25, 0.5, 0.75, 0.9)]
    more = [one for one in (found[best], *returned) if one is not None]
    return min(more, key=lambda one: distance(real, one.shares()))


def soften(rehearsal: Rehearsal, model: Model, size: float) -> Softness:
    """Return the temperatures under which the rehearsed links are most likely, around queries of this size."""
    facing, popularity = model.facing(rehearsal.queries.variety), rehearsal.targets.popularity
    scores = all_scores(facing, rehearsal.targets, rehearsal.queries, popularity)
    below = scores - scores.max(axis=1, keepdims=True)
    relative = np.maximum(model.sizes_of(rehearsal.queries), 1.0) / size
    found = [(_coolest(below * (relative**-growth)[:, None], rehearsal.truth), growth) for growth in _GROWTHS]
    (cool, _), growth = max(found, key=lambda one: one[0][1])
    return Softness(1.0 / cool, growth, size)


def _coolest(below: Floats, truth: Ints) -> tuple[float, float]:
    """Return c and the mean of log softmax(c * below) at the truth, which is concave in c, where it is highest."""
    right = below[np.arange(len(below)), truth]

    def rising(cool: float) -> bool:
        weight = np.exp(cool * below)
        return bool(np.mean(right - (weight * below).sum(axis=1) / weight.sum(axis=1)) > 0.0)

    low, high = _COOLING
    if not rising(low):
        return low, -float(np.log(below.shape[1]))
    while high > 1.01 * low:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if rising(middle) else (low, middle)
    return low, float(np.mean(low * right - np.log(np.exp(low * below).sum(axis=1))))


def _known(case: Case) -> Ints:
    assert case.truth is not None  # whoever cuts records knows whose they are
    return case.truth.target


def _held(table: Table) -> Any:
    ones = table.counts.copy()
    ones.data = np.ones(ones.nnz, dtype=np.int32)
    return ones


def _at(rows: Any, places: Ints, shape: tuple[int, int]) -> Any:
    from scipy import sparse

    entries = rows.tocoo()
    return sparse.csr_array((entries.data, (places[entries.row], entries.col)), shape=shape)


def _table(counts: Any) -> Table:
    held = counts.tocsr().copy()
    held.eliminate_zeros()
    held.sort_indices()
    return Table(held)
