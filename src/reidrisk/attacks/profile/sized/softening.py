"""How far the posterior can be trusted: the attacker cuts the targets in two, links the parts and knows who is whom.

People resemble each other in more ways than popularity says, so that a stranger with the same tastes looks like the
right one, and the posterior is too sure. It is softened by the temperature T under which the true links of a rehearsal
are most likely, exp(score / T) made to add up to 1 over the targets. The longer a query, the more it resembles
strangers in such ways: T may grow with a power of its size, which also makes up for rehearsed queries being shorter.

A rehearsal must be cut as the real tables were: see :mod:`reidrisk.attacks.rehearsed.ways`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import all_scores
from reidrisk.attacks.profile.sized.softness import Softness
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.attacks.profile.sized.taste import Taste
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.cut import Way
from reidrisk.records.order import Order

if TYPE_CHECKING:
    from reidrisk.attacks.rehearsed.cutting import Cutting

_QUERIES, _COMPARED, _FEWEST = 500, 200, 20  # rehearsed queries: to soften by, to compare models by, and at least
_CHANCE = 0.15  # distance that two samples of a hundred or two may well have by chance
_COOLING = 1e-4, 2.0  # bounds of 1 / T: where every rehearsed link is right, it would be as low as it may
_GROWTHS = 0.0, 0.25, 0.5  # of T with the size of queries
_USUAL, _DOUBT = 0.25, 0.05  # growth where strangers are alike, unless another makes links so much more likely
_ALIKE = 1.3  # temperature above which they are, in other ways than the model knows


@dataclass(frozen=True, eq=False)
class Parts:
    """Rehearsed queries, the targets they were cut from, and the row of each one's own."""

    targets: Tally
    queries: Tally
    truth: Ints
    whole: Tally | None = None  # the targets before they were cut
    seed: int = 0

    def scores(self, model: Model, most: int | None = None) -> Floats:
        """Return the (q, n) scores of rehearsed queries, or of the first few.

        Which items go together is learnt anew: from whole records, but only those of other people than are asked for.
        """
        asked = self.queries if most is None else self.queries.take(np.arange(len(self.queries))[:most])
        popularity, model = self.targets.popularity, model.facing(asked)
        if model.taste is None or self.whole is None:
            return all_scores(model, self.targets, asked, popularity)
        out = np.empty((len(asked), len(self.targets)))
        fold = self.truth[: len(asked)] % 2
        for one in (0, 1):
            rows = np.flatnonzero(fold == one)
            taste = self._tastes[one]
            facing = replace(model, taste=None if taste is None else taste.at(model.taste.precision))
            out[rows] = all_scores(facing, self.targets, asked.take(rows), popularity)
        return out

    @cached_property
    def _tastes(self) -> tuple[Taste | None, ...]:
        assert self.whole is not None
        others = (self.whole.take(np.arange(1 - one, len(self.whole), 2)) for one in (0, 1))
        return tuple(Taste.learnt(part, self.targets.popularity, self.seed) for part in others)


def related(targets: Tally, queries: Tally, seed: int) -> Cutting | None:
    """Find out how the two tables are related; ``None`` where there are too few records to cut."""
    from reidrisk.attacks.rehearsed.ways import find_way  # that package rates attacks, this one too

    if np.count_nonzero(targets.totals >= 2.0) < _FEWEST or not queries.counts.nnz:
        return None
    return find_way(*_in_order(targets, queries), seed)


def cut_targets(
    targets: Tally, queries: Tally, seed: int, cutting: Cutting | None = None, apart: bool = False
) -> Parts | None:
    """Cut the targets so that the parts look like the real tables; ``None`` where there are too few to cut.

    ``cutting`` is how, default: found out here; that tables are ``apart`` may have been made sure of before.

    People and items stand in the order of what they hold. Queries smaller than nearly all real ones are left out.
    """
    if np.count_nonzero(targets.totals >= 2.0) < _FEWEST or not queries.counts.nnz:
        return None
    known, asked = _in_order(targets, queries)
    cutting = related(targets, queries, seed) if cutting is None else cutting
    assert cutting is not None  # there are enough
    if cutting.way == "visits":
        cutting = replace(cutting, way="part")  # tables know of no visits
    if cutting.way == "apart" and not apart and not _clearly_apart(known, asked, seed):
        cutting = replace(cutting, way="part")
    case = cutting.rehearse(known, asked, seed)
    assert case.truth is not None  # whoever cuts records knows whose they are
    cut_off, truth = _table(case.queries), case.truth.target
    sizes, least = (table.variety if cutting.way == "apart" else table.totals for table in (cut_off, _table(asked)))
    rows = np.flatnonzero((sizes > 0) & (sizes >= np.quantile(least, 0.05)))
    if len(rows) < _FEWEST:
        rows = np.flatnonzero(sizes > 0)
    rows = rows[:_QUERIES]
    whole = None if cutting.turned else _table(known)  # then whole targets were not cut
    return Parts(_table(case.targets), cut_off.take(rows), truth[rows], whole, seed) if len(rows) else None


def _clearly_apart(targets: Bags, queries: Bags, seed: int) -> bool:
    """Whether real queries share as little with any target as if whole items had gone to one side.

    Where few people can be found, that looks like any other cut. It leaves nothing to find and would call every link a
    guess: in doubt, it is not so.
    """
    from reidrisk.attacks.rehearsed.cutting import Cutting

    real, far = best_shares(targets, queries), {}
    ways: tuple[Way, Way] = ("part", "apart")
    for way in ways:
        case = Cutting(way).rehearse(targets, queries, seed)
        far[way] = distance(real, best_shares(case.targets, case.queries))
    return far["part"] > far["apart"] + _CHANCE


def best_shares(targets: Bags, queries: Bags) -> Floats:
    """Return the largest share of each query's different items that a target holds.

    >>> best_shares(Bags([[1, 2, 0], [0, 0, 1]]), Bags([[1, 0, 4], [0, 0, 1]])).tolist()
    [0.5, 1.0]
    """
    one, two = (_held(bags) for bags in (queries, targets))
    most = np.asarray((one @ two.T.tocsr()).max(axis=1).toarray()).ravel()
    return np.asarray(most / np.maximum(np.diff(queries.counts.indptr), 1))


def distance(one: Floats, two: Floats) -> float:
    """Return the largest difference of two distribution functions (Kolmogorov-Smirnov).

    >>> distance(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    0.5
    """
    at = np.concatenate([one, two])
    below = (np.searchsorted(np.sort(values), at, side="right") / len(values) for values in (one, two))
    return float(np.abs(next(below) - next(below)).max())


def likelihood(parts: Parts, model: Model) -> float:
    """Return the mean log-likelihood of rehearsed links under the temperature that suits the model best."""
    scores = parts.scores(model, _COMPARED)
    return _coolest(scores - scores.max(axis=1, keepdims=True), parts.truth[:_COMPARED])[1]


def soften(parts: Parts, model: Model, size: float) -> Softness:
    """Return the temperatures under which the rehearsed links are most likely, around queries of this size."""
    scores = parts.scores(model)
    below = scores - scores.max(axis=1, keepdims=True)
    relative = np.maximum(model.sizes_of(parts.queries), 1.0) / size
    found = [(_coolest(below * (relative**-growth)[:, None], parts.truth), growth) for growth in _GROWTHS]
    # Parts are shorter than real queries, and hardly tell how T grows: in doubt it does, where it is above 1 at all.
    even = 1.0 / found[0][0][0]
    in_doubt = _DOUBT if even > _ALIKE and not parts.targets.distinct else 0.0
    (cool, _), growth = max(found, key=lambda one: one[0][1] + (in_doubt if one[1] == _USUAL else 0.0))
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


def _held(bags: Bags) -> Any:
    ones = bags.counts.copy()
    ones.data = np.ones(ones.nnz, dtype=np.int32)
    return ones


def _in_order(targets: Tally, queries: Tally) -> tuple[Bags, Bags]:
    """Return both with people and items in the order of what they hold: draws depend neither on rows nor on names."""
    known, asked = _bags(targets), _bags(queries)
    order = Order.of(known, asked)
    return order.known(known), order.asked(asked.take(order.queries))


def _bags(table: Tally) -> Bags:
    whole = table.counts.copy()
    whole.data = whole.data // table.unit
    return Bags(whole)


def _table(bags: Bags) -> Tally:
    """Count in single events, whatever divides these few records."""
    return Tally(Tally.of(bags).counts)
