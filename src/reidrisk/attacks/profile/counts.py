"""Records as counts: how often each record holds each token, and in how many epochs it was observed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.pooled import Pooled, as_traces, gathered
from reidrisk.base import Array, DataError, Floats, Ints, Ints32
from reidrisk.records import Bags, Traces

MOST = 255  # the most a token counts in one record: a byte. Records that show more are scaled first, see Ladder
_LEVELS = 16


@dataclass(frozen=True)
class Ladder:
    """Numbers of observed epochs, rounded to rungs ``step`` apart that hold ``trials``, all epochs together, exactly.

    Rounded numbers add up (rung of target + rung of query), so that one table serves every pair. Up to 16 epochs, and
    for records without gaps, nothing is rounded; else a number is off by ``step / 2`` at most. ``every`` epochs make a
    trial, and as many sights a count: 1 unless tables could not hold the counts. Two records observe the same epoch
    ``overlap`` times as often as if gaps fell independently: 1, or more where many records miss the same epochs.
    """

    trials: int
    step: int
    every: int = 1
    overlap: float = 1.0

    @property
    def n_rungs(self) -> int:
        """Number of rungs a record can stand on."""
        return math.ceil(self.trials / self.step) + 1

    def rung(self, observed: Ints) -> Ints:
        """Return how many steps below ``trials`` these numbers of observed trials are."""
        return np.asarray((self.trials - observed + self.step // 2) // self.step, dtype=np.int64)

    def epochs(self, rung: Ints) -> Floats:
        """Return the number of trials each rung stands for."""
        return np.asarray(np.maximum(self.trials - self.step * rung, 0), dtype=np.float64)

    def scaled(self, number: Any) -> Any:
        """Return numbers of epochs or sights as trials or counts, halves rounded up."""
        return (number + self.every // 2) // self.every


@dataclass(frozen=True, eq=False)
class Counts:
    """Row i holds ``token[start[i]:start[i + 1]]``, ascending, ``count`` times each."""

    start: Ints
    token: Ints32
    count: Ints  # in steps of the ladder's ``every`` sights, at most MOST
    rung: Ints  # of the ladder, on which the number of observed epochs stands
    epochs: Array  # (n, r) the tokens themselves, for what happened in the same epoch
    n_tokens: int

    def __len__(self) -> int:
        return len(self.rung)

    @property
    def held(self) -> tuple[Ints, Ints32, Ints]:
        """What each row holds, as kernels take it."""
        return self.start, self.token, self.count

    @property
    def rows(self) -> Ints:
        """Row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def take(self, rows: Ints) -> Counts:
        """Return the chosen rows, in that order."""
        sizes = self.start[rows + 1] - self.start[rows]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], sizes)
        return Counts(start, self.token[places], self.count[places], self.rung[rows], self.epochs[rows], self.n_tokens)


def ladder_of(records: Traces, every: int = 1) -> Ladder:
    """Return the ladder for records like these: ``every`` epochs make a trial.

    With p_s the share of records that observe epoch s, two records observe sum p_s^2 epochs together on average, and
    would observe (sum p_s)^2 / r of r epochs if gaps fell independently: ``overlap`` is the ratio of the two.
    """
    r = records.n_epochs
    seen = records.observed.sum(axis=0)
    overlap = r * float(seen @ seen) / max(float(seen.sum()) ** 2, 1.0)
    trials = Ladder(0, 1, every).scaled(r)
    return Ladder(trials, math.ceil(trials / _LEVELS), every, max(overlap, 1.0))


def one_table(records: Any, who: str) -> tuple[int, Traces | Bags]:
    """Return the number of epochs, and all that was seen as one table, pooled observers side by side."""
    found = gathered(records)
    if isinstance(found, Traces | Pooled):
        return found.n_epochs, as_traces(found, who)
    if isinstance(found, Bags):
        return 0, found
    raise DataError(f"{who} compares traces or bags, not {type(records).__name__}")


def widened(queries: Traces, width: int, n_epochs: int) -> Traces:
    """Add observers who saw nothing, until there are as many as the targets have."""
    if queries.n_epochs > width:
        one, two = queries.n_epochs // n_epochs, width // n_epochs
        raise DataError(f"queries come from {one} observers, the targets from {two}; take those of more as targets")
    if queries.n_epochs == width:
        return queries
    nobody = np.full((len(queries), width - queries.n_epochs), -1, dtype=queries.tokens.dtype)
    return Traces(np.concatenate([queries.tokens, nobody], axis=1), queries.n_tokens)


def count(records: Traces, ladder: Ladder, capped: bool = True) -> Counts:
    """Count the tokens of every record; a missing token is none. Uncapped counts are for no table."""
    n = len(records)
    # Two widths of tokens only: kernels are compiled for each anew.
    width: Any = np.int16 if records.n_tokens <= np.iinfo(np.int16).max else np.int32
    tokens: Array = np.array(records.tokens, dtype=width)
    start = np.zeros(n + 1, dtype=np.int64)
    ordered = np.sort(tokens, axis=1)
    seen = ordered >= 0
    new = seen.copy()
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    np.cumsum(new.sum(axis=1), out=start[1:])
    found = np.diff(np.flatnonzero(np.append(new[seen], True)))  # how many equal tokens stand side by side
    held, counted = ordered[new].astype(np.int32), ladder.scaled(found)
    rung = ladder.rung(ladder.scaled((tokens >= 0).sum(axis=1)))
    if capped:
        counted = np.minimum(counted, MOST)
    if ladder.every > 2:  # less than half a trial is none
        kept = counted > 0
        start = np.concatenate([[0], np.cumsum(kept)])[start]
        held, counted = held[kept], counted[kept]
    return Counts(start, held, counted, rung, tokens, records.n_tokens)


def by_content(counts: Counts) -> Ints:
    """Return the rows in the order of what they hold; which of two equal ones comes first makes no difference.

    What is learnt from targets is a sum of floats, and what is drawn from them is drawn row by row: in this order
    shuffled tables give the same probabilities.
    """
    return np.lexsort(counts.epochs.T[::-1])
