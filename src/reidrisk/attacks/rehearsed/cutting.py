"""Cutting: a way to cut records in two, as a value, and what it makes of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reidrisk.attacks.rehearsed.explained import mistaken, once
from reidrisk.attacks.rehearsed.panel import reference
from reidrisk.base.arrays import Ints
from reidrisk.records import Bags, Case, Truth
from reidrisk.records.cut import Way, cut
from reidrisk.records.visits import Visits

_OFTEN, _RUNS = 24, 6  # visits of a record above which neighbours go together, and into how many stretches


@dataclass(frozen=True)
class Cutting:
    """A way to cut, the share of a query's events that its target ``kept``, and how far from the real case it is.

    ``distance`` is by how much better rehearsed queries are explained than real ones, in standard errors. ``once``: a
    query has each item once, however often its target does. ``shared``: queries are seen to share more with targets
    than strangers do. ``nothing``: each item is held once, and none of a query's seems to be held by its target.
    ``borne_out``: real queries bear it out that nothing is shared, by what they gain or how likely they are. ``wrong``:
    share of held facts that are anybody's instead. ``turned``: queries hold far more than targets, so that they are cut
    instead. What is cut out of a query stands for its target, and what is left asks for it.
    """

    way: Way
    kept: float = 0.0
    distance: float = 0.0
    once: bool = False
    shared: bool = True
    nothing: bool = False
    borne_out: bool = False
    wrong: float = 0.0
    turned: bool = False

    def rehearse(self, targets: Bags, queries: Bags, seed: int, ranked: bool = False) -> Case:
        """Cut the targets this way, into queries of the real ones' sizes; ``ranked``: whoever holds more, into more."""
        if self.turned:
            some = queries.take(reference(queries, len(targets)))
            return _turned(replace(self, turned=False).rehearse(some, targets, seed, ranked))
        if self.way == "visits":
            targets = _in_runs(targets)
        case = cut(
            once(targets) if self.once else targets, _sizes(queries, self.way), seed, self.way, self.kept, ranked
        )
        asked = case.queries if not self.wrong else mistaken(case.queries, targets, self.wrong, seed)
        return Case(targets if self.once else case.targets, asked, case.truth)


def shares_items(case: Case) -> bool:
    """Whether any rehearsed query shares an item with its own target."""
    assert case.truth is not None
    return bool(case.queries.counts.minimum(case.targets.counts[case.truth.target]).nnz)


def _turned(case: Case) -> Case:
    """Return the case with what was cut out as targets, in the order of the records, and what is left as queries."""
    assert case.truth is not None
    order = np.argsort(case.truth.target)
    return Case(case.queries.take(order), case.targets.take(case.truth.target), Truth(np.argsort(order), "cut"))


def _in_runs(bags: Bags) -> Bags:
    """Return the records with neighbouring visits taken for one where there are many.

    Every hour of a month may be a visit. Days and habits go on through many of them, and both sides saw such stretches.
    """
    visits = bags.visits
    assert visits is not None
    many = visits.per_record
    if not (many > _OFTEN).any():
        return bags
    runs = np.where(many > _OFTEN, _RUNS, many)
    place = np.arange(len(visits)) - np.repeat(visits.start[:-1], many)
    start = np.concatenate(([0], np.cumsum(runs)))
    run = np.repeat(start[:-1], many) + place * np.repeat(runs, many) // np.repeat(np.maximum(many, 1), many)
    first = np.concatenate((np.flatnonzero(np.diff(run, prepend=-1)), [len(visits)]))
    return bags.with_visits(Visits(Visits(visits.counts, first).together(), start))


def _sizes(queries: Bags, way: Way) -> Ints:
    """Return how much each query holds: events, or different items where these go to one side."""
    counts = queries.counts
    sizes = np.diff(counts.indptr) if way == "apart" else np.asarray(counts.sum(axis=1)).ravel()
    return np.asarray(sizes, dtype=np.int64)
