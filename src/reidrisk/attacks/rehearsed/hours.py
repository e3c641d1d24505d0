"""What hours of the day add: at which hours two records were there, weighed as links that are sure teach.

Records that are cut know no hours, so no rehearsal tells what they are worth. Sure links do, without truth. A query is
there in hour h with probability b g_h / g + (1 - b) p_h, where g_h of the g hours in which its target was there are
such hours of the day, and p is anybody's; given the person, hours are taken to be independent of items, up to a power
k. Two sides that hold parts of the same visits share most of their hours, other visits of the same person few: b and k
are those under which the targets of sure links are told best from others with about as many hours. Long records are
found more surely, and would make it seem that many hours speak for a target. Where both sides are not of one time zone,
links do not share their hours, and none count. A link that is wrong seldom shares hours, and so makes
them count less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reidrisk.attacks.rehearsed.choices import SCALES
from reidrisk.attacks.rehearsed.estimate import Estimate, lifted, logit
from reidrisk.attacks.rehearsed.panel import Panel, Side, affordable, reference
from reidrisk.attacks.rehearsed.scorer import GRID, WeighedPanel
from reidrisk.attacks.rehearsed.weights import clearly_above
from reidrisk.attacks.rivals.clock import Clock
from reidrisk.base.arrays import Floats, Ints
from reidrisk.records import Bags
from reidrisk.records.calendar import HOURS

_ASKED, _FEWEST = 800, 100  # real queries that are looked at, and the links that teach, at least
_SURE = 0.5  # probability of a link that teaches; those that come closest, where there are few
_LIKE = 100  # targets with about as many hours, with which that of a link is compared
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)
_POWERS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
_CLEAR = 3.0  # standard errors by which hours must tell
_MUCH = 0.5  # logits that hours add, from which on they are hours of the same visits


@dataclass(frozen=True, eq=False)
class Hours:
    """What each hour of a query adds to the score of each target, (n, 24), and by how many logits more are found."""

    added: Floats
    lift: float = 0.0

    @property
    def same_visits(self) -> bool:
        """Whether hours tell so much that both tables must hold parts of the same visits."""
        return self.lift >= _MUCH

    def lifted(self, estimate: Estimate, n: int) -> Estimate:
        """Return the estimate of ``n`` links; no rehearsal foresees all that shared visits tell."""
        more = lifted(estimate, self.lift, n)
        return replace(more, high=1.0) if self.same_visits else more

    def scaled(self, scale: float) -> Hours:
        """Return the hours with what they add to scores multiplied."""
        return replace(self, added=_on_grid(scale * self.added))

    def known(self, targets: Side) -> Side:
        """Return the targets with what hours add."""
        return replace(targets, hours=self.added)

    def asked(self, queries: Side, records: Bags) -> Side:
        """Return the queries with their hours; where these are not known, nothing is added."""
        return replace(queries, hours=None if records.clock is None else _there(records))


def learnt_hours(panel: Panel, weights: Floats, targets: Bags, queries: Bags) -> Hours | None:
    """Return what hours add, or None: they are not known, the table is small, or they tell nothing clearly."""
    if not Clock.applies(targets, queries) or len(targets) < 2 * _LIKE:
        return None
    scorer = WeighedPanel(panel.scorers, panel.typical, weights)
    some, known, asked = some_of(panel, queries)
    best, sure = linked(scorer, known, asked)
    rows = np.argsort(-sure, kind="stable")[: max(int((sure > _SURE).sum()), _FEWEST)]
    added = _added(_there(targets), _there(some)[rows], best[rows], sure[rows])
    if added is None:
        return None
    hours = Hours(added)
    _, after = linked(scorer, hours.known(known), hours.asked(asked, some))
    return replace(hours, lift=logit(float(after.mean())) - logit(float(sure.mean())))


def _added(known: Floats, asked: Floats, own: Ints, sure: Floats) -> Floats | None:
    """Return what hours add to scores, as the targets ``own`` of some queries tell; None if that is not clear."""
    popular = (known > 0).sum(axis=0) + 0.5
    ratio = known / np.maximum(known.sum(axis=1, keepdims=True), 1.0) * (popular.sum() / popular)
    like = _alike(known.sum(axis=1), own)
    found = []
    for share in _SHARES:
        logs = np.where(known.any(axis=1, keepdims=True), np.log1p(share * (ratio - 1.0)), 0.0)
        others, mine = np.einsum("qh,qth->qt", asked, logs[like]), (asked * logs[own]).sum(axis=1)
        for power in _POWERS:
            top = power * others.max(axis=1)
            gain = power * mine - top - np.log(np.exp(power * others - top[:, None]).mean(axis=1))
            found.append((gain * sure / sure.mean(), power * logs))
    gain, best = max(found, key=lambda one: float(one[0].mean()))
    return _on_grid(best) if clearly_above(gain, _CLEAR) else None


def _on_grid(scores: Floats) -> Floats:
    """Return the scores in whole steps: sums of these are the same in whatever order they are taken."""
    return np.asarray(np.rint(scores * GRID) / GRID)


def _alike(sizes: Floats, own: Ints) -> Ints:
    """Return the target rows with about as many hours as each of these has, it among them."""
    order = np.argsort(sizes, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    first = np.clip(place[own] - _LIKE // 2, 0, len(order) - _LIKE)
    return np.asarray(order[first[:, None] + np.arange(_LIKE)])


def some_of(panel: Panel, queries: Bags) -> tuple[Bags, Side, Side]:
    """Return some of the real queries, and the targets and them as the panel takes them."""
    some = queries.take(reference(queries, affordable(len(panel.known), _ASKED)))
    return some, panel.known, panel.asked(some)


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
    some, known, asked = some_of(panel, queries)
    said = np.zeros(len(SCALES))
    for _, scores in scorer._blocks(hours.known(known), hours.asked(asked, some)):
        below = (scores - scores.max(axis=1, keepdims=True)) / scorer.per_nat
        said += [float((1.0 / np.exp(scale * below).sum(axis=1)).sum()) for scale in SCALES]
    return float(np.exp(np.interp(rate, said / len(asked), np.log(SCALES))))


def _there(records: Bags) -> Floats:
    """Return on how many days each record is there in each hour of the day."""
    return np.asarray(records.clock[:, -HOURS:].toarray(), dtype=np.float64)
