"""Targets laid out for the kernels: smallest unsigned type, its maximum = missing, by row and by column as needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints

Tokens = npt.NDArray[np.signedinteger[Any]]
Unsigned = npt.NDArray[np.unsignedinteger[Any]]


def unsigned(tokens: Tokens, n_tokens: int) -> Unsigned:
    """Return a copy of tokens in the smallest unsigned type that fits, its maximum standing for -1.

    Two tables over the same vocabulary get the same type, so that kernels compare like with like.
    """
    # Never uint8: vectorised compares are as fast on 16 bits, and one type fewer is compiled. Casting -1 wraps
    # around to the maximum of an unsigned type, which is what is wanted.
    return tokens.astype(np.uint16 if n_tokens <= np.iinfo(np.uint16).max else np.uint32)


class Index:
    """The targets of a search: (n, r) tokens in ``[0, n_tokens)``; -1 = missing."""

    def __init__(self, tokens: Tokens, n_tokens: int) -> None:
        self.tokens, self.n_tokens = tokens, int(n_tokens)
        self.n_users, self.n_epochs = tokens.shape

    def __len__(self) -> int:
        return int(self.n_users)

    def take(self, rows: Ints) -> Index:
        """Return the chosen targets, in that order."""
        return Index(self.tokens[rows], self.n_tokens)

    @cached_property
    def rows(self) -> Unsigned:
        """(n, r) tokens, one user after the other."""
        return np.ascontiguousarray(unsigned(self.tokens, self.n_tokens))

    @cached_property
    def columns(self) -> Unsigned:
        """(r, n) tokens, one epoch after the other."""
        return np.ascontiguousarray(unsigned(self.tokens.T, self.n_tokens))

    @property
    def missing(self) -> int:
        """The value that stands for a missing token."""
        return int(unsigned(np.array([-1]), self.n_tokens)[0])

    @cached_property
    def has_gaps(self) -> bool:
        """Whether any token is missing."""
        return bool(self.tokens.min(initial=0) < 0)

    @cached_property
    def patterns(self) -> list[tuple[Ints, Ints]]:
        """Targets grouped by the epochs they were observed in: (epochs, rows ascending)."""
        if not self.has_gaps:
            return [(np.arange(self.n_epochs), np.arange(self.n_users))]
        packed = np.ascontiguousarray(np.packbits(self.tokens >= 0, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        members = np.split(np.argsort(place, kind="stable"), np.cumsum(sizes)[:-1])
        return [(np.flatnonzero(self.tokens[rows[0]] >= 0), rows) for rows in members]
