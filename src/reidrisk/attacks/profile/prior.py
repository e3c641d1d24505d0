"""How people's rates are spread: a prior for each token and kind of user, learnt from the targets' counts alone.

In each of a few kinds of users, every token has a prior F over a fixed grid of rates theta, found by
expectation-maximisation: the nonparametric maximum-likelihood mixing distribution of the counts, drawn towards that of
all tokens by a few pseudo-users, since rare tokens say little of themselves. Kinds (people of many interests, or of
few) let the tokens of one user depend on each other. What sets a kind apart is for the most part common to all tokens:
one change of shape, from the rates of all users to those of the kind. So a token's prior in a kind is drawn towards its
prior among all users changed in that way, and the targets say how far.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reidrisk.attacks.profile.counts import Counts, Ladder
from reidrisk.base import Floats, Ints, njit

_POINTS = 32
_OWN = 1_024  # tokens that have a prior of their own; rarer ones share theirs with tokens as rare
_PSEUDO_USERS = 5.0
_DRAWN = (2.5, 5.0, 10.0, 20.0, 40.0)  # pseudo-users that may draw the priors of a kind
_FIRST = 10.0  # as many, until the targets have said how many
_FLOOR = 1e-4  # share of the shape of all tokens that is spread evenly: nothing is impossible
_ALONE, _TOGETHER, _INNER = 150, 30, 5  # rounds without kinds, with kinds, and within one of these
_TRIED = 10  # rounds in which pseudo-users are compared


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
    Halfway, every other user says by how many pseudo-users priors of a kind are best drawn towards those of all users.
    """
    group = group_tokens(counts)
    n_groups, depth = int(group.max()) + 1, int(counts.count.max(initial=0))
    rungs, level = np.unique(counts.rung, return_inverse=True)
    counts, observed = replace(counts, rung=level), ladder.epochs(rungs)  # rungs on which nobody stands cost nothing
    cells = (len(rungs), depth + 1)
    levels, times = (x.ravel() for x in np.indices(cells))
    logs = log_alone(grid, times, observed[levels])
    scale = logs.max(axis=0)
    likelihood = np.ascontiguousarray(np.exp(logs - scale).T)  # a factor common to all rates changes no posterior
    size = np.bincount(group, minlength=n_groups).astype(np.float64)
    histogram = _histogram(counts, group, size, cells, np.ones((len(counts), 1)))[0]
    everyone = AllUsers(np.full((n_groups, len(grid.rate)), 1.0 / len(grid.rate)), likelihood, size)
    for _ in range(_ALONE):
        expected = expected_users(everyone.weight, histogram, likelihood)
        everyone = everyone._replace(weight=_drawn(expected, _shape(expected), _PSEUDO_USERS * size))
    if kinds == 1:
        return Prior(np.ones(1), everyone.weight[None], group, grid)
    member, pseudo = _first_kinds(counts, observed[level], kinds), _FIRST
    share, each = np.ones(1), np.repeat(everyone.weight[None], member.shape[1], axis=0)
    for number in range(_TOGETHER):
        kept = member.sum(axis=0) > 1e-3
        member, each = member[:, kept], each[kept]
        if number == _TOGETHER // 2:
            # Users stand in the order of what they hold: those alike are on both sides.
            halves = (member * (np.arange(len(counts)) % 2 == side)[:, None] for side in (0, 1))
            pseudo = everyone.drawn_best(*(_histogram(counts, group, size, cells, half) for half in halves))
        for z, counted in enumerate(_histogram(counts, group, size, cells, member)):
            each[z] = everyone.changed(each[z], counted, pseudo, _INNER)
        share = member.mean(axis=0)
        averaged = np.einsum("zgp,cp->zgc", each, likelihood)  # no library's threads for sums so small
        alone = (np.log(averaged) + scale).reshape(len(share), n_groups, *cells)
        member = _membership(counts, group, size, alone, np.log(share))
    return Prior(share, each, group, grid)


class AllUsers(NamedTuple):
    """The priors of all users, from which those of a kind differ by one change of shape and what its users say."""

    weight: Floats  # (groups, G)
    likelihood: Floats  # (cells, G)
    size: Floats  # tokens of each group

    def changed(self, weight: Floats, counted: Floats, pseudo: float, rounds: int) -> Floats:
        """Improve the (groups, G) priors of a kind, of whose users ``counted`` is the histogram.

        With e the users expected at each rate and token, the change of shape is sum_v e_v(theta), as a share of all,
        over the same of the priors of all users.
        """
        common = _shape(self.weight * self.size[:, None])
        for _ in range(rounds):
            expected = expected_users(weight, counted, self.likelihood)
            towards = self.weight * (_shape(expected) / common)
            weight = _drawn(expected, towards / towards.sum(axis=1, keepdims=True), pseudo * self.size)
        return weight

    def drawn_best(self, *halves: Floats) -> float:
        """Return by how many pseudo-users priors are drawn when those of each half make the other half most likely."""
        found = np.zeros(len(_DRAWN))
        for ours, theirs in (halves, halves[::-1]):
            for counted, asked in zip(ours, theirs, strict=True):
                for place, pseudo in enumerate(_DRAWN):  # each anew: rounds that one has more would count as its own
                    weight = self.changed(self.weight, counted, pseudo, _TRIED)
                    found[place] += log_likelihood(weight, asked, self.likelihood)
        return _DRAWN[int(found.argmax())]


def _shape(expected: Floats) -> Floats:
    """Return the distribution of the rates of all tokens together; nothing is impossible."""
    shape = expected.sum(axis=0) / max(expected.sum(), 1e-300)
    return np.asarray((1.0 - _FLOOR) * shape + _FLOOR / len(shape))


def _drawn(expected: Floats, towards: Floats, pseudo: Floats) -> Floats:
    """Return the distributions, each drawn towards another one by pseudo-users."""
    return np.asarray((expected + pseudo[:, None] * towards) / (expected.sum(axis=1) + pseudo)[:, None])


def _first_kinds(counts: Counts, observed: Floats, kinds: int) -> Floats:
    """Split users by how many different tokens they hold in an observed epoch; equals stay together."""
    variety = np.diff(counts.start) / np.maximum(observed, 1.0)
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
    rows = counts.rows
    more = (alone - alone[..., :1])[:, group[counts.token], counts.rung[rows], counts.count]
    logs += np.stack([np.bincount(rows, kind, len(counts)) for kind in more], axis=1)
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


@njit(nogil=True, cache=True)
def log_likelihood(weight: Any, histogram: Any, likelihood: Any) -> Any:
    """Return how likely the histogram is by the (groups, G) priors, up to what is common to all priors."""
    out = 0.0
    for g in range(len(weight)):
        for c in range(len(likelihood)):
            if histogram[g, c] > 0.0:
                total = 0.0
                for i in range(len(likelihood[c])):
                    total += weight[g, i] * likelihood[c, i]
                out += histogram[g, c] * math.log(total)
    return out
