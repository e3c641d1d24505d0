"""What real links teach: weights are learnt once more from those of which the rehearsal is sure, without truth.

Rehearsed records are shorter than real ones, and cut from one table. Links that seem sure are mostly right, and show
how much each attack tells of records as they are, and of the second observer. Few numbers change: rehearsed pairs count
as well where few links are sure.
"""

from __future__ import annotations

import numpy as np

from reidrisk.attacks.rehearsed.panel import Panel, Side, reference
from reidrisk.attacks.rehearsed.practice import Practice, choices_of
from reidrisk.attacks.rehearsed.scorer import SCALES, WeighedPanel, learnt_weights
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.streams import stream
from reidrisk.records import Bags

_ASKED, _FEWEST, _MOST = 800, 50, 600  # real queries that are looked at, and of these the sure ones that teach
_SURE = 0.5  # probability of a link that teaches
_ALONE = 0.5  # share of sure links above which they teach alone
_PENALTY = 10.0


class RealLinks:
    """Some real queries, linked by what a rehearsal taught."""

    def __init__(self, panel: Panel, queries: Bags) -> None:
        self._panel = panel
        self._asked = panel.asked(queries.take(reference(queries, _ASKED)))

    def adapted(self, practice: Practice, seed: int) -> Floats:
        """Return the weights, learnt once more with the links that are sure; the same if there are few.

        Where most links are sure they teach alone. Else they count as much as their share of all links is, and the
        rehearsed ones for the rest: few sure links are those of people who are easily found by some attack.
        """
        weights = practice.weights
        target, sure = self._linked(weights)
        rows = np.flatnonzero(sure > _SURE)
        share = len(rows) / max(len(sure), 1)
        rows = rows[:_MOST]
        if len(rows) < _FEWEST:
            return weights
        rng = stream(seed, "rehearsal: real choices")
        real, _ = choices_of(self._panel, self._asked.take(rows), target[rows], rng)
        both = real if share > _ALONE else practice.choices.beside(real, share)
        spread = both.spread
        return learnt_weights(both.over(spread), weights * spread, _PENALTY, practice.signed) / spread

    def _linked(self, weights: Floats) -> tuple[Ints, Floats]:
        """Return the best target of each query, and its probability."""
        target, sure = np.zeros(len(self._asked), dtype=np.int64), np.zeros(len(self._asked))
        for part, nats in self._scores(weights):
            target[part] = nats.argmax(axis=1)
            sure[part] = 1.0 / np.exp(nats - nats.max(axis=1, keepdims=True)).sum(axis=1)
        return target, sure

    def scaled(self, weights: Floats, rate: float) -> Floats:
        """Return the weights on the scale at which the links' mean probability is this rate."""
        said = np.zeros(len(SCALES))
        for _, nats in self._scores(weights):
            below = nats - nats.max(axis=1, keepdims=True)
            said += [float((1.0 / np.exp(scale * below).sum(axis=1)).sum()) for scale in SCALES]
        said /= max(len(self._asked), 1)
        return weights * float(np.exp(np.interp(rate, said, np.log(SCALES))))

    def _scores(self, weights: Floats) -> list[tuple[slice, Floats]]:
        scorer = WeighedPanel(self._panel.scorers, self._panel.typical, weights)
        known: Side = self._panel.known
        return [(part, scores / scorer.per_nat) for part, scores in scorer._blocks(known, self._asked)]
