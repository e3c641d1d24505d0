"""How to cut a target so that the cut looks like the real case, found without truth.

The real queries may be part of the records that the targets hold (somebody knows a few facts), or other events of the
same people, or share some. Each way to cut is tried: queries taken that way from targets, and real queries of the same
sizes, are compared with what is left. How well the best targets explain a query must be the same on average.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.rehearsed.panel import reference
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags, Case
from reidrisk.records.cut import Way, cut
from reidrisk.records.thinning import drawn

_QUERIES, _SCORES = 600, 2_000_000
_SHARES, _STRENGTHS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99), (1.0, 10.0, 100.0)
_WRONG = (0.02, 0.2)  # share of queries that are not wholly held by their target, where most are
_SURE, _SURER = 2.0, 3.0  # standard errors from which a difference is taken for one
_FEW, _MANY = 20, 100  # records with two visits: below none can be practised on, above always
_TORN = 0.6  # size of a query's visits, of that of targets' visits, below which they are parts of visits
_HALF = 0.5  # a share that is kept, which must be excluded before none is taken to be kept


@dataclass(frozen=True)
class Cutting:
    """A way to cut, the share of a query's events that its target ``kept``, and how far from the real case it is.

    ``distance`` is by how much better rehearsed queries are explained than real ones, in standard errors.
    """

    way: Way
    kept: float = 0.0
    distance: float = 0.0

    def rehearse(self, targets: Bags, queries: Bags, seed: int) -> Case:
        """Cut the targets this way, into queries of the real ones' sizes."""
        return cut(targets, _sizes(queries, self.way), seed, self.way, self.kept)


_KEPT = (0.0, 0.1, 0.2, 0.3, 0.4, _HALF, 0.6, 0.75)


def find_way(targets: Bags, queries: Bags, seed: int) -> Cutting:
    """Return the way of cutting targets that looks most like the real case.

    >>> rng = np.random.default_rng(0)
    >>> plays = Bags(rng.poisson(rng.gamma(0.2, 2.0, (200, 60))) + np.eye(200, 60, dtype=int))
    >>> known = cut(plays, np.array([5]), seed=0, way="held")
    >>> find_way(known.targets, known.queries, seed=0).way
    'held'
    """
    most = int(np.clip(_SCORES // len(targets), 100, _QUERIES))
    few = queries.take(reference(queries, most))
    _, _, gain = _mixture(targets, few)
    share, strength, _ = _mixture(damped(targets), damped(few))
    if max(float(_mean_log(held_factors(targets, few, wrong)).mean()) for wrong in _WRONG) > gain:
        return Cutting("held")
    parts = [_compared(Cutting("part", kept), targets, few, (share, strength), seed) for kept in _KEPT]
    none, half = parts[0], parts[_KEPT.index(_HALF)]
    if none.distance > _SURER:
        apart = _compared(Cutting("apart"), targets, few, (share, strength), seed)
        if -_SURER <= apart.distance <= max(_SURER, none.distance / 2.0):
            return apart
        if -2.0 * none.distance < apart.distance < 0.0:
            return _crossing([_compared(Cutting("apart", k), targets, few, (share, strength), seed) for k in _KEPT])
    if _whole_visits(targets, queries):
        parts[0] = none = _compared(Cutting("visits"), targets, few, (share, strength), seed)
    # Above: later habits differ, and people with two visits come back more often. No way of cutting shares less.
    if none.distance > _SURER or (none.distance >= -_SURE and half.distance > _SURE):
        return none
    return _crossing(parts)


def _whole_visits(targets: Bags, queries: Bags) -> bool:
    """Whether queries seem to hold whole visits, and enough records have two or more to practise on.

    Where each event went to one side by itself, the smaller side is left with smaller visits.
    """
    known, asked = targets.visits, queries.visits
    if known is None or asked is None:
        return False
    whole = bool(asked.sizes.mean() >= _TORN * known.sizes.mean())
    several = int((known.per_record >= 2).sum())
    return whole and several >= min(_MANY, max(len(targets) / 5, _FEW))


def _crossing(parts: list[Cutting]) -> Cutting:
    """Return the share at which rehearsed queries are as well explained as real ones."""
    for one, two in itertools.pairwise(parts):
        if one.distance < 0.0 <= two.distance:
            near = -one.distance / (two.distance - one.distance)
            return Cutting(two.way, one.kept + near * (two.kept - one.kept))
    return min(parts, key=lambda one: abs(one.distance))


def mixture_factors(targets: Bags, queries: Bags, share: float, strength: float) -> Floats:
    """Return the (q, n) log Bayes factors of drawing a query's events from a target's, or from anybody's.

        sum_i c_i log((1 - share) + share (d_i + strength p_i) / ((d + strength) p_i))

    with p_i how common item i is among the targets' events.
    """
    from scipy import sparse

    held = targets.counts.astype(np.float64)
    sizes = np.asarray(held.sum(axis=1)).ravel()
    common = _common(targets)
    rest = (1.0 - share) + share * strength / (sizes + strength)
    rows = np.repeat(np.arange(len(targets)), np.diff(held.indptr))
    more = np.log1p(share * held.data / ((sizes[rows] + strength) * common[held.indices] * rest[rows]))
    gains = sparse.csr_array((more, held.indices, held.indptr), held.shape)
    asked = queries.counts.astype(np.float64)
    shared = (asked @ gains.T.tocsr()).toarray()
    return np.asarray(shared + np.asarray(asked.sum(axis=1)).reshape(-1, 1) * np.log(rest))


def damped(bags: Bags) -> Bags:
    """Return records in which an item counts 1 + log2 of its events, rounded down: one of many plays tells little."""
    return bags.with_counts(1 + np.floor(np.log2(np.maximum(bags.counts.data, 1))).astype(np.int64))


def held_factors(targets: Bags, queries: Bags, wrong: float) -> Floats:
    """Return the (q, n) log Bayes factors of drawing a query's events, without replacement, from a target's.

    log(wrong + (1 - wrong) prod_i (d_i)_c_i / ((d)_m prod_i p_i^c_i)),  (d)_c = d (d - 1) … (d - c + 1)
    """
    from scipy.special import gammaln

    columns, sizes = targets.counts.tocsc(), np.asarray(targets.counts.sum(axis=1), dtype=np.float64).ravel()
    common, asked = np.log(_common(targets)), queries.counts
    out = np.empty((len(queries), len(targets)))
    for i in range(len(queries)):
        part = slice(asked.indptr[i], asked.indptr[i + 1])
        items, times = asked.indices[part], asked.data[part].astype(np.float64)
        m = times.sum()
        held = columns[:, items].tocsr()
        row, c, d = np.repeat(np.arange(len(targets)), np.diff(held.indptr)), times[held.indices], held.data
        enough = d >= c
        falls = gammaln(d[enough] + 1.0) - gammaln(d[enough] - c[enough] + 1.0)
        whole = np.bincount(row[enough], minlength=len(targets)) == len(items)
        fits = whole & (sizes >= m)
        room = np.maximum(sizes, m)
        factor = np.bincount(row[enough], falls, len(targets)) - gammaln(room + 1.0) + gammaln(room - m + 1.0)
        factor = factor - times @ common[items]
        out[i] = np.where(fits, np.logaddexp(np.log(wrong), np.log1p(-wrong) + factor), np.log(wrong))
    return out


def _mixture(targets: Bags, queries: Bags) -> tuple[float, float, float]:
    """Return the share and strength under which queries are most likely drawn from some target, and how likely."""
    options = [(share, strength) for strength in _STRENGTHS for share in _SHARES]
    gains = [float(_mean_log(mixture_factors(targets, queries, *one)).mean()) for one in options]
    best = int(np.argmax(gains))
    return *options[best], gains[best]


def _compared(cutting: Cutting, targets: Bags, queries: Bags, fitted: tuple[float, float], seed: int) -> Cutting:
    """Return how differently rehearsed and real queries of the same sizes are explained by what is left of targets.

    What is left has lost part of what real queries share with targets, too: they share more with whole ones.
    """
    case = cutting.rehearse(targets, queries, seed)
    asked = case.queries.take(np.arange(min(len(case.queries), 2 * len(queries))))
    real, left = _of_sizes(queries, asked, seed), damped(case.targets)
    one, two = (_mean_log(mixture_factors(left, damped(some), *fitted)) for some in (asked, real))
    error = math.sqrt(one.var() / len(one) + two.var() / len(two))
    remain = float(case.targets.counts.sum() / targets.counts.sum())
    return Cutting(cutting.way, min(cutting.kept / remain, 1.0), float(one.mean() - two.mean()) / max(error, 1e-9))


def thinned(bags: Bags, share: float, seed: int, items: bool = False) -> Bags:
    """Return the records with this share of their events, or of their items with all their events; one at least."""
    units = bags if not items else bags.with_counts(np.ones(bags.counts.nnz, dtype=np.int64))
    wanted = np.maximum(np.rint(_totals(units) * share), 1.0).astype(np.int64)
    taken = drawn(units.counts, wanted, stream(seed, "ways: shorter"))
    return bags.with_counts(taken * bags.counts.data if items else taken)


def _of_sizes(queries: Bags, like: Bags, seed: int) -> Bags:
    """Return queries thinned to the sizes of others, rank by rank."""
    sizes = np.sort(_totals(like)).astype(np.int64)
    rank = np.argsort(np.argsort(_totals(queries), kind="stable"), kind="stable")
    wanted = sizes[np.minimum(rank * len(sizes) // len(queries), len(sizes) - 1)]
    return queries.with_counts(drawn(queries.counts, wanted, stream(seed, "ways: thinned")))


def _mean_log(factors: Floats) -> Floats:
    """Return the log of the mean of exp over each row."""
    top = factors.max(axis=1)
    return np.asarray(top + np.log(np.exp(factors - top[:, None]).mean(axis=1)))


def _common(targets: Bags) -> Floats:
    total = np.asarray(targets.counts.sum(axis=0), dtype=np.float64).ravel() + 0.5
    return np.asarray(total / total.sum())


def _totals(bags: Any) -> Floats:
    return np.maximum(np.asarray(bags.counts.sum(axis=1), dtype=np.float64).ravel(), 1.0)


def _sizes(queries: Bags, way: Way) -> Ints:
    """Return how much each query holds: events, or different items where these go to one side."""
    counts = queries.counts
    sizes = np.diff(counts.indptr) if way == "apart" else np.asarray(counts.sum(axis=1)).ravel()
    return np.asarray(sizes, dtype=np.int64)
