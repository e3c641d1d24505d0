"""Column-wise maxima, minima and sums of a channel, dense or sparse, without ever filling in the zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.records import Channel

Floats = npt.NDArray[np.float64]


def column_max(channel: Channel, prior: Floats | None = None) -> Floats:
    """Return ``max_i prior[i] P[i, o]`` for each output; without a prior ``max_i P[i, o]``.

    Examples
    --------
    >>> column_max(Channel([[0.5, 0.5], [0.2, 0.8]])).tolist()
    [0.5, 0.8]
    """
    matrix = channel.matrix
    if not channel.is_sparse:
        weighted = matrix if prior is None else matrix * prior[:, None]
        return np.asarray(weighted.max(axis=0), dtype=np.float64)
    values = matrix.data if prior is None else matrix.data * prior[entry_rows(matrix)]
    largest = np.zeros(channel.n_outputs)
    np.maximum.at(largest, matrix.indices, values)
    return largest


def column_min(channel: Channel) -> Floats:
    """Return ``min_i P[i, o]`` for each output, counting the zeros that a sparse matrix leaves out.

    Examples
    --------
    >>> column_min(Channel([[0.5, 0.5], [0.0, 1.0]])).tolist()
    [0.0, 0.5]
    """
    matrix = channel.matrix
    if not channel.is_sparse:
        return np.asarray(matrix.min(axis=0), dtype=np.float64)
    smallest = np.full(channel.n_outputs, np.inf)
    np.minimum.at(smallest, matrix.indices, matrix.data)
    stored = np.bincount(matrix.indices, minlength=channel.n_outputs)
    return np.where(stored == channel.n_users, smallest, 0.0)


def column_mean(channel: Channel, prior: Floats | None = None) -> Floats:
    """Return ``sum_i prior[i] P[i, o]``, the distribution of the output; the prior is uniform when not given.

    Examples
    --------
    >>> column_mean(Channel([[0.5, 0.5], [0.0, 1.0]])).tolist()
    [0.25, 0.75]
    """
    matrix = channel.matrix
    if prior is None:
        return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel() / channel.n_users
    return np.asarray(prior @ matrix, dtype=np.float64).ravel()


def entry_rows(matrix: Any) -> npt.NDArray[np.int64]:
    """Return the row of each stored entry of a ``scipy.sparse.csr_array``."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))


def checked_prior(prior: npt.ArrayLike, n: int) -> Floats:
    """Return a prior over ``n`` users as floats, or refuse what is not a distribution.

    Examples
    --------
    >>> checked_prior([0.25, 0.75], 2).tolist()
    [0.25, 0.75]
    >>> checked_prior([0.5, 0.6], 2)
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.DataError: the prior adds up to 1.1; it must add up to 1
    """
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (n,):
        raise DataError(f"the prior has shape {weights.shape}; give one probability for each of the {n:,} users")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        raise DataError(f"the prior of user {wrong[0]} is {weights[wrong[0]]}; probabilities are numbers in [0, 1]")
    if abs(weights.sum() - 1.0) > 1e-6:
        raise DataError(f"the prior adds up to {weights.sum():.9g}; it must add up to 1")
    return weights
