"""Counts of pairs within and across consecutive epochs, and how far one user moves them (dick, Section 4.2).

Exact counts are private: they stay with the owner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reidrisk.base import Array, DataError, Ints, OptionError, blocks, each, n_threads
from reidrisk.records import TopSets

MAX_VOCABULARY = 8192
"""Tokens. Every pair gets noise, those that never occur too, so tables are dense: 0.5 GiB each at this size."""

_CHUNK = 1 << 17  # users whose sets are copied at a time
_ONE_TABLE = 2048  # tokens from which threads share the work by table instead of each having tables of their own


@dataclass(frozen=True)
class CountTable:
    """One table of counts that noise is added to."""

    name: str  # f11, f22, f12 of two epochs; within, across where counts are summed over more epochs
    sensitivity: float  # largest l2 distance between the tables of two data sets that differ in one user
    error: float  # summed squared error of the statistics q, times the number of users squared, for noise of variance 1


def measured_blocks(k: int, n_tokens: int, n_epochs: int) -> tuple[CountTable, ...]:
    r"""Return the tables that are measured on ``n_epochs`` epochs of sets of ``k`` tokens out of ``n_tokens``.

    Two epochs give :math:`f_{11}, f_{22}, f_{12}` with sensitivities :math:`\sqrt{\binom k2}, \sqrt{\binom k2}, k`
    (dick, Appendix A). More epochs, E of them, give the sums over epochs and over pairs of consecutive epochs: one user
    adds at most E to each of :math:`\binom k2` pairs and E - 1 to each of :math:`k^2`, and does when their set never
    changes.

    >>> [(block.name, round(block.sensitivity, 3)) for block in measured_blocks(5, 469, 4)]
    [('within', 12.649), ('across', 15.0)]
    """
    if n_epochs < 2:
        raise OptionError(f"pairs across epochs need at least 2 epochs, not {n_epochs}; give one more epoch")
    pairs, cells = math.comb(n_tokens, 2), n_tokens**2
    # q_single is a sum of n_tokens - 1 entries of q_within over k - 1: its error counts with that of q_within.
    within = pairs * (1.0 + 2.0 / (k - 1) ** 2) if k > 1 else 0.0
    one = math.sqrt(math.comb(k, 2))
    if n_epochs == 2:
        found = [
            CountTable("f11", one, within / 4),
            CountTable("f22", one, within / 4),
            CountTable("f12", float(k), float(cells)),
        ]
    else:
        steps = n_epochs - 1
        across = CountTable("across", float(steps * k), cells / steps**2)
        found = [CountTable("within", n_epochs * one, within / n_epochs**2), across]
    # Sets of one token hold no pair: that table is 0 whatever the data, and needs no noise.
    return tuple(block for block in found if block.sensitivity > 0.0)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Tables of counts, noisy or exact, named as in :func:`measured_blocks`; those within an epoch are symmetric."""

    tables: Mapping[str, Array]
    k: int
    n_tokens: int
    n_epochs: int

    def flat(self, name: str) -> Array:
        """Return a table as the vector that noise is added to: each unordered pair once, or every cell."""
        table = self.tables[name]
        if name in ("f12", "across"):
            return np.ascontiguousarray(table).ravel()
        return table[np.triu_indices(self.n_tokens, 1)]

    def replaced(self, vectors: Mapping[str, Array]) -> PairCounts:
        """Return tables made of vectors as :meth:`flat` gives them."""
        upper = np.triu_indices(self.n_tokens, 1)
        tables = {}
        for name, values in vectors.items():
            if name in ("f12", "across"):
                tables[name] = values.reshape(self.n_tokens, self.n_tokens)
            else:
                table = np.zeros((self.n_tokens, self.n_tokens), dtype=values.dtype)
                table[upper] = values
                tables[name] = table + table.T
        return PairCounts(tables, self.k, self.n_tokens, self.n_epochs)


def count_pairs(top_sets: TopSets, threads: int | None = None) -> PairCounts:
    r"""Count how many users have each pair of tokens within an epoch, and in consecutive epochs.

    Two epochs: ``f11[a, b]`` users have both a and b in the first, ``f22[a, b]`` in the second, and ``f12[a, b]`` have
    a in the first and b in the second. More epochs: ``within`` and ``across`` are the sums over epochs and over pairs
    of consecutive epochs. The sets must be full: pad short ones first, once, with ``top_sets.padded()``.

    >>> counts = count_pairs(TopSets([[[0, 1], [1, 2]], [[1, 0], [0, 2]]], n_tokens=3))
    >>> counts.tables["f12"].tolist()
    [[1, 1, 2], [1, 1, 2], [0, 0, 0]]
    """
    if not isinstance(top_sets, TopSets):
        raise DataError(f"statistics are measured on TopSets, not on {type(top_sets).__name__}")
    if top_sets.n_tokens > MAX_VOCABULARY:
        few = f"{MAX_VOCABULARY:,} tokens at most: merge rare ones by a rule that does not look at these data"
        raise OptionError(f"a vocabulary of {top_sets.n_tokens:,} tokens has too many pairs; {few}")
    if not top_sets.is_padded:
        raise DataError("some top sets are not full; pad them once, before anything is counted: top_sets.padded()")
    shape = (top_sets.k, top_sets.n_tokens, top_sets.n_epochs)
    measured = measured_blocks(*shape)
    within, across = _sums(top_sets, n_threads(threads))
    names = ("f11", "f22", "f12") if top_sets.n_epochs == 2 else ("within", "across")
    tables = dict(zip(names, [*(table + table.T for table in within), across], strict=True))
    return PairCounts({block.name: tables[block.name] for block in measured}, *shape)


def _sums(top_sets: TopSets, threads: int) -> tuple[list[Ints], Ints]:
    """Return the upper triangles within (two of them for two epochs, else their sum) and the table across."""
    from reidrisk.release.counts.kernels import count_across, count_within  # the compiler is loaded by those who count

    n, r, apart = top_sets.n_tokens, top_sets.n_epochs, top_sets.n_epochs == 2
    workers = threads if n <= _ONE_TABLE else 1

    def part(worker: int) -> tuple[list[Ints], Ints]:
        within = [np.zeros((n, n), dtype=np.int64) for _ in range(2 if apart else 1)]
        across = np.zeros((n, n), dtype=np.int64)
        for block, start, stop in blocks(len(top_sets), _CHUNK):
            if block % workers != worker:
                continue
            sets = np.ascontiguousarray(top_sets.tokens[start:stop].transpose(1, 0, 2), dtype=np.int32)
            for epoch in range(r):
                count_within(sets[epoch], within[epoch if apart else 0])
                if epoch:
                    count_across(sets[epoch - 1], sets[epoch], across)
        return within, across

    (within, across), *others = each(part, range(workers), workers)
    for other, added in others:
        across += added
        for mine, theirs in zip(within, other, strict=True):
            mine += theirs
    return within, across
