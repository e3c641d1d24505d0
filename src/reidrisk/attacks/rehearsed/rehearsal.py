"""All that a rehearsal teaches of two tables: from how to cut one of them to what its links are worth in the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks.profile.bayes import ProfileBayes
from reidrisk.attacks.profile.sized import Model
from reidrisk.attacks.registry import nameable
from reidrisk.attacks.rehearsed.adapted import RealLinks
from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.differing import shortfall
from reidrisk.attacks.rehearsed.estimate import Estimate, as_far_as_seen, outlook
from reidrisk.attacks.rehearsed.hours import Hours, fitted, rehearsed_hours
from reidrisk.attacks.rehearsed.panel import Panel, reference
from reidrisk.attacks.rehearsed.practice import Practice, practise, with_say
from reidrisk.attacks.rehearsed.scorer import WeighedPanel
from reidrisk.attacks.rehearsed.sizes import SizeTerm, learnt_sizes
from reidrisk.attacks.rehearsed.ways import find_way, with_wrong_facts
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.base.arrays import Floats
from reidrisk.base.errors import DataError
from reidrisk.records import Bags
from reidrisk.records.order import Order

PRACTISED = 4_000
"""Targets that are cut and practised on, at most."""
FEWEST = 20
"""Rehearsed people below which nothing can be learnt: then the panel's most general attack is used alone."""


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What was learnt from the targets and the sight of the queries, without truth: a panel and its weights.

    All is learnt of ``targets`` that were put in ``order``. The others are None where there was too little to practise
    on, and ``hours`` and ``sizes`` where these do not count.
    """

    order: Order
    targets: Bags
    panel: Panel
    weights: Floats
    practice: Practice | None = None
    cutting: Cutting | None = None
    estimate: Estimate | None = None
    hours: Hours | None = None
    sizes: SizeTerm | None = None


def rehearse(targets: Bags, queries: Bags, people: int, seed: int) -> Rehearsal:
    """Cut the targets so that they look like the queries, practise on them, and turn to the real ones.

    >>> rng = np.random.default_rng(0)
    >>> plays = Bags(rng.poisson(rng.gamma(0.1, 8.0, (80, 40))) + np.eye(80, 40, dtype=int))
    >>> found = rehearse(plays, plays.take(slice(0, 40)), people=100, seed=0)
    >>> found.cutting.way, found.weights.shape == (found.panel.n_features,)
    ('held', True)
    """
    if queries.n_tokens != targets.n_tokens:
        raise DataError(f"targets have {targets.n_tokens} tokens, queries {queries.n_tokens}; use one vocabulary")
    order = Order.of(targets, queries)
    known, asked = order.known(targets), order.asked(queries.take(order.queries))
    if (np.asarray(known.counts.sum(axis=1)) >= 2).sum() < FEWEST or not asked.counts.nnz:
        return _alone(order, known, asked)
    cutting = with_wrong_facts(find_way(known, asked, seed), known, asked, seed)
    found = _practised(cutting, order, known, asked, people, seed)
    if found is None:
        found = _practised(find_way(known, asked, seed, sharing=True), order, known, asked, people, seed)
    assert found is not None  # only that nothing is shared is ever in doubt
    if cutting.way == "visits" and found.hours is not None and found.hours.same_visits:
        # Each side holds a part of the same visits: events went to either one by one, and so they are cut. That
        # tells what to expect; links follow hours rather than items if whole visits teach, and more of them are right.
        known, asked = (bags.with_counts(bags.counts.data).with_clock(bags.clock) for bags in (known, asked))
        torn = _practised(find_way(known, asked, seed, sharing=True), order, known, asked, people, seed)
        found = found if torn is None else _as_sure(found, torn.estimate, asked)
    return found


def _as_sure(found: Rehearsal, estimate: Estimate | None, queries: Bags) -> Rehearsal:
    """Return the rehearsal with this estimate, and with scores on the scale on which links are as sure as it says."""
    if estimate is None or found.hours is None:
        return found
    if found.sizes is not None:  # what sizes add has a scale of its own
        return replace(found, estimate=estimate)
    scorer = WeighedPanel(found.panel.scorers, found.panel.typical, found.weights)
    scale = fitted(scorer, found.panel, found.hours, queries, estimate.rate)
    return replace(found, weights=found.weights * scale, hours=found.hours.scaled(scale), estimate=estimate)


def _practised(
    cutting: Cutting, order: Order, targets: Bags, queries: Bags, people: int, seed: int
) -> Rehearsal | None:
    """Rehearse with targets cut this way; None where nothing may be shared, and real queries do not bear it out."""
    # Rates of many fall slowly with their number, and what a rehearsal teaches hardly changes with it.
    some = targets if len(targets) <= PRACTISED else targets.take(reference(targets, PRACTISED))
    case = cutting.rehearse(some, queries, seed)
    crowd = len(targets) / len(case.targets)
    if len(case.queries) < FEWEST:
        return _alone(order, targets, queries)
    # Where queries are facts that the targets hold, a rehearsal is like the real case already.
    exact = cutting.way == "held"
    practice = practise(lambda: _attacks(cutting), case, people, crowd, seed, exact)
    chosen, weights = practice.attacks, practice.weights
    if exact:
        chosen, weights = with_say(chosen, weights)
    panel = Panel(chosen, targets, queries)
    real = RealLinks(panel, queries, seed)
    if cutting.nothing and not _borne_out(panel, cutting):
        return None
    again = _attacks(cutting, practice.model)
    estimate = outlook(again, practice, case, some, queries, cutting, people, crowd, seed)
    if not exact:
        weights = real.adapted(practice)
    bold = real.scaled(weights, estimate.rate)
    fewer = shortfall(again, practice, cutting, some, queries, people, crowd, seed)
    if fewer is not None:
        estimate = fewer.off(estimate, len(queries))
    estimate = as_far_as_seen(estimate, cutting)
    weights = real.scaled(weights, estimate.rate)
    # The surest links teach, however sure they are.
    hours = rehearsed_hours(panel, bold, targets, queries, seed)
    if hours is not None:
        estimate = hours.lifted(estimate, len(queries))
    sizes = learnt_sizes(WeighedPanel(panel.scorers, panel.typical, bold), panel, targets, queries)
    return Rehearsal(order, targets, panel, weights, practice, cutting, estimate, hours, sizes)


def _borne_out(panel: Panel, cutting: Cutting) -> bool:
    """Whether real queries, or the model of bags, say that nothing is shared; where some is, they are not asked."""
    models = [one.model_ for one in panel.attacks if isinstance(one, ProfileBayes)]
    return cutting.borne_out or cutting.kept > 0.0 or all(model is None or model.apart for model in models)


def _alone(order: Order, targets: Bags, queries: Bags) -> Rehearsal:
    """Return the panel's first attack alone, where there is too little to practise on."""
    panel = Panel(_attacks(), targets, queries)
    weights = np.zeros(panel.n_features)
    weights[0] = 1.0
    return Rehearsal(order, targets, panel, weights)


def _attacks(cutting: Cutting | None = None, like: Model | None = None) -> list[ScoredAttack[Any]]:
    """Return every registered attack on such records that scores pairs, but those that rehearse."""
    kinds = (one.attack for one in nameable(Bags) if not getattr(one.attack, "rehearses", False))
    found = [kind().given_sizes() for kind in kinds if issubclass(kind, ScoredAttack)]
    if cutting is None:
        return found
    return [one.practising(cutting, like) if isinstance(one, ProfileBayes) else one for one in found]
