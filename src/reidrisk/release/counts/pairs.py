"""Exact counts of pairs within and across consecutive epochs (dick, Section 4.2); private: they stay with the owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.parallel import each, n_threads
from reidrisk.base.streams import blocks
from reidrisk.records import TopSets
from reidrisk.release.counts.sensitivity import measured_blocks

Table = npt.NDArray[np.int64]

MAX_VOCABULARY = 8192
"""Tokens. Every pair gets noise, those that never occur too, so tables are dense: 0.5 GiB each at this size."""

_CHUNK = 1 << 17  # users whose sets are copied at a time
_ONE_TABLE = 2048  # tokens from which threads share the work by table instead of each having tables of their own


@dataclass(frozen=True, eq=False)
class Counts:
    """Tables of counts, noisy or exact, named as in :func:`measured_blocks`; those within an epoch are symmetric."""

    tables: Mapping[str, npt.NDArray[Any]]
    k: int
    n_tokens: int
    n_epochs: int

    def flat(self, name: str) -> npt.NDArray[Any]:
        """Return a table as the vector that noise is added to: each unordered pair once, or every cell."""
        table = self.tables[name]
        if name in ("f12", "across"):
            return np.ascontiguousarray(table).ravel()
        return table[np.triu_indices(self.n_tokens, 1)]

    def replaced(self, vectors: Mapping[str, npt.NDArray[Any]]) -> Counts:
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
        return Counts(tables, self.k, self.n_tokens, self.n_epochs)


def count_pairs(top_sets: TopSets, threads: int | None = None) -> Counts:
    r"""Count how many users have each pair of tokens within an epoch, and in consecutive epochs.

    Two epochs: ``f11[a, b]`` users have both a and b in the first, ``f22[a, b]`` in the second, and ``f12[a, b]`` have
    a in the first and b in the second. More epochs: ``within`` and ``across`` are the sums over epochs and over pairs
    of consecutive epochs.

    The sets must be full, of at least two epochs: pad short ones first, once, with ``top_sets.padded()``.

    Examples
    --------
    >>> counts = count_pairs(TopSets([[[0, 1], [1, 2]], [[1, 0], [0, 2]]], n_tokens=3))
    >>> counts.tables["f11"].tolist()
    [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    >>> counts.tables["f12"].tolist()
    [[1, 1, 2], [1, 1, 2], [0, 0, 0]]
    """
    if not isinstance(top_sets, TopSets):
        raise DataError(f"statistics are measured on TopSets, not on {type(top_sets).__name__}")
    if top_sets.n_tokens > MAX_VOCABULARY:
        raise OptionError(
            f"a vocabulary of {top_sets.n_tokens:,} tokens has too many pairs; {MAX_VOCABULARY:,} tokens at most: "
            "merge rare tokens by a rule that does not look at these data"
        )
    if not top_sets.is_padded:
        raise DataError("some top sets are not full; pad them once, before anything is counted: top_sets.padded()")
    measured_blocks(top_sets.k, top_sets.n_tokens, top_sets.n_epochs)
    within, across = _sums(top_sets, n_threads(threads))
    full = [table + table.T for table in within]
    if top_sets.n_epochs == 2:
        tables = {"f11": full[0], "f22": full[1], "f12": across}
    else:
        tables = {"within": full[0], "across": across}
    if top_sets.k == 1:
        tables = {name: table for name, table in tables.items() if name in ("f12", "across")}
    return Counts(tables, top_sets.k, top_sets.n_tokens, top_sets.n_epochs)


def _sums(top_sets: TopSets, threads: int) -> tuple[list[Table], Table]:
    """Return the upper triangles within (two of them for two epochs, else their sum) and the table across."""
    from reidrisk.release.counts.kernels import count_across, count_within  # the compiler is loaded by those who count

    n, r = top_sets.n_tokens, top_sets.n_epochs
    apart = r == 2
    workers = threads if n <= _ONE_TABLE else 1

    def part(worker: int) -> tuple[list[Table], Table]:
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
