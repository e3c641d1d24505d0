"""What all records have in common: users in rows, a vocabulary, tokens checked once, at the door."""

from typing import Any, Self

import numpy as np

from reidrisk.base import Array, DataError, Ints, Note, OptionError, Signed, Vocabulary, frozen, sizes, stream
from reidrisk.base.users import UserIds, as_users, take_users
from reidrisk.records.raw import RawTable

NUMBER_IDS = "if these numbers are ids, number those that occur from 0 on, or give them as text"


class Rows:
    """Users in rows, and choosing rows."""

    __slots__ = ("_notes", "_raw", "_rows", "_users")
    _rows: Any  # an array or a sparse matrix, one row per user; read-only
    _users: UserIds | None
    _notes: tuple[Note, ...]
    _raw: RawTable | None

    @property
    def users(self) -> UserIds | None:
        """User ids (``int64`` array or Arrow strings), or ``None`` when the rows are not named."""
        return self._users

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out, or assumed, when the records were made; they go with the rows that are taken."""
        return self._notes

    @property
    def n_users(self) -> int:
        """Number of users, that is of rows."""
        return len(self)

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    @property
    def raw(self) -> RawTable | None:
        """Every cell of the file that the records were read from; ``None`` where they were made otherwise."""
        return getattr(self, "_raw", None)

    def with_raw(self, raw: RawTable | None) -> Self:
        """Return the same records with the cells of their file, one entry of ``raw`` per row."""
        if raw is not None and len(raw) != len(self):
            raise DataError(f"raw cells of {len(raw):,} people do not fit {len(self):,} records")
        new = self._with(self._rows, self._users)
        new._raw = raw
        return new

    def take(self, rows: Ints | slice) -> Self:
        """Return the chosen rows, in that order, with the cells of their file."""
        new = self._with(self._rows[rows], take_users(self._users, rows))
        new._raw = None if self.raw is None else self.raw.take(rows)
        return new

    def with_users(self, users: Any) -> Self:
        """Return the same rows under these names."""
        return self._with(self._rows, as_users(users, len(self)))

    def with_notes(self, notes: tuple[Note, ...]) -> Self:
        """Return the same rows with these notes on how they were made."""
        new = self._with(self._rows, self._users)
        new._notes = tuple(notes)
        return new

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        # Rows and columns of what was checked need no second check.
        new = object.__new__(type(self))
        new._rows, new._users, new._notes = rows, users, self._notes
        new._raw = self.raw if rows is self._rows else None
        return new

    def sample(self, n: int, seed: int) -> Self:
        """Return ``n`` users drawn without replacement, in their old order."""
        if not 1 <= n <= len(self):
            raise OptionError(f"cannot sample {n} of {len(self):,} records; choose from 1 to {len(self):,}")
        rows = stream(seed, "sample users").choice(len(self), size=n, replace=False, shuffle=False)
        return self.take(np.sort(rows))


class Records(Rows):
    """Users in rows, and a vocabulary."""

    __slots__ = ("_n_tokens", "_vocabulary")
    _n_tokens: int
    _vocabulary: Vocabulary | None

    @property
    def n_tokens(self) -> int:
        """Size of the vocabulary of the system, not the number of tokens that occur."""
        return self._n_tokens

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Labels of the tokens, where known."""
        return self._vocabulary

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        new = super()._with(rows, users)
        new._n_tokens, new._vocabulary = self._n_tokens, self._vocabulary
        return new

    def _name(self, n: int, n_tokens: int, users: Any, vocabulary: Vocabulary | None) -> None:
        if isinstance(n_tokens, bool) or not isinstance(n_tokens, int | np.integer) or n_tokens < 1:
            raise DataError(f"n_tokens must be a whole number of at least 1, not {n_tokens!r}")
        sizes.TOKENS.check(int(n_tokens), "the vocabulary", NUMBER_IDS)
        if vocabulary is not None and len(vocabulary) != n_tokens:
            raise DataError(f"n_tokens is {n_tokens} but the vocabulary has {len(vocabulary)} labels")
        if n == 0:
            raise DataError("the table is empty: there is not a single user in it")
        self._n_tokens = int(n_tokens)
        self._vocabulary = vocabulary
        self._notes = ()
        self._users = as_users(users, n)


class ByEpoch(Records):
    """What traces and top sets have in common: one array of tokens, users first, then epochs."""

    __slots__ = ()
    _rows: Signed

    @property
    def tokens(self) -> Signed:
        """The read-only array: (n, r) of traces, (n, r, k) of top sets."""
        return self._rows

    @property
    def n_epochs(self) -> int:
        """Number of epochs, that is of columns."""
        return int(self._rows.shape[1])

    def epochs(self, r: int) -> Self:
        """Return the first ``r`` epochs, without copying."""
        if isinstance(r, bool) or not isinstance(r, int | np.integer) or not 1 <= r <= self.n_epochs:
            raise OptionError(f"cannot take the first {r!r} of {self.n_epochs} epochs; choose 1 to {self.n_epochs}")
        return self if r == self.n_epochs else self._with(self._rows[:, :r], self._users)

    def _with(self, rows: Any, users: UserIds | None) -> Self:
        return super()._with(frozen(rows), users)


def checked_tokens(tokens: Any, ndim: int, meaning: str) -> Signed:
    """Return tokens as a read-only signed array of ``ndim`` dimensions; copied unless already read-only."""
    array = np.asarray(tokens)
    if array.ndim != ndim:
        raise DataError(f"tokens must have {ndim} dimensions {meaning}, but have shape {array.shape}")
    if array.dtype.kind == "u":
        array = array.astype(np.int16 if array.dtype.itemsize == 1 else np.int64)
    elif array.dtype.kind == "f" and array.size:
        wrong = np.argwhere(~np.isfinite(array) | (array != np.floor(array)))
        place, value = (wrong[0], array[tuple(wrong[0])]) if len(wrong) else ((0, 0), array.flat[0])
        where = f"row {place[0]}, epoch {place[1]} holds {value!s}, a {array.dtype} number"
        raise DataError(f"{where}; tokens are whole numbers (use -1 for a missing one) in an integer array")
    elif array.dtype.kind != "i" and array.size:
        raise DataError(f"tokens are of type {array.dtype}; give signed integers, and -1 for a missing one")
    elif array.dtype.kind != "i":
        array = array.astype(np.int64)
    if array.flags.writeable:
        array = array.copy()
    return frozen(array)


def check_same_rows(one: Any, two: Any, tables: str = "the two tables") -> None:
    """Refuse two tables of which row i is not the same user's, as far as sizes and names tell."""
    epochs = (getattr(one, "n_epochs", 0), getattr(two, "n_epochs", 0))
    for what, a, b in (
        ("users", len(one), len(two)),
        ("epochs", *epochs),
        ("tokens in the vocabulary", one.n_tokens, two.n_tokens),
    ):
        if a != b:
            raise DataError(f"{tables} have {a:,} and {b:,} {what}; row i of both must be the same user")
    if one.users is not None and two.users is not None:
        same = np.asarray(one.users) == np.asarray(two.users)
        if not np.all(same):
            raise DataError(f"row {int(np.argmin(same))} of {tables} names two users; put both in one order")


def breadth(records: Any) -> int:
    """Return how many tokens the vocabulary of some records has, or how many dimensions vectors have.

    >>> from reidrisk.records import Vectors
    >>> breadth(Vectors([[1.0, 2.0]]))
    2
    """
    return int(records.n_tokens if hasattr(records, "n_tokens") else records.n_dimensions)


def check_range(tokens: Array, n_tokens: int) -> None:
    """Refuse tokens outside the vocabulary, the first one named by row and epoch."""
    if tokens.min() >= -1 and tokens.max() < n_tokens:
        return
    place = np.argwhere((tokens < -1) | (tokens >= n_tokens))[0]
    held = f"row {place[0]}, epoch {place[1]} holds token {int(tokens[tuple(place)])}"
    raise DataError(f"{held}; tokens lie in [0, {n_tokens}), and -1 means not observed")
