"""Behaviour: row-stochastic transition matrices and user profiles (galozy, Section 6.1)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reidrisk.base import Array, ArrayLike, DataError, Floats, Ints, Note, OptionError, sizes

LARGEST = 1e15  # largest measurement: seconds beyond it are no time, and squared differences beyond it defeat t-SNE

PAPER_TOLERANCE = 1e-3  # cells that differ by less agree for the scoreboard, in the paper's data

_ROWS_ADD_UP = 1e-6  # largest deviation of a row sum from 1 that rounding in a file explains
_ROUNDING = 1e-12  # and that of sums of float64: rows this near to 1 are left as they are


@dataclass(frozen=True, eq=False)
class Behaviour:
    """What a recommender may know of its users.

    Rows of ``records`` (n, d, d) are distributions over the next state; users are compared and grouped by ``profiles``
    (n, p). Cells that differ by less than the ``tolerance`` say the same: the default of the scoreboard.

    >>> Behaviour([[[0.9, 0.1], [0.5, 0.5]]], [[1.0]], ("ann",), ("rest", "run"), "made up")
    Behaviour(1 user x 2 states, profiles of 1 number)
    """

    records: Floats
    profiles: Floats
    users: tuple[str, ...]
    states: tuple[str, ...]
    origin: str | Note
    tolerance: float = PAPER_TOLERANCE

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance < float("inf"):
            raise DataError(f"the tolerance must be a finite number above 0, not {self.tolerance!r}")
        records = checked_records(self.records)
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "profiles", checked_profiles(self.profiles, len(records)))
        if len(self.users) != len(records) or len(self.states) != records.shape[1]:
            named = f"{len(self.users)} users and {len(self.states)} state names"
            raise DataError(f"{len(records)} matrices of {records.shape[1]} states come with {named}; name each once")
        for names, what in ((self.users, "user"), (self.states, "state")):
            twice = next((name for name, count in Counter(names).items() if count > 1), None)
            if twice is not None:
                raise DataError(f"the {what} {twice!r} occurs twice; give each {what} one name and one record")

    @property
    def note(self) -> Note:
        """Where it comes from, as a note."""
        return self.origin if isinstance(self.origin, Note) else Note("origin", text=self.origin)

    def __repr__(self) -> str:
        n, d, p = len(self.records), self.records.shape[1], self.profiles.shape[1]
        return f"Behaviour({n:,} user{'s' * (n != 1)} x {d} states, profiles of {p} number{'s' * (p != 1)})"


def checked_records(records: ArrayLike, least: int = 1) -> Floats:
    """Return transition matrices as a float array, or name the first row that is not a distribution.

    Rows that add up to 1 only to within 1e-6, as in a float32 file, are divided by their sums here, once and for all.
    """
    array = np.asarray(records, dtype=np.float64)
    if array.ndim != 3 or array.shape[1] != array.shape[2] or array.shape[1] < 2:
        raise DataError(f"records must have shape (users, states, states) with 2 states or more, not {array.shape}")
    if len(array) < least:
        few = "is only 1 user" if len(array) == 1 else "are no users"
        raise DataError(f"there {few}; to hide or to find one among others, give at least {least}")
    bad = np.argwhere(~(array >= 0.0) | ~np.isfinite(array))
    if bad.size:
        user, row, column = bad[0]
        cell = f"cell ({row}, {column}) of the matrix of user {user} is {array[tuple(bad[0])]}"
        raise DataError(f"{cell}; probabilities are finite and not negative")
    with np.errstate(over="ignore"):  # an infinite sum is refused like any other that is not 1
        sums = array.sum(axis=2)
    off = np.argwhere(np.abs(sums - 1.0) > _ROWS_ADD_UP)
    if off.size:
        user, row = off[0]
        raise DataError(f"row {row} of the matrix of user {user} adds up to {sums[user, row]:.9g}, not to 1; mend it")
    rough = np.abs(sums - 1.0) > _ROUNDING
    return np.where(rough[:, :, None], array / sums[:, :, None], array) if rough.any() else array


def checked_profiles(profiles: ArrayLike, n_users: int) -> Floats:
    """Return profiles as an (n, p) float array, or say what does not fit."""
    array = np.asarray(profiles, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != n_users or not array.shape[1]:
        raise DataError(f"profiles must have a row for each of the {n_users} users, not shape {array.shape}")
    bad = np.argwhere(~(np.abs(array) <= LARGEST))
    if bad.size:
        user, number = bad[0]
        large = f"{array[user, number]:g}; give it in a larger unit, so that it is at most {LARGEST:g}"
        what = large if np.isfinite(array[user, number]) else "not finite; fill it in or leave it out"
        raise DataError(f"number {number} of the profile of user {user} is {what}")
    return array


def matrices(seconds: ArrayLike, counts: ArrayLike) -> Floats:
    """Turn times and counts into transition matrices (galozy, Section 6.1).

    M[s, s] = time spent in s (n, d), M[s, s'] = number of transitions from s to s' (n, d, d; its diagonal is not looked
    at); then each row is divided by its sum. The row of a state that never occurred is uniform over all d states.
    """
    table = np.array(counts, dtype=np.float64)
    d = table.shape[1]
    table[:, np.arange(d), np.arange(d)] = seconds
    sums = table.sum(axis=2, keepdims=True)
    missing = sums == 0.0
    return np.where(missing, 1.0 / d, table / np.where(missing, 1.0, sums))


def matrices_of_events(
    user: Ints,
    time: Floats,
    state: Ints,
    n_users: int,
    n_states: int,
    lasting: Floats | None = None,
    max_gap: float | None = None,
    unit: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return transition matrices (n, d, d) and seconds spent (n, d) of numbered users and states.

    A state lasts until the user's next entry, or as long as ``lasting`` says. Over a silence of more than ``max_gap``
    seconds, which begins with the entry, or at its end where that is known, neither time nor a transition is counted.
    In the matrices, ``unit`` seconds of staying count as much as one transition.
    """
    if max_gap is not None and not max_gap >= 0:
        raise OptionError(f"max_gap must be a number of seconds of at least 0, not {max_gap!r}")
    what = f"{n_users:,} users x {n_states:,} x {n_states:,} states"
    sizes.NUMBERS.check(n_users * n_states**2, what, "give fewer users, or put states together")
    order = np.lexsort((np.arange(len(user)), time, user))
    user, time, state = user[order], time[order], state[order]
    gap = np.diff(time, append=time[-1:])
    goes_on = np.append(user[1:] == user[:-1], False)
    if max_gap is not None:
        goes_on &= (gap if lasting is None else gap - lasting[order]) <= max_gap
    spent = np.where(goes_on, gap, 0.0) if lasting is None else lasting[order]
    cell = user * n_states + state
    seconds = np.bincount(cell, weights=spent, minlength=n_users * n_states).reshape(n_users, n_states)
    follows = np.flatnonzero(goes_on)
    pair = cell[follows] * n_states + state[follows + 1]
    counts = np.bincount(pair, minlength=n_users * n_states**2).reshape(n_users, n_states, n_states)
    return matrices(seconds / unit, counts), np.asarray(seconds, dtype=np.float64)


def state_codes(
    labels: Array, states: Sequence[str] | None, place: Callable[[int], str] = "row {}".format
) -> tuple[tuple[str, ...], Ints]:
    """Give the states of a log numbers, by a given list, or by the labels that occur; ``place`` is for messages."""
    seen, codes = np.unique(labels, return_inverse=True)
    if states is None:
        if len(seen) < 2:
            raise DataError(f"the log has only the state {str(seen[0])!r}; a transition needs 2 states or more")
        return tuple(map(str, seen)), codes.astype(np.int64)
    n, different = len(states), len(set(states))
    if different != n or n < 2:
        raise OptionError(f"states must be 2 or more different names, not {n} with {different} different")
    number = {name: i for i, name in enumerate(states)}
    for name in map(str, seen):
        if name not in number:
            where = place(int(np.argmax(labels == name)))
            few = ", ".join(map(repr, list(states)[:4])) + (", …" if len(states) > 4 else "")
            unknown = f"{where} has the state {name!r}, which is not among the {len(states)} known ones ({few})"
            raise DataError(f"{unknown}; add it to the states, or take that entry out")
    return tuple(states), np.array([number[str(name)] for name in seen], dtype=np.int64)[codes]
