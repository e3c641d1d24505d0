"""Model-based Thompson sampling (galozy, Algorithm 1): a compiled kernel that plays one run.

The agent holds a belief P_t over states, draws B_t ~ P_t, plays the best arm of B_t, and updates

    P_{t+1}(s') proportional to sum_s P_t(s) P(R_t | A_t, s) phi(s' | s).

Random numbers of the environment (states, rewards) and of the agent come from two generators, and the environment draws
the same numbers whatever the agent does: runs of the same seed are paired across agents and assumed matrices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.kernels import njit

AGENTS = {"thompson": 0, "oracle": 1, "uniform": 2}
"""Number by which the kernel knows each agent."""

FLOOR = 1e-250
"""A state that the assumed matrix allows keeps at least this share of the belief before the next transition: without
it, long runs would round it to zero, from which no reward brings it back."""

_LOST = 1e-200  # below this total, the likelihood is scaled again by the states that are still possible

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Tables(NamedTuple):
    """What the kernel looks up: rewards, gaps, and the distinct means of each arm.

    A reward tells states apart only by their mean for the chosen arm, so the exponential is taken once for each
    *distinct* mean: two with hard rewards, not one for every state. ``levels`` (arms, distinct) are these means,
    ``level`` (arms, padded states) says which one a state has, ``best`` (states,) is its best arm, ``gaps``
    (arms, states) what an arm loses against it, ``blind`` (states,) the mean of that.
    """

    means: Floats
    sigma: float
    levels: Floats
    level: Ints
    best: Ints
    gaps: Floats
    blind: Floats


def tables_of(means: Floats, sigma: float) -> Tables:
    """Work out what the kernel looks up.

    Examples
    --------
    >>> tables = tables_of(np.array([[2.0, 1.0, 1.0]]), 1.0)
    >>> tables.levels.tolist(), tables.level[:, :3].tolist()
    ([[1.0, 2.0]], [[1, 0, 0]])
    """
    distinct = [np.unique(row, return_inverse=True) for row in means]
    width = max(len(values) for values, _ in distinct)
    level = np.zeros((len(means), padded_size(means.shape[1])), dtype=np.int64)
    level[:, : means.shape[1]] = [codes.ravel() for _, codes in distinct]
    gaps = np.ascontiguousarray(means.max(axis=0) - means)
    return Tables(
        means=np.ascontiguousarray(means),
        sigma=float(sigma),
        levels=np.array([np.pad(values, (0, width - len(values)), mode="edge") for values, _ in distinct]),
        level=level,
        best=np.asarray(means.argmax(axis=0), dtype=np.int64),
        gaps=gaps,
        blind=np.asarray(gaps.mean(axis=0)),
    )


def play(
    world: np.random.Generator,
    mind: np.random.Generator,
    true: Floats,
    assumed: Floats,
    tables: Tables,
    agent: str,
    stops: Ints,
) -> Floats:
    """Play one run and return its regret so far at each stop, and what blind choice expects there: (2, stops).

    Parameters
    ----------
    world, mind : Generator
        Random numbers of the environment and of the agent.
    true, assumed : (d, d) arrays
        Transition matrix that moves the state, and the one that the agent believes in.
    tables : Tables
        Rewards.
    agent : str
        One of :data:`AGENTS`.
    stops : (stops,) int64
        Steps after which the regret is noted, ascending; the last one ends the run.

    Examples
    --------
    >>> sticky = np.array([[0.99, 0.01], [0.01, 0.99]])
    >>> tables = tables_of(np.array([[2.0, 1.05], [1.05, 2.0]]), 2.0)
    >>> rngs = np.random.default_rng(0), np.random.default_rng(1)
    >>> play(*rngs, sticky, sticky, tables, "oracle", np.array([100])).round(6).tolist()
    [[0.0], [47.5]]
    """
    out = np.zeros((2, len(stops)))
    _play(world, mind, true, padded(assumed), tables, AGENTS[agent], stops, out)
    return out


def padded_size(d: int) -> int:
    """Round the number of states up to whole vectors of the processor."""
    return -(-d // 8) * 8


def padded(matrix: Floats) -> Floats:
    """Return the matrix with states added that are never reached, so that loops over states need no rest.

    Examples
    --------
    >>> padded(np.eye(2)).shape, padded(np.eye(2)).sum()
    ((8, 8), np.float64(2.0))
    """
    d = len(matrix)
    out = np.zeros((padded_size(d), padded_size(d)))
    out[:d, :d] = matrix
    return out


def filtered(assumed: Floats, tables: Tables, arms: Ints, rewards: Floats, prior: Floats | None = None) -> Floats:
    """Return the belief after each of the given arms and rewards (steps, d), as the agent would hold it.

    Examples
    --------
    >>> stay = np.eye(2)
    >>> tables = tables_of(np.array([[2.0, 1.0], [1.0, 2.0]]), 1.0)
    >>> filtered(stay, tables, np.array([0]), np.array([2.0])).round(3).tolist()
    [[0.622, 0.378]]
    """
    d, matrix = len(assumed), padded(assumed)
    belief = np.zeros(len(matrix))
    belief[:d] = 1.0 / d if prior is None else prior
    out = np.empty((len(arms), d))
    _filter(belief, matrix, tables, np.asarray(arms, dtype=np.int64), rewards, out)
    return out


@njit(nogil=True, cache=True)
def _update(
    belief: Any, assumed: Any, levels: Any, level: Any, reward: float, sigma: float, scratch: Any, chance: Any
) -> None:  # pragma: no cover - compiled
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
def _filter(
    belief: Any, assumed: Any, tables: Any, arms: Any, rewards: Any, out: Any
) -> None:  # pragma: no cover - compiled
    levels, level, sigma = tables.levels, tables.level, tables.sigma
    scratch, chance = np.empty(len(assumed)), np.empty(levels.shape[1])
    for t in range(len(arms)):
        _update(belief, assumed, levels[arms[t]], level[arms[t]], rewards[t], sigma, scratch, chance)
        out[t] = belief[: out.shape[1]]


@njit(nogil=True, cache=True)
def _play(
    world: Any, mind: Any, true: Any, assumed: Any, tables: Any, agent: int, stops: Any, out: Any
) -> None:  # pragma: no cover - compiled
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
