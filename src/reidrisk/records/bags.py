"""Bags: unordered items of each user, without epochs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from reidrisk.base import DataError, Ints, UserIds, Vocabulary, checked_csr, frozen
from reidrisk.records.base import Records
from reidrisk.records.calendar import HOURS
from reidrisk.records.registry import register
from reidrisk.records.timeline import Timeline
from reidrisk.records.visits import Visits


@register("lists of items", layouts=("lists", "counts"))
class Bags(Records):
    """Unordered items of each user, without epochs.

    ``counts``, an (n, n_tokens) sparse matrix or array of whole numbers, says how often each user has each token;
    ``users`` and ``vocabulary`` are as for :class:`reidrisk.Traces`.

    >>> Bags([[2, 0, 1], [0, 0, 1]])
    Bags(2 users, 3 tokens, 3 different items in all)
    """

    __slots__ = ("_clock", "_timeline", "_visits")
    _visits: Visits | None
    _clock: Any
    _timeline: Timeline | None

    def __init__(self, counts: Any, users: Any = None, vocabulary: Vocabulary | None = None) -> None:
        from scipy import sparse  # half a second nobody else should pay for

        # A copy: the caller's matrix is neither put in order nor frozen, and a frozen one can be.
        given = checked_csr(counts) if sparse.issparse(counts) else np.atleast_2d(counts)
        if given.dtype.kind not in "iufb" or given.ndim != 2:
            what = f"{given.dtype} {given.shape}" if isinstance(counts, np.ndarray) else type(counts).__name__
            raise DataError(f"counts must be an (n, n_tokens) array or matrix of whole numbers, not {what}")
        matrix = sparse.csr_array(given, copy=True)
        matrix.sum_duplicates()
        values = matrix.data
        if values.dtype.kind not in "iu":
            wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))
            if values.dtype.kind not in "f" or wrong.size:
                example = values[wrong[0]] if wrong.size else values.dtype
                raise DataError(f"counts must be whole numbers, but there is {example}")
            matrix = matrix.astype(np.int64)
        if matrix.nnz and matrix.data.min() < 0:
            row = int(np.searchsorted(matrix.indptr, np.argmin(matrix.data), side="right")) - 1
            raise DataError(f"row {row} has the negative count {int(matrix.data.min())}; counts are at least 0")
        matrix.eliminate_zeros()
        frozen(matrix.data)
        self._rows, self._visits, self._clock, self._timeline = matrix, None, None, None
        self._name(matrix.shape[0], matrix.shape[1], users, vocabulary)

    @property
    def counts(self) -> Any:
        """The (n, n_tokens) ``scipy.sparse.csr_array`` of whole numbers."""
        return self._rows

    @property
    def visits(self) -> Visits | None:
        """Which events happened together; ``None`` where that is not known."""
        return self._visits

    def with_visits(self, visits: Visits | None) -> Self:
        """Return the same users with what these visits hold, and no more; ``None``: the same, visits not known."""
        if visits is None:
            new = self._with(self._rows, self._users)
        else:
            n, n_tokens = len(visits.start) - 1, visits.counts.shape[1]
            if (n, n_tokens) != (len(self), self._n_tokens):
                there = f"{len(self):,} over {self._n_tokens:,}"
                raise DataError(f"visits of {n:,} users over {n_tokens:,} tokens do not fit {there}")
            counts = visits.together()
            frozen(counts.data)
            new = self._with(counts, self._users)
            new._raw = self.raw
        new._visits = visits
        return new

    @property
    def clock(self) -> Any:
        """At which hours of the day items were had; ``None`` where that is not known.

        An (n, 24 n_tokens + 24) ``csr_array``: column 24 i + h holds on how many days token i was had in hour h, and i
        = n_tokens stands for anything at all.
        """
        return self._clock

    def with_clock(self, days: Any) -> Self:
        """Return the same with the hours of the day at which items were had; ``None``: these are not known.

        >>> from scipy import sparse
        >>> at_nine = sparse.csr_array(([3, 3], ([0, 0], [9, 24 + 9])), shape=(1, 48))   # on three days
        >>> Bags([[5]]).with_clock(at_nine).clock.nnz
        2
        """
        from scipy import sparse

        new = self._with(self._rows, self._users)
        new._clock = None
        if days is None:
            return new
        held = sparse.csr_array(days, copy=True)
        held.sum_duplicates()
        if held.shape != (len(self), HOURS * (self._n_tokens + 1)):
            raise DataError(f"hours have the shape {held.shape}, not {(len(self), HOURS * (self._n_tokens + 1))}")
        frozen(held.data)
        new._clock = held
        return new

    @property
    def timeline(self) -> Timeline | None:
        """When each event happened; ``None`` where that is not known."""
        return self._timeline

    def with_timeline(self, moments: Timeline | None) -> Self:
        """Return the same with the moments of its events; ``None``: these are not known.

        >>> when = Timeline(np.array([0, 2]), np.array([0, 1]), np.array([5.0, 7.0]), is_calendar=False)
        >>> Bags([[1, 1]]).with_timeline(when).timeline.time.tolist()
        [5.0, 7.0]
        """
        if moments is not None and moments.n != len(self):
            raise DataError(f"moments of {moments.n:,} users do not fit {len(self):,}")
        new = self._with(self._rows, self._users)
        new._timeline = moments
        return new

    def take(self, rows: Ints | slice) -> Self:
        """Return the chosen rows, in that order, with their visits, hours and moments."""
        new = super().take(rows)
        new._visits = None if self._visits is None else self._visits.take(rows)
        new._clock = None if self._clock is None else self._clock[rows]
        new._timeline = None if self._timeline is None else self._timeline.take(rows)
        return new

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        new = super()._with(rows, users)
        same = rows is self._rows
        new._visits, new._clock = (self._visits, self._clock) if same else (None, None)
        new._timeline = self._timeline if same else None
        return new

    def with_counts(self, values: Ints) -> Bags:
        """Return the same users with other counts of the items they have: one for each of ``counts.data``, 0 = none.

        Their visits, hours and moments are not known any more.
        """
        from scipy import sparse

        held = self._rows
        changed = np.array(values, dtype=np.int64)
        if changed.shape != held.data.shape or (changed.size and changed.min() < 0):
            raise DataError(f"give a count of at least 0 for each of the {held.nnz:,} entries, not {changed.shape}")
        matrix = sparse.csr_array((changed, held.indices.copy(), held.indptr.copy()), shape=held.shape)
        matrix.eliminate_zeros()
        frozen(matrix.data)
        return self._with(matrix, self._users)

    def over(self, vocabulary: Vocabulary) -> Bags:
        """Return the same over a vocabulary that holds all labels of this one, and perhaps more."""
        if self._vocabulary is None:
            raise DataError("these bags have no vocabulary, so their items cannot be found in another one")
        return self.renumbered(vocabulary.encode(self._vocabulary.labels), len(vocabulary), vocabulary)

    def renumbered(self, tokens: Ints, n_tokens: int, vocabulary: Vocabulary | None = None) -> Bags:
        """Return the same with ``tokens[i]``, of ``n_tokens``, in the place of token i.

        >>> Bags([[2, 0, 1]]).renumbered(np.array([1, 2, 0]), 3).counts.toarray().tolist()
        [[1, 2, 0]]
        """
        from scipy import sparse

        n, held = n_tokens, self._rows if self._visits is None else self._visits.counts
        moved = sparse.csr_array((held.data.copy(), tokens[held.indices], held.indptr.copy()), shape=(held.shape[0], n))
        moved.sum_duplicates()
        if self._visits is None:
            new = Bags(moved, self._users, vocabulary).with_notes(self._notes).with_raw(self.raw)
        else:
            visits = Visits(moved, self._visits.start)
            new = Bags(visits.together(), self._users, vocabulary).with_notes(self._notes).with_visits(visits)
            new = new.with_raw(self.raw)
        new._timeline = None if self._timeline is None else self._timeline.renamed(tokens)
        if self._clock is None:
            return new
        days, places = self._clock, np.append(tokens, n).astype(np.int64)
        column = places[days.indices // HOURS] * HOURS + days.indices % HOURS
        return new.with_clock(sparse.csr_array((days.data, column, days.indptr), shape=(len(self), HOURS * (n + 1))))

    def __repr__(self) -> str:
        return f"Bags({len(self):,} users, {self._n_tokens:,} tokens, {self._rows.nnz:,} different items in all)"
