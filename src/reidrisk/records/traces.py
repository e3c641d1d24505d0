"""Traces: what one observer saw, one token per user and epoch."""

from typing import Any, TypeAlias

import numpy as np

from reidrisk.base import Bools, DataError, Vocabulary
from reidrisk.records.bags import Bags
from reidrisk.records.base import ByEpoch, check_range, checked_tokens
from reidrisk.records.registry import register


@register("one item per person and period", layouts=("wide", "long"))
class Traces(ByEpoch):
    """What one observer saw: one token per user and epoch.

    ``tokens`` is an (n, r) array of signed integers: the token of each user (row) in each epoch (column) in
    ``[0, n_tokens)``; -1 = not observed. ``n_tokens`` is the size of the vocabulary of the system under audit,
    ``users`` are (n,) distinct integers or strings that say who the rows are, ``vocabulary`` labels the tokens.

    >>> Traces([[3, 1], [0, -1]], n_tokens=5, users=["ann", "bob"])
    Traces(2 users x 2 epochs, 5 tokens, 25% missing)
    """

    __slots__ = ()

    def __init__(self, tokens: Any, n_tokens: int, users: Any = None, vocabulary: Vocabulary | None = None) -> None:
        self._rows = checked_tokens(tokens, 2, "(users, epochs)")
        self._name(len(self._rows), n_tokens, users, vocabulary)
        if self._rows.shape[1] == 0:
            raise DataError("the traces have no epoch: give at least one column of tokens")
        check_range(self._rows, self._n_tokens)

    @property
    def observed(self) -> Bools:
        """(n, r) mask of the tokens that were observed."""
        return self._rows >= 0

    def bags(self) -> Bags:
        """Return how often each user shows each token, whenever it was; gaps add nothing.

        >>> Traces([[3, 1, 3], [0, -1, 1]], n_tokens=5).bags().counts.toarray().tolist()
        [[0, 1, 0, 2, 0], [1, 1, 0, 0, 0]]
        """
        from scipy import sparse

        rows, columns = np.nonzero(self.observed)
        entries = (np.ones(len(rows), dtype=np.int64), (rows, self._rows[rows, columns]))
        counts = sparse.coo_array(entries, shape=(len(self), self._n_tokens)).tocsr()
        return Bags(counts, self._users, self._vocabulary).with_notes(self._notes).with_raw(self.raw)

    def __repr__(self) -> str:
        missing = float(np.mean(self._rows < 0))
        gaps = f", {missing:.0%} missing" if missing else ""
        return f"Traces({len(self):,} users x {self.n_epochs} epochs, {self._n_tokens:,} tokens{gaps})"


TokenRecords: TypeAlias = Traces | Bags
"""Records of tokens, with epochs or without."""
