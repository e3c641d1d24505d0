"""Observers who collude: what several of them saw of the same users, put side by side (jha, Section 9.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reidrisk.base import DataError, Ints, UserIds, find_users, is_text, take_users
from reidrisk.records import Traces


class Pooled:
    """What several observers saw of the same users over the same epochs; made by :func:`pool`.

    It is no :class:`Traces`: there are several tokens per epoch, and an attack must know what to do with them. Row i is
    the same user at all ``observers``; a user whom an observer never saw has only missing tokens there. ``users``,
    ``n_epochs``, ``n_tokens`` and ``vocabulary`` are as in :class:`Traces`, the same for every observer.
    """

    __slots__ = ("n_epochs", "n_tokens", "observers", "users", "vocabulary")

    def __init__(self, observers: tuple[Traces, ...]) -> None:
        first, self.observers = observers[0], observers
        self.users, self.n_epochs = first.users, first.n_epochs
        self.n_tokens, self.vocabulary = first.n_tokens, first.vocabulary

    def epochs(self, r: int) -> Pooled:
        """Return the first ``r`` epochs of every observer."""
        return Pooled(tuple(one.epochs(r) for one in self.observers))

    def take(self, rows: Ints | slice) -> Pooled:
        """Return the chosen rows, in that order."""
        return Pooled(tuple(one.take(rows) for one in self.observers))

    def side_by_side(self) -> Traces:
        """Return all tokens as one table: the epochs of the first observer, then those of the second, and so on."""
        return self.observers[0]._with(np.concatenate([one.tokens for one in self.observers], axis=1), self.users)

    def __len__(self) -> int:
        return len(self.observers[0])

    def __repr__(self) -> str:
        return f"Pooled({len(self.observers)} observers, {len(self):,} users x {self.n_epochs} epochs)"


Observed = Traces | Pooled | Sequence[Traces]
"""What attacks on tokens take: one observer, or several, pooled or as a list."""


def pool(observers: Sequence[Traces]) -> Pooled:
    """Put together what several observers saw, user by user.

    Users are matched by their ids, in whatever order they come; a user whom one observer never saw has missing tokens
    there. Where nobody is named, row i is the same user everywhere. Observers share one vocabulary and the same number
    of epochs (fill epochs without observation with -1).

    >>> a = Traces([[1, 2], [3, 4]], n_tokens=9, users=["ann", "bob"])
    >>> b = Traces([[5, 6], [7, 8]], n_tokens=9, users=["eve", "ann"])
    >>> both = pool([a, b])
    >>> both.users.to_pylist(), both.side_by_side().tokens.tolist()
    (['ann', 'bob', 'eve'], [[1, 2, 7, 8], [3, 4, -1, -1], [-1, -1, 5, 6]])
    """
    given = tuple(observers)
    if not given:
        raise DataError("there is no observer to pool; give at least one Traces")
    for number, one in enumerate(given):
        if not isinstance(one, Traces):
            raise DataError(f"observer {number} is a {type(one).__name__}; give each observer's Traces")
        sizes = {"tokens in the vocabulary": (given[0].n_tokens, one.n_tokens)}
        sizes["epochs"] = (given[0].n_epochs, one.n_epochs)
        for what, (a, b) in sizes.items():
            if a != b:
                raise DataError(f"observer 0 has {a} {what}, observer {number} has {b}; all must have the same")
        if given[0].vocabulary and one.vocabulary and given[0].vocabulary != one.vocabulary:
            raise DataError(f"observers 0 and {number} have different vocabularies; read all over one")
    named = [one.users is not None for one in given]
    if not any(named):
        lengths = {len(one) for one in given}
        if len(lengths) > 1:
            raise DataError(f"the observers name no users and saw {sorted(lengths)} of them; name the users")
        return Pooled(given)
    if not all(named):
        raise DataError(f"observer {named.index(False)} names no users and others do; name them at every observer")
    users = _everybody(given)
    return Pooled(tuple(_rows_of(one, users) for one in given))


def gathered(records: Any) -> Any:
    """Pool a list or tuple of observers; leave anything else as it is."""
    return pool(records) if isinstance(records, list | tuple) else records


def as_traces(records: Any, who: str) -> Traces:
    """Return the tokens of one observer or of several as one table, or refuse what has none."""
    found = gathered(records)
    if isinstance(found, Pooled):
        return found.side_by_side()
    if not isinstance(found, Traces):
        raise DataError(f"{who} compares traces, not {type(found).__name__}")
    return found


def _everybody(observers: tuple[Traces, ...]) -> UserIds:
    """Return every id once, in the order of first appearance."""
    users = observers[0].users
    for number, one in enumerate(observers[1:], start=1):
        if is_text(users) != is_text(one.users):
            raise DataError(f"observers 0 and {number} have user ids of two kinds, text and integers; use one")
        new = np.flatnonzero(find_users(one.users, users) < 0)
        if new.size:
            more = take_users(one.users, new)
            if is_text(users):
                import pyarrow  # text ids are Arrow strings, so it is there

                users = pyarrow.concat_arrays([users, more])
            else:
                users = np.concatenate([users, more])
    return users


def _rows_of(one: Traces, users: UserIds) -> Traces:
    """Return the tokens of these users in this order, missing where the observer never saw them."""
    rows = find_users(users, one.users)
    return one._with(np.where(rows[:, None] >= 0, one.tokens[rows], one.tokens.dtype.type(-1)), users)
