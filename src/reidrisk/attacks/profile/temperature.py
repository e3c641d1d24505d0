"""The temperature of the posterior: own links are those of simulated users, strangers are the targets themselves.

Nobody need tell the attacker who is a stranger: two targets are two people. How well strangers explain each other's
records is thus seen, with all the ways in which people resemble each other that the model knows nothing of. How well
one user explains both of theirs is not, and is simulated (:mod:`reidrisk.attacks.profile.calibration`). Target i in the
place of a query, with the score o_i of its copy and the scores s_iu of all other targets u, is right with probability

    exp(o_i / T) / (exp(o_i / T) + sum over u of exp(s_iu / T)),

and T is what makes that most likely on the whole.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile import calibration
from reidrisk.attacks.profile.counts import count
from reidrisk.attacks.profile.factor import BayesFactor, Known
from reidrisk.attacks.profile.learnt import Learnt
from reidrisk.base import Floats, Ints, stream
from reidrisk.search.weights import GRID

_SIMULATED, _ROUNDS = 1_000, 8  # simulated users aimed at in all, and rounds in which to reach them, at most
_PAIRS, _FEWEST = 20_000_000, 200  # strangers compared in all, unless that leaves fewer users than this
_BLOCK = 1 << 22  # scores held at a time
_STEP, _DEEPEST = 16, 64  # steps of a nat in which scores are counted, and nats below the best that are told apart
_TEMPERATURES = np.geomspace(0.5, 8.0, 97)


class Round(NamedTuple):
    """How far below the best a user's own score lies, and how many strangers lie how many steps below it."""

    own: Floats  # (m,) in nats
    strangers: Floats  # (m, steps)

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
        return cls((best - own) / GRID, counted[:, :-1].astype(np.float64))


def learn_temperature(learnt: Learnt, seed: int, threads: int | None) -> float:
    """Return the temperature for these targets: 1 where there is nothing to simulate; several rounds where few."""
    n, rounds = len(learnt.targets), []
    wanted = min(_SIMULATED, max(_FEWEST, _PAIRS // n))
    m = min(calibration.n_simulated(n, learnt.targets.n_tokens), wanted)
    at_once = max(1, _BLOCK // n)
    for number in range(min(_ROUNDS, -(-wanted // m)) if m > 1 else 0):
        simulated = calibration.simulate_pair(learnt, m, stream(seed, "profile bayes calibration", number))
        one, two = (_counted(learnt, seen) for seen in (simulated.one, simulated.two))
        scorer = BayesFactor(learnt.tables, threads)
        own = scorer.pairs(one, two, np.arange(m))
        for start in range(0, m, at_once):
            part = slice(start, start + at_once)
            asked = learnt.known.take(simulated.rows[part])
            rounds.append(Round.of(own[part], scorer.scores(learnt.known, asked), simulated.rows[part]))
    return best_temperature(rounds, learnt.ladder.every) if rounds else 1.0


def _counted(learnt: Learnt, seen: Any) -> Known:
    counts = count(seen, learnt.ladder)
    learnt.make_room(counts)
    return Known(counts, learnt.evidence(counts))


def best_temperature(rounds: list[Round], every: int = 1) -> float:
    """Return the temperature of the highest likelihood.

    Where ``every`` epochs were taken for one, evidence may weigh as many times more: temperatures go as low.
    """
    lower = np.geomspace(_TEMPERATURES[0] / every, _TEMPERATURES[0], 97)[:-1] if every > 1 else _TEMPERATURES[:0]
    temperatures = np.concatenate([lower, _TEMPERATURES])
    depth, likelihood = np.arange(_DEEPEST * _STEP + 1) / _STEP, np.zeros(len(temperatures))
    powers = np.exp(-depth[:, None] / temperatures)
    for own, strangers in rounds:
        below = own[:, None] / temperatures
        likelihood -= (below + np.log(np.exp(-below) + strangers @ powers)).sum(axis=0)
    return float(temperatures[int(np.argmax(likelihood))])
