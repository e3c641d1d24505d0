"""Do queries share more with the targets than strangers would? Told without truth, by asking for people not there.

Targets are halved. People of one half, thinned to the sizes of real queries, are asked for in the other, where none of
them is: that is how strangers look. Half of the real queries' people are there, if anywhere. How well the best targets
explain a query (the log of the mean Bayes factor over targets) is compared between the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reidrisk.attacks.rehearsed.explained import damped, mean_log, mixture_factors, of_sizes, totals_of
from reidrisk.attacks.rehearsed.panel import reference
from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream
from reidrisk.records import Bags
from reidrisk.records.thinning import drawn

_MIXTURE = 0.6, 10.0  # share and strength: sharp enough for sets of five, forgiving enough for long records
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


def excess(targets: Bags, queries: Bags, seed: int) -> Excess:
    """Return how much more queries share with targets than strangers do.

    >>> rng = np.random.default_rng(0)
    >>> taste = rng.gamma(0.1, 4.0, (200, 60))
    >>> one, two = (Bags(rng.poisson(taste) + np.eye(200, 60, dtype=int)) for _ in range(2))
    >>> excess(one, two, seed=0).errors > 5.0
    True
    >>> abs(excess(one.take(slice(0, 100)), two.take(slice(100, 200)), seed=0).errors) < 3.0
    True
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
        wanted = rng.choice(sizes, size=len(away))
        strangers = away.with_counts(drawn(away.counts, wanted, rng))
        known = damped(there)
        for some, found in ((of_sizes(asked, strangers, seed), ours), (strangers, theirs)):
            found.append(mean_log(mixture_factors(known, damped(some), *_MIXTURE)))
    one, two = np.concatenate(ours), np.concatenate(theirs)
    error = math.sqrt(one.var() / len(one) + two.var() / len(two))
    return Excess(float(one.mean() - two.mean()), error)
