"""What real links teach: weights are learnt once more from those of which the rehearsal is sure, without truth.

Rehearsed records are shorter than real ones, and cut from one table. Links that seem sure are mostly right, and show
how much each attack tells of records as they are, and of the second observer. Few numbers change: rehearsed pairs count
as well where few links are sure.
"""

from __future__ import annotations

import numpy as np

from reidrisk.attacks.rehearsed.choices import SCALES
from reidrisk.attacks.rehearsed.panel import Panel, affordable, reference
from reidrisk.attacks.rehearsed.practice import Practice, choices_of
from reidrisk.attacks.rehearsed.weights import learnt_weights
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags

_ASKED, _FEWEST, _MOST = 800, 50, 600  # real queries that are looked at, and of these the sure ones that teach
_SURE = 0.5  # probability of a link that teaches
_ALONE = 0.5  # share of sure links above which they teach alone
_PENALTY = 10.0


class RealLinks:
    """Some real queries, each with the targets that come close, linked by what a rehearsal taught."""

    def __init__(self, panel: Panel, queries: Bags, seed: int) -> None:
        few = reference(queries, affordable(len(panel.known), _ASKED))
        asked = panel.asked(queries.take(few))
        # Nobody knows whose they are: the first of the choices is one of the targets, whichever it is.
        self._choices, _ = choices_of(
            panel, asked, np.zeros(len(few), np.int64), stream(seed, "rehearsal: real choices")
        )

    def adapted(self, practice: Practice) -> Floats:
        """Return the weights, learnt once more with the links that are sure; the same if there are few.

        Where most links are sure they teach alone. Else they count as much as their share of all links is, and the
        rehearsed ones for the rest: few sure links are those of people who are easily found by some attack.
        """
        weights = practice.weights
        best, sure = self._linked(weights)
        rows = np.flatnonzero(sure > _SURE)
        share = len(rows) / max(len(sure), 1)
        rows = rows[:_MOST]
        if len(rows) < _FEWEST:
            return weights
        real = self._choices.take(rows).own_first(best[rows])
        both = real if share > _ALONE else practice.choices.beside(real, share)
        spread = both.spread
        found = learnt_weights(both.over(spread), weights * spread, _PENALTY, practice.signed) / spread
        # Whoever made a link sure seems to be right in it: that is believed by half.
        return np.asarray((weights + found) / 2.0)

    def _linked(self, weights: Floats) -> tuple[Ints, Floats]:
        """Return the place of the best of each query's choices, and its probability."""
        scores, more = self._choices.scores(weights), self._choices.more
        scores = np.where(np.isfinite(more), scores, -np.inf)
        below = scores - scores.max(axis=1, keepdims=True)
        return scores.argmax(axis=1), 1.0 / np.exp(below + more).sum(axis=1)

    def scaled(self, weights: Floats, rate: float) -> Floats:
        """Return the weights on the scale at which the links' mean probability is this rate."""
        scores = self._choices.scores(weights)
        said = [self._choices.said(scores * scale) for scale in SCALES]
        return weights * float(np.exp(np.interp(rate, said, np.log(SCALES))))
