"""TopSets: the k tokens that a system holds for each user in each epoch, and how short sets are filled.

Every user is padded by themselves, so that one more user changes nobody else's padding: one random word and the set
itself decide the token of a slot. Words come from the operating system where people must be protected, and from seed
and row where a simulation must be repeatable.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from reidrisk.base import BLOCK, Array, DataError, Ints, UInts, UserIds, Vocabulary, blocks, checked_seed, stream
from reidrisk.records.base import ByEpoch, check_range, checked_tokens

Words = Callable[[Ints, Ints, int], UInts]
"""Given the rows and the epochs of some short sets, all rows of one block, and k: k random words for each set."""


def filled(tokens: Array, n_tokens: int, words: Words) -> Array:
    r"""Return (n, r, k) sets with every -1 replaced by a token that is new to its set, uniformly.

    With s tokens in the set, a word w of 64 bits chooses the token of number :math:`\lfloor w (N - s) / 2^{64} \rfloor`
    among the N - s that are not in it: uniform to within :math:`N / 2^{64}`.
    """
    full = np.array(tokens)
    k = full.shape[2]
    for _, start, stop in blocks(len(full), BLOCK):
        part = full[start:stop]
        rows, epochs = np.nonzero((part < 0).any(axis=2))
        if not rows.size:
            continue
        drawn = words(rows + start, epochs, k)
        sets = part[rows, epochs].astype(np.int64)
        for slot in range(k):
            empty = np.flatnonzero(sets[:, slot] < 0)
            sets[empty, slot] = _new_to(sets[empty], drawn[empty, slot], n_tokens)
        part[rows, epochs] = sets
    return full


def _new_to(sets: Ints, words: UInts, n_tokens: int) -> Ints:
    """Return for each set one of the tokens it does not hold."""
    held = np.sort(np.where(sets < 0, n_tokens, sets), axis=1)  # empty slots sort behind every token
    left = (n_tokens - (sets >= 0).sum(axis=1)).astype(np.uint64)
    half = np.uint64(32)
    # The high 64 bits of word times left; left is below 2^32, so that no part overflows.
    high = (words >> half) * left + (((words & np.uint64(0xFFFFFFFF)) * left) >> half)
    token: Ints = (high >> half).astype(np.int64)
    for column in range(held.shape[1]):
        token += held[:, column] <= token
    return token


def from_the_system(rows: Ints, epochs: Ints, k: int) -> UInts:
    """Draw words from the operating system's generator; there is no seed that anybody could find."""
    return np.frombuffer(os.urandom(8 * k * rows.size), dtype=np.uint64).reshape(-1, k)


def from_seed(seed: int, n: int, n_epochs: int) -> Words:
    """Return words that seed and row decide, for simulations of n users: whoever knows the seed knows the padding."""
    seed = checked_seed(seed)

    def words(rows: Ints, epochs: Ints, k: int) -> UInts:
        block = int(rows[0]) // BLOCK
        size = (min(BLOCK, n - block * BLOCK), n_epochs, k)
        drawn = stream(seed, "pad top sets", block).integers(2**64, size=size, dtype=np.uint64)
        return np.asarray(drawn[rows - block * BLOCK, epochs])

    return words


_FORMER = "padded_with_seed of top sets is now made_with_seed; the former name goes with the next version"


class TopSets(ByEpoch):
    """The k tokens a system holds for each user in each epoch.

    ``tokens`` is an (n, r, k) array of signed integers, distinct within a set; -1 fills a set that is not yet padded.
    ``made_with_seed`` says that a seed decided anything in these sets, such as ties or padding; such sets are not
    released. (Its former name, ``padded_with_seed``, is deprecated.) All else is as for :class:`reidrisk.Traces`.

    >>> s = TopSets([[[3, 1], [2, -1]]], n_tokens=5)
    >>> s, s.is_padded
    (TopSets(1 users x 2 epochs x 2 tokens of 5), False)
    >>> s.padded().is_padded, s.padded().made_with_seed, s.padded(seed=0).made_with_seed
    (True, False, True)
    """

    __slots__ = ("_made_with_seed",)
    _made_with_seed: bool

    def __init__(
        self,
        tokens: Any,
        n_tokens: int,
        users: Any = None,
        vocabulary: Vocabulary | None = None,
        made_with_seed: bool = False,
        padded_with_seed: bool | None = None,
    ) -> None:
        if padded_with_seed is not None:
            warnings.warn(_FORMER, DeprecationWarning, stacklevel=2)
        self._made_with_seed = bool(made_with_seed) or bool(padded_with_seed)
        self._rows = checked_tokens(tokens, 3, "(users, epochs, set)")
        self._name(len(self._rows), n_tokens, users, vocabulary)
        if 0 in self._rows.shape:
            raise DataError(f"top sets of shape {self._rows.shape} hold nothing; give (users, epochs, set)")
        if self.k > self._n_tokens:
            raise DataError(f"a set of {self.k} distinct tokens cannot come from {self._n_tokens} tokens")
        check_range(self._rows, self._n_tokens)
        if twice := first_repeat(self._rows):
            row, epoch, token = twice
            raise DataError(f"the set of row {row}, epoch {epoch} holds token {token} twice; sets are distinct")

    @property
    def k(self) -> int:
        """Size of a full set."""
        return int(self._rows.shape[2])

    @property
    def is_padded(self) -> bool:
        """Whether every set is full."""
        return not bool((self._rows < 0).any())

    @property
    def made_with_seed(self) -> bool:
        """Whether a seed decided ties, padding or visits: whoever knows it knows the draws, so they protect nobody."""
        return self._made_with_seed

    @property
    def padded_with_seed(self) -> bool:
        """The former name of :attr:`made_with_seed`, deprecated."""
        warnings.warn(_FORMER, DeprecationWarning, stacklevel=2)
        return self._made_with_seed

    def padded(self, seed: int | None = None) -> TopSets:
        """Fill short sets with distinct uniformly random tokens, each user by themselves, once per user and epoch.

        Do it once and give every observer the result: padding is a property of the user's browser, the same for all who
        ask (dick, Algorithm 1). A ``seed`` is for simulations: with the row it decides how a set is padded, and the
        result, which remembers it (:attr:`made_with_seed`), is not released. Default: the operating system's generator.
        """
        if self.is_padded:
            return self
        full = self.padded_by(from_the_system if seed is None else from_seed(seed, len(self), self.n_epochs))
        full._made_with_seed |= seed is not None
        return full

    def padded_by(self, words: Words) -> TopSets:
        """Fill short sets by words of your own; :mod:`reidrisk.records.top_sets` says what they are."""
        return self._with(filled(self._rows, self._n_tokens, words), self._users)

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        new = super()._with(rows, users)
        new._made_with_seed = self._made_with_seed
        return new

    def __repr__(self) -> str:
        return f"TopSets({len(self):,} users x {self.n_epochs} epochs x {self.k} tokens of {self._n_tokens:,})"


def first_repeat(tokens: Array) -> tuple[int, int, int] | None:
    """Return row, epoch and token of the first set that holds a token twice."""
    for _, start, stop in blocks(len(tokens), BLOCK):
        ordered = np.sort(tokens[start:stop], axis=2)
        repeated = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)
        if repeated.any():
            row, epoch, slot = (int(i[0]) for i in np.nonzero(repeated))
            return start + row, epoch, int(ordered[row, epoch, slot])
    return None
