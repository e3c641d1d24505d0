"""Channel: a row-stochastic representation matrix P, dense or sparse (carey, Section 3)."""

from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats, checked_csr, frozen, reason

ROW_SUM_TOLERANCE = 1e-6
"""How far a row's sum may be from 1: rounding of the sender's arithmetic, not of a printed table."""


class Channel:
    """Who says what: ``P[i, o]`` is the probability that user ``i`` has representation ``o``.

    ``matrix`` is an (n, m) array, a ``scipy.sparse`` matrix or a Channel; rows are users and sum to 1.

    >>> Channel([[0.5, 0.5], [0.0, 1.0]])
    Channel(2 users x 2 outputs, dense)
    """

    __slots__ = ("_matrix",)
    _matrix: Any

    def __init__(self, matrix: Any) -> None:
        if isinstance(matrix, Channel):
            self._matrix = matrix._matrix
            return
        self._matrix = _sparse(matrix) if hasattr(matrix, "tocsr") else _dense(matrix)
        if 0 in self.shape:
            raise DataError(f"a channel of shape {self.shape} is empty; give at least one user and one output")
        if fault := first_fault(self._matrix):
            row, column, value = fault
            if column is None:
                raise DataError(f"row {row} adds up to {value:.9g}; every row of a channel must add up to 1")
            raise DataError(f"row {row}, column {column} is {value}; probabilities are numbers in [0, 1]")

    @property
    def matrix(self) -> Any:
        """The read-only (n, m) ``float64`` array or ``scipy.sparse.csr_array``."""
        return self._matrix

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is stored sparsely."""
        return not isinstance(self._matrix, np.ndarray)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of users and of outputs, (n, m)."""
        n, m = self._matrix.shape
        return int(n), int(m)

    @property
    def n_users(self) -> int:
        """Number of users n."""
        return self.shape[0]

    @property
    def n_outputs(self) -> int:
        """Number of outputs m."""
        return self.shape[1]

    def __len__(self) -> int:
        return self.n_users

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"Channel({self.n_users:,} users x {self.n_outputs:,} outputs, {kind})"


def first_fault(matrix: Any) -> tuple[int, int | None, float] | None:
    """Return row, column and value of the first entry that is no probability, else the first row whose sum is not 1."""
    is_dense = isinstance(matrix, np.ndarray)
    values = matrix if is_dense else matrix.data
    if not (np.isfinite(values).all() and values.min(initial=0.0) >= 0.0):
        at = tuple(np.argwhere(~np.isfinite(values) | (values < 0))[0])
        places = None if is_dense else matrix.tocoo()  # in the order of the values
        row, column = at if places is None else (places.row[at], places.col[at])
        return int(row), int(column), float(values[at])
    sums = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    wrong = np.flatnonzero(np.abs(sums - 1.0) > ROW_SUM_TOLERANCE)
    return (int(wrong[0]), None, float(sums[wrong[0]])) if wrong.size else None


def _dense(matrix: Any) -> Floats:
    try:
        array = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a channel is a matrix of numbers: {reason(error)}") from error
    if array.ndim != 2:
        raise DataError(f"a channel is a matrix (users, outputs), but this has shape {array.shape}")
    return frozen(array)


def _sparse(matrix: Any) -> Any:
    from scipy import sparse

    rows = sparse.csr_array(checked_csr(matrix), dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    frozen(rows.data)
    return rows
