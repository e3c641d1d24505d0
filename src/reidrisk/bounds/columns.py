"""Column-wise maxima, minima and sums of a channel, dense or sparse, without ever filling in the zeros."""

from typing import Any

import numpy as np

from reidrisk.base import ArrayLike, DataError, Floats, Ints
from reidrisk.records import Channel

BLOCK = 4_000_000  # numbers held at once while a dense matrix is passed over


def column_max(channel: Channel, prior: Floats | None = None) -> Floats:
    """Return ``max_i prior[i] P[i, o]`` for each output; without a prior ``max_i P[i, o]``."""
    return _filled((channel.matrix if prior is None else channel.matrix * prior[:, None]).max(axis=0))


def column_min(channel: Channel) -> Floats:
    """Return ``min_i P[i, o]`` for each output."""
    return _filled(channel.matrix.min(axis=0))


def column_mean(channel: Channel, prior: Floats | None = None) -> Floats:
    """Return ``sum_i prior[i] P[i, o]``, the distribution of the output."""
    matrix = channel.matrix
    if prior is None:
        return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel() / channel.n_users
    return np.asarray(prior @ matrix, dtype=np.float64).ravel()


def entry_rows(matrix: Any) -> Ints:
    """Return the row of each stored entry of a ``scipy.sparse.csr_array``."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))


def _filled(values: Any) -> Floats:
    """Return a column-wise result as an array: that of a sparse matrix is sparse, its zeros counted."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64).ravel()


def checked_prior(prior: ArrayLike, n: int) -> Floats:
    """Return a prior over ``n`` users as floats, or refuse what is not a distribution."""
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (n,):
        raise DataError(f"the prior has shape {weights.shape}; give one probability for each of the {n:,} users")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        raise DataError(f"the prior of user {wrong[0]} is {weights[wrong[0]]}; probabilities are numbers in [0, 1]")
    if abs(weights.sum() - 1.0) > 1e-6:
        raise DataError(f"the prior adds up to {weights.sum():.9g}; it must add up to 1")
    return weights
