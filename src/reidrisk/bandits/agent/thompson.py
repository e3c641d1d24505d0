"""Model-based Thompson sampling (galozy, Algorithm 1): a compiled kernel that plays one run.

The agent holds a belief P_t over states, draws B_t ~ P_t, plays the best arm of B_t, and updates

    P_{t+1}(s') proportional to sum_s P_t(s) P(R_t | A_t, s) phi(s' | s).

Environment and agent have a generator each, so that runs of one seed are paired across agents and assumed matrices.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Floats, Ints, njit

AGENTS = {"thompson": 0, "oracle": 1, "uniform": 2}  # number by which the kernel knows each agent

FLOOR = 1e-250
"""A state that the assumed matrix allows keeps at least this share of the belief before the next transition: without
it, long runs would round it to zero, from which no reward brings it back."""

_LOST = 1e-200  # below this total, the likelihood is scaled again by the states that are still possible

Draws = np.random.Generator


class Lookup(NamedTuple):
    """What the kernel looks up. A reward tells states apart only by their mean for the arm: distinct means suffice."""

    means: Floats
    sigma: float
    levels: Floats  # (arms, distinct): the distinct means
    level: Ints  # (arms, padded states): which of them a state has
    best: Ints  # (states,): its best arm
    gaps: Floats  # (arms, states): what an arm loses against that
    blind: Floats  # (states,): the mean of that


def lookup_of(means: Floats, sigma: float) -> Lookup:
    """Work out what the kernel looks up."""
    distinct = [np.unique(row, return_inverse=True) for row in means]
    width = max(len(values) for values, _ in distinct)
    level = np.zeros((len(means), _padded_size(means.shape[1])), dtype=np.int64)
    level[:, : means.shape[1]] = [codes.ravel() for _, codes in distinct]
    gaps = np.ascontiguousarray(means.max(axis=0) - means)
    return Lookup(
        means=np.ascontiguousarray(means),
        sigma=float(sigma),
        levels=np.array([np.pad(values, (0, width - len(values)), mode="edge") for values, _ in distinct]),
        level=level,
        best=np.asarray(means.argmax(axis=0), dtype=np.int64),
        gaps=gaps,
        blind=np.asarray(gaps.mean(axis=0)),
    )


def play(world: Draws, mind: Draws, true: Floats, assumed: Floats, tables: Lookup, agent: str, stops: Ints) -> Floats:
    """Play one run and return its regret so far at each stop, and what blind choice expects there: (2, stops).

    ``world`` and ``mind`` draw for environment and agent; the last of the ascending ``stops`` ends the run.
    """
    out = np.zeros((2, len(stops)))
    _play(world, mind, true, padded(assumed), tables, AGENTS[agent], stops, out)
    return out


def padded(matrix: Floats) -> Floats:
    """Return the matrix with states added that are never reached, so that loops over states need no rest."""
    return np.pad(matrix, (0, _padded_size(len(matrix)) - len(matrix)))


def _padded_size(d: int) -> int:
    """Round the number of states up to whole vectors of the processor."""
    return -(-d // 8) * 8


@njit(nogil=True, cache=True)
def _update(
    belief: Any, assumed: Any, levels: Any, level: Any, reward: float, sigma: float, scratch: Any, chance: Any
) -> None:
    """Weigh the belief by the reward, then let the state move; ``scratch`` and ``chance`` are room to work in."""
    width = belief.shape[0]
    precision = 1.0 / (sigma * sigma)
    highest = -np.inf
    for k in range(levels.shape[0]):
        chance[k] = (reward - 0.5 * levels[k]) * levels[k] * precision
        highest = max(highest, chance[k])
    for k in range(levels.shape[0]):
        chance[k] = np.exp(chance[k] - highest)
    # Four running sums: additions then need not wait for each other.
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for s in range(0, width, 4):
        scratch[s] = belief[s] * chance[level[s]]
        scratch[s + 1] = belief[s + 1] * chance[level[s + 1]]
        scratch[s + 2] = belief[s + 2] * chance[level[s + 2]]
        scratch[s + 3] = belief[s + 3] * chance[level[s + 3]]
        t0 += scratch[s]
        t1 += scratch[s + 1]
        t2 += scratch[s + 2]
        t3 += scratch[s + 3]
    total = (t0 + t1) + (t2 + t3)
    if total < _LOST:
        # The likeliest mean belongs to states that the belief rules out: scale by those it does not.
        highest = -np.inf
        for s in range(width):
            if belief[s] > 0.0:
                highest = max(highest, (reward - 0.5 * levels[level[s]]) * levels[level[s]] * precision)
        total = 0.0
        for s in range(width):
            scratch[s] = 0.0
            if belief[s] > 0.0:
                mean = levels[level[s]]
                scratch[s] = belief[s] * np.exp((reward - 0.5 * mean) * mean * precision - highest)
                total += scratch[s]
    over = 1.0 / total
    for s in range(width):
        lifted = max(scratch[s] * over, FLOOR)
        scratch[s] = lifted if belief[s] > 0.0 else 0.0
    for j in range(width):
        belief[j] = 0.0
    # Rows of the matrix add up to 1, so the new belief does: what rounding leaves is divided out in the next step.
    # Eight rows at a time: the belief is then read and written less often.
    for s in range(0, width, 8):
        w0, w1, w2, w3 = scratch[s], scratch[s + 1], scratch[s + 2], scratch[s + 3]
        w4, w5, w6, w7 = scratch[s + 4], scratch[s + 5], scratch[s + 6], scratch[s + 7]
        for j in range(width):
            first = w0 * assumed[s, j] + w1 * assumed[s + 1, j] + w2 * assumed[s + 2, j] + w3 * assumed[s + 3, j]
            last = w4 * assumed[s + 4, j] + w5 * assumed[s + 5, j] + w6 * assumed[s + 6, j] + w7 * assumed[s + 7, j]
            belief[j] += first + last


@njit(nogil=True, cache=True)
def _play(world: Any, mind: Any, true: Any, assumed: Any, tables: Any, agent: int, stops: Any, out: Any) -> None:
    means, sigma, levels, level, best, gaps, blind = tables
    n_arms, d = means.shape
    belief = np.zeros(len(assumed))
    belief[:d] = 1.0 / d
    scratch, chance = np.empty(len(assumed)), np.empty(levels.shape[1])
    state = int(world.random() * d)
    regret, expected, stop = 0.0, 0.0, 0
    for t in range(stops[-1]):
        lot = mind.random()
        if agent == 0:
            drawn = 0
            upto = belief[0]
            while drawn < d - 1 and lot >= upto:
                drawn += 1
                upto += belief[drawn]
            arm = best[drawn]
        elif agent == 1:
            arm = best[state]
        else:
            arm = int(lot * n_arms)
        reward = means[arm, state] + sigma * world.standard_normal()
        regret += gaps[arm, state]
        expected += blind[state]
        if agent == 0:
            _update(belief, assumed, levels[arm], level[arm], reward, sigma, scratch, chance)
        left = world.random() - true[state, state]
        if left >= 0.0:
            following = state
            for j in range(d):
                if j != state and true[state, j] > 0.0:
                    following = j  # the last possible state stands in where rounding leaves a rest
                    left -= true[state, j]
                    if left < 0.0:
                        break
            state = following
        if t + 1 == stops[stop]:
            out[0, stop], out[1, stop] = regret, expected
            stop += 1
