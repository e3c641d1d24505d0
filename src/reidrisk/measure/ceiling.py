"""How close attacks come to the best that is possible on a population whose model is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks import Attack, FullInformation, MixtureBayes
from reidrisk.base import ArrayLike, DataError, Note, OptionError, Result, Risk, difference_interval
from reidrisk.measure.comparison import difference
from reidrisk.measure.risk import random_user
from reidrisk.populations import TypeMixture
from reidrisk.records import Truth

_MOST = 100.0  # a share above which nothing is said
_STEPS = 18  # halvings of the interval of a share


@dataclass(frozen=True, eq=False)
class Reach(Result):
    """How far one attack gets: its risk, and that as a share of the ceiling, with an interval at the risk's level.

    ``high`` is None where too few people are found to say how far it gets at most.
    """

    risk: Risk
    share: float
    low: float
    high: float | None


@dataclass(frozen=True, eq=False)
class Ceiling(Result):
    """The rate of the best attack on this population, ``best``, and how far the ``others`` get."""

    best: Risk
    others: tuple[Reach, ...]
    notes: tuple[Note, ...] = ()


def ceiling(
    model: TypeMixture,
    targets: Any,
    queries: Any,
    attacks: Sequence[Attack[Any]],
    noise: float = 0.05,
    truth: ArrayLike | Truth | None = None,
    sample: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
) -> Ceiling:
    r"""Measure attacks on people of a known population beside the one that no other can beat.

    On people drawn from ``model``, seen through a system that shows any token with probability ``noise``,
    :class:`reidrisk.attacks.MixtureBayes` links to the target of the highest exact posterior, so that its expected rate
    is the ceiling of everybody with the same two tables in the random-user setting (carey, Lemma 2). The share of an
    attack is its rate divided by that. The interval holds the shares R for which 0 is in the interval of the mean of
    credit - R x credit of the best, over the same queries. A measured share may lie above 1 by chance.

    Attackers who know more are refused: :class:`reidrisk.attacks.FullInformation` knows top sets, and who asks which
    queries are unique looks at all of them at once. Those who can link each query by itself do.

    >>> from reidrisk import attacks, populations, topics
    >>> model = TypeMixture(np.random.default_rng(0).normal(scale=3.0, size=(20, 4, 2, 30)))
    >>> sets, api = populations.mixture(model, 300), topics.TopicsAPI(30, top_k=2, noise=0.05)
    >>> a, b = (api.expose(sets, seed=1, site=site) for site in ("a", "b"))
    >>> found = ceiling(model, a, b, [attacks.Hamming()])
    >>> found.others[0].share < 0.9 and found.others[0].low <= found.others[0].share <= found.others[0].high
    True
    """
    for attack in attacks:
        if isinstance(attack, FullInformation) or getattr(attack, "compares_queries", False):
            raise OptionError(f"{attack.name} knows more than the two records, so the ceiling does not hold for it")
    asked: dict[str, Any] = {"truth": truth, "sample": sample, "seed": seed, "level": level}
    best = random_user(MixtureBayes(model, noise), targets, queries, **asked)
    if best.rate == 0.0:
        raise DataError(f"the best attack is right for none of {best.n_queries:,} queries; give more of them")
    others = []
    for attack in attacks:
        risk = random_user(attack.one_by_one(), targets, queries, **asked)
        low, high = _share_interval(risk, best)
        others.append(Reach(replace(risk, per_user=None), risk.rate / best.rate, low, high))
    return Ceiling(replace(best, per_user=None), tuple(others), (Note("of-this-population", types=model.n_types),))


def _share_interval(risk: Risk, best: Risk) -> tuple[float, float | None]:
    """Return the shares R for which 0 may be the mean of credit - R x credit of the best."""
    if risk.per_user is None or best.per_user is None:
        raise OptionError("a share of the ceiling needs the credits of the same queries")
    # What the pair's difference allows for beyond chance in the queries, this does too.
    gap = difference(risk, best)
    plain = difference_interval(risk.per_user, best.per_user, risk.level)
    wider = max(1.0, ((gap.high - gap.low) / max(plain[1] - plain[0], 1e-12)) ** 2)

    one, other = risk.per_user, best.per_user

    def ends(share: float) -> tuple[float, float]:
        return difference_interval(one * min(1.0, 1.0 / max(share, 1e-9)), other * min(1.0, share), risk.level, wider)

    middle = risk.rate / best.rate
    low, high = 0.0, middle
    for _ in range(_STEPS if middle else 0):
        at = (low + high) / 2.0
        low, high = (at, high) if ends(at)[0] > 0.0 else (low, at)
    least = low
    low, high = middle, 2.0 * max(middle, 1.0)
    while ends(high)[1] >= 0.0:
        high *= 2.0
        if high > _MOST:
            return float(np.round(least, 6)), None
    for _ in range(_STEPS):
        at = (low + high) / 2.0
        low, high = (at, high) if ends(at)[1] >= 0.0 else (low, at)
    return float(np.round(least, 6)), float(np.round(high, 6))
