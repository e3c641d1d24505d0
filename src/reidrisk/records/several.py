"""Several: the vectors that each record is made of, where people have more than one (sessions, photos, utterances)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Bools, DataError, Floats, Ints, frozen
from reidrisk.base.arrays import Singles
from reidrisk.records.parts import InParts

Values = Singles


@dataclass(frozen=True, eq=False)
class Several(InParts):
    """All vectors of some records: those from ``start[i]`` to ``start[i + 1]`` are of record i, one at least.

    ``values`` is (vectors, d) in single precision; ``time`` (vectors,), where known, rises within each record.

    >>> both = Several(np.array([[1.0], [3.0], [5.0]], dtype=np.float32), np.array([0, 2, 3]))
    >>> both.per_record.tolist(), both.means().tolist()
    ([2, 1], [[2.0], [5.0]])
    """

    values: Values
    start: Ints
    time: Floats | None = None

    def __post_init__(self) -> None:
        start, n = self.start, len(self.values)
        if start.ndim != 1 or not len(start) or start[0] != 0 or start[-1] != n or (np.diff(start) < 1).any():
            raise DataError(f"start must rise from 0 to the {n:,} vectors, and every record must have one of them")
        for part in (self.values, start, *(() if self.time is None else (self.time,))):
            frozen(part)

    def __len__(self) -> int:
        return len(self.values)

    def means(self) -> Values:
        """Return the mean of each record's vectors, summed in double precision."""
        sums = np.empty((len(self.start) - 1, self.values.shape[1]))
        for place, column in enumerate(self.values.T):
            sums[:, place] = np.add.reduceat(column.astype(np.float64), self.start[:-1])
        return np.asarray(sums / self.per_record[:, None], dtype=np.float32)

    def contrasts(self, most: int, rng: np.random.Generator) -> Values:
        """Return what vectors of one person differ by: some (m, d) rows, independent, each with their covariance.

        Of k vectors x there are k - 1: sqrt(j / (j + 1)) (x_j - mean of the j before it), j from 1 (Helmert). Records
        are drawn until there are ``most``.
        """
        order = rng.permutation(np.flatnonzero(self.per_record > 1))
        if not order.size:
            return self.values[:0]
        many = np.cumsum(self.per_record[order] - 1)
        some = self.take(np.sort(order[: int(np.searchsorted(many, most)) + 1]))
        values, first = some.values.astype(np.float64), some.start[:-1]
        before = np.cumsum(values, axis=0) - values
        before -= np.repeat(before[first], some.per_record, axis=0)
        place = np.arange(len(some)) - np.repeat(first, some.per_record)
        later = place > 0
        j = place[later, None]
        return np.asarray(np.sqrt(j / (j + 1.0)) * (values[later] - before[later] / j), dtype=np.float32)

    def take(self, rows: Ints | slice) -> Several:
        """Return the vectors of the chosen records, in that order."""
        place, start = self.places(rows)
        return Several(self.values[place], start, None if self.time is None else self.time[place])

    def keep(self, chosen: Bools) -> tuple[Several, Ints]:
        """Return the chosen vectors, and the rows of the records that have any of them: only these are left."""
        many = np.add.reduceat(chosen.astype(np.int64), self.start[:-1])
        there = np.flatnonzero(many)
        start = np.concatenate(([0], np.cumsum(many[there])))
        return Several(self.values[chosen], start, None if self.time is None else self.time[chosen]), there

    def mapped(self, change: Callable[[Values], Any]) -> Several:
        """Return each vector changed: ``change`` takes and returns (n, d) points."""
        return Several(np.array(change(self.values), dtype=np.float32, order="C"), self.start, self.time)
