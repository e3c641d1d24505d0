"""How far the second table differs from a cut of the first: real queries as short as rehearsed ones are less likely.

A rehearsal cuts one table. Where the two that are given differ by more than chance (tastes that drift, events that come
together, queries of people who are not there), its links are right more often than real ones. That shows without truth:
real queries, thinned to the sizes of rehearsed ones, are asked of the same targets, those that were left of the cut.
How well a query is explained by all targets together is the log of the sum of their likelihoods, per event of the
query. If real ones are clearly explained less well, the score of each rehearsed query's own target is taken to a share
of what it is, the same for all, until rehearsed ones are as badly explained; how many of them are still right is what
to expect of real ones of that size. How sure links are is asked in the same way, and the lower of both counts: of wrong
targets one is often surely the best. Where the spread of real queries looks more like that of some rehearsed ones and
some strangers, a share of them is taken to be of people who are not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks.rehearsed.choices import Choices
from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.estimate import Estimate, logit
from reidrisk.attacks.rehearsed.explained import of_sizes, totals_of
from reidrisk.attacks.rehearsed.panel import Panel, reference
from reidrisk.attacks.rehearsed.practice import Practice, choices_of, questions, with_say
from reidrisk.attacks.rehearsed.taught import RehearsedPairs, taught_by
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.base.arrays import Floats
from reidrisk.base.streams import stream
from reidrisk.records import Bags

Sign = Callable[[Choices, Floats], Floats]
"""Of each query of some choices with such scores, a number that is lower where its own target is less like it."""
_CLEAR = 2.0  # standard errors by which real queries must be explained less well
_CHANCE = 1.645  # standard errors of the ends: nine in ten
_LEAST = 0.1, 0.5  # of rehearsed links: how many are right at least, and at the upper end, however little is explained
_LONGER = 1.5  # logits that longer records add, at most
_FEWEST = 50  # queries from which that can be seen
_CLOSER, _PARTS = 0.9, 40  # of one distance, below which another is shorter; and quantiles that are compared
_VAGUE = 0.15  # standard error of the share that is there, above which nothing is said of it
_STEPS = 30  # halvings to find the share of the own target's score


@dataclass(frozen=True)
class Shortfall:
    """By how many logits fewer real links are right than rehearsed ones of their size: in the middle and at the ends.

    All are 0 at most; ``high`` is nearest to 0. ``asked`` is how many were rehearsed.
    """

    middle: float
    low: float
    high: float
    asked: int

    def off(self, estimate: Estimate, n: int) -> Estimate:
        """Return the estimate of ``n`` links without what they fall short by.

        What longer records add is believed up to a limit: it was foreseen from records of one table.
        """
        longer = min(logit(estimate.rate) - logit(estimate.rehearsed), _LONGER)
        rate = 1.0 / (1.0 + math.exp(-_logit(estimate.rehearsed, self.asked) - longer - self.middle))
        pairs = zip((estimate.low, estimate.high), (self.low, self.high), strict=True)
        low, high = (x if x == 0.0 else 1.0 / (1.0 + math.exp(-logit(x) - more)) for x, more in pairs)
        rate = min(max(rate, low), high)
        return replace(estimate, rate=rate, low=math.floor(low * n) / n, high=min(math.ceil(high * n) + 1, n) / n)


@dataclass(frozen=True)
class NotThere:
    """The share of real queries whose person is a target's, in the middle and at the ends: others are never found.

    ``weaker`` is what else may be: everybody is there, and all are less like their targets. One of the two is so, and
    which cannot be seen for sure: the ends allow for both.
    """

    share: float
    low: float
    high: float
    weaker: Shortfall

    def off(self, estimate: Estimate, n: int) -> Estimate:
        """Return the estimate of ``n`` links, in the middle of what both readings say."""
        rate, low, high = self.share * estimate.rate, self.low * estimate.low, self.high * estimate.high
        other = self.weaker.off(estimate, n)
        low, high = min(math.floor(low * n) / n, other.low), max(min(math.ceil(high * n) + 1, n) / n, other.high)
        return replace(estimate, rate=(rate + other.rate) / 2.0, low=low, high=high)


def shortfall(
    attacks: Sequence[ScoredAttack[Any]],
    practice: Practice,
    cutting: Cutting,
    targets: Bags,
    queries: Bags,
    people: int,
    crowd: float,
    seed: int,
) -> Shortfall | NotThere | None:
    """Return by how much real links fall short of rehearsed ones; None where they are not clearly explained less well.

    What is left of a target has lost part of what it shares with the real query, too, where some is kept: rehearsed
    ones are cut to share as much as that. Where each of the ``targets`` stands for a crowd, as many queries are of
    others. Where queries are cut, the same ones are asked among real targets. It is not asked where whole items go to
    one side or queries are facts that targets hold, nor where whole visits are cut: then a rehearsal is of people who
    came back, and real queries of others are less like their targets.
    """
    if cutting.way != "part":
        return None
    case = cutting.rehearse(targets, queries, seed)
    if cutting.kept:
        left, whole = (case.queries, queries) if cutting.turned else (case.targets, targets)
        remain = float(totals_of(left).mean() / totals_of(whole).mean())
        case = replace(cutting, kept=cutting.kept * remain).rehearse(targets, queries, seed)
    few = questions(case, people)
    if min(few, len(queries)) < _FEWEST:
        return None
    assert case.truth is not None
    some, weights = with_say([*attacks, *taught_by(RehearsedPairs.of(case, few))], practice.by_likelihood)
    panel = Panel(some, case.targets, case.queries)
    rehearsed = case.queries.take(slice(0, few))
    if cutting.turned:  # the same queries, among real targets
        known = targets.take(reference(targets, len(case.targets)))
        facing, real = Panel(some, of_sizes(known, case.targets, seed), case.queries), rehearsed
    else:
        facing, real = panel, of_sizes(queries.take(reference(queries, few)), rehearsed, seed)
    rng, nobody = stream(seed, "rehearsal: differing"), np.zeros(len(real), dtype=np.int64)
    theirs, _ = choices_of(panel, panel.asked(rehearsed), case.truth.target[:few], rng)
    ours, _ = choices_of(facing, facing.asked(real), nobody, rng)
    given = ours.scores(weights)
    seen = ours.explained(given) / totals_of(real), ours.sure(given)
    return fallen(theirs, theirs.scores(weights), totals_of(rehearsed), seen, 1.0 / crowd)


def fallen(
    rehearsed: Choices, scores: Floats, sizes: Floats, real: tuple[Floats, Floats], there: float = 1.0
) -> Shortfall | NotThere | None:
    """Return by how much real links fall short of rehearsed ones, whose queries have these sizes; None if not clearly.

    ``real`` are how well real queries are explained, per event, and how sure their links are. Of them a share is
    ``there``, as far as is known: the others are of people who are not among these targets. The larger of the two
    shortfalls counts, beside how many may not be there.

    >>> rng = np.random.default_rng(0)
    >>> others = rng.normal(size=(400, 50))
    >>> choices = Choices(others[:, :, None], np.zeros((400, 50)), np.ones(400))
    >>> own, weaker = others.copy(), others.copy()
    >>> own[:, 0] += 5.0
    >>> weaker[:, 0] = 0.6 * own[:, 0]
    >>> found = fallen(choices, own, np.ones(400), (choices.explained(weaker), choices.sure(weaker)))
    >>> expected, rehearsed = (_logit(choices.credits(one).mean(), 400) for one in (weaker, own))
    >>> found.low < expected - rehearsed < found.high < 0.0
    True
    >>> some = np.where(np.arange(50) == 0, np.where(np.arange(400) < 100, others[:, 0], own[:, 0])[:, None], others)
    >>> round(fallen(choices, own, np.ones(400), (choices.explained(some), choices.sure(some))).share, 2)
    0.74
    >>> fallen(choices, own, np.ones(400), (choices.explained(own), choices.sure(own))) is None
    True
    """

    def explained(choices: Choices, scores: Floats) -> Floats:
        return np.asarray(choices.explained(scores) / sizes)

    signs = zip((explained, Choices.sure), real, strict=True)
    found = [one for sign, seen in signs if (one := _fallen(rehearsed, scores, sign, seen, there)) is not None]
    least = min(found, key=lambda one: one.middle, default=None)
    fewer = None if least is None or there < 1.0 else _not_all_there(rehearsed, scores, explained, real[0], least)
    return least if fewer is None else fewer


def _not_all_there(rehearsed: Choices, scores: Floats, sign: Sign, real: Floats, weaker: Shortfall) -> NotThere | None:
    """Return how many are there, if real queries look more like some of those and some strangers than less like all."""
    own, strangers = sign(rehearsed, scores), sign(rehearsed.strangers(), scores)
    apart = float(own.mean() - strangers.mean())
    if apart <= 0.0:
        return None
    middle = float(real.mean() - strangers.mean()) / apart
    error = math.sqrt(own.var() / len(own) + real.var() / len(real)) / apart
    if error > _VAGUE:
        return None
    share, low, high = (min(max(middle + errors * error, 0.0), 1.0) for errors in (0.0, -_CHANCE, _CHANCE))
    there = np.concatenate([np.full(len(own), share), np.full(len(own), 1.0 - share)])
    mixed = _quantiles(np.concatenate([own, strangers]), there)
    lower = sign(rehearsed, _as_low(rehearsed, scores, sign, float(real.mean())))
    seen, even = _quantiles(real, np.ones(len(real))), _quantiles(lower, np.ones(len(lower)))
    closer = np.abs(seen - mixed).mean() < _CLOSER * np.abs(seen - even).mean()
    return NotThere(share, low, high, weaker) if closer else None


def _quantiles(values: Floats, weight: Floats) -> Floats:
    """Return values below which even shares of the weight lie."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.asarray(np.interp((np.arange(_PARTS) + 0.5) / _PARTS * weight.sum(), below, values[order]))


def _fallen(rehearsed: Choices, scores: Floats, sign: Sign, real: Floats, there: float) -> Shortfall | None:
    """Return the shortfall that one sign shows."""
    nobody = (1.0 - there) * float(sign(rehearsed.strangers(), scores).mean())
    each = there * sign(rehearsed, scores) + nobody
    error = math.sqrt(each.var() / len(each) + real.var() / len(real))
    if each.mean() - real.mean() < _CLEAR * error:
        return None
    n, rate = len(each), float(rehearsed.credits(scores).mean())

    def short(errors: float, least: float) -> float:
        level = (float(real.mean()) + errors * error - nobody) / there
        still = rehearsed.credits(_as_low(rehearsed, scores, sign, level)).mean()
        return min(_logit(max(float(still), least * rate), n) - _logit(rate, n), 0.0)

    return Shortfall(short(0.0, _LEAST[0]), short(-_CHANCE, 0.0), short(_CHANCE, _LEAST[1]), n)


def _as_low(choices: Choices, scores: Floats, sign: Sign, level: float) -> Floats:
    """Return the scores with each own target's taken to the share at which the mean of the sign is this low."""
    low, high = 0.0, 1.0
    less = scores.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        less[:, 0] = middle * scores[:, 0]
        low, high = (low, middle) if float(sign(choices, less).mean()) > level else (middle, high)
    less[:, 0] = low * scores[:, 0]
    return less


def _logit(rate: float, n: int) -> float:
    """Return the logit of a rate of ``n`` links, half a link added on both sides."""
    return logit((rate * n + 0.5) / (n + 1.0))
