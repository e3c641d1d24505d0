"""What the kernels of the attacks compute, the slow and obvious way in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from reidrisk.attacks.profile.calibration import _posterior
from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.kernel import Likelihoods
from reidrisk.attacks.profile.likelihoods import cell
from reidrisk.attacks.sets.reconstruction import Reconstruction
from reidrisk.records import Traces
from reidrisk.search.weights import GRID

Ints = npt.NDArray[np.int64]


def pair_scores_numpy(targets: Counts, queries: Counts, tables: Likelihoods) -> Ints:
    """Return all (q, n) scores the slow and obvious way: a sum over every token of the vocabulary, kind by kind."""
    width, kinds = targets.n_tokens, tables.nothing.shape[1]
    dense = []
    for records in (targets, queries):
        matrix = np.zeros((len(records), width), dtype=np.int64)
        rows = np.repeat(np.arange(len(records)), np.diff(records.start))
        matrix[rows, records.token] = np.minimum(records.count, tables.depth)
        dense.append(matrix)
    share = tables.nothing - np.tensordot(np.bincount(tables.group), tables.joint[:, :, 0].astype(np.int64), 1)
    every = np.arange(width)

    def alone(records: Counts, matrix: Ints) -> Ints:
        sums = tables.alone[tables.group[every], records.rung[:, None], matrix].astype(np.int64).sum(axis=1) + share[0]
        return _summed(sums)

    out = np.zeros((len(queries), len(targets)), dtype=np.int64)
    by_target, by_query = alone(targets, dense[0]), alone(queries, dense[1])
    for i in range(len(queries)):
        pairs = np.zeros((len(targets), width), dtype=np.int64)
        if tables.per_pair:
            same = (targets.epochs == queries.epochs[i]) & (queries.epochs[i] >= 0)
            rows, at = np.nonzero(same)
            np.add.at(pairs, (rows, queries.epochs[i][at]), 1)
            pairs = (pairs + tables.per_pair // 2) // tables.per_pair
        sights = dense[0] + dense[1][i]
        where = cell(sights, np.minimum(pairs, np.minimum(dense[0], dense[1][i]))) if tables.per_pair else sights
        rungs = (targets.rung + queries.rung[i])[:, None]
        sums = tables.joint[tables.group[every], rungs, where].astype(np.int64).sum(axis=1) + share[0]
        seen = dense[0].any(axis=1) & dense[1][i].any()
        out[i] = np.where(seen, _summed(sums.reshape(-1, kinds)) - by_target - by_query[i], 0)
    return out


def _summed(sums: Ints) -> Ints:
    top = sums.max(axis=1)
    total = np.exp((sums - top[:, None]) / GRID).sum(axis=1)
    return np.asarray(top + np.rint(np.log(total) * GRID).astype(np.int64))


def reconstruct_numpy(traces: Traces, threshold: int) -> Reconstruction:
    """Return the same as ``reconstruct``."""
    counts = (traces.tokens[:, :, None] == np.arange(64 * -(-traces.n_tokens // 64))).sum(axis=1)
    bits = [np.packbits(counts >= f, axis=1, bitorder="little") for f in (1, threshold)]
    return Reconstruction(*(np.ascontiguousarray(packed).view("<u8").astype(np.uint64) for packed in bits))


def agreement_numpy(targets, cells, values, weights, alpha):
    """Return the same as ``scoreboard.agreement``."""
    near = np.abs(values[:, None, :] - targets[:, cells].swapaxes(0, 1)) < alpha
    return np.asarray((near * weights[cells][:, None, :]).sum(axis=2))


def expected_users_numpy(weight, histogram, likelihood):
    """Return the same as ``prior.expected_users``."""
    return np.asarray(weight * ((histogram / (weight @ likelihood.T)) @ likelihood))


def draw_rates_numpy(prior, counts, ladder, rng):
    """Return the same as ``calibration.draw_rates``, user by user."""
    size = np.bincount(prior.group)
    epochs = ladder.epochs(np.arange(ladder.n_rungs))
    # Most tokens are not held: their posterior is the same for all users of a rung and kind.
    unseen = [_posterior(prior, np.zeros(1, dtype=np.int64), n)[:, :, 0] for n in epochs]
    drawn = np.empty((len(counts), counts.n_tokens), dtype=np.int64)
    for i, rung in enumerate(counts.rung):
        part = slice(counts.start[i], counts.start[i + 1])
        held, groups = counts.token[part], prior.group[counts.token[part]]
        nothing = unseen[rung]
        totals = np.log(nothing[..., -1])
        times, place = np.unique(counts.count[part], return_inverse=True)
        mine = _posterior(prior, times, epochs[rung])[:, groups, place]
        kind_sums = np.log(prior.share) + totals @ size + (np.log(mine[..., -1]) - totals[:, groups]).sum(axis=1)
        chance = np.exp(kind_sums - kind_sums.max())
        z = int(rng.choice(len(chance), p=chance / chance.sum()))
        u = rng.random((counts.n_tokens, 1))
        cumulative = nothing[z][prior.group]
        drawn[i] = (cumulative < u * cumulative[:, -1:]).sum(axis=1)
        drawn[i, held] = (mine[z] < u[held] * mine[z][:, -1:]).sum(axis=1)
    return np.minimum(drawn, len(prior.grid.rate) - 1)


@st.composite
def set_pairs(draw):
    """Draw two small tables over one vocabulary, and a threshold of the set attacks."""
    n_tokens = draw(st.sampled_from([2, 4, 6, 70, 130]))
    values = st.integers(-1, min(n_tokens, 5) - 1).map(lambda o: o if o < 1 else o + n_tokens - min(n_tokens, 5))
    r = draw(st.integers(1, 6))
    tables = [draw(st.lists(st.lists(values, min_size=r, max_size=r), min_size=2, max_size=7)) for _ in range(2)]
    return Traces(tables[0], n_tokens), Traces(tables[1], n_tokens), draw(st.integers(1, 3))
