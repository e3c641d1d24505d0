"""What sizes add: who does much in one table often does much in the other, which no rehearsal of cut records tells.

Sizes are ranked on each side and laid on a normal curve, x of a target, y of a query; if one person made both, they are
taken for normal with a correlation r (:mod:`reidrisk.attacks.profile.sized.volume`). What depends on the query alone
aside, the log Bayes factor is

    (r x y - r^2 x^2 / 2) / (1 - r^2).

The correlation is that of links that are sure without it, ranked among themselves: long records are found more surely,
and that both are long must not seem to be agreement. So it counts for nothing if the next likeliest targets, which are
other people's, agree as well. Only sizes that agree closely count: scores are not exact enough for what little more
others tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.attacks.profile.sized.volume import normal_score, ranks
from reidrisk.attacks.rehearsed.estimate import logit
from reidrisk.attacks.rehearsed.explained import totals_of
from reidrisk.attacks.rehearsed.hours import linked, some_of, suspected
from reidrisk.attacks.rehearsed.panel import Panel, Side
from reidrisk.attacks.rehearsed.scorer import WeighedPanel
from reidrisk.base.arrays import Floats
from reidrisk.records import Bags

_FEWEST = 30  # sure links that teach, at least
_SURE = 0.5  # probability of a link that teaches
_STRANGERS = 0.6  # correlation with the sizes of the next likeliest targets from which links of a size find each other
_CLOSE, _MOST = 0.8, 0.98  # correlation from which sizes count, as surely as chance allows, and the largest
_CHANCE = 1.645  # standard errors: nineteen in twenty


@dataclass(frozen=True)
class SizeTerm:
    """The ``correlation`` of sizes, those among which targets and queries are ranked, and logits that it adds."""

    correlation: float
    targets: tuple[float, ...]
    queries: tuple[float, ...]
    lift: float = 0.0

    def known(self, side: Side, records: Bags) -> Side:
        """Return the targets with their sizes."""
        return replace(side, size=normal_score(totals_of(records), self.targets))

    def asked(self, side: Side, records: Bags) -> Side:
        """Return the queries with their sizes."""
        return replace(side, size=normal_score(totals_of(records), self.queries))


def learnt_sizes(scorer: WeighedPanel, panel: Panel, targets: Bags, queries: Bags) -> SizeTerm | None:
    """Return how closely sizes agree; None where they do not, or where too few links are sure to tell."""
    rows, known, asked = some_of(panel, queries)
    some = queries.take(rows)
    near, sure = suspected(scorer, known, asked)
    rows = np.flatnonzero(sure > _SURE)
    if len(rows) < _FEWEST or near.target.shape[1] < 2:
        return None
    theirs = totals_of(some)[rows]
    own, next_one = (totals_of(targets)[near.target[rows, place]] for place in (0, 1))
    seen, strangers = _agreement(own, theirs), _agreement(next_one, theirs)
    if seen < _CLOSE or strangers > _STRANGERS:
        return None  # as far as -1, where both sides make up a record that is as long for everybody
    surely = math.tanh(math.atanh(min(seen, 0.999)) - _CHANCE / math.sqrt(len(rows) - 3))
    if surely < _CLOSE:
        return None
    sizes = SizeTerm(min(surely, _MOST), ranks(totals_of(targets)), ranks(totals_of(queries)))
    more = replace(scorer, agreeing=sizes.correlation)
    _, after = linked(more, sizes.known(known, targets), sizes.asked(asked, some))
    return replace(sizes, lift=logit(float(after.mean())) - logit(float(sure.mean())))


def _agreement(known: Floats, asked: Floats) -> float:
    """Return the correlation of sizes by rank, 0 where one size fits all."""
    if min(np.ptp(known), np.ptp(asked)) == 0.0:
        return 0.0
    return float(np.corrcoef(normal_score(known, ranks(known)), normal_score(asked, ranks(asked)))[0, 1])
