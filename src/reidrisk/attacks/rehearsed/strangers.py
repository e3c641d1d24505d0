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
