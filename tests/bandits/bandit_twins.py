"""NumPy twins of the compiled kernels: the same, the short way."""

from __future__ import annotations

import numpy as np

from reidrisk.bandits.agent.thompson import AGENTS, FLOOR, _update, padded
from reidrisk.bandits.linkage.likelihood import (
    _HALF,
    _LEAST,
    _MOST,
    _RELATIVE,
    _RULED_OUT,
    _SLACK,
    EXACT,
    LEAST_SCALE,
    model_of,
)
from reidrisk.base.kernels import njit
from reidrisk.search import GRID


def filtered(assumed: np.ndarray, tables, arms: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Return the belief after each of the given arms and rewards (steps, d), as the agent would hold it."""
    d, matrix = len(assumed), padded(assumed)
    belief, out = np.zeros(len(matrix)), np.empty((len(arms), d))
    belief[:d] = 1.0 / d
    _filter(belief, matrix, tables, np.asarray(arms, dtype=np.int64), rewards, out)
    return out


@njit(nogil=True)
def _filter(belief, assumed, tables, arms, rewards, out):
    scratch, chance = np.empty(len(assumed)), np.empty(tables.levels.shape[1])
    for t in range(len(arms)):
        arm = arms[t]
        _update(belief, assumed, tables.levels[arm], tables.level[arm], rewards[t], tables.sigma, scratch, chance)
        out[t] = belief[: out.shape[1]]


def played(
    world: np.random.Generator,
    mind: np.random.Generator,
    true: np.ndarray,
    assumed: np.ndarray,
    means: np.ndarray,
    sigma: float,
    agent: str,
    stops: np.ndarray,
) -> np.ndarray:
    """Play one run: the twin of ``thompson.play``."""
    n_arms, d = means.shape
    gaps = means.max(axis=0) - means
    state, belief, regret, blind = int(world.random() * d), np.full(d, 1.0 / d), 0.0, 0.0
    noted = []
    for t in range(stops[-1]):
        lot = mind.random()
        drawn = min(int(np.searchsorted(np.cumsum(belief), lot, side="right")), d - 1)
        arm = [int(means[:, drawn].argmax()), int(means[:, state].argmax()), int(lot * n_arms)][AGENTS[agent]]
        reward = means[arm, state] + sigma * world.standard_normal()
        regret, blind = regret + gaps[arm, state], blind + gaps[:, state].mean()
        exponent = np.where(belief > 0, -0.5 * ((reward - means[arm]) / sigma) ** 2, -np.inf)
        weight = belief * np.exp(exponent - exponent.max())
        belief = np.where(belief > 0, np.maximum(weight / weight.sum(), FLOOR), 0.0) @ assumed
        belief /= belief.sum()
        order = np.concatenate([[state], np.delete(np.arange(d), state)])  # staying first, as the kernel looks
        place = int(np.searchsorted(np.cumsum(true[state][order]), world.random(), side="right"))
        state = int(order[min(place, np.flatnonzero(true[state][order])[-1])])
        if t + 1 in stops:
            noted.append((regret, blind))
    return np.array(noted).T


def likelihood_scores(shared, cells: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Score every query with every shared record the short way."""
    model, d = model_of(shared, cells, values), shared.records.shape[1]
    out = np.zeros((len(cells), len(model.targets.cells)), dtype=np.int64)
    for q in range(len(cells)):
        for row in np.unique(cells[q] // d):
            known = model.known.chosen((q, cells[q] // d == row))
            single = _single(model.targets, known)
            mixed = _average(model.targets, known, model.limited)
            out[q] += np.where(model.targets.single, single.sum(axis=1), mixed.sum(axis=1))
    return out


def _single(targets, known) -> np.ndarray:
    """Return what the known cells of one row tell about each record, (n, a), taken for one user's."""
    r, x, n = targets.cells[:, known.cells], known.values, len(targets.cells)
    tells = (known.noise == 0) & (known.relative > 0) & (x > 0) & (r > 0)
    pin = np.where(tells.any(axis=1), np.argmax(np.where(tells, x, -1.0), axis=1), -1)
    pinned = (pin >= 0)[:, None]
    value, log_value, at_pin = x[pin], known.logs[pin], r[np.arange(n), pin]
    total = np.where(pinned[:, 0], value / np.where(pinned[:, 0], at_pin, 1.0), known.total[0])[:, None]
    log_total = np.where(pinned[:, 0], log_value - targets.logs[np.arange(n), known.cells[pin]], known.log_total[0])
    log_total = log_total[:, None]
    scale = np.where(known.noise > 0, np.where(pinned, known.noise, known.alone), 1.0)
    top = np.where(pinned, known.top_noise, known.top_alone)
    noisy = np.where(r == 0, _HALF - x / scale, log_total + top - np.abs(total * r - x) / scale)
    off = np.abs(log_total - known.log_total) / np.where(known.relative > 0, known.relative, 1.0)
    ratio = known.top_relative - np.minimum(off, _RULED_OUT)
    common, common_ratio = targets.common[:, known.cells], targets.common_ratio[:, known.cells]
    same = ((r == 0) == (x == 0)) & (np.abs(total * r - x) < EXACT + _RELATIVE * x)
    without = np.where(same, -common, _LEAST)
    told = np.where(known.noise > 0, _on_grid(noisy) - common, without)
    is_pin = np.arange(len(x)) == pin[:, None]
    return np.maximum(np.where(is_pin, _on_grid(ratio) - common_ratio, told), _LEAST)


def _average(targets, known, limited: bool) -> np.ndarray:
    """Return what the known cells of one row tell about each record, (n, a), taken for an average."""
    r, x, m = targets.cells[:, known.cells], known.values, targets.behind[:, None]
    seen, common = known.total * r, targets.common[:, known.cells]
    density = known.log_total + known.top_blurred - np.abs(seen - x) / known.blurred
    density = np.where(r == 0, _HALF - x / known.blurred, density)
    if limited:
        wobble = np.maximum(np.sqrt(known.noise**2 + (r * known.unsure) ** 2), LEAST_SCALE)
        beyond = np.maximum(x / m - seen, seen - (x + m - 1.0) / m) - EXACT - _SLACK * wobble
        density = density - np.minimum(np.maximum(beyond / wobble, 0.0), _RULED_OUT)
    told = _on_grid(density) - common
    if limited:
        nobody = np.where(x > 0, _LEAST, -np.floor(common / m + 0.5).astype(np.int64))
        told = np.where((r == 0) & (known.noise == 0), nobody, told)
    return np.asarray(np.maximum(told, _LEAST))


def _on_grid(nats: np.ndarray) -> np.ndarray:
    return np.asarray(np.floor(np.clip(nats, -_MOST, _MOST) * GRID + 0.5), dtype=np.int64)
