"""Records as counts: how often each record holds each token, and in how many epochs it was observed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from reidrisk.attacks.pooled import Pooled, gathered
from reidrisk.errors import DataError
from reidrisk.traces import Bags, Traces

__all__ = ["BAG_TRIALS", "CAP", "Counts", "Ladder", "count", "ladder_of", "one_table", "widened"]

Ints = npt.NDArray[np.int64]

CAP = 64
"""A token counts at most so often: beyond, another sight of it tells next to nothing, and tables would grow."""

BAG_CAP = 15
"""The same for bags, whose counts may be plays or clicks."""

BAG_TRIALS = 32
"""Trials a bag stands for. Bags have no epochs: how much is in one is told by its rates, not by its trials."""

_LEVELS = 16


@dataclass(frozen=True)
class Ladder:
    """Numbers of observed epochs, rounded to rungs ``step`` apart that hold ``trials`` exactly.

    Rounded numbers add up (rung of target + rung of query), so that one table serves every pair. Up to 16 epochs, and
    for records without gaps, nothing is rounded; else a number is off by ``step / 2`` at most.
    """

    trials: int
    step: int

    @property
    def n_rungs(self) -> int:
        """Number of rungs a record can stand on."""
        return self.lowest + 1

    @property
    def lowest(self) -> int:
        """How many steps below ``trials`` the lowest rung is."""
        return math.ceil(self.trials / self.step)

    def rung(self, observed: Ints) -> Ints:
        """Return how many steps below ``trials`` these numbers of observed epochs are.

        Examples
        --------
        >>> Ladder(trials=30, step=2).rung(np.array([30, 29, 11, 0])).tolist()
        [0, 1, 10, 15]
        """
        return np.asarray((self.trials - observed + self.step // 2) // self.step, dtype=np.int64)

    def epochs(self, rung: Ints) -> npt.NDArray[np.float64]:
        """Return the number of epochs each rung stands for."""
        return np.asarray(np.maximum(self.trials - self.step * rung, 0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Counts:
    """Row i holds ``token[start[i]:start[i + 1]]``, ascending, ``count`` times each.

    Attributes
    ----------
    start : (n + 1,) int64
    token : (nnz,) int32
    count : (nnz,) int64
        At most :data:`CAP`.
    rung : (n,) int64
        On which rung of the ladder the number of observed epochs stands.
    epochs : (n, r) int16 or int32
        The tokens themselves, for what happened in the same epoch; of width 0 for bags.
    """

    start: Ints
    token: npt.NDArray[np.int32]
    count: Ints
    rung: Ints
    epochs: npt.NDArray[Any]
    n_tokens: int

    def __len__(self) -> int:
        return len(self.rung)

    def take(self, rows: Ints) -> Counts:
        """Return the chosen rows, in that order."""
        sizes = self.start[rows + 1] - self.start[rows]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], sizes)
        return Counts(start, self.token[places], self.count[places], self.rung[rows], self.epochs[rows], self.n_tokens)


def ladder_of(records: Traces | Bags) -> Ladder:
    """Return the ladder for records like these: every epoch of traces, one rung for bags.

    Examples
    --------
    >>> ladder_of(Traces([[1] * 30], n_tokens=2))
    Ladder(trials=30, step=2)
    """
    if isinstance(records, Bags):
        return Ladder(BAG_TRIALS, BAG_TRIALS)
    return Ladder(records.n_epochs, math.ceil(records.n_epochs / _LEVELS))


def one_table(records: Any, who: str) -> tuple[int, Traces | Bags]:
    """Return the number of epochs, and all that was seen as one table, pooled observers side by side.

    Examples
    --------
    >>> one_table([Traces([[1, 2]], 9), Traces([[3, 4]], 9)], "Example")
    (2, Traces(1 users x 4 epochs, 9 tokens))
    """
    found = gathered(records)
    if isinstance(found, Pooled):
        return found.n_epochs, found.side_by_side()
    if isinstance(found, Traces):
        return found.n_epochs, found
    if isinstance(found, Bags):
        return 0, found
    raise DataError(f"{who} compares traces or bags, not {type(records).__name__}")


def widened(queries: Traces, width: int, n_epochs: int) -> Traces:
    """Add observers who saw nothing, until there are as many as the targets have.

    Examples
    --------
    >>> widened(Traces([[1, 2]], 9), width=4, n_epochs=2).tokens.tolist()
    [[1, 2, -1, -1]]
    """
    if queries.n_epochs > width:
        raise DataError(
            f"the queries come from {queries.n_epochs // n_epochs} observers, the targets from {width // n_epochs}; "
            "take those seen by more observers as targets"
        )
    if queries.n_epochs == width:
        return queries
    nobody = np.full((len(queries), width - queries.n_epochs), -1, dtype=queries.tokens.dtype)
    return Traces(np.concatenate([queries.tokens, nobody], axis=1), queries.n_tokens)


def count(records: Traces | Bags, ladder: Ladder) -> Counts:
    """Count the tokens of every record; a missing token is none.

    Examples
    --------
    >>> c = count(Traces([[3, 1, 3, -1]], n_tokens=5), Ladder(4, 1))
    >>> c.token.tolist(), c.count.tolist(), c.rung.tolist()
    ([1, 3], [1, 2], [1])
    """
    n = len(records)
    if isinstance(records, Bags):
        matrix = records.counts.copy()
        matrix.sort_indices()
        capped = np.minimum(matrix.data, BAG_CAP).astype(np.int64)
        none = np.zeros((n, 0), dtype=np.int16)
        rung = np.zeros(n, dtype=np.int64)
        start, token = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        return Counts(start, token, capped, rung, none, records.n_tokens)
    # Two widths of tokens only: kernels are compiled for each anew.
    tokens: npt.NDArray[Any] = np.array(
        records.tokens, dtype=np.int16 if records.n_tokens <= np.iinfo(np.int16).max else np.int32
    )
    start = np.zeros(n + 1, dtype=np.int64)
    ordered = np.sort(tokens, axis=1)
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    np.cumsum(new.sum(axis=1), out=start[1:])
    found = np.zeros(start[-1], dtype=np.int64)
    _runs(ordered, start, found)
    rung = ladder.rung((tokens >= 0).sum(axis=1))
    return Counts(start, ordered[new].astype(np.int32), found, rung, tokens, records.n_tokens)


@numba.njit(nogil=True, cache=True)
def _runs(ordered: Any, start: Any, found: Any) -> None:  # pragma: no cover - compiled
    """Count equal neighbours in every sorted row."""
    for i in range(len(ordered)):
        at = start[i] - 1
        for s in range(ordered.shape[1]):
            if ordered[i, s] < 0:
                continue
            if s == 0 or ordered[i, s] != ordered[i, s - 1]:
                at += 1
            found[at] = min(found[at] + 1, CAP)
