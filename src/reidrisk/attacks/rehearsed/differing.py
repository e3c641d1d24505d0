"""How far the second table differs from a cut of the first: real queries as short as rehearsed ones are less sure.

A rehearsal cuts one table. Where the two that are given differ by more than chance (tastes that drift, events that come
together, queries of people who are not there), its links are right more often than real ones. That shows without truth:
real queries, thinned to the sizes of rehearsed ones, are asked of the same targets, those that were left of the cut.
If their links are clearly less sure, rehearsed ones are made as unsure by scoring each own target lower by one number
of nats, and how many of them are still right is what to expect of real ones of that size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks.rehearsed.choices import Choices
from reidrisk.attacks.rehearsed.estimate import Estimate, logit
from reidrisk.attacks.rehearsed.explained import of_sizes
from reidrisk.attacks.rehearsed.panel import Panel, reference
from reidrisk.attacks.rehearsed.practice import Practice, choices_of, questions, with_say
from reidrisk.attacks.rehearsed.taught import RehearsedPairs, taught_by
from reidrisk.attacks.rehearsed.ways import Cutting
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream
from reidrisk.records import Bags

_CLEAR = 2.0  # standard errors by which real links must be less sure
_CHANCE = 1.645  # standard errors of the ends: nine in ten
_IN_DOUBT = 0.5  # standard errors by which real links may be surer than they look: in doubt they are as rehearsed
_LEAST = 0.2, 0.5  # of rehearsed links: how many are right at least, and at the upper end, however unsure they look
_LONGER = 1.5  # logits that longer records add, at most
_FEWEST = 50  # queries from which that can be seen
_MOST, _STEPS = 40.0, 30  # nats by which own targets are scored lower, at most, and halvings to find how many


@dataclass(frozen=True)
class Shortfall:
    """By how many logits fewer real links are right than rehearsed ones of their size: in the middle and at the ends.

    All are 0 at most; ``high`` is nearest to 0.
    """

    middle: float
    low: float
    high: float

    def off(self, estimate: Estimate, n: int) -> Estimate:
        """Return the estimate of ``n`` links without what they fall short by.

        What longer records add is believed up to a limit: it was foreseen from records of one table.
        """
        longer = logit(estimate.rate) - logit(estimate.rehearsed)
        middle = self.middle - max(longer - _LONGER, 0.0)
        pairs = zip((estimate.rate, estimate.low, estimate.high), (middle, self.low, self.high), strict=True)
        rate, low, high = (x if x == 0.0 else 1.0 / (1.0 + math.exp(-logit(x) - more)) for x, more in pairs)
        return replace(estimate, rate=rate, low=math.floor(low * n) / n, high=min(math.ceil(high * n) + 1, n) / n)


def shortfall(
    attacks: Sequence[ScoredAttack[Any]],
    practice: Practice,
    cutting: Cutting,
    targets: Bags,
    queries: Bags,
    people: int,
    crowd: float,
    seed: int,
) -> Shortfall | None:
    """Return by how much real links fall short of rehearsed ones; None where they are not clearly less sure.

    What is left of a target has lost part of what it shares with the real query, too, where some is kept: rehearsed
    ones are cut to share as much as that. Where each of the ``targets`` stands for a crowd, as many queries are of
    others. It is not asked where whole items go to one side or queries are facts that targets hold, nor where whole
    visits are cut: then a rehearsal is of people who came back, and real queries of others are less sure for that.
    """
    if cutting.way != "part":
        return None
    case = cutting.rehearse(targets, queries, seed)
    if cutting.kept:
        remain = float(case.targets.counts.sum() / targets.counts.sum())
        case = replace(cutting, kept=cutting.kept * remain).rehearse(targets, queries, seed)
    few = questions(case, people)
    if min(few, len(queries)) < _FEWEST:
        return None
    assert case.truth is not None
    some, weights = with_say([*attacks, *taught_by(RehearsedPairs.of(case, few))], practice.by_likelihood)
    panel = Panel(some, case.targets, case.queries)
    rehearsed = case.queries.take(slice(0, few))
    real = of_sizes(queries.take(reference(queries, few)), rehearsed, seed)
    rng, nobody = stream(seed, "rehearsal: differing"), np.zeros(len(real), dtype=np.int64)
    theirs, _ = choices_of(panel, panel.asked(rehearsed), case.truth.target[:few], rng)
    ours, _ = choices_of(panel, panel.asked(real), nobody, rng)
    return fallen(theirs, theirs.scores(weights), ours.sure(ours.scores(weights)), 1.0 / crowd)


def fallen(rehearsed: Choices, scores: Floats, real: Floats, there: float = 1.0) -> Shortfall | None:
    """Return by how much links that are as sure as ``real`` (m,) fall short of rehearsed ones; None if not clearly.

    Of real queries a share is ``there``: the others are of people who are not among these targets.

    >>> rng = np.random.default_rng(0)
    >>> others = rng.normal(size=(400, 50))
    >>> choices = Choices(others[:, :, None], np.zeros((400, 50)), np.ones(400))
    >>> own, weaker = (others + shift * (np.arange(50) == 0) for shift in (4.0, 3.0))
    >>> found = fallen(choices, own, choices.sure(weaker))
    >>> expected, rehearsed = (logit(choices.credits(one).mean()) for one in (weaker, own))
    >>> found.low < expected - rehearsed < found.high < 0.0
    True
    >>> fallen(choices, own, choices.sure(own)) is None
    True
    """
    nobody = (1.0 - there) * rehearsed.strangers().said(scores)
    sure = there * rehearsed.sure(scores) + nobody
    error = math.sqrt(sure.var() / len(sure) + real.var() / len(real))
    if sure.mean() - real.mean() < _CLEAR * error:
        return None
    rate = float(rehearsed.credits(scores).mean())

    def short(errors: float, least: float) -> float:
        level = (float(real.mean()) + errors * error - nobody) / there
        still = rehearsed.credits(_as_unsure(rehearsed, scores, level)).mean()
        return min(_logit(max(float(still), least * rate), len(sure)) - _logit(rate, len(sure)), 0.0)

    return Shortfall(short(_IN_DOUBT, _LEAST[0]), short(-_CHANCE, 0.0), short(_CHANCE, _LEAST[1]))


def _as_unsure(choices: Choices, scores: Floats, level: float) -> Floats:
    """Return the scores with each own target's lower by as much as makes the mean probability of links this low."""
    low, high = 0.0, _MOST
    less = scores.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        less[:, 0] = scores[:, 0] - middle
        low, high = (middle, high) if choices.said(less) > level else (low, middle)
    less[:, 0] = scores[:, 0] - high
    return less


def _logit(rate: float, n: int) -> float:
    """Return the logit of a rate of ``n`` links, half a link added on both sides."""
    return logit((rate * n + 0.5) / (n + 1.0))
