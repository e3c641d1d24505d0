"""The evidence of one token, in whole steps of the score grid, for every pair of counts that can occur.

Over one epoch two observers of a user of rate theta see a token both, one of them, or neither, with probabilities

    p11 = both(theta),    p10 = p01 = theta - p11,    p00 = 1 - 2 theta + p11.

With S sights in all, m of them pairs in the same epoch, and both observers there in all of n epochs, the likelihood is
p11^m p10^(S - 2m) p00^(n - S + m): it depends on S and m alone, and is averaged over the prior. With gaps, N epochs
observed in all stand for (N / 2)^2 o / r epochs observed by both, as if gaps fell on both alike and, but for the
overlap o of the ladder, independently; the other epochs, and their share of the sights, are those of one observer
alone. Without gaps this is exact.
"""

import math

import numpy as np

from reidrisk.attacks.profile.counts import MOST, Ladder
from reidrisk.attacks.profile.kernel import Likelihoods
from reidrisk.attacks.profile.prior import Grid, Prior, log, log_alone
from reidrisk.base.arrays import Floats, Ints, Ints32
from reidrisk.search.weights import to_grid

_ENTRIES = 60_000_000  # of the table of evidence, at most: 240 MB
_DEEPEST = 64  # with pairs tables grow with the square of the counts, and so does the work for each query


def cell(sights: Ints | int, pairs: Ints | int) -> Ints:
    """Return the place of (S, m), m <= S / 2, in a table without holes."""
    return np.asarray((np.asarray(sights, dtype=np.int64) + 1) ** 2 // 4 + pairs)


def log_joint(grid: Grid, sights: Ints, pairs: Ints, epochs: Floats, trials: float) -> Floats:
    """Return (G, …) log-likelihoods of S sights, m of them in the same epoch, in N epochs observed in all."""
    if not grid.same_epoch:
        return log_alone(grid, sights, epochs)
    theta, both = (values.reshape(-1, *(1,) * np.ndim(sights)) for values in (grid.rate, grid.both))
    together = np.minimum(epochs**2 / (4.0 * trials), epochs / 2.0)
    # Of the sights, this many fall where both observe; those seen in the same epoch certainly do.
    shared = np.clip(sights * epochs / (2.0 * trials), 2.0 * pairs, sights)
    alone = sights - shared
    terms = (
        (pairs, both),
        (shared - 2 * pairs, theta - both),
        (np.maximum(together - shared + pairs, 0.0), 1.0 - 2.0 * theta + both),
        (alone, theta),
        (np.maximum(epochs - 2.0 * together - alone, 0.0), 1.0 - theta),
    )
    return np.asarray(sum(np.where(times > 0, times * log(chance), 0.0) for times, chance in terms))


def build_likelihoods(prior: Prior, ladder: Ladder, depth: int, gaps: bool) -> Likelihoods:
    """Average the likelihoods over the prior, and round them once; without gaps there is one rung, the highest."""
    rungs = np.arange(ladder.n_rungs if gaps else 1)
    of_pairs = np.arange(2 * len(rungs) - 1)
    sights = np.arange(2 * depth + 1)
    pairs = np.zeros_like(sights)
    if prior.grid.same_epoch:
        sights = np.repeat(sights, sights // 2 + 1)
        pairs = np.arange(len(sights)) - cell(sights, 0)
    together, trials = 2.0 * ladder.trials - ladder.step * of_pairs, ladder.trials / ladder.overlap
    joint = [_averaged(prior, log_joint(prior.grid, sights, pairs, np.maximum(n, 0.0), trials)) for n in together]
    alone = [_averaged(prior, log_alone(prior.grid, np.arange(depth + 1), n)) for n in ladder.epochs(rungs)]
    size, share = np.bincount(prior.group), to_grid(np.log(prior.share))
    joined, single = (np.ascontiguousarray(np.stack(parts, axis=1)) for parts in (joint, alone))
    nothing, none = (np.tensordot(size, part[:, :, 0].astype(np.int64), 1) + share for part in (joined, single))
    per_pair = ladder.every if prior.grid.same_epoch else 0
    return Likelihoods(joined, nothing, single, none, depth, prior.group, per_pair)


def deepest(groups: int, n_rungs: int, kinds: int, same_epoch: bool) -> int:
    """Return the largest count for which tables have no more than 60 million entries, 4 at least and a byte at most."""
    cells = _ENTRIES // (groups * (2 * n_rungs - 1) * kinds)
    depth = (math.isqrt(4 * cells) - 2) // 2 if same_epoch else (cells - 1) // 2
    return min(max(depth, 4), _DEEPEST if same_epoch else MOST)


def _averaged(prior: Prior, logs: Floats) -> Ints32:
    """Return (groups, cells, K) logarithms of the likelihood averaged over the prior, on the grid."""
    highest = logs.max(axis=0)
    averaged = np.log(prior.weight @ np.exp(logs - highest)) + highest
    # What cannot happen (sets of one without noise) is lower with every epoch, until it would leave the integers.
    whole = np.iinfo(np.int32)
    return to_grid(np.moveaxis(averaged, 0, -1)).clip(whole.min, whole.max).astype(np.int32)
