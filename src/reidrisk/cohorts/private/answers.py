"""Asking users without seeing their histories: one random question each, answered by randomised response."""

import math
import os
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.indices import checked_csr
from reidrisk.base.options import is_number
from reidrisk.base.streams import stream
from reidrisk.cohorts.private.counts import LocalCounts
from reidrisk.privacy import randomised_response

_LEAST_EPSILON = 1e-6  # 10^12 answers would not tell yes from no


def lie_probability(epsilon: float) -> float:
    r"""Return how often randomised response lies: :math:`1 / (1 + e^\epsilon)`."""
    if not is_number(epsilon) or not 0.0 < epsilon < math.inf:
        raise OptionError(f"epsilon must be a finite number above 0, not {epsilon!r}")
    if epsilon < _LEAST_EPSILON:
        raise OptionError(f"epsilon {epsilon!r} makes every answer a coin toss; give at least {_LEAST_EPSILON:g}")
    return 1.0 / (1.0 + math.exp(min(float(epsilon), 700.0)))


def ask_users(assigned: Ints, visited: Any, n_cohorts: int, epsilon: float, seed: int | None = None) -> LocalCounts:
    """Ask each user about one category drawn at random, and count the answers of each cohort; a seed simulates."""
    # One question with the whole budget tells more than c with a share each: errors grow by the root of c, not by c.
    lie, table = lie_probability(epsilon), sparse_visits(visited)
    n, c = table.shape
    # Which question a user gets is no secret; only the answer protects them.
    rng = np.random.default_rng(secrets.randbits(128)) if seed is None else stream(seed, "questions to users")
    question = rng.integers(c, size=n)
    truth = np.asarray(table[np.arange(n), question]).ravel() > 0
    said = randomised_response(truth, float(epsilon)) if seed is None else truth ^ (rng.random(n) < lie)
    rows = np.where(assigned >= 0, assigned, n_cohorts)
    cells, shape = rows * c + question, (n_cohorts + 1, c)
    asked = np.bincount(cells, minlength=shape[0] * c).reshape(shape)
    yes = np.bincount(cells[said], minlength=shape[0] * c).reshape(shape)
    return LocalCounts(np.bincount(rows, minlength=shape[0]), asked, yes, lie)


def bounded_visits(visited: Any, most: int, seed: int | None = None) -> Any:
    """Keep at most ``most`` categories of each user, drawn at random, so that nobody weighs more than that."""
    from scipy import sparse

    table = sparse_visits(visited)
    per_user = np.diff(table.indptr)
    if not per_user.size or per_user.max() <= most:
        return table
    row = np.repeat(np.arange(table.shape[0]), per_user)
    # From the operating system, one word per visit: what is kept of one user must say nothing of another.
    chance: npt.NDArray[Any] = np.frombuffer(os.urandom(8 * row.size), dtype=np.uint64)
    if seed is not None:
        chance = stream(seed, "categories that count").random(row.size)
    order = np.lexsort((chance, row))  # users stay in order, their categories are shuffled
    rank = np.arange(row.size) - np.repeat(table.indptr[:-1], per_user)
    kept = order[rank < most]
    return sparse.csr_array((np.ones(kept.size, np.int8), (row[kept], table.indices[kept])), shape=table.shape)


def sparse_visits(visited: Any) -> Any:
    """Return visits as a sparse 0/1 table, one entry per cell, or refuse values that are no visits."""
    from scipy import sparse

    try:
        given = visited if sparse.issparse(visited) else sparse.csr_array(visited)
    except (TypeError, ValueError) as error:
        raise DataError("visited must be a table of numbers, one row per user and one column per category") from error
    given = checked_csr(given, "visited")
    if len(given.shape) != 2:
        raise DataError(f"visited has the shape {given.shape}; give one row per user and one column per category")
    if given.nnz and not (given.data >= 0).all():
        raise DataError("visited holds a value that is negative or no number; give 1 for a visit, 0 for none")
    # Copies, since the caller's matrix stays as it is; truth values, since sums of small integers overflow.
    table = sparse.csr_array((given.data > 0, given.indices.copy(), given.indptr.copy()), shape=given.shape)
    table.sum_duplicates()
    table.eliminate_zeros()
    return sparse.csr_array((np.ones(table.nnz, dtype=np.int8), table.indices, table.indptr), shape=table.shape)
