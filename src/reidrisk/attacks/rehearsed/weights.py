"""What each attack is worth: weights of the features of a pair, learnt on pairs whose truth is known.

A conditional logistic regression, with a penalty on the distance from the best single feature or from equal say: what
cannot be learnt stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reidrisk.attacks.rehearsed.choices import SCALES, Choices
from reidrisk.attacks.rehearsed.panel import READINGS
from reidrisk.base.arrays import Floats

_STEPS = 100
_READ = 1.0, 0.5, 0.0  # what the readings of a score weigh before anything is learnt
_FREE = 0.3  # penalty on weighing them otherwise
_NEARLY, _FEW = 0.75, 3.0  # of what the best attack finds: one that finds less, and a few links less, has no equal say


def learnt_weights(choices: Choices, start: Floats, penalty: float, signed: bool, at: Floats | None = None) -> Floats:
    """Return the weights under which the first of the choices is most likely, less a penalty.

    They maximise the sum over queries of the log-probability of the own target among all, less
    penalty |w - start|^2 / 2; ``at`` is where to begin, default: the start. Unless ``signed``, weights are 0 at least:
    that an attack likes a target never speaks against it.
    """
    from scipy.optimize import minimize

    if np.isinf(penalty):
        return start
    features, more, counts = choices.features, choices.more, choices.weight
    m, c, width = features.shape
    flat = features.reshape(m * c, width)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = (flat @ weights.astype(flat.dtype)).reshape(m, c) + more
        top = scores.max(axis=1, keepdims=True)
        chance = np.exp(scores - top)
        sums = chance.sum(axis=1)
        gain = float(counts @ (scores[:, 0] - top[:, 0] - np.log(sums)))
        chance /= -sums[:, None]
        chance[:, 0] += 1.0
        chance *= counts[:, None]
        away = weights - start
        slope = chance.reshape(m * c).astype(flat.dtype) @ flat
        return (penalty * float(away @ away) / 2 - gain) / m, (penalty * away - slope) / m

    least = None if signed else 0.0
    bounds = [(least, None)] * len(start)
    begin = start if at is None else at
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _STEPS})
    return np.asarray(found.x)


def starting_weights(choices: Choices, credits: Sequence[Floats], exact: bool, signed: bool = False) -> Floats:
    """Return what to start from: equal say of the good attacks; or one feature alone, where that is clearly better.

    Good are those that find three quarters of what the best does, or a few links less than that, unless no pair can
    share an item (``signed``) and most attacks have nothing to go by; ``credits`` are each attack's. The first reading
    of their scores has twice as much say as the second. Where two parts of a record are compared that may share items
    (not ``signed``, nor ``exact`` as real queries are), half of that say goes to readings as they fit best. If the
    rehearsal is exact, one feature alone may be taken instead, if clearly better: it gives the true target a higher
    mean log-probability by two standard errors, each on the scale that fits best.
    """
    best = max(float(one.sum()) for one in credits)
    width = choices.features.shape[2]
    few = 0.0 if signed else _FEW
    good = np.array([float(one.sum() >= _NEARLY * best - few) for one in credits])
    weights = _equal(choices, good, free=not (exact or signed))
    gains = choices.gains(choices.scores(weights))
    if not exact:
        return weights
    found = max((_scaled(choices, one) for one in np.eye(width)), key=lambda one: float(one[1].mean()))
    return found[0] if clearly_above(found[1] - gains, 2.0) else weights


def _equal(choices: Choices, good: Floats, free: bool) -> Floats:
    """Return an equal say of the good attacks; if ``free``, readings weigh half as before, half as fits best.

    All attacks are read alike. How far a score stands out among those of its query says the same of short queries as of
    long ones; how far it does in nats, the third reading, lets long ones be surer.
    """
    each = np.kron(good[:, None], np.eye(READINGS))
    summed = Choices(choices.features @ each.astype(choices.features.dtype), choices.more, choices.weight)
    weights, _ = _scaled(summed, np.asarray(_READ))
    if free:
        spread = summed.spread
        fitted = learnt_weights(summed.over(spread), weights * spread, _FREE, signed=False) / spread
        weights, _ = _scaled(summed, (weights + fitted) / 2.0)
    return np.asarray(each @ weights)


def clearly_above(more: Floats, errors: float) -> bool:
    """Whether a mean is above 0 by more than this many standard errors."""
    return bool(more.mean() > errors * more.std() / math.sqrt(len(more)))


def _scaled(choices: Choices, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights on the scale that fits best, and the log-probability of each true target."""
    scale, gains = fitting_scale(choices, choices.scores(weights))
    return weights * scale, gains


def fitting_scale(choices: Choices, scores: Floats) -> tuple[float, Floats]:
    """Return by how much to multiply scores so that own targets are most likely, and their log-probabilities then.

    The mean log-probability is concave in the scale: one climb over the grid finds the best of it.
    """
    low, high = 0, len(SCALES) - 1
    tried: dict[int, Floats] = {}

    def gains(place: int) -> float:
        if place not in tried:
            tried[place] = choices.gains(scores * SCALES[place])
        return float(tried[place].mean())

    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if gains(middle + 1) > gains(middle) else (low, middle)
    gains(low)
    return float(SCALES[low]), tried[low]
