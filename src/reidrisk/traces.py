"""Traces, TopSets and Bags: the arrays everything speaks, validated once, at the door."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk import sizes
from reidrisk.errors import DataError, OptionError
from reidrisk.indices import checked_csr
from reidrisk.padding import Words, filled, from_seed, from_the_system
from reidrisk.streams import BLOCK, blocks, stream
from reidrisk.users import UserIds, as_users, take_users
from reidrisk.vocabulary import Vocabulary

__all__ = ["Bags", "TopSets", "Traces"]


class _Records:
    """What the three have in common: users in rows, a vocabulary, choosing rows."""

    __slots__ = ("_n_tokens", "_users", "_vocabulary")
    _n_tokens: int
    _users: UserIds | None
    _vocabulary: Vocabulary | None

    @property
    def n_tokens(self) -> int:
        """Size of the vocabulary of the system, not the number of tokens that occur."""
        return self._n_tokens

    @property
    def users(self) -> UserIds | None:
        """User ids (``int64`` array or Arrow strings), or ``None`` when the rows are not named."""
        return self._users

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Labels of the tokens, where known."""
        return self._vocabulary

    @property
    def n_users(self) -> int:
        """Number of users, that is of rows."""
        return len(self)

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Self:
        """Return the chosen rows, in that order."""
        raise NotImplementedError

    def sample(self, n: int, seed: int) -> Self:
        """Return ``n`` users drawn without replacement, in their old order."""
        if not 1 <= n <= len(self):
            raise OptionError(f"cannot sample {n} of {len(self):,} users; choose from 1 to {len(self):,}")
        rows = stream(seed, "sample users").choice(len(self), size=n, replace=False, shuffle=False)
        return self.take(np.sort(rows))

    def _name(self, n: int, n_tokens: int, users: Any, vocabulary: Vocabulary | None) -> None:
        if isinstance(n_tokens, bool) or not isinstance(n_tokens, int | np.integer) or n_tokens < 1:
            raise DataError(f"n_tokens must be a whole number of at least 1, not {n_tokens!r}")
        ids = "if these numbers are ids, number those that occur from 0 on, or give them as text"
        sizes.TOKENS.check(int(n_tokens), "the vocabulary", ids)
        if vocabulary is not None and len(vocabulary) != n_tokens:
            raise DataError(f"n_tokens is {n_tokens} but the vocabulary has {len(vocabulary)} labels")
        if n == 0:
            raise DataError("the table is empty: there is not a single user in it")
        self._n_tokens = int(n_tokens)
        self._vocabulary = vocabulary
        self._users = as_users(users, n)


class _Epochs(_Records):
    """What traces and top sets have in common: one array of tokens, users first, then epochs."""

    __slots__ = ("_tokens",)
    _tokens: npt.NDArray[np.signedinteger[Any]]

    @property
    def tokens(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The read-only array: (n, r) of traces, (n, r, k) of top sets."""
        return self._tokens

    @property
    def n_epochs(self) -> int:
        """Number of epochs, that is of columns."""
        return int(self._tokens.shape[1])

    def epochs(self, r: int) -> Self:
        """Return the first ``r`` epochs, without copying."""
        if isinstance(r, bool) or not isinstance(r, int | np.integer) or not 1 <= r <= self.n_epochs:
            raise OptionError(
                f"cannot take the first {r!r} of {self.n_epochs} epochs; choose from 1 to {self.n_epochs}"
            )
        return self._with(self._tokens[:, :r], self._users)

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Self:
        """Return the chosen rows, in that order."""
        return self._with(self._tokens[rows], take_users(self._users, rows))

    def _with(self, tokens: npt.NDArray[Any], users: UserIds | None) -> Self:
        # Rows and columns of what was checked need no second check.
        new = object.__new__(type(self))
        new._tokens, new._users = _frozen(tokens), users
        new._n_tokens, new._vocabulary = self._n_tokens, self._vocabulary
        return new

    def __len__(self) -> int:
        return int(self._tokens.shape[0])


class Traces(_Epochs):
    """What one observer saw: one token a user and epoch.

    Parameters
    ----------
    tokens : (n, r) array of signed integers
        Token of each user (row) in each epoch (column) in ``[0, n_tokens)``; -1 = not observed.
    n_tokens : int
        Size of the vocabulary of the system under audit.
    users : (n,) integers or strings, optional
        Who the rows are; distinct.
    vocabulary : Vocabulary, optional
        Labels of the tokens.

    Examples
    --------
    >>> t = Traces([[3, 1], [0, -1]], n_tokens=5, users=["ann", "bob"])
    >>> t
    Traces(2 users x 2 epochs, 5 tokens, 25% missing)
    >>> t.epochs(1).tokens.tolist()
    [[3], [0]]
    """

    __slots__ = ()

    def __init__(self, tokens: Any, n_tokens: int, users: Any = None, vocabulary: Vocabulary | None = None) -> None:
        self._tokens = _checked_tokens(tokens, 2, "(users, epochs)")
        self._name(len(self._tokens), n_tokens, users, vocabulary)
        if self._tokens.shape[1] == 0:
            raise DataError("the traces have no epoch: give at least one column of tokens")
        _check_range(self._tokens, self._n_tokens)

    @property
    def observed(self) -> npt.NDArray[np.bool_]:
        """(n, r) mask of the tokens that were observed."""
        return self._tokens >= 0

    def __repr__(self) -> str:
        missing = float(np.mean(self._tokens < 0))
        gaps = f", {missing:.0%} missing" if missing else ""
        return f"Traces({len(self):,} users x {self.n_epochs} epochs, {self._n_tokens:,} tokens{gaps})"


class TopSets(_Epochs):
    """The k tokens a system holds for each user in each epoch.

    Parameters
    ----------
    tokens : (n, r, k) array of signed integers
        Distinct within a set; -1 fills a set that is not yet padded.
    n_tokens : int
        Size of the vocabulary.
    users, vocabulary
        As for :class:`Traces`.
    padded_with_seed : bool
        Whether short sets were filled from a seed before; such sets are not released.

    Examples
    --------
    >>> s = TopSets([[[3, 1], [2, -1]]], n_tokens=5)
    >>> s, s.is_padded
    (TopSets(1 users x 2 epochs x 2 tokens of 5), False)
    >>> s.padded().is_padded, s.padded().padded_with_seed, s.padded(seed=0).padded_with_seed
    (True, False, True)
    """

    __slots__ = ("_padded_with_seed",)
    _padded_with_seed: bool

    def __init__(
        self,
        tokens: Any,
        n_tokens: int,
        users: Any = None,
        vocabulary: Vocabulary | None = None,
        padded_with_seed: bool = False,
    ) -> None:
        self._padded_with_seed = bool(padded_with_seed)
        self._tokens = _checked_tokens(tokens, 3, "(users, epochs, set)")
        self._name(len(self._tokens), n_tokens, users, vocabulary)
        if 0 in self._tokens.shape:
            raise DataError(f"top sets of shape {self._tokens.shape} hold nothing; give (users, epochs, set)")
        if self.k > self._n_tokens:
            raise DataError(f"a set of {self.k} distinct tokens cannot come from {self._n_tokens} tokens")
        _check_range(self._tokens, self._n_tokens)
        self._refuse_repeats()

    @property
    def k(self) -> int:
        """Size of a full set."""
        return int(self._tokens.shape[2])

    @property
    def is_padded(self) -> bool:
        """Whether every set is full."""
        return not bool((self._tokens < 0).any())

    @property
    def padded_with_seed(self) -> bool:
        """Whether short sets were filled from a seed: whoever knows it knows the padding, so it protects nobody."""
        return self._padded_with_seed

    def padded(self, seed: int | None = None) -> TopSets:
        """Fill short sets with distinct uniformly random tokens, each user by themselves, once per user and epoch.

        Do it once and give every observer the result: padding is a property of the user's browser, the same for all who
        ask (dick, Algorithm 1).

        Parameters
        ----------
        seed : int, optional
            For simulations: decides, with the row, how a set is padded. The result remembers it
            (:attr:`padded_with_seed`), and is not released. Default: the operating system's generator.
        """
        if self.is_padded:
            return self
        words = from_the_system if seed is None else from_seed(seed, len(self), self.n_epochs)
        return self.padded_by(words)._marked(seed is not None)

    def padded_by(self, words: Words) -> TopSets:
        """Fill short sets by words of your own; :mod:`reidrisk.padding` says what they are."""
        return self._with(filled(self._tokens, self._n_tokens, words), self._users)

    def _with(self, tokens: npt.NDArray[Any], users: UserIds | None) -> Self:
        new = super()._with(tokens, users)
        new._padded_with_seed = self._padded_with_seed
        return new

    def _marked(self, seeded: bool) -> TopSets:
        self._padded_with_seed |= seeded
        return self

    def _refuse_repeats(self) -> None:
        for _, start, stop in blocks(len(self), BLOCK):
            ordered = np.sort(self._tokens[start:stop], axis=2)
            repeated = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)
            if repeated.any():
                row, epoch, slot = (int(i[0]) for i in np.nonzero(repeated))
                token = int(ordered[row, epoch, slot])
                raise DataError(
                    f"the set of row {start + row}, epoch {epoch} holds token {token} twice; sets are distinct"
                )

    def __repr__(self) -> str:
        return f"TopSets({len(self):,} users x {self.n_epochs} epochs x {self.k} tokens of {self._n_tokens:,})"


class Bags(_Records):
    """Unordered items of each user, without epochs.

    Parameters
    ----------
    counts : (n, n_tokens) sparse matrix or array of whole numbers
        How often each user has each token.
    users, vocabulary
        As for :class:`Traces`.

    Examples
    --------
    >>> Bags([[2, 0, 1], [0, 0, 1]])
    Bags(2 users, 3 tokens, 3 different items in all)
    """

    __slots__ = ("_counts",)

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
        _frozen(matrix.data)
        self._counts = matrix
        self._name(matrix.shape[0], matrix.shape[1], users, vocabulary)

    @property
    def counts(self) -> Any:
        """The (n, n_tokens) ``scipy.sparse.csr_array`` of whole numbers."""
        return self._counts

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Bags:
        """Return the chosen rows, in that order."""
        new = object.__new__(Bags)
        new._counts, new._users = self._counts[rows], take_users(self._users, rows)
        new._n_tokens, new._vocabulary = self._n_tokens, self._vocabulary
        return new

    def __len__(self) -> int:
        return int(self._counts.shape[0])

    def __repr__(self) -> str:
        return f"Bags({len(self):,} users, {self._n_tokens:,} tokens, {self._counts.nnz:,} different items in all)"


def _checked_tokens(tokens: Any, ndim: int, meaning: str) -> npt.NDArray[np.signedinteger[Any]]:
    """Return tokens as a read-only signed array of ``ndim`` dimensions; copied unless already read-only."""
    array = np.asarray(tokens)
    if array.ndim != ndim:
        raise DataError(f"tokens must have {ndim} dimensions {meaning}, but have shape {array.shape}")
    if array.dtype.kind == "u":
        array = array.astype(np.int16 if array.dtype.itemsize == 1 else np.int64)
    elif array.dtype.kind == "f" and array.size:
        wrong = np.argwhere(~np.isfinite(array) | (array != np.floor(array)))
        place, value = (wrong[0], array[tuple(wrong[0])]) if len(wrong) else ((0, 0), array.flat[0])
        raise DataError(
            f"row {place[0]}, epoch {place[1]} holds {value!s}, a {array.dtype} number; tokens are whole numbers "
            "(use -1 for a missing one) in an integer array"
        )
    elif array.dtype.kind != "i" and array.size:
        raise DataError(f"tokens are of type {array.dtype}; give signed integers, and -1 for a missing one")
    elif array.dtype.kind != "i":
        array = array.astype(np.int64)
    if array.flags.writeable:
        array = array.copy()
    return _frozen(array)


def _check_range(tokens: npt.NDArray[Any], n_tokens: int) -> None:
    if tokens.min() >= -1 and tokens.max() < n_tokens:
        return
    place = np.argwhere((tokens < -1) | (tokens >= n_tokens))[0]
    value = int(tokens[tuple(place)])
    allowed = f"tokens lie in [0, {n_tokens}), and -1 means not observed"
    raise DataError(f"row {place[0]}, epoch {place[1]} holds token {value}; {allowed}")


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array
