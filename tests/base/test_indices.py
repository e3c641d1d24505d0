"""Index arrays of sparse matrices are checked in full before a compiled loop follows them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import Bags, Channel, cohorts, populations
from reidrisk.base.errors import DataError
from reidrisk.base.indices import checked_csr

BROKEN = {
    "a row that ends far away": ([0, 2_000_000, 2], [0, 1]),
    "a row that begins below 0": ([0, -5, 2], [0, 1]),
    "no start at 0": ([1, 1, 2], [0, 1]),
    "an end beyond the entries": ([0, 1, 9], [0, 1]),
    "a column that is not there": ([0, 1, 2], [0, 2]),
    "a column below 0": ([0, 1, 2], [0, -1]),
    "a column that wraps around": ([0, 1, 2], [0, 2**40]),
    "too few rows": ([0, 2], [0, 1]),
    "too many rows": ([0, 1, 2, 2], [0, 1]),
    "differences that wrap around": ([0, np.iinfo(np.int64).max, 2], [0, 1]),
}


def broken(case: str, kind: type = sparse.csr_array):
    matrix = kind(np.eye(2))
    indptr, indices = BROKEN[case]
    matrix.indptr, matrix.indices = np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int64)
    return matrix


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_every_door_for_sparse_matrices_refuses_a_broken_one(case, kind):
    doors = [
        Channel,
        Bags,
        checked_csr,
        lambda matrix: populations.real(matrix),
        lambda matrix: cohorts.count_visits([0, 0], matrix),
    ]
    for door in doors:
        with pytest.raises(DataError):
            door(broken(case, kind))


def test_places_outside_a_matrix_of_coordinates_are_refused():
    for axis, place in ((0, 2), (0, -1), (1, 2), (1, 2**40)):
        matrix = sparse.coo_array(np.eye(2))
        coords = [np.array(part, dtype=np.int64) for part in matrix.coords]
        coords[axis][1] = place
        matrix.coords = tuple(coords)
        with pytest.raises(DataError, match=f"axis {axis}"):
            checked_csr(matrix)


@settings(max_examples=60, deadline=None)
@given(
    indptr=st.lists(st.integers(-3, 6), min_size=1, max_size=6),
    indices=st.lists(st.integers(-2, 5), max_size=6),
    shape=st.tuples(st.integers(0, 5), st.integers(0, 5)),
)
def test_what_is_accepted_is_what_the_definition_says(indptr, indices, shape):
    matrix = sparse.csr_array(shape)
    matrix.indptr, matrix.indices = np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int64)
    matrix.data = np.ones(len(indices))
    valid = (
        len(indptr) == shape[0] + 1
        and indptr[0] == 0
        and all(a <= b for a, b in pairwise(indptr))
        and indptr[-1] <= len(indices)
        and all(0 <= column < shape[1] for column in indices[: indptr[-1]])
    )
    if valid:
        assert checked_csr(matrix).indptr.tolist() == indptr
    else:
        with pytest.raises(DataError):
            checked_csr(matrix)
