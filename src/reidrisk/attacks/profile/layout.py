"""Targets of ProfileBayes laid out by token, in blocks whose sums stay in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.profile.counts import Counts
from reidrisk.base.kernels import njit

Ints = npt.NDArray[np.int64]

BLOCK = 4_096  # targets whose sums are built together: some 100 KiB for three kinds
_STARTS = 50_000_000  # entries of the table of starts, at most


@dataclass(frozen=True, eq=False)
class Layout:
    """Targets by block and token: ``member[start[b, o]:start[b, o + 1]]`` are the places in block b of those with o."""

    start: Ints
    member: npt.NDArray[np.int32]
    times: npt.NDArray[np.uint8]
    columns: npt.NDArray[Any]
    block: int


def lay_out(targets: Counts) -> Layout:
    """Lay the targets out by token."""
    n, width = len(targets), targets.n_tokens
    block = max(BLOCK, -(-n // max(_STARTS // (width + 1), 1)))
    start = np.zeros((-(-n // block), width + 1), dtype=np.int64)
    member = np.empty(len(targets.token), dtype=np.int32)
    times = np.empty(len(targets.token), dtype=np.uint8)
    _lay_out(targets.start, targets.token, targets.count, block, start, member, times)
    return Layout(start, member, times, np.ascontiguousarray(targets.epochs.T), block)


@njit(nogil=True, cache=True)
def _lay_out(
    row: Any, token: Any, count: Any, block: Any, start: Any, member: Any, times: Any
) -> None:  # pragma: no cover - compiled
    n = len(row) - 1
    for b in range(len(start)):
        first, last = b * block, min((b + 1) * block, n)
        at = start[b]
        at[0] = row[first]
        for place in range(row[first], row[last]):
            at[token[place] + 1] += 1
        for o in range(1, len(at)):
            at[o] += at[o - 1]
        free = at[:-1].copy()
        for i in range(first, last):
            for place in range(row[i], row[i + 1]):
                where = free[token[place]]
                free[token[place]] += 1
                member[where] = i - first
                times[where] = count[place]
