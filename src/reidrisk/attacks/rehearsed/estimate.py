"""What a rehearsal says of the real links: their rate, with its error.

Records that were cut are shorter than real ones, and shorter records are found less often. So the rehearsal is held
once more with records shorter by the same factor, and the step from that to the first is taken once more:

    logit(real rate)  is about  2 logit(rate) - logit(rate with shorter records).

That step is too short where a link takes one telling coincidence of an event here and an event there, and records are
short. With k times as many pairs of events as in the rehearsal, as many times more of them coincide, and

    log(1 - real rate)  is about  k log(1 - rate).

The upper end is where the higher of the two leads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.explained import thinned
from reidrisk.attacks.rehearsed.panel import READINGS
from reidrisk.attacks.rehearsed.practice import Practice, questions, retried
from reidrisk.attacks.scored import ScoredAttack
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError
from reidrisk.records import Bags, Case, Truth

_CHANCE = 1.645  # standard errors of what is due to chance: nine in ten
_SAME = 0.97  # records as long as this share of real ones need no correction
_DOUBT = 1.0 / 3.0  # share of a correction that is in doubt
_UNKNOWN = 0.25  # in logits: how the second observer differs from the first is never rehearsed
_ADDED = 0.25  # share of what is added to a rehearsed rate that is in doubt
_ENOUGH, _DRAWS = 2_000, 6  # rehearsed queries after which no more are drawn, and further draws at most
_LEAST, _MOST = 1e-3, 1.0 - 1e-3
_BLIND = 1.0  # in logits: where records are too short to be cut again


@dataclass(frozen=True)
class Estimate:
    """The rate of right links that a rehearsal lets expect, between ``low`` and ``high``; nobody's truth was seen.

    ``rehearsed`` is the rate of the rehearsal itself, whose records hold ``shorter`` times what real ones do.
    """

    rate: float
    low: float
    high: float
    rehearsed: float
    shorter: float


def outlook(
    attacks: Sequence[ScoredAttack[Any]],
    practice: Practice,
    case: Case,
    targets: Bags,
    queries: Bags,
    cutting: Cutting,
    people: int,
    crowd: float,
    seed: int,
) -> Estimate:
    """Return what to expect of real links; ``targets`` may be some of the real ones, standing for ``crowd`` each."""
    assert case.truth is not None
    n = len(queries)
    by_visits, items = cutting.way == "visits", cutting.way == "apart"
    # Records of one visit stay whole, and nobody asks for them.
    known = case.targets.take(case.truth.target) if by_visits else case.targets
    pairs = ((known, targets), (case.queries, queries))
    factors = [_mean_size(one, items) / _mean_size(two, items) for one, two in pairs]
    shorter = math.sqrt(min(factors[0], 1.0) * min(factors[1], 1.0))
    one, doubt = _logit(practice.learnt)
    one -= practice.farther
    if shorter >= _SAME:
        one, doubt = _drawn_again(attacks, practice, targets, queries, cutting, people, crowd, seed)
        return _estimate(one, math.hypot(_CHANCE * doubt, _UNKNOWN), practice, shorter, n)
    most = _by_coincidence(one + _CHANCE * doubt, 1.0 / shorter**2)
    # Few visits cannot be made fewer by the same factor, nor can one side of a record alone: then the cut records are
    # thinned, not those to be cut.
    cut_first = by_visits or cutting.turned
    long = (case.targets, case.queries) if cut_first else (targets, queries)
    less = [thinned(bags, min(f, 1.0), seed, items) for bags, f in zip(long, factors, strict=True)]
    try:
        again = Case(less[0], less[1], case.truth) if cut_first else cutting.rehearse(less[0], less[1], seed + 1)
        again = _same_first(again, practice.people)
    except DataError:  # records of two or three events cannot be cut twice: how much they lost is not known
        return _estimate(one, math.hypot(_CHANCE * doubt, _BLIND), practice, shorter, n, most)
    credit, farther = retried(attacks, again, practice.weights, questions(again, people), crowd, seed)
    two, more = _logit(credit)
    step = one - (two - farther)
    assert again.truth is not None
    both = _in_common(practice.learnt, practice.people, credit, again.truth.target[: len(credit)])
    chance = math.sqrt(max(4.0 * doubt**2 + more**2 - 4.0 * both, doubt**2))
    error = math.hypot(_CHANCE * chance, _DOUBT * step, _UNKNOWN)
    return _estimate(one + step, error, practice, shorter, n, most)


def _drawn_again(
    attacks: Sequence[ScoredAttack[Any]],
    practice: Practice,
    targets: Bags,
    queries: Bags,
    cutting: Cutting,
    people: int,
    crowd: float,
    seed: int,
) -> tuple[float, float]:
    """Return the logit of the rate if queries are drawn anew a few times, and its standard error for real queries.

    Where nothing has to be taught, everybody is asked. Rehearsed queries are of the same people and sizes as real ones,
    so several draws of them are foreseen better than one; that real ones are one draw, too, remains.
    """
    credits, farther = [practice.learnt], [practice.farther]
    taught = practice.weights[READINGS * len(attacks) :].any()
    while not taught and sum(map(len, credits)) < _ENOUGH and len(credits) <= _DRAWS:
        case = cutting.rehearse(targets, queries, seed + len(credits))
        credit, less = retried(attacks, case, practice.weights, min(people, len(case.queries)), crowd, seed)
        credits.append(credit)
        farther.append(less)
    sizes = [len(one) for one in credits]
    middle, doubt = _logit(np.concatenate(credits))
    rate = _rate(middle)
    real = 1.0 / math.sqrt(len(queries) * rate * (1.0 - rate) + 1.0) if len(credits) > 1 else 0.0
    return middle - float(np.average(farther, weights=sizes)), math.hypot(doubt, real)


def as_far_as_seen(estimate: Estimate, cutting: Cutting) -> Estimate:
    """Return the estimate; where queries are not seen to share more than strangers do, nobody may be found.

    That a target shares nothing tells the more the longer both records are, far more than shorter ones let expect:
    where that counts, everybody may be found.
    """
    if cutting.nothing or (cutting.way == "apart" and not cutting.kept):
        estimate = replace(estimate, high=1.0)
    seen = cutting.way == "apart" or cutting.shared
    return estimate if seen and not cutting.borne_out else replace(estimate, low=0.0)


def lifted(estimate: Estimate, lift: float, n: int) -> Estimate:
    """Return the estimate for ``n`` links that are better than rehearsed ones by these logits; a part is in doubt."""
    parts = zip((estimate.rate, estimate.low, estimate.high), (1.0, 1.0 - _ADDED, 1.0 + _ADDED), strict=True)
    rate, low, high = (x if x in (0.0, 1.0) else _rate(logit(x) + part * lift) for x, part in parts)
    return replace(estimate, rate=rate, low=math.floor(low * n) / n, high=min(math.ceil(high * n) + 1, n) / n)


def logit(rate: float) -> float:
    """Return log(rate / (1 - rate)), of rates that are neither 0 nor 1."""
    inside = min(max(rate, _LEAST), _MOST)
    return math.log(inside / (1.0 - inside))


def _rate(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


def _by_coincidence(one: float, pairs: float) -> float:
    """Return the logit of the rate if there are this many times more pairs of events, of which any may tell.

    >>> round(_rate(_by_coincidence(0.0, 2.0)), 3)
    0.75
    """
    return logit(1.0 - (1.0 - _rate(one)) ** pairs)


def _estimate(
    middle: float, error: float, practice: Practice, shorter: float, n: int, most: float = -math.inf
) -> Estimate:
    """Return the rates of these logits; the ends are whole numbers of ``n`` links, with one more to either side.

    The upper end is ``most`` at least.
    """
    rate, low, high = (_rate(x) for x in (middle, middle - error, max(middle + error, most)))
    ends = max(math.floor(low * n) - 1, 0) / n, min(math.ceil(high * n) + 1, n) / n
    return Estimate(rate, *ends, practice.rate, shorter)


def _same_first(case: Case, people: Ints) -> Case:
    """Return the case with the queries of these people first: the same ones are found, or not, in both rehearsals."""
    assert case.truth is not None
    order = np.argsort(~np.isin(case.truth.target, people), kind="stable")
    return Case(case.targets, case.queries.take(order), Truth(case.truth.target[order], case.truth.origin))


def _in_common(one: Floats, first: Ints, two: Floats, second: Ints) -> float:
    """Return the covariance of the logits of two rates, of people of whom some are the same."""
    _, i, j = np.intersect1d(first, second, return_indices=True)
    spread = float(((one[i] - one.mean()) * (two[j] - two.mean())).sum()) / (len(one) * len(two))
    slopes = [(x.sum() + 0.5) / (len(x) + 1.0) * (len(x) - x.sum() + 0.5) / (len(x) + 1.0) for x in (one, two)]
    return spread / float(slopes[0] * slopes[1])


def _logit(credit: Floats) -> tuple[float, float]:
    """Return the logit of a rate and its standard error; half a link is added on both sides."""
    n, right = len(credit), float(credit.sum())
    rate = (right + 0.5) / (n + 1.0)
    return math.log(rate / (1.0 - rate)), 1.0 / math.sqrt((n + 1.0) * rate * (1.0 - rate))


def _mean_size(bags: Bags, items: bool) -> float:
    """Return how many events or items a record holds, in the geometric mean over records that hold something."""
    held = np.diff(bags.counts.indptr) if items else bags.counts.sum(axis=1)
    sizes = np.asarray(held, dtype=np.float64).ravel()
    return float(np.exp(np.log(sizes[sizes > 0]).mean())) if sizes.any() else 1.0
