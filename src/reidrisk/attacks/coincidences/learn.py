"""How far coincidences count, learnt without truth: from the targets that queries seem to be of.

Expectation and maximisation in turn: each of some queries is of the targets that explain it, as likely as these do;
what these had at the same time says how far that counts. Where links are wrong, little coincides, and it counts little.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reidrisk.attacks.coincidences.grid import Laid
from reidrisk.attacks.coincidences.overlay import Met, Overlay, Repeats, Say
from reidrisk.attacks.profile.sized.volume import Volume, normal_score, ranks
from reidrisk.base.arrays import Floats, Ints

_ROUNDS = 4
_MOST = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99)
_SLOW = (0.0, 3.0, 30.0, 300.0)
_TRIED = (Say(), *(Say(most, slow) for most in _MOST for slow in _SLOW))
_FIRST = Say(0.8, 10.0), Say(0.3, 1.0), Say(0.1, 1.0)  # of any time, of items then, of being there
_SURE, _ENOUGH = 0.5, 30  # probability of links that tell whether sizes agree, and how many there must be
_CLOSE, _CLOSEST = 0.5, 0.9  # correlation from which sizes count, as surely as chance allows, and the largest
_CHANCE = 1.645  # standard errors: nineteen in twenty
_LEAST = 1e-3  # probability of a link below which it teaches nothing

Links = Callable[[Repeats], tuple[Ints, Floats]]
"""From habits to the likeliest targets of some queries, and their probabilities: (q, k) each."""


def learnt(overlay: Overlay, queries: Laid, links: Links) -> Repeats:
    """Return the habits under which these queries are likely, given the targets that they seem to be of."""
    k = len(overlay.levels)
    habits = Repeats((_FIRST[0], *[_FIRST[1]] * k), (_FIRST[2],) * k)
    for _ in range(_ROUNDS):
        target, sure = links(habits)
        near = target.shape[1]
        row = np.repeat(np.arange(len(queries)), near)
        who, weight = target[queries.record].ravel(), sure[queries.record].ravel()
        some = weight > _LEAST
        met = overlay.met(queries, row[some], who[some])
        habits = Repeats(_items(met, weight[some], habits.items), _times(met, weight[some]))
    return habits


def _items(met: Met, weight: Floats, before: tuple[Say, ...]) -> tuple[Say, ...]:
    """Return what each width says of items: one after the other, each given the others."""
    found = list(before)
    share = [had / np.maximum(there, 1) for had, there in zip(met.had, met.there, strict=True)]
    otherwise = met.popular
    for k in range(len(found)):
        if k and not met.had[k].any():
            found[k] = Say()
            continue

        def gain(say: Say, first: int = k, start: Floats = otherwise) -> float:
            total, last = 0.0, start
            for j, one in enumerate((say, *found[first + 1 :]), first):
                if one.most > 0.0:
                    mixed = one.mixed(met.there[j], share[j], last)
                    total += float((weight * met.once[j] * np.log(mixed / last)).sum())
                    last = mixed
            return round(total, 6)

        found[k] = max(_TRIED if k else _TRIED[1:], key=gain)
        otherwise = found[k].mixed(met.there[k], share[k], otherwise)
    return tuple(found)


def _times(met: Met, weight: Floats) -> tuple[Say, ...]:
    """Return what each width says of being there."""
    found = []
    for k, (anybody, once) in enumerate(zip(met.share, met.once_there, strict=True)):
        among, there = met.there[k], met.there[k + 1]
        own = there / np.maximum(among, 1) / anybody

        def gain(say: Say, among: Ints = among, own: Floats = own, once: Floats = once) -> float:
            return round(float((weight * once * np.log(say.mixed(among, own, 1.0))).sum()), 6)

        found.append(max(_TRIED, key=gain) if there.any() else Say())
    return tuple(found)


def agreeing(known: Ints, asked: Ints, links: tuple[Ints, Ints, Floats]) -> Volume | None:
    """Return how closely sizes agree, as links that are sure without them show: (query, target, probability) of each.

    They are ranked among themselves: long records are found more surely, and that both are long must not seem to be
    agreement.
    """
    query, target, sure = links
    some = sure > _SURE
    mine, theirs = known[target[some]].astype(np.float64), asked[query[some]].astype(np.float64)
    if some.sum() < _ENOUGH or min(np.ptp(mine), np.ptp(theirs)) == 0.0:
        return None
    seen = np.corrcoef(normal_score(mine, ranks(mine)), normal_score(theirs, ranks(theirs)))[0, 1]
    surely = math.tanh(math.atanh(min(seen, 0.999)) - _CHANCE / math.sqrt(int(some.sum()) - 3))
    if surely < _CLOSE:
        return None
    return Volume(min(surely, _CLOSEST), ranks(known.astype(np.float64)), ranks(asked.astype(np.float64)))
