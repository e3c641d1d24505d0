"""The scores of ProfileBayes the slow and obvious way, in NumPy: what the kernels are tested against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.profile.counts import Counts
from reidrisk.attacks.profile.tables import Tables, cell
from reidrisk.search.weights import GRID

__all__ = ["pair_scores_numpy"]

Ints = npt.NDArray[np.int64]


def pair_scores_numpy(targets: Counts, queries: Counts, tables: Tables) -> Ints:
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
