"""From scores to probabilities: a temperature for all targets, and the best one's log odds bent.

Own scores o_i are of simulated users, strangers are the targets themselves
(:mod:`reidrisk.attacks.profile.calibration`). Target i in the place of a query, with the score o_i of its copy and the
scores s_iu of all other targets u, is right with probability

    exp(o_i / T) / (exp(o_i / T) + sum over u of exp(s_iu / T)),

and T is what makes that most likely on the whole. One temperature for all is too sure of sure links and too little of
the others, and these simulated links show it: so the log odds of a best link are bent (Platt's scaling),

    p' = 1 / (1 + exp(-(slope log(p / (1 - p)) + shift))),

with the slope and shift under which it is most likely which of them are right.
"""

from typing import NamedTuple

import numpy as np

from reidrisk.base import Floats, Ints
from reidrisk.search.weights import GRID

_STEP, _DEEPEST = 16, 64  # steps of a nat in which scores are counted, and nats below the best that are told apart
_TEMPERATURES = np.geomspace(0.5, 8.0, 97)
_LOOSE = np.array([0.15, 0.25])  # standard errors of slope and shift before anything is seen, around 1 and 0
_FLATTEST = 0.05  # slope: surer links stay surer


class Bend(NamedTuple):
    """How the log odds of a link are bent.

    >>> Bend(0.5, 0.0).of(np.array([0.5, 0.9])).round(2).tolist()
    [0.5, 0.75]
    """

    slope: float = 1.0
    shift: float = 0.0

    def of(self, probability: Floats) -> Floats:
        """Return the probabilities bent; 0 and 1 stay."""
        with np.errstate(divide="ignore"):
            odds = np.log(probability) - np.log1p(-probability)
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * odds + self.shift))))


class Posterior(NamedTuple):
    """What makes probabilities of scores: the temperature, and the bend of the best one's log odds."""

    temperature: float = 1.0
    bend: Bend = Bend()

    @classmethod
    def of(cls, rounds: "list[Round]", every: int = 1) -> "Posterior":
        """Return the posterior that these links make likely; ``every`` as for the temperature."""
        temperature = best_temperature(rounds, every)
        return cls(temperature, best_bend(rounds, temperature))


class Round(NamedTuple):
    """How far below the best a user's own score lies, how many strangers lie how many steps below it.

    And the ``credit`` of linking to the best: the share that the own one is of those that are the best.
    """

    own: Floats  # (m,) in nats
    strangers: Floats  # (m, steps)
    credit: Floats  # (m,)

    @classmethod
    def of(cls, own: Ints, scores: Ints, rows: Ints) -> "Round":
        """Count the (m, n) ``scores`` of users with all targets; ``rows`` are their own, which do not count."""
        found = scores.copy()
        found[np.arange(len(rows)), rows] = own
        best, last = found.max(axis=1), _DEEPEST * _STEP
        steps = np.minimum((best[:, None] - found) * (_STEP / GRID) + 0.5, last).astype(np.int64)
        steps[np.arange(len(rows)), rows] = last + 1
        steps += np.arange(len(rows))[:, None] * (last + 2)
        counted = np.bincount(steps.ravel(), minlength=len(rows) * (last + 2)).reshape(len(rows), -1)
        credit = (own == best) / (found == best[:, None]).sum(axis=1)
        return cls((best - own) / GRID, counted[:, :-1].astype(np.float64), credit)


def best_temperature(rounds: list[Round], every: int = 1) -> float:
    """Return the temperature of the highest likelihood.

    Where ``every`` epochs were taken for one, evidence may weigh as many times more: temperatures go as low.
    """
    lower = np.geomspace(_TEMPERATURES[0] / every, _TEMPERATURES[0], 97)[:-1] if every > 1 else _TEMPERATURES[:0]
    temperatures = np.concatenate([lower, _TEMPERATURES])
    depth, likelihood = np.arange(_DEEPEST * _STEP + 1) / _STEP, np.zeros(len(temperatures))
    powers = np.exp(-depth[:, None] / temperatures)
    for own, strangers, _ in rounds:
        below = own[:, None] / temperatures
        likelihood -= (below + np.log(np.exp(-below) + strangers @ powers)).sum(axis=0)
    return float(temperatures[int(np.argmax(likelihood))])


def best_bend(rounds: list[Round], temperature: float) -> Bend:
    """Return slope and shift of the highest posterior density: Newton's method on a logistic regression."""
    powers = np.exp(-np.arange(_DEEPEST * _STEP + 1) / _STEP / temperature)
    total = np.concatenate([np.exp(-one.own / temperature) + one.strangers @ powers for one in rounds])
    credit = np.concatenate([one.credit for one in rounds])
    # p = 1 / total, so the odds are 1 to total - 1; counted in steps, no best link is surer than that.
    x = np.stack([-np.log(np.maximum(total - 1.0, 1e-12)), np.ones(len(total))], axis=1)
    weights, start = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    for _ in range(50):
        said = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -700.0, 700.0)))
        rise = x.T @ (credit - said) - (weights - start) / _LOOSE**2
        step = np.linalg.solve((x.T * (said * (1.0 - said))) @ x + np.diag(1.0 / _LOOSE**2), rise)
        weights = weights + step * min(1.0, 0.5 / float(np.abs(step).max() + 1e-300))
        if float(np.abs(step).max()) < 1e-9:
            break
    return Bend(max(_FLATTEST, float(weights[0])), float(weights[1]))
