"""How people's rates are spread: a prior for each token and kind of user, learnt from the targets' counts alone.

In each of a few kinds of users, every token has a prior F over a fixed grid of rates theta, found by
expectation-maximisation: the nonparametric maximum-likelihood mixing distribution of the counts, drawn towards that of
all tokens by a few pseudo-users, since rare tokens say little of themselves. Kinds (people of many interests, or of
few) let the tokens of one user depend on each other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.profile.counts import Counts, Ladder
from reidrisk.base import Floats, Ints, njit

_POINTS = 32
_OWN = 1_024  # tokens that have a prior of their own; rarer ones share theirs with tokens as rare
_PSEUDO_USERS = 5.0
_FLOOR = 1e-4  # share of the shape of all tokens that is spread evenly: nothing is impossible
_ALONE, _TOGETHER, _INNER = 150, 30, 5  # rounds without kinds, with kinds, and within one of these


@dataclass(frozen=True, eq=False)
class Grid:
    """The rates considered (G,), and what two observers see of a user with such a rate in one epoch."""

    rate: Floats  # theta
    both: Floats  # probability that both observers see the token in the same epoch
    same_epoch: bool  # whether that says more than theta^2


def top_set_grid(q_in: float, q_out: float) -> Grid:
    """Return the grid for a system that holds a top set: with s = P(token in the set) from 0 to 1,

        theta = s q_in + (1 - s) q_out     and     both = s q_in^2 + (1 - s) q_out^2,

    since given the set observers are independent (carey, Algorithm 1).
    """  # noqa: D400 - the sentence goes on after the formula
    s = np.concatenate([[0.0], np.geomspace(0.002, 1.0, _POINTS - 1)])
    return Grid(s * q_in + (1 - s) * q_out, s * q_in**2 + (1 - s) * q_out**2, same_epoch=True)


def general_grid(n_tokens: int, trials: int) -> Grid:
    """Return the grid where nothing is known of the system: any rate, and no evidence from the same epoch."""
    rate = np.geomspace(min(0.1 / n_tokens, 0.01 / trials), 0.98, _POINTS)
    return Grid(rate, rate**2, same_epoch=False)


@dataclass(frozen=True, eq=False)
class Prior:
    """What was learnt."""

    share: Floats  # (K,) how common each kind of user is
    weight: Floats  # (K, groups, G) F: the distribution over the grid of each kind and group of tokens
    group: Ints  # of each token
    grid: Grid


def log_alone(grid: Grid, counts: Ints, epochs: Floats) -> Floats:
    """Return (G, …) log theta^c (1 - theta)^(n - c): seeing a token c times in n epochs, one observer alone."""
    theta = grid.rate.reshape(-1, *(1,) * np.ndim(counts))
    seen, unseen = log(theta), log(1.0 - theta)
    return np.asarray(np.where(counts > 0, counts * seen, 0.0) + np.maximum(epochs - counts, 0.0) * unseen)


def log(values: Floats) -> Floats:
    """Return the logarithm, of 0 a number so low that nothing makes up for it."""
    return np.asarray(np.log(np.maximum(values, 1e-300)))


def group_tokens(counts: Counts) -> Ints:
    """Give each token its group: its own, or in a large vocabulary one shared with tokens as rare as it."""
    if counts.n_tokens <= _OWN:
        return np.arange(counts.n_tokens)
    total = np.bincount(counts.token, minlength=counts.n_tokens)
    common = total > np.partition(total, -_OWN)[-_OWN]
    # Tokens held by about as many users, a quarter of an octave apart, share a prior.
    shared = np.rint(4 * np.log2(total + 1.0)).astype(np.int64)
    key = np.where(common, shared.max() + 1 + np.cumsum(common), shared)
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def learn(counts: Counts, ladder: Ladder, grid: Grid, kinds: int) -> Prior:
    """Learn the prior by expectation-maximisation.

    First without kinds, from the histogram of counts of each group. Then users are split by how many different tokens
    they hold in an observed epoch, and kinds and priors are improved in turn; a kind that nobody belongs to is dropped.
    """
    group = group_tokens(counts)
    n_groups, depth = int(group.max()) + 1, int(counts.count.max(initial=0))
    cells = (ladder.n_rungs, depth + 1)
    rungs, times = (x.ravel() for x in np.indices(cells))
    logs = log_alone(grid, times, ladder.epochs(rungs))
    scale = logs.max(axis=0)
    likelihood = np.ascontiguousarray(np.exp(logs - scale).T)  # a factor common to all rates changes no posterior
    size = np.bincount(group, minlength=n_groups).astype(np.float64)
    histogram = _histogram(counts, group, size, cells, np.ones((len(counts), 1)))[0]
    weight = np.full((n_groups, len(grid.rate)), 1.0 / len(grid.rate))
    for _ in range(_ALONE):
        expected = expected_users(weight, histogram, likelihood)
        shape = expected.sum(axis=0) / expected.sum()
        shape = (1.0 - _FLOOR) * shape + _FLOOR / len(shape)
        weight = _drawn(expected, shape, size)
    share, each = np.ones(1), weight[None]
    if kinds == 1:
        return Prior(share, each, group, grid)
    member = _first_kinds(counts, ladder, kinds)
    each = np.repeat(each, member.shape[1], axis=0)
    for _ in range(_TOGETHER):
        kept = member.sum(axis=0) > 1e-3
        member, each = member[:, kept], each[kept]
        for z, counted in enumerate(_histogram(counts, group, size, cells, member)):
            for _ in range(_INNER):
                each[z] = _drawn(expected_users(each[z], counted, likelihood), weight, size)
        share = member.mean(axis=0)
        averaged = np.einsum("zgp,cp->zgc", each, likelihood)  # no library's threads for sums so small
        alone = (np.log(averaged) + scale).reshape(len(share), n_groups, *cells)
        member = _membership(counts, group, size, alone, np.log(share))
    return Prior(share, each, group, grid)


def _drawn(expected: Floats, towards: Floats, size: Floats) -> Floats:
    """Return the distributions, each drawn towards another one by a few pseudo-users."""
    pseudo = _PSEUDO_USERS * size[:, None]
    return np.asarray((expected + pseudo * towards) / (expected.sum(axis=1, keepdims=True) + pseudo))


def _first_kinds(counts: Counts, ladder: Ladder, kinds: int) -> Floats:
    """Split users by how many different tokens they hold in an observed epoch; equals stay together."""
    variety = np.diff(counts.start) / np.maximum(ladder.epochs(counts.rung), 1.0)
    cuts = np.quantile(variety, np.arange(1, kinds) / kinds)
    member = np.full((len(counts), kinds), 0.1 / kinds)
    member[np.arange(len(counts)), np.searchsorted(cuts, variety, side="left")] += 0.9
    return member


def _histogram(counts: Counts, group: Ints, size: Floats, cells: tuple[int, int], member: Floats) -> Floats:
    """Return (K, groups, cells): how many users of each kind hold a token of the group so often, on that rung."""
    rows = counts.rows
    where = np.ravel_multi_index((group[counts.token], counts.rung[rows], counts.count), (len(size), *cells))
    n = len(size) * cells[0] * cells[1]
    found: Floats = np.stack([np.bincount(where, kind[rows], n) for kind in member.T])
    found = found.reshape(-1, len(size), *cells)
    users = np.zeros((cells[0], member.shape[1]))
    np.add.at(users, counts.rung, member)
    found[..., 0] = np.maximum(users.T[:, None, :] * size[:, None] - found[..., 1:].sum(axis=-1), 0.0)
    return found.reshape(member.shape[1], len(size), -1)


def _membership(counts: Counts, group: Ints, size: Floats, alone: Floats, log_share: Floats) -> Floats:
    """Return the (n, K) probabilities of each user's kind."""
    logs = np.einsum("zgr,g->rz", alone[..., 0], size)[counts.rung] + log_share
    more = (alone - alone[..., :1])[:, group[counts.token], counts.rung[counts.rows], counts.count]
    np.add.at(logs, counts.rows, more.T)
    member = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(member / member.sum(axis=1, keepdims=True))


@njit(nogil=True, cache=True)
def expected_users(weight: Any, histogram: Any, likelihood: Any) -> Any:
    """Return how many users are expected at each point of the grid: (groups, G); likelihood is (cells, G)."""
    out = np.zeros_like(weight)
    for g in range(len(weight)):
        for c in range(len(likelihood)):
            if histogram[g, c] > 0.0:
                total = 0.0
                for i in range(len(likelihood[c])):
                    total += weight[g, i] * likelihood[c, i]
                factor = histogram[g, c] / total
                for i in range(len(likelihood[c])):
                    out[g, i] += factor * likelihood[c, i]
        for i in range(len(weight[g])):
            out[g, i] *= weight[g, i]
    return out
