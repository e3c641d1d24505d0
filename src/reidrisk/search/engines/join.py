"""The exact search as a join: statements that any SQL engine can run, in place of comparing pairs.

For each set S of epochs, targets are counted by their tokens at S, with the lowest row of each group; a query looks
its own tokens up there. A target of that group agrees on S at least, so that it scores

    score >= sum over epochs of mismatch + sum over S of gain,        gain = match - mismatch >= 0,

with equality where it agrees on S alone. The best score is the maximum over the sets that have a group; where S
reaches it, and no epoch of S has gain 0, every member of the group agrees on S *exactly*, so that groups of different
sets are disjoint: ties are the sum of their sizes, and the lowest target is the minimum. Sets are visited from the
largest to the smallest, and a query asks only where its score would not be below its best so far.

Targets with missing tokens are grouped by the epochs they were seen in: each such pattern has sets of its own, and its
scores differ by what mismatches in the other epochs are worth. A query's missing token has gain and mismatch 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from reidrisk.search.weights import AnyWeights, PairWeights, RangeWeights, Weights

MOST_SETS = 300
"""Sets of epochs, over all patterns of missing tokens, up to which a search is done by joins."""

_KEY = 1 << 62  # below this, tokens of several epochs are one whole number of 64 bits
_SMALL = 1 << 20  # possible groups up to which several sets are looked up in one statement
_SENT = 1 << 18  # possible groups up to which each executor of a cluster gets them all
_TOGETHER = 8  # sets in one statement, at most
_WORST = -(1 << 62)  # below any score
_ZERO = "CAST(0 AS BIGINT)"

Pattern = tuple[int, ...]
"""Epochs in which some targets were seen; in the others they have no token."""


def joinable(weights: AnyWeights) -> bool:
    """Whether which epochs agree is all that a score needs, and agreeing never counts against a target.

    >>> ones = np.ones((1, 2), dtype=np.int64)
    >>> joinable(Weights(match=ones, mismatch=0 * ones)), joinable(Weights(match=-ones, mismatch=0 * ones))
    (True, False)
    """
    if isinstance(weights, PairWeights | RangeWeights):
        return False
    largest = sum(int(np.abs(part).max(initial=0)) for part in (weights.match, weights.mismatch))
    return bool((weights.match >= weights.mismatch).all()) and largest < 1 << 50


def n_sets(patterns: Sequence[Pattern]) -> int:
    """Count the sets of epochs of all patterns.

    >>> n_sets([(0, 1, 2)]), n_sets([(0, 1, 2), (0, 2), ()])
    (8, 13)
    """
    return sum(1 << len(pattern) for pattern in patterns)


def weight_columns(weights: Weights) -> dict[str, Any]:
    """Return the weights as columns of a small table: epoch (0 where they hold for all), token, gain and mismatch."""
    rows, width = weights.match.shape
    return {
        "epoch": np.repeat(np.arange(rows, dtype=np.int32), width),
        "token": np.tile(np.arange(width, dtype=np.int32), rows),
        "gain": (weights.match - weights.mismatch).ravel(),
        "mismatch": weights.mismatch.ravel(),
    }


@dataclass(frozen=True)
class LatticeJoin:
    """The statements of one search: of targets with these ``patterns``, for weights of one row or of all epochs.

    ``targets`` and ``queries`` are names of relations with the columns id, c0, c1, …: whole numbers, -1 = missing;
    ``weights`` one of :func:`weight_columns`. Whatever statements make has the columns of :meth:`begin`.
    """

    n_epochs: int
    n_tokens: int
    patterns: tuple[Pattern, ...]
    one_row: bool
    truth: bool = False
    """Whether queries have the columns t0, t1, …, the tokens of their true target, and what it scores is asked for."""
    targets: str = "targets"
    queries: str = "queries"
    weights: str = "weights"

    @property
    def complete(self) -> bool:
        """Whether every target was seen in every epoch."""
        return self.patterns == (tuple(range(self.n_epochs)),)

    def begin(self) -> str:
        """Return the statement that gives every query its gains and mismatches, and no target yet."""
        epochs = range(self.n_epochs)
        gains = [f"coalesce(w{s}.gain, 0) AS g{s}" for s in epochs]
        worth = [f"coalesce(w{s}.mismatch, 0)" for s in epochs]
        mismatches = (
            [f"{' + '.join([_ZERO, *worth])} AS base"]
            if self.complete
            else [f"{w} AS m{s}" for s, w in enumerate(worth)]
        )
        columns = ["q.id", *(f"q.c{s}" for s in epochs), *gains, *mismatches]
        if self.truth:
            seen = (f"CASE WHEN q.c{s} < 0 OR q.t{s} < 0 THEN 0" for s in epochs)
            scored = (
                f"{unseen} WHEN q.c{s} = q.t{s} THEN coalesce(w{s}.gain, 0) + {worth[s]} ELSE {worth[s]} END"
                for s, unseen in enumerate(seen)
            )
            columns.append(f"CASE WHEN q.truth >= 0 THEN {' + '.join([_ZERO, *scored])} END AS own")
        found = [f"CAST({_WORST} AS BIGINT) AS score", f"{_ZERO} AS ties", "CAST(-1 AS BIGINT) AS lowest"]
        joins = (
            f"LEFT JOIN {self.weights} w{s} ON q.c{s} = w{s}.token AND w{s}.epoch = {0 if self.one_row else s}"
            for s in epochs
        )
        return f"SELECT {', '.join([*columns, *found])} FROM {self.queries} q {' '.join(joins)}"

    def batches(self) -> Iterator[tuple[tuple[Pattern, Pattern], ...]]:
        """Yield (pattern, set) in the order of their statements; those with few groups are done several at a time."""
        batch: list[tuple[Pattern, Pattern]] = []
        for pattern in self.patterns:
            for size in range(len(pattern), -1, -1):
                few = self.n_tokens**size <= _SMALL
                for subset in combinations(pattern, size):
                    if batch and (not few or len(batch) == _TOGETHER):
                        yield tuple(batch)
                        batch = []
                    batch.append((pattern, subset))
                    if not few:
                        yield tuple(batch)
                        batch = []
        if batch:
            yield tuple(batch)

    def advance(self, state: str, batch: tuple[tuple[Pattern, Pattern], ...]) -> str:
        """Return the statement that lets these sets speak; ``state`` is what the one before has made."""
        source = state
        for i, (pattern, subset) in enumerate(batch):
            source = self._visited(source if i == 0 else f"({source})", pattern, subset)
        return source

    def _visited(self, source: str, pattern: Pattern, subset: Pattern) -> str:
        base = "s.base" if self.complete else " + ".join([_ZERO, *(f"s.m{s}" for s in pattern)])
        gain = " + ".join([base, *(f"s.g{s}" for s in subset)])
        asks = " AND ".join([*(f"s.g{s} > 0" for s in subset), f"{gain} >= s.score"])
        # Keys of queries that do not ask are below 0, where no group is, and all differ: were they alike, one executor
        # of a cluster would get them all. A hint is a comment to engines that know none.
        hint = "BROADCAST" if self.n_tokens ** len(subset) <= _SENT else "SHUFFLE_HASH"
        ours, theirs = self._keys("s", subset), self._keys("t", subset)
        same = [
            f"(CASE WHEN {asks} THEN {ours[0]} ELSE -1 - s.id END) = g.k0",
            *(f"{key} = g.k{i}" for i, key in enumerate(ours) if i),
        ]
        keys = ", ".join(f"{key} AS k{i}" for i, key in enumerate(theirs))
        places = ", ".join(str(i + 1) for i in range(len(theirs)))
        groups = (
            f"SELECT {keys}, count(*) AS n, min(t.id) AS low FROM {self.targets} t{self._of(pattern)} GROUP BY {places}"
        )
        kept = ", ".join(f"s.{name}" for name in self.kept)
        nobody, better = "CASE WHEN g.n IS NULL THEN", f"WHEN {gain} > s.score THEN"
        return (
            f"SELECT /*+ {hint}(g) */ {kept}, {nobody} s.score ELSE {gain} END AS score, "
            f"{nobody} s.ties {better} g.n ELSE s.ties + g.n END AS ties, "
            f"{nobody} s.lowest {better} g.low ELSE least(s.lowest, g.low) END AS lowest "
            f"FROM {source} s LEFT JOIN ({groups}) g ON {' AND '.join(same)}"
        )

    @property
    def kept(self) -> list[str]:
        """The columns that stay as they are while a search goes on."""
        epochs = range(self.n_epochs)
        mismatches = ["base"] if self.complete else [f"m{s}" for s in epochs]
        own = ["own"] if self.truth else []
        return ["id", *(f"c{s}" for s in epochs), *(f"g{s}" for s in epochs), *mismatches, *own]

    def _of(self, pattern: Pattern) -> str:
        """Return the condition for targets seen in exactly these epochs."""
        if self.complete:
            return ""
        seen = (f"t.c{s} {'>= 0' if s in pattern else '< 0'}" for s in range(self.n_epochs))
        return f" WHERE {' AND '.join(seen)}"

    def _keys(self, table: str, subset: Pattern) -> list[str]:
        """Return tokens at these epochs as few whole numbers: equal where the tokens are, and only there."""
        keys: list[list[str]] = [[]]
        width = 1
        for s in subset:
            if width * self.n_tokens > _KEY:
                keys.append([])
                width = 1
            keys[-1].append(f"CAST({table}.c{s} AS BIGINT) * {width}")
            width *= self.n_tokens
        return [" + ".join(parts) if parts else _ZERO for parts in keys]
