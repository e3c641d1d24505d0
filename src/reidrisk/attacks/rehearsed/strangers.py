"""Do queries share more with the targets than strangers would? Told without truth, by asking for people not there.

Targets are halved. People of one half, thinned to the sizes of real queries, are asked for in the other, where none of
them is: that is how strangers look. Half of the real queries' people are there, if anywhere. How well the best targets
explain a query (the log of the mean Bayes factor over targets) is compared between the two: as draws from a target's
events or from anybody's, or as facts that the target holds, each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reidrisk.attacks.rehearsed.explained import damped, held_factors, mean_log, mixture_factors, of_sizes, totals_of
from reidrisk.attacks.rehearsed.panel import reference
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags
from reidrisk.records.thinning import drawn

_MIXTURE = 0.6, 10.0  # share and strength: sharp enough for sets of five, forgiving enough for long records
_WRONG = 0.02  # share of facts that are wrong
_PEOPLE, _SCORES = 500, 2_000_000
_AMOUNT = 4  # from which it is hardly by chance that two have the same of an item


@dataclass(frozen=True)
class Excess:
    """By how much queries are better explained than strangers, in nats, and the standard error of that."""

    nats: float
    error: float

    @property
    def errors(self) -> float:
        """The excess in standard errors."""
        return self.nats / max(self.error, 1e-9)

    def above(self, other: Excess) -> float:
        """Return by how many standard errors this excess is larger than another."""
        return (self.nats - other.nats) / max(math.hypot(self.error, other.error), 1e-9)


def excess(targets: Bags, queries: Bags, seed: int, facts: bool = False) -> Excess:
    """Return how much more queries share with targets than strangers do, or how much more they are ``facts`` of them.

    >>> rng = np.random.default_rng(0)
    >>> taste = rng.gamma(0.1, 4.0, (200, 60))
    >>> one, two = (Bags(rng.poisson(taste) + np.eye(200, 60, dtype=int)) for _ in range(2))
    >>> excess(one, two, seed=0).errors > 5.0, excess(one, one, seed=0, facts=True).errors > 5.0
    (True, True)
    >>> away = one.take(slice(0, 100)), two.take(slice(100, 200))
    >>> abs(excess(*away, seed=0).errors) < 3.0, excess(*away, seed=0, facts=True).errors < 3.0
    (True, True)
    """
    rng = stream(seed, "rehearsal: strangers")
    half = np.zeros(len(targets), dtype=np.int64)
    half[rng.permutation(len(targets))[: len(targets) // 2]] = 1
    most = int(np.clip(_SCORES // max(len(targets), 1), 100, _PEOPLE))
    sizes, asked = totals_of(queries).astype(np.int64), queries.take(reference(queries, 2 * most))
    ours: list[Floats] = []
    theirs: list[Floats] = []
    for side in (0, 1):
        there, away = (targets.take(np.flatnonzero(half == one)) for one in (side, 1 - side))
        away = away.take(reference(away, most))
        if facts:
            some, strangers = asked, _facts_of(away, sizes, rng)
        else:
            strangers = away.with_counts(drawn(away.counts, rng.choice(sizes, size=len(away)), rng))
            some, strangers, there = damped(of_sizes(asked, strangers, seed)), damped(strangers), damped(there)
        for these, found in ((some, ours), (strangers, theirs)):
            factors = held_factors(there, these, _WRONG) if facts else mixture_factors(there, these, *_MIXTURE)
            found.append(mean_log(factors))
    one, two = np.concatenate(ours), np.concatenate(theirs)
    if not min(len(one), len(two)):
        return Excess(0.0, 1.0)
    error = math.sqrt(one.var() / len(one) + two.var() / len(two))
    return Excess(float(one.mean() - two.mean()), error)


def _facts_of(people: Bags, sizes: Ints, rng: np.random.Generator) -> Bags:
    """Return as many facts of people as queries hold, the more the more there are; of those who have as many."""
    totals = totals_of(people)
    rank = np.argsort(np.argsort(totals, kind="stable"), kind="stable")
    wanted = np.sort(sizes)[rank * len(sizes) // max(len(people), 1)]
    enough = np.flatnonzero(totals >= wanted)
    chosen = people.take(enough)
    return chosen.with_counts(drawn(chosen.counts, wanted[enough], rng))


def same_amounts(targets: Bags, queries: Bags, seed: int) -> float:
    """Return by how many standard errors more is shared of the same amount than of the next one that is usual.

    Both are beyond what strangers share. Whoever has much of an item has much of it again, but hardly the same to the
    last unit, unless the same lines are in both tables. Usual are all amounts of which there is anything: packs of six
    come in sixes.

    >>> rng = np.random.default_rng(0)
    >>> usual, there = rng.gamma(0.5, 40.0, (200, 30)), rng.random((3, 200, 30)) < 0.5
    >>> lines, others = rng.poisson(usual), rng.poisson(usual)
    >>> one, two, three = Bags(lines * there[0]), Bags(lines * there[1]), Bags(others * there[2])
    >>> same_amounts(one, two, seed=0) > 3.0, same_amounts(one, three, seed=0) > 3.0
    (True, False)
    """
    usual = np.unique(np.concatenate([targets.counts.data, queries.counts.data]))
    places = [np.searchsorted(usual, bags.counts.data) + 1 for bags in (targets, queries)]
    known, asked, shifted = (
        bags.with_counts(place + more)
        for bags, place, more in ((targets, places[0], 0), (queries, places[1], 0), (queries, places[1], 1))
    )
    return _of_cells(known, asked, seed).above(_of_cells(known, shifted, seed))


def _of_cells(targets: Bags, queries: Bags, seed: int) -> Excess:
    """Return the excess of items with their amounts, of those that are large."""
    both = targets, queries
    width = max(int(bags.counts.data.max(initial=0)) for bags in both) + 1
    cells = [bags.counts.indices.astype(np.int64) * width + bags.counts.data for bags in both]
    names = np.unique(np.concatenate([one[one % width >= _AMOUNT] for one in cells]))
    if not len(names):
        return Excess(0.0, 1.0)
    one, two = (_named(bags, some, names) for bags, some in zip(both, cells, strict=True))
    return excess(one, two, seed)


def _named(bags: Bags, cells: Ints, names: Ints) -> Bags:
    """Return the records with those of their cells that have a name, each once."""
    from scipy import sparse

    place = np.minimum(np.searchsorted(names, cells), len(names) - 1)
    there = names[place] == cells
    start = np.concatenate([[0], np.cumsum(there)])[bags.counts.indptr]
    ones = np.ones(int(there.sum()), dtype=np.int64)
    return Bags(sparse.csr_array((ones, place[there], start), (len(bags), len(names))))
