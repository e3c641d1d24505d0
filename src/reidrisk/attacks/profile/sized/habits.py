"""What ProfileBayes has learnt of two tables of bags: parameters, hours, and a temperature once it is asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reidrisk.attacks.profile.hours import COMPARED, NEAR, HourTerms, Suspects, learnt_hours
from reidrisk.attacks.profile.sized import evidence, softening
from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import STEPS, KnownBags, with_hours
from reidrisk.attacks.profile.sized.softness import SoftDot, Softness
from reidrisk.attacks.profile.sized.tally import Tally
from reidrisk.attacks.profile.sized.taste import Taste
from reidrisk.base import Ints, stream
from reidrisk.search.answer import UNIT
from reidrisk.search.sparse import SparseRows

if TYPE_CHECKING:
    from reidrisk.attacks.rehearsed.cutting import Cutting

_MOST = 600, 3_000  # queries and targets of a rehearsal
_KEPT = 0.3  # share of a query's events that are events of its target, too, from which that is taken for sure
_TEACHING, _PAIRS, _TEACHING_LEAST = 800, 20_000_000, 100  # queries that teach what hours add, of all targets, at least
_CLEAR = 0.05  # nats of a link by which a model must be better at it to be preferred


class Habits:
    """Parameters learnt from ``queries`` facing the targets ``known``; ``everyone`` of the targets may rehearse.

    Queries count in the unit of these ones, later ones too. With ``volume``, totals are evidence; ``None``: where both
    tables hold some of the same events. ``cutting`` is how the two tables are related, where that was found out before;
    else it is found out here. ``like`` is the model of similar tables, from which to begin.
    """

    def __init__(
        self,
        known: KnownBags,
        everyone: KnownBags,
        queries: Tally,
        seed: int,
        volume: bool | None,
        cutting: Cutting | None = None,
        like: Model | None = None,
    ) -> None:
        self._known, self._everyone, self._seed, self._queries = known, everyone, seed, queries
        self._cutting = cutting
        self.unit = queries.unit
        self.hours: HourTerms | None = None
        known.with_hours(None)
        self.softness: Softness | None = None
        self.model: Model = evidence.default(known)
        told = cutting is not None and cutting.borne_out  # however few they are
        if (told or len(queries) >= evidence.FEWEST) and queries.counts.nnz and known.table.counts.nnz:
            sample = evidence.sampled(known, queries, seed)
            self.model = self._learnt(sample, like)
            if volume or (volume is None and self._same_events):
                self.model = evidence.learn_volume(sample, self.model, known.table, queries)
        self.model = self.model.facing(queries)

    def asked(self, queries: Tally) -> SparseRows:
        """Return the weights of queries, and beside them their hours, where these count."""
        rows = self._known.asked(self.model, queries)
        if self.hours is None:
            return rows
        clock = self.hours.nothing(len(queries)) if queries.clock is None else queries.clock
        return with_hours(rows, self.hours.of_queries(clock))

    def learn_hours(self, alone: Any, calibrate: bool) -> None:
        """Learn what hours of the day add, where both sides know them; ``alone`` is a model of bags, not fitted."""
        known, queries = self._known.table, self._queries
        if known.clock is None or queries.clock is None or not queries.counts.nnz:
            return
        self.learn_softness(calibrate)
        assert self.softness is not None
        order, asked = known.in_order(known.holders), queries.in_order(known.holders)
        rng, few = stream(self._seed, "profile bayes hours"), min(_TEACHING, max(_PAIRS // len(known), _TEACHING_LEAST))
        asked = asked[np.sort(rng.permutation(len(asked))[:few])]
        compared = order[np.sort(rng.permutation(len(order))[:COMPARED])]
        suspects = self._suspects(queries.take(asked), order)
        self.hours = learnt_hours(alone, known.clock, queries.clock, asked, suspects, compared)
        if self.hours is not None:  # the temperature is of items
            self._known.with_hours(self.hours.of_targets(known.clock, self.softness.temperature))

    def _suspects(self, queries: Tally, order: Ints) -> Suspects:
        """Return the targets nearest to each query, of equals the first in this order, and how likely they are."""
        scorer = SoftDot(STEPS, None, queries.counts.shape[1], self.softness)
        targets = self._known.facing(self.model).take(order)
        asked = self._known.asked(self.model, queries)
        near = scorer.candidates(targets, asked, min(NEAR, len(order)))
        below = (near.score - near.score[:, :1]) / (STEPS * scorer.temperatures(asked)[:, None])
        total = scorer.total(targets, asked, near.score[:, 0]) / UNIT
        return Suspects(order[near.target], np.exp(below) / total[:, None])

    def learn_softness(self, calibrate: bool) -> None:
        """Learn the temperature by a rehearsal, once; it is 1 if there is nothing to cut."""
        if self.softness is None:
            self.softness = self._rehearsed() if calibrate else Softness()

    def _learnt(self, sample: evidence.Sample, like: Model | None) -> Model:
        """Return the model under which queries are most likely, or one that a rehearsal prefers."""
        distinct = self._known.table.distinct and self._queries.distinct
        if like is not None and (like.apart or like.distinct > distinct):
            like = None
        self.model = evidence.learn(sample, distinct, like)
        # Of records that hold each item once, parts share nothing unless some is kept.
        ways = ("apart", "part", "visits") if distinct else ("apart",)
        if self._related is not None and self._related.way in ways and self._related.kept == 0.0:
            apart = evidence.learn_apart(sample, self._taste, self._related, self._cutting is not None)
            if apart is not None:
                return apart
        if self.model.distinct and self._related is not None and self._related.way != "held":
            return self._practised(evidence.with_taste(sample, self.model, self._taste))
        self.model = evidence.learn_levels(sample, self.model, self._known, self._queries, self._seed)
        if not self.model.distinct and self.model.levels is None and self.model.facts is None:
            self.model = self._practised(evidence.nearly_as_likely(sample, self.model))
        return self.model

    def _practised(self, others: list[Model]) -> Model:
        """Return one of the other models, if it is clearly better at a rehearsal."""
        if not others or self._parts is None:
            return self.model
        best, found = max(((softening.likelihood(self._parts, one), k) for k, one in enumerate(others)))
        clear = best > softening.likelihood(self._parts, self.model) + _CLEAR
        return others[found] if clear else self.model

    @cached_property
    def _sample(self) -> evidence.Sample:
        """Those of the records that a rehearsal is made of."""
        model = self.model.facing(self._queries)
        return evidence.sampled(self._everyone, self._queries, self._seed, _MOST, model)

    @cached_property
    def _taste(self) -> Taste | None:
        """Which items go together among the targets."""
        return Taste.learnt(self._everyone.table, self._everyone.popularity, self._seed)

    @cached_property
    def _related(self) -> Cutting | None:
        """How the two tables are related."""
        if self._cutting is not None:
            return self._cutting
        return softening.related(self._sample.targets, self._sample.queries, self._seed)

    @property
    def _same_events(self) -> bool:
        """Whether the two tables hold some of the same events: then how much each holds is seen of one person twice.

        Of sets, sizes say that no more can be known of somebody than there is, which their form has already.
        """
        found = self._related
        return (
            not self.model.distinct
            and self.model.facts is None
            and found is not None
            and found.shared
            and found.way in ("part", "apart")
            and found.kept >= _KEPT
        )

    @cached_property
    def _parts(self) -> softening.Parts | None:
        """The targets cut in two, as the real tables seem to have been."""
        if self._related is None or not self._sample.queries.counts.nnz:
            return None
        sample, related = self._sample, self._related
        if self.model.facts is not None:
            facts = self.model.facts
            related = replace(related, way="held", kept=0.0, once=facts.items, wrong=facts.wrong)
        return softening.cut_targets(sample.targets, sample.queries, self._seed, related, self.model.apart)

    def _rehearsed(self) -> Softness:
        if self._parts is None or self.model.levels is not None:  # a burst cut event by event is no new burst
            return Softness()
        # Parts are cut to the sizes of queries, whoever they are of: their totals tell nothing.
        plain = replace(self.model, volume=None)
        typical = max(float(np.median(plain.sizes_of(self._queries))), 1.0)
        return softening.soften(self._parts, plain, typical)
