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
_HALF = 0.5  # of what the best attack finds: one that finds less has no equal say
_NEARLY = 0.75  # of what the best attack finds: a model that finds less has no say in the start


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


def starting_weights(choices: Choices, credits: Sequence[Floats], model: int | None = None) -> Floats:
    """Return what to start from: equal say of the good attacks, unless one feature alone is clearly better.

    Good are those that find about as many as the best, within two standard errors of the difference, and at least half
    as many: where hardly anybody is found, all are within the error. ``credits`` are each attack's. Clearly better is
    what gives the true target a higher mean log-probability by two standard errors, each on the scale that fits best.
    Equal say, of the first reading of each score, is what holds where a rehearsal teaches little. The attack in place
    ``model``, if any, learns from real queries too how both sides relate, which a rehearsal may have wrong: unless it
    finds clearly less than three quarters of what the best one does, it keeps half the say beside a feature alone.
    """
    best = max(credits, key=lambda one: float(one.mean()))
    width = choices.features.shape[2]
    equal = np.zeros(width)
    equal[::READINGS] = [one.mean() >= _HALF * best.mean() and not clearly_above(best - one, 2.0) for one in credits]
    weights, gains = _scaled(choices, equal)
    alone = [_scaled(choices, one) for one in np.eye(width)]
    found = max(alone, key=lambda one: float(one[1].mean()))
    if not clearly_above(found[1] - gains, 2.0):
        return weights
    if model is None or clearly_above(_NEARLY * best - credits[model], 2.0):
        return found[0]
    return _scaled(choices, found[0] + alone[READINGS * model + READINGS - 1][0])[0]


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
