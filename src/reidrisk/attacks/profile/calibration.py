"""Simulated users: what two observers would see of one person like a target, so that the attacker can practise.

Each simulated person has the rates that one target may well have, given all of its counts, so that what goes together
there goes together here. Nobody need tell the attacker who is a stranger: two targets are two people. How well
strangers explain each other's records is thus seen, with all the ways in which people resemble each other that the
model knows nothing of; how well one user explains both of theirs is simulated.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.counts import Counts, Ladder, count
from reidrisk.attacks.profile.factor import BayesFactor, Known
from reidrisk.attacks.profile.learnt import Learnt
from reidrisk.attacks.profile.posterior import Posterior, Round
from reidrisk.attacks.profile.prior import Prior, log_alone
from reidrisk.base import Floats, Ints, njit, stream
from reidrisk.mechanisms import token_probabilities
from reidrisk.records import Traces

_USERS, _FEWEST, _ENTRIES = 1_000, 100, 6_000_000
_LARGEST = 100_000  # tokens beyond which drawing every rate takes too long
_IN_ALL, _ROUNDS = 4_000, 8  # simulated users aimed at in all, and rounds in which to reach them, at most
_PAIRS, _LEAST = 100_000_000, 300  # strangers compared in all, unless that leaves fewer users than this
_BLOCK = 1 << 22  # scores held at a time


def n_simulated(n_targets: int, n_tokens: int) -> int:
    """Return how many users to simulate: as many as there are targets, up to 1,000, fewer in a large vocabulary."""
    return 0 if n_tokens > _LARGEST else min(n_targets, _USERS, max(_FEWEST, _ENTRIES // n_tokens))


def draw_rates(prior: Prior, counts: Counts, ladder: Ladder, rng: np.random.Generator) -> Ints:
    """Draw each user's kind and then a point of the grid for each token, given the user's counts: (n, n_tokens)."""
    size = np.bincount(prior.group)
    drawn = np.empty((len(counts), counts.n_tokens), dtype=np.int64)
    chance = rng.random((len(counts), 1 + counts.n_tokens))  # of the kind, and of each token
    for rung in np.unique(counts.rung):
        rows = np.flatnonzero(counts.rung == rung)
        some = counts.take(rows)
        # Tokens held equally often, and all that are not held, have one posterior for all users of a rung and kind.
        times, place = np.unique(np.append(some.count, 0), return_inverse=True)
        ends = _posterior(prior, times, float(ladder.epochs(rung)))
        groups = prior.group[some.token]
        totals = np.log(ends[:, :, 0, -1])
        unseen = np.log(prior.share) + totals @ size
        more = np.log(ends[:, groups, place[:-1], -1]) - totals[:, groups]
        kind = np.empty(len(rows), dtype=np.int64)
        for i, row in enumerate(rows):
            sums = unseen + more[:, some.start[i] : some.start[i + 1]].sum(axis=1)
            likely = np.exp(sums - sums.max())
            likely = np.cumsum(likely / likely.sum())
            kind[i] = np.searchsorted(likely / likely[-1], chance[row, 0], side="right")
        points = np.empty((len(rows), counts.n_tokens), dtype=np.int64)
        _draw_points(ends, kind, prior.group, (some.start, some.token, place), chance[rows, 1:], points)
        drawn[rows] = points
    return np.minimum(drawn, len(prior.grid.rate) - 1)


@njit(nogil=True, cache=True)
def _draw_points(ends: Any, kind: Any, group: Any, held: Any, chance: Any, out: Any) -> None:
    """Fill ``out`` with how many cumulative weights are below a random share of the last."""
    start, token, place = held
    for i in range(len(kind)):
        for v in range(len(group)):
            row = ends[kind[i], group[v], 0]
            out[i, v] = np.searchsorted(row, chance[i, v] * row[-1])
        for at in range(start[i], start[i + 1]):
            v = token[at]
            row = ends[kind[i], group[v], place[at]]
            out[i, v] = np.searchsorted(row, chance[i, v] * row[-1])


@njit(nogil=True, cache=True)
def _rows_searched(ends: Any, marks: Any) -> Any:
    """Return where each row's marks fall among its ends."""
    out = np.empty(marks.shape, dtype=np.int64)
    for i in range(len(ends)):
        out[i] = np.searchsorted(ends[i], marks[i], side="right")
    return out


def _posterior(prior: Prior, times: Ints, epochs: float) -> Floats:
    """Return (K, groups, counts, G) cumulative weights of the rates of a token seen so often, up to a factor."""
    logs = log_alone(prior.grid, times, np.asarray(epochs))
    likelihood = np.exp(logs - logs.max(axis=0)).T
    return np.asarray(np.cumsum(prior.weight[:, :, None, :] * likelihood, axis=-1))


def simulate_sets(rates: Floats, top_k: int, noise: float, epochs: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Let two observers see users whose top sets hold each token about as often as ``rates`` (n, N) says.

    Rates are scaled until they add up to k. Each set is a systematic sample: tokens lie one after the other in an order
    of the user's own, as long as their rates, and k marks one apart fall on k different ones.
    """
    n, width = rates.shape
    held = rates.copy()
    for _ in range(50):
        free = held < 1.0
        scale = (top_k - (~free).sum(axis=1)) / np.maximum((held * free).sum(axis=1), 1e-12)
        held = np.where(free, np.minimum(held * scale[:, None], 1.0), 1.0)
    order = np.argsort(rng.random((n, width)), axis=1)
    ends = np.cumsum(np.take_along_axis(held, order, axis=1), axis=1)
    ends *= top_k / ends[:, -1:]
    seen = [np.empty((n, epochs), dtype=np.int64) for _ in range(2)]
    for epoch in range(epochs):
        marks = rng.random((n, 1)) + np.arange(top_k)
        sets = np.take_along_axis(order, np.minimum(_rows_searched(ends, marks), width - 1), axis=1)
        for tokens in seen:
            shown = sets[np.arange(n), rng.integers(top_k, size=n)]
            tokens[:, epoch] = np.where(rng.random(n) < noise, rng.integers(width, size=n), shown)
    return seen[0], seen[1]


def simulate_tokens(rates: Floats, epochs: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Let two observers see one token per epoch each, in proportion to the rates."""
    ends = np.cumsum(rates, axis=1)
    ends /= ends[:, -1:]
    drawn = (_rows_searched(ends, rng.random((len(ends), epochs))) for _ in range(2))
    one, two = (np.minimum(tokens, rates.shape[1] - 1) for tokens in drawn)
    return one, two


class Simulated(NamedTuple):
    """What two observers see of users, and the ``rows`` of the targets that they are copies of."""

    one: Traces
    two: Traces
    rows: Ints


def simulate_pair(learnt: Learnt, n: int, rng: np.random.Generator) -> Simulated:
    """Return what two observers see of n users like the targets, drawn from them in the order of their content."""
    targets, prior = learnt.targets, learnt.prior
    rows = learnt.order[np.sort(rng.choice(len(targets), n, replace=False))]
    rates = prior.grid.rate[draw_rates(prior, learnt.counts.take(rows), learnt.ladder, rng)]
    epochs, width = targets.n_epochs, targets.n_tokens
    if learnt.system is None:
        seen = simulate_tokens(rates, epochs, rng)
    else:
        q_in, q_out = token_probabilities(width, *learnt.system)
        # Where a set holds every token (q_in = q_out), rates tell nothing, and any sets will do.
        held = (rates - q_out) / (q_in - q_out) if q_in > q_out else np.ones_like(rates)
        seen = simulate_sets(held, *learnt.system, epochs, rng)
    # Tokens are left out as in a random row each.
    patterns = (targets.observed[rows][rng.integers(n, size=n)] for _ in range(2))
    one, two = (Traces(np.where(there, tokens, -1), width) for there, tokens in zip(patterns, seen, strict=True))
    return Simulated(one, two, rows)


def learn_posterior(learnt: Learnt, seed: int, threads: int | None) -> Posterior:
    """Return the posterior for these targets: as it is where there is nothing to simulate; several rounds where few."""
    n, rounds = len(learnt.targets), []
    wanted = min(_IN_ALL, max(_LEAST, _PAIRS // n))
    m = min(n_simulated(n, learnt.targets.n_tokens), wanted)
    at_once = max(1, _BLOCK // n)
    for number in range(min(_ROUNDS, -(-wanted // m)) if m > 1 else 0):
        simulated = simulate_pair(learnt, m, stream(seed, "profile bayes calibration", number))
        one, two = (_counted(learnt, seen) for seen in (simulated.one, simulated.two))
        scorer = BayesFactor(learnt.tables, threads)
        own = scorer.pairs(one, two, np.arange(m))
        for start in range(0, m, at_once):
            part = slice(start, start + at_once)
            asked = learnt.known.take(simulated.rows[part])
            rounds.append(Round.of(own[part], scorer.scores(learnt.known, asked), simulated.rows[part]))
    return Posterior.of(rounds, learnt.ladder.every) if rounds else Posterior()


def _counted(learnt: Learnt, seen: Any) -> Known:
    counts = count(seen, learnt.ladder)
    learnt.make_room(counts)
    return Known(counts, learnt.evidence(counts))
