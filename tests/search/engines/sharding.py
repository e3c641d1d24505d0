"""An engine that cuts the targets into shards, asks the scorer for each, and merges: what any cluster would do."""

import copy
import functools
import pickle

import numpy as np

from reidrisk.search import merged, merged_candidates


class ShardingEngine:
    """Cuts the targets at these rows; every shard gets a scorer that was written and read again."""

    def __init__(self, cuts):
        self.cuts, self.asked = cuts, 0

    def best(self, scorer, targets, queries):
        parts = []
        for there, shard, first in self.shards(scorer, targets):
            found = there.best(shard, queries)
            parts.append(found._replace(target=np.where(found.target >= 0, found.target + first, -1)))
        self.asked += len(parts)
        return functools.reduce(merged, parts)

    def candidates(self, scorer, targets, queries, k):
        parts = []
        for there, shard, first in self.shards(scorer, targets):
            found = there.candidates(shard, queries, min(k, len(shard)))
            parts.append(found._replace(target=found.target + first))
        self.asked += len(parts)
        return merged_candidates(parts, k)

    def total(self, scorer, targets, queries, score):
        parts = [there.total(shard, queries, score) for there, shard, _ in self.shards(scorer, targets)]
        self.asked += len(parts)
        return sum(parts)

    def shards(self, scorer, targets):
        for rows in np.split(np.arange(len(targets)), self.cuts):
            if len(rows):
                yield pickle.loads(pickle.dumps(scorer)), copy.copy(targets.take(rows)), rows[0]
