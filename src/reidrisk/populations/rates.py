"""Populations as visit rates: how often, in the mean week, each user visits each topic (jha, Section 5)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.base import DataError, Floats, OptionError, blocks, checked_csr, frozen, reason
from reidrisk.io.tables import cell, existing_file, number_matrix, read_cells, while_reading

BLOCK = 4_096  # users made together, always a whole block, so that a larger population starts with the same users


class Rates:
    """Mean weekly visits of each user (row) to each topic (column), made block by block when asked for.

    Most rates are 0, so a block is a ``scipy.sparse.csr_array``; nothing larger than a block is ever held.
    ``make`` returns the block of a number, of :data:`BLOCK` users; ``model`` says where they come from.

    >>> rates = real([[3.0, 0.0, 0.5], [0.0, 1.0, 0.0]])
    >>> rates
    Rates(2 users x 3 topics, real)
    >>> rates.block(0).toarray().tolist()
    [[3.0, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """

    __slots__ = ("_make", "model", "n_topics", "n_users")

    def __init__(self, n_users: int, n_topics: int, model: str, make: Callable[[int], Any]) -> None:
        self.n_users, self.n_topics, self.model, self._make = n_users, n_topics, model, make

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_users // BLOCK)

    def block(self, index: int) -> Any:
        """Make one block alone: the (users, topics) ``csr_array`` of users ``index * BLOCK`` and following."""
        if not 0 <= index < self.n_blocks:
            raise OptionError(f"there are blocks 0 to {self.n_blocks - 1}, not {index}")
        return self._make(index)[: self.n_users - index * BLOCK]

    def blocks(self) -> Iterator[tuple[int, int, Any]]:
        """Yield (first user, last user + 1, rates) of every block."""
        for index, start, stop in blocks(self.n_users, BLOCK):
            yield start, stop, self.block(index)

    def stretches(self, index: int, epochs: int) -> Iterator[tuple[int, int, Any]]:
        """Yield (first epoch, last + 1, rates) of a block over time: one stretch, where rates are constant."""
        yield 0, epochs, self.block(index)

    def toarray(self) -> Floats:
        """Return all rates as one dense array; for small populations."""
        return np.concatenate([part.toarray() for _, _, part in self.blocks()])

    def __len__(self) -> int:
        return self.n_users

    def __repr__(self) -> str:
        return f"Rates({self.n_users:,} users x {self.n_topics:,} topics, {self.model})"


def real(matrix: Any) -> Rates:
    """Take the users of an (n, n_topics) matrix of mean weekly visits as they are (jha, Section 5, 'Real Users')."""
    from scipy import sparse  # half a second nobody else should pay for

    given = checked_rates(matrix)
    n, n_topics = given.shape
    return Rates(n, n_topics, "real", lambda index: sparse.csr_array(given[index * BLOCK : (index + 1) * BLOCK]))


def read_rates(path: str | Path, n_topics: int | None = None) -> Floats:
    """Read a rate matrix from a CSV file (``.gz`` or not): no header, one line per user, one column per topic.

    A file with another number of columns than ``n_topics`` is refused, and so is a cell that is no rate.
    """
    file, rule = existing_file(path), "rates are finite numbers of at least 0, without header"
    with while_reading(file.name, "CSV"):
        columns = read_cells(file, file.name, None).columns
    if n_topics not in (None, len(columns)):
        raise DataError(f"{file.name} has {len(columns)} columns, not {n_topics}: one rate a topic")
    names = [str(i + 1) for i in range(len(columns))]
    rates = number_matrix(columns, names, file.name, rule)
    wrong = np.argwhere(~(rates >= 0) | np.isinf(rates))
    if len(wrong):
        (row, column), rate = wrong[0], rates[tuple(wrong[0])]
        raise DataError(f"{cell(file.name, row, names[column])} holds {rate:g}; {rule}")
    return rates


def checked_rates(matrix: Any) -> Floats:
    """Return a rate matrix as a read-only dense array, or name the row and column of the first bad rate."""
    given = checked_csr(matrix, "rates").toarray() if hasattr(matrix, "tocsr") else matrix
    try:
        rates = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"rates must be one table of numbers (users, topics): {reason(error)}") from error
    if rates.ndim != 2:
        raise DataError(f"rates must have 2 dimensions (users, topics), but have shape {rates.shape}")
    if 0 in rates.shape:
        raise DataError(f"rates of shape {rates.shape} are empty; give at least one user and one topic")
    wrong = np.argwhere(~(rates >= 0) | np.isinf(rates))
    if len(wrong):
        (row, column), rate = wrong[0], rates[tuple(wrong[0])]
        raise DataError(f"row {row}, column {column} holds the rate {rate}; rates are finite numbers of at least 0")
    return frozen(rates)
