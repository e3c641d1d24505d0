"""How ways to cut are compared: how well the best targets explain rehearsed queries, and real ones."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.explained import damped, mean_log, mixture_factors, of_sizes, totals_of
from reidrisk.base.arrays import Floats
from reidrisk.records import Bags, Case

_SHARES, _STRENGTHS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99), (1.0, 10.0, 100.0)
_CLEARLY, _TELLING = 2.0, 3.0  # standard errors: of a correlation, and of what explains queries
_ALIKE = 1e-9  # spread below which sizes are all the same
_FEW_TARGETS = 10_000  # up to which every share is tried with every strength, beyond which one after the other


class Yardstick(NamedTuple):
    """The share and strength under which queries are drawn from a record: what explains real queries best.

    ``ranked``: whoever holds more is asked about with more. ``telling``: real queries are clearly explained by it.
    """

    share: float
    strength: float
    ranked: bool
    telling: bool

    @classmethod
    def of(cls, targets: Bags, queries: Bags, seed: int) -> Yardstick:
        """Return the one by which these queries are most likely; of an item's events, one of many tells little."""
        share, strength, _ = likeliest_mixture(damped(targets), damped(queries))
        each = mean_log(mixture_factors(damped(targets), damped(queries), share, strength))
        telling = float(each.mean()) > _TELLING * float(each.std()) / math.sqrt(len(each))
        found = cls(share, strength, ranked=True, telling=telling)
        if max(targets.counts.max(), queries.counts.max()) <= 1:
            return found._replace(ranked=False)  # of sets, sizes say more of what there is to hold than of who holds it
        cases = (_some(Cutting("part").rehearse(targets, queries, seed, ranked), queries) for ranked in (True, False))
        by_rank, by_chance = (found._sizes_agree(*case) for case in cases)
        # In doubt by rank: activity lasts. If anybody were asked about with anything, long queries would be of short
        # records and badly explained, and real ones would look as if they shared more than they do.
        halfway = (by_rank + by_chance) / 2.0
        clearly = _CLEARLY / math.sqrt(len(queries))
        return found._replace(ranked=found._sizes_agree(targets, queries) > halfway - clearly)

    def compared(self, cutting: Cutting, targets: Bags, queries: Bags, seed: int) -> Cutting:
        """Return how differently rehearsed and real queries of the same sizes are explained by what is left of targets.

        What is left has lost part of what real queries share with targets, too: they share more with whole ones.
        """
        left, asked = _some(cutting.rehearse(targets, queries, seed, self.ranked), queries)
        both = asked, of_sizes(queries, asked, seed)
        one, two = (mean_log(self._factors(left, some)) for some in both)
        error = math.sqrt(one.var() / len(one) + two.var() / len(two))
        remain = float(left.counts.sum() / targets.counts.sum())
        return Cutting(cutting.way, min(cutting.kept / remain, 1.0), float(one.mean() - two.mean()) / max(error, 1e-9))

    def _factors(self, targets: Bags, queries: Bags) -> Floats:
        return mixture_factors(damped(targets), damped(queries), self.share, self.strength)

    def _sizes_agree(self, targets: Bags, queries: Bags) -> float:
        """Return the correlation of how much queries hold with how much their likely targets do, in logarithms."""
        factors = self._factors(targets, queries)
        chance = np.exp(factors - mean_log(factors)[:, None]) / factors.shape[1]
        theirs, own = chance @ np.log(totals_of(targets)), np.log(totals_of(queries))
        spread = float(theirs.std() * own.std())
        return float(np.mean((theirs - theirs.mean()) * (own - own.mean()))) / spread if spread > _ALIKE else 0.0


def _some(case: Case, queries: Bags) -> tuple[Bags, Bags]:
    """Return the targets of a rehearsal, and twice as many of its queries as there are real ones, if there are."""
    return case.targets, case.queries.take(np.arange(min(len(case.queries), 2 * len(queries))))


def likeliest_mixture(targets: Bags, queries: Bags) -> tuple[float, float, float]:
    """Return the share and strength under which queries are most likely drawn from some target, and how likely."""
    tried: dict[tuple[float, float], float] = {}

    def gain(one: tuple[float, float]) -> float:
        if one not in tried:
            tried[one] = float(mean_log(mixture_factors(targets, queries, *one)).mean())
        return tried[one]

    if len(targets) <= _FEW_TARGETS:
        best = max(((share, strength) for strength in _STRENGTHS for share in _SHARES), key=gain)
        return *best, tried[best]
    share, strength = max(((share, _STRENGTHS[1]) for share in _SHARES), key=gain)
    share, strength = max(((share, strength) for strength in _STRENGTHS), key=gain)
    place = _SHARES.index(share)
    near = _SHARES[max(place - 1, 0) : place + 2] if strength != _STRENGTHS[1] else (share,)
    best = max(((share, strength) for share in near), key=gain)
    return *best, tried[best]
