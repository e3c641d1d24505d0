"""Bags: unordered items of each user, without epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.indices import checked_csr
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records.base import Records, frozen


class Bags(Records):
    """Unordered items of each user, without epochs.

    ``counts``, an (n, n_tokens) sparse matrix or array of whole numbers, says how often each user has each token;
    ``users`` and ``vocabulary`` are as for :class:`reidrisk.Traces`.

    >>> Bags([[2, 0, 1], [0, 0, 1]])
    Bags(2 users, 3 tokens, 3 different items in all)
    """

    __slots__ = ()

    def __init__(self, counts: Any, users: Any = None, vocabulary: Vocabulary | None = None) -> None:
        from scipy import sparse  # half a second nobody else should pay for

        # A copy: the caller's matrix is neither put in order nor frozen, and a frozen one can be.
        given = checked_csr(counts) if sparse.issparse(counts) else np.atleast_2d(counts)
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
        self._rows = matrix
        self._name(matrix.shape[0], matrix.shape[1], users, vocabulary)

    @property
    def counts(self) -> Any:
        """The (n, n_tokens) ``scipy.sparse.csr_array`` of whole numbers."""
        return self._rows

    def with_counts(self, values: npt.NDArray[np.int64]) -> Bags:
        """Return the same users with other counts of the items they have: one for each of ``counts.data``, 0 = none."""
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
        from scipy import sparse

        if self._vocabulary is None:
            raise DataError("these bags have no vocabulary, so their items cannot be found in another one")
        tokens = vocabulary.encode(self._vocabulary.labels)
        held = self._rows
        shape = (len(self), len(vocabulary))
        moved = sparse.csr_array((held.data, tokens[held.indices], held.indptr), shape=shape)
        return Bags(moved, self._users, vocabulary).with_notes(self._notes)

    def __repr__(self) -> str:
        return f"Bags({len(self):,} users, {self._n_tokens:,} tokens, {self._rows.nnz:,} different items in all)"
