"""Hours of the day in a rehearsal: records that are cut know none, so sure links tell what hours are worth.

What they add to scores is :mod:`reidrisk.attacks.profile.hours`. Where they tell much, and a target seems to hold all
hours of a query, both tables hold parts of the same visits, and more links are right than a rehearsal foresees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.profile.hours import COMPARED, NEAR, HourTerms, Suspects, learnt_hours
from reidrisk.attacks.profile.sized.rows import on_grid
from reidrisk.attacks.rehearsed.choices import SCALES
from reidrisk.attacks.rehearsed.estimate import Estimate, lifted, logit
from reidrisk.attacks.rehearsed.panel import Panel, Side, affordable, reference
from reidrisk.attacks.rehearsed.scorer import WeighedPanel
from reidrisk.attacks.rivals.clock import Clock
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.search.sparse import SparseRows

_ASKED = 800  # real queries that are looked at, at most
_MUCH = 0.5  # logits that hours add, from which on they are hours of the same visits


@dataclass(frozen=True, eq=False)
class Hours:
    """What hours of a query add to the score of each target, and by how many logits more are found."""

    terms: HourTerms
    added: SparseRows
    lift: float = 0.0

    @property
    def same_visits(self) -> bool:
        """Whether hours tell so much that both tables must hold parts of the same visits."""
        return self.lift >= _MUCH and self.terms.same_visits

    def lifted(self, estimate: Estimate, n: int) -> Estimate:
        """Return the estimate of ``n`` links; no rehearsal foresees all that shared visits tell."""
        more = lifted(estimate, self.lift, n)
        return replace(more, high=1.0) if self.same_visits else more

    def scaled(self, scale: float) -> Hours:
        """Return the hours with what they add to scores multiplied."""
        return replace(self, added=on_grid(self.added.rows * scale, 1))

    def known(self, targets: Side) -> Side:
        """Return the targets with what hours add."""
        return replace(targets, hours=self.added)

    def asked(self, queries: Side, records: Bags) -> Side:
        """Return the queries with their hours; where these are not known, nothing is added."""
        return replace(queries, hours=None if records.clock is None else self.terms.of_queries(records.clock))


def rehearsed_hours(panel: Panel, weights: Floats, targets: Bags, queries: Bags, seed: int) -> Hours | None:
    """Return what hours add, or None: they are not known, the table is small, or items tell that they say nothing."""
    if not Clock.applies(targets, queries):
        return None
    scorer = WeighedPanel(panel.scorers, panel.typical, weights)
    rows, known, asked = some_of(panel, queries)
    suspects, sure = suspected(scorer, known, asked)
    alone = ProfileBayes(seed=seed, volume=False)
    terms = learnt_hours(alone, targets.clock, queries.clock, rows, suspects, reference(targets, COMPARED))
    if terms is None:
        return None
    hours = Hours(terms, terms.of_targets(targets.clock))
    _, after = linked(scorer, hours.known(known), hours.asked(asked, queries.take(rows)))
    return replace(hours, lift=logit(float(after.mean())) - logit(float(sure.mean())))


def suspected(scorer: WeighedPanel, known: Side, asked: Side) -> tuple[Suspects, Floats]:
    """Return the targets nearest to each query and how likely they are, and how likely the nearest is."""
    k = min(NEAR, len(known))
    near, chance = np.empty((len(asked), k), dtype=np.int64), np.empty((len(asked), k))
    for part, scores in scorer._blocks(known, asked):
        near[part] = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        below = (scores - scores.max(axis=1, keepdims=True)) / scorer.per_nat
        chance[part] = np.take_along_axis(np.exp(below), near[part], axis=1) / np.exp(below).sum(axis=1, keepdims=True)
    return Suspects(near, chance), chance[:, 0]


def some_of(panel: Panel, queries: Bags) -> tuple[Ints, Side, Side]:
    """Return the rows of some of the real queries, and the targets and them as the panel takes them."""
    some = reference(queries, affordable(len(panel.known), _ASKED))
    return some, panel.known, panel.asked(queries.take(some))


def linked(scorer: WeighedPanel, known: Side, asked: Side) -> tuple[Ints, Floats]:
    """Return the best target of each query, and its probability."""
    best, sure = np.empty(len(asked), dtype=np.int64), np.empty(len(asked))
    for part, scores in scorer._blocks(known, asked):
        best[part] = scores.argmax(axis=1)
        below = (scores - scores.max(axis=1, keepdims=True)) / scorer.per_nat
        sure[part] = 1.0 / np.exp(below).sum(axis=1)
    return best, sure


def fitted(scorer: WeighedPanel, panel: Panel, hours: Hours, queries: Bags, rate: float) -> float:
    """Return by how much to multiply scores, hours included, so that the mean probability of links is this rate."""
    rows, known, asked = some_of(panel, queries)
    said = np.zeros(len(SCALES))
    for _, scores in scorer._blocks(hours.known(known), hours.asked(asked, queries.take(rows))):
        below = (scores - scores.max(axis=1, keepdims=True)) / scorer.per_nat
        said += [float((1.0 / np.exp(scale * below).sum(axis=1)).sum()) for scale in SCALES]
    return float(np.exp(np.interp(rate, said / len(asked), np.log(SCALES))))
