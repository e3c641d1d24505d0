r"""How likely a query is if a target's person made it, its total given: weights whose products add up to that.

An event of a query is item i with probability

    mu_i = (1 - rho) p_i + rho (d_i + A p_i) / (n + A),

where d_i of the target's n events are item i and p is how popular items are: with probability rho the person does what
the record shows, which is worth n events against A of anybody's, and else what anybody does. Probabilities of the
ordered events of a query, c_i of them item i and m in all, come in three forms:

    independent   prod_i mu_i^c_i
    bursts        prod_i Gamma(S mu_i + c_i) / Gamma(S mu_i)  *  Gamma(S) / Gamma(S + m)
    distinct      prod_i mu_i / Z,   Z = sum_j (m choose j) j! e_j(mu of items held) (mu of all others)^(m - j).

Bursts are draws from an urn into which each drawn item goes back with one more of its kind (Dirichlet-multinomial):
the second play of an item tells less than the first. In the distinct form, what the target holds is drawn at most once:
with rho = 1 and A = 0 the query is any part of the target, 1 / (n (n - 1) ... (n - m + 1)). All three add up to 1 over
ordered events, so that they can be compared by how likely they make the queries. The score is the logarithm of the
ratio to the same with mu = p: what a target says that holds nothing.

Each is a product of a query's row and a target's: what an item held is worth beyond one not held, and terms for what
they share nothing of. Z and the Gamma functions are tabulated at knots and interpolated: where counts are large, at
closer ones and by third powers, since what lies between grows with the count.

A fourth form is for tables that are apart, of which no item is in both: each item of a query has the probability that
it has for somebody of the target's :class:`~reidrisk.attacks.profile.sized.taste.Taste`, an item that the target holds
a hundredth of it, made to add up to 1. A fifth is for dense tables, :mod:`reidrisk.attacks.profile.sized.levels`, and a
sixth for facts that somebody knows of a person in the table, :mod:`reidrisk.attacks.profile.sized.facts`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.sized.facts import Facts
from reidrisk.attacks.profile.sized.levels import ItemLevels
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.attacks.profile.sized.taste import Taste
from reidrisk.attacks.profile.sized.volume import Volume
from reidrisk.base.arrays import Floats, Ints

_BASE = 6  # halvings of how often an item comes that a target does not hold, beside anybody, at which it is tabulated
AGAIN = 0.01  # how much rarer an item is that the target holds, where tables are apart
_LEVELS, _LARGEST = 12, 512  # sizes of queries at which the distinct form is tabulated, at most


@dataclass(frozen=True)
class Model:
    """The parameters: ``share`` rho, ``strength`` A, ``spread`` S (infinite: independent), or the ``distinct`` form.

    ``fine``: what bursts tell is tabulated for large counts. ``sizes`` are those of queries at which Z, or (n)_m of
    facts, is tabulated. ``volume`` is what totals tell, where they are evidence. ``taste`` says what else somebody with
    such a record has, instead of p; if tables are ``apart``, that alone counts. Where there are ``levels``, or queries
    are ``facts``, that alone counts.
    """

    share: float = 0.9
    strength: float = 1.0
    spread: float = math.inf
    distinct: bool = False
    fine: bool = False
    sizes: tuple[int, ...] = ()
    volume: Volume | None = None
    taste: Taste | None = None
    apart: bool = False
    levels: ItemLevels | None = None
    facts: Facts | None = None

    def facing(self, queries: Tally) -> Model:
        """Return the model set up for such queries: their sizes, and how often they repeat an item."""
        if not self.distinct and self.facts is None:
            return self
        sizes = self.sizes_of(queries).astype(np.int64)
        found = np.unique(np.minimum(sizes[sizes > 1], _LARGEST))
        if len(found) > _LEVELS:
            found = np.unique(np.geomspace(found[0], found[-1], _LEVELS).round().astype(np.int64))
        facts = None if self.facts is None else Facts.like(queries, self.facts.wrong, self.facts.items)
        return replace(self, sizes=tuple(found.tolist()), facts=facts)

    def sizes_of(self, table: Tally) -> Floats:
        """Return how much each record holds, as the form counts it: events where they are independent, else items."""
        return table.variety.astype(np.float64) if self.by_item else table.totals

    @property
    def by_item(self) -> bool:
        """Whether it is which items a query holds that counts, or first of all that."""
        return self.distinct or self.bursts or self.apart

    @property
    def bursts(self) -> bool:
        """Whether events after the first of an item are worth less than the first."""
        return not self.distinct and not self.apart and self.levels is None and not math.isinf(self.spread)

    @property
    def knots(self) -> Floats:
        """Values of S mu at which the Gamma functions are tabulated."""
        steps = 4 if self.fine else 2
        return np.asarray(2.0 ** (np.arange(-4 * steps, steps * math.ceil(math.log2(self.spread)) + 1) / steps))

    @property
    def bases(self) -> Floats:
        """Values at which it is tabulated how often an item comes that a target does not hold, beside anybody."""
        steps = 4 if self.fine else 1
        return np.asarray(2.0 ** (-np.arange(_BASE * steps, -1, -1.0) / steps))


class Between(NamedTuple):
    """Each value lies between the knots ``low`` (-1: zero) and ``low + 1``, at ``part`` of the way; there are ``n``."""

    low: Ints
    part: Floats
    n: int

    def weights(self, fine: bool) -> dict[int, Floats]:
        """Return the weight of each knot, by how far it is from ``low``: of two knots, or, ``fine``, of four.

        >>> {k: w.tolist() for k, w in Between(np.array([2]), np.array([0.5]), 9).weights(fine=True).items()}
        {-1: [-0.0625], 0: [0.5625], 1: [0.5625], 2: [-0.0625]}
        """
        t, linear = self.part, {0: 1.0 - self.part, 1: self.part}
        if not fine:
            return linear
        inside = (self.low >= 1) & (self.low <= self.n - 3)
        cubic = {
            -1: -t * (t - 1.0) * (t - 2.0) / 6.0,
            0: (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
            1: -(t + 1.0) * t * (t - 2.0) / 2.0,
            2: (t + 1.0) * t * (t - 1.0) / 6.0,
        }
        return {k: np.where(inside, weight, linear.get(k, 0.0)) for k, weight in cubic.items()}


def between(values: Floats, knots: Floats) -> Between:
    """Find the knots around each value: steps are even in its logarithm, below the first knot in the value itself."""
    low = np.clip(np.searchsorted(knots, values, side="right") - 1, -1, len(knots) - 2)
    below, step = low < 0, np.log(knots[low + 1]) - np.log(knots[np.maximum(low, 0)])
    logs = np.log(np.maximum(values, knots[0])) - np.log(knots[np.maximum(low, 0)])
    part = np.where(below, values / knots[0], logs / np.where(below, 1.0, step))
    return Between(low, np.clip(part, 0.0, 1.0), len(knots))


def log_bursts(times: Any, urn: Any) -> Floats:
    """Return sum over 1 <= j < times of log(1 + urn / j): what events after the first add, with S mu = ``urn``."""
    from scipy.special import gammaln

    return np.asarray(gammaln(urn + times) - gammaln(urn + 1.0) - gammaln(times))
