"""How many users of each cohort visited each sensitive category: the one table all definitions are made of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.base import Array, ArrayLike, DataError, Floats, Ints, Ints32, blocks, checked_csr, is_whole, whole

_MOST_CELLS = 1 << 29  # cohorts x categories: 2 GiB of counts
_MOST_USERS = (1 << 31) - 1  # products of two numbers of users stay below 2^63, so differences are exact


@dataclass(frozen=True, eq=False)
class CohortCounts:
    """Users by cohort and category; a user counts once per category, however often they visited."""

    cohorts: Ints  # (m,): those that occur, ascending
    sizes: Ints  # (m,): the users in each
    visits: Ints32  # (m, c): the users of each who visited each category
    population: Ints  # (c,): the same among all users
    n_users: int  # with a history, with or without a cohort
    categories: tuple[str, ...]

    @property
    def n_without(self) -> int:
        """Users who have a history but no cohort."""
        return max(self.n_users - int(self.sizes.sum()), 0)  # noisy sizes can add up to more

    @property
    def k(self) -> int:
        """Size of the smallest cohort: the k for which the assignment is k-anonymous."""
        return int(self.sizes.min())

    @property
    def population_freq(self) -> Floats:
        """PopulationFreq(X), the fraction of all users that visited X (floc, Definition 1)."""
        return self.population / self.n_users

    def cohort_freq(self, cohort: int) -> Floats:
        """Return CohortFreq(X, C), the fraction of users in C that visited X (floc, Definition 2)."""
        row = self.rows([cohort])[0]
        return np.asarray(self.visits[row] / self.sizes[row])

    def rows(self, cohorts: Iterable[int]) -> Ints:
        """Return the rows of these cohorts, or name the first that is unknown."""
        wanted = np.asarray(list(cohorts), dtype=np.int64)
        found = np.searchsorted(self.cohorts, wanted).clip(max=self.cohorts.size - 1)
        unknown = self.cohorts[found] != wanted
        if unknown.any():
            raise DataError(f"cohort {wanted[unknown][0]} is unknown: no user is in it")
        return found.astype(np.int64)


def count_visits(
    assignment: ArrayLike, visited: Any, n_cohorts: int | None = None, categories: Sequence[str] | None = None
) -> CohortCounts:
    """Count the users of each cohort who visited each category.

    ``assignment`` (n,) is the cohort of each user, -1 for none: such users count in the population. ``visited`` (n, c),
    dense or ``scipy.sparse``, says who visited what: anything above 0 counts once. Cohorts from ``n_cohorts`` on are
    refused. ``categories`` are the names of the columns, default: their numbers.

    >>> counts = count_visits([4, 4, 7, -1], [[1, 0], [3, 1], [0, 0], [0, 1]])
    >>> counts.cohorts.tolist(), counts.visits.tolist(), counts.population.tolist(), counts.n_without
    ([4, 7], [[2, 1], [0, 0]], [2, 2], 1)
    """
    from reidrisk.cohorts.sensitivity.counts_kernel import count_once

    assigned = as_assignment(assignment, n_cohorts)
    names = category_names(visited, assigned.size, categories)
    c = len(names)
    if not (assigned >= 0).any():
        raise DataError("no user has a cohort; there is nothing to measure")
    cohorts, rows = np.unique(assigned, return_inverse=True)
    without = int(cohorts[0] == -1)
    if cohorts.size * c > _MOST_CELLS:
        raise DataError(f"{cohorts.size:,} cohorts x {c:,} categories are too many to count; measure fewer categories")
    table, seen = np.zeros((cohorts.size, c), dtype=np.int32), np.full(c, -1, dtype=np.int64)
    for start, stop, part in _csr_blocks(visited, assigned.size):
        wrong = ~(part.data >= 0)  # catches NaN too
        if wrong.any():
            at = int(np.argmax(wrong))
            user = start + int(np.searchsorted(part.indptr, at, side="right")) - 1
            raise DataError(f"visited of user {user}, category {part.indices[at]} is {part.data[at]}; give 0 or 1")
        count_once(part.indptr, part.indices, part.data, rows[start:stop], start, seen, table)
    population = table.sum(axis=0, dtype=np.int64)
    sizes = np.bincount(rows, minlength=cohorts.size).astype(np.int64)
    return CohortCounts(cohorts[without:], sizes[without:], table[without:], population, assigned.size, names)


def category_names(visited: Any, n_users: int, categories: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns, or refuse a table of visits that does not fit the users or the names."""
    shape = getattr(visited, "shape", None) or np.shape(visited)
    if len(shape) != 2 or shape[0] != n_users or shape[1] < 1:
        rows = f"a row for each of the {n_users:,} users of the assignment and at least one category"
        raise DataError(f"visited has the shape {tuple(shape)}; give {rows}")
    c = int(shape[1])
    names = tuple(str(name) for name in (range(c) if categories is None else categories))
    if len(names) != c or len(set(names)) != c:
        raise DataError(f"categories has {len(set(names))} distinct names for {c} columns of visited; give one each")
    return names


def k_anonymity(assignment: ArrayLike) -> int:
    """Return the size of the smallest cohort; users without one (-1) do not count."""
    assigned = as_assignment(assignment)
    if not (assigned >= 0).any():
        raise DataError("no user has a cohort; there is nothing to measure")
    return int(np.unique(assigned[assigned >= 0], return_counts=True)[1].min())


def as_assignment(assignment: ArrayLike, n_cohorts: int | None = None) -> Ints:
    """Return cohorts as ``int64``, or name the first user whose cohort is no whole number, negative or unknown."""
    given = np.asarray(assignment)
    if given.ndim != 1 or not given.size:
        raise DataError(f"the assignment has the shape {given.shape}; give one cohort for each user")
    if given.size > _MOST_USERS:
        raise DataError(f"{given.size:,} users are more than the {_MOST_USERS:,} that can be counted exactly")
    if given.dtype.kind in "uO":
        given = _signed(given)
    if given.dtype.kind not in "iu":
        try:
            floats = given.astype(np.float64)
            wrong = ~(floats == np.floor(floats)) | ~np.isfinite(floats)
        except (TypeError, ValueError):
            raise DataError("cohorts must be whole numbers, -1 for a user without one") from None
        if wrong.any() or given.dtype.kind not in "fO":
            row = int(np.argmax(wrong))
            raise DataError(f"the cohort of user {row} is {given[row]}; give a whole number, or -1 for none")
        given = floats
    assigned = given.astype(np.int64)
    most = np.iinfo(np.int64).max if n_cohorts is None else whole("n_cohorts", n_cohorts)
    unknown = (assigned < -1) | (assigned >= most)
    if unknown.any():
        row = int(np.argmax(unknown))
        allowed = "0 on" if n_cohorts is None else f"0 to {most - 1:,}"
        raise DataError(f"the cohort {assigned[row]} of user {row} is unknown; cohorts go from {allowed}, -1 is none")
    return assigned


def _signed(given: Array) -> Array:
    """Return unsigned and Python integers as ``int64``, exactly, or name the first that does not fit."""
    if given.dtype.kind == "O" and not all(map(is_whole, given)):
        return given
    large = given > np.iinfo(np.int64).max
    if large.any():
        row = int(np.argmax(large))
        raise DataError(f"the cohort {given[row]} of user {row} is unknown; cohorts go from 0 to 2^63 - 1, -1 is none")
    return given if (given < -1).any() else given.astype(np.int64)


def _csr_blocks(visited: Any, n: int) -> Iterator[tuple[int, int, Any]]:
    """Yield the rows as sparse blocks; a dense table is never turned sparse as a whole."""
    from scipy import sparse

    if sparse.issparse(visited):
        # Any sparse layout may hold a cell twice; the kernel counts a user once all the same.
        yield 0, n, checked_csr(visited, "visited")
        return
    dense = np.asarray(visited)
    if dense.dtype.kind not in "biuf":
        raise DataError("visited must hold numbers: 1 where a user visited a category, 0 elsewhere")
    for _, start, stop in blocks(n):
        yield start, stop, sparse.csr_array(dense[start:stop])
