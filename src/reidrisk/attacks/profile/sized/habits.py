"""What ProfileBayes has learnt of two tables of bags: parameters, and a temperature once it is asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reidrisk.attacks.profile.sized import evidence, softening
from reidrisk.attacks.profile.sized.model import Model
from reidrisk.attacks.profile.sized.rows import KnownBags
from reidrisk.attacks.profile.sized.softness import Softness
from reidrisk.attacks.profile.sized.table import Table

if TYPE_CHECKING:
    from reidrisk.attacks.rehearsed.ways import Cutting

_MOST = 600, 3_000  # queries and targets of a rehearsal
_CLEAR = 0.05  # nats of a link by which a model must be better at it to be preferred


class Habits:
    """Parameters learnt from ``queries`` facing the targets ``known``; ``everyone`` of the targets may rehearse.

    Queries count in the unit of these ones, later ones too. With ``volume``, totals are evidence. ``cutting`` is how
    the two tables are related, where that was found out before; else it is found out if it is needed. ``like`` is the
    model of similar tables, from which to begin.
    """

    def __init__(
        self,
        known: KnownBags,
        everyone: KnownBags,
        queries: Table,
        seed: int,
        volume: bool,
        cutting: Cutting | None = None,
        like: Model | None = None,
    ) -> None:
        self._everyone, self._seed, self._queries, self._cutting = everyone, seed, queries, cutting
        self.unit = queries.unit
        self.softness: Softness | None = None
        self.model: Model = evidence.default(known)
        if len(queries) >= evidence.FEWEST and queries.counts.nnz and known.table.counts.nnz:
            sample = evidence.sampled(known, queries, seed)
            distinct = known.table.distinct and queries.distinct
            self.model = evidence.learn(sample, distinct, like if like and like.distinct <= distinct else None)
            if not self.model.distinct:
                self.model = self._practised(evidence.nearly_as_likely(sample, self.model))
            if volume:
                self.model = evidence.learn_volume(sample, self.model, known.table, queries)
        self.model = self.model.facing(queries.variety)

    def learn_softness(self, calibrate: bool) -> None:
        """Learn the temperature by a rehearsal, once; it is 1 if there is nothing to cut."""
        if self.softness is None:
            self.softness = self._rehearsed() if calibrate else Softness()

    def _practised(self, others: list[Model]) -> Model:
        """Return one of the other models, if it is clearly better at a rehearsal."""
        if not others or self._parts is None:
            return self.model
        best, found = max(((softening.likelihood(self._parts, one), k) for k, one in enumerate(others)))
        clear = best > softening.likelihood(self._parts, self.model) + _CLEAR
        return others[found] if clear else self.model

    @cached_property
    def _parts(self) -> softening.Parts | None:
        """The targets cut in two, as the real tables seem to have been."""
        model = self.model.facing(self._queries.variety)
        sample = evidence.sampled(self._everyone, self._queries, self._seed, _MOST, model)
        if not len(sample.queries) or not sample.queries.counts.nnz:
            return None
        return softening.cut_targets(sample.targets, sample.queries, self._seed, self._cutting)

    def _rehearsed(self) -> Softness:
        if self._parts is None:
            return Softness()
        # Parts are cut to the sizes of queries, whoever they are of: their totals tell nothing.
        plain = replace(self.model, volume=None)
        typical = max(float(np.median(plain.sizes_of(self._queries))), 1.0)
        return softening.soften(self._parts, plain, typical)
