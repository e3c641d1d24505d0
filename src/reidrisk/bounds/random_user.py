"""The random-user setting: how often one representation can be traced to its user (carey, Section 4)."""

from typing import Any

import numpy as np

from reidrisk.base import Array, DataError, Ints
from reidrisk.bounds.columns import column_max, entry_rows
from reidrisk.records.channel import ROW_SUM_TOLERANCE, Channel


def random_user(P: Any) -> float:
    """Return what the best attacker with full information reaches: ``(1/n) sum_o max_i P[i, o]``.

    A user is drawn uniformly, a representation from the user's row; the attacker knows ``P`` and names a user. No rule
    is right more often, and :func:`optimal_rule` is right as often (carey, Corollary 1).

    >>> random_user([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    0.75
    """
    channel = Channel(P)
    return float(column_max(channel).sum() / channel.n_users)


def optimal_rule(P: Any) -> Ints:
    """Return the best answer to each representation: ``rule[o] = argmax_i P[i, o]``.

    Ties go to the user with the lowest index; so do outputs that nobody ever has (carey, Corollary 1).

    >>> optimal_rule([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]).tolist()
    [0, 1, 0]
    """
    channel = Channel(P)
    matrix = channel.matrix
    if not channel.is_sparse:
        return np.asarray(matrix.argmax(axis=0))
    best = np.flatnonzero(matrix.data == column_max(channel)[matrix.indices])
    rule = np.full(channel.n_outputs, channel.n_users, dtype=np.int64)
    np.minimum.at(rule, matrix.indices[best], entry_rows(matrix)[best])
    return np.where(rule == channel.n_users, 0, rule)


def accuracy(P: Any, rule: Any) -> float:
    """Return how often a rule is right: ``(1/n) tr(P A^T)`` (carey, Lemma 1).

    A rule is (m,) integers, the user named for each representation; or an (n, m) matrix, dense or sparse, of the
    probability ``A[i, o]`` that user ``i`` is named for representation ``o``, whose columns add up to 1.

    >>> P = [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    >>> accuracy(P, [1, 0, 0]), accuracy(P, [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    (0.25, 0.75)
    """
    channel = Channel(P)
    n, m = channel.shape
    if hasattr(rule, "tocsr"):
        from scipy import sparse

        answers = sparse.csr_array(rule)
        _check_columns(answers.data, np.asarray(answers.sum(axis=0)).ravel(), answers.shape, channel)
        return float(answers.multiply(channel.matrix).sum() / n)
    array = np.asarray(rule)
    if array.ndim == 1:
        return float(np.asarray(channel.matrix[_checked_users(array, channel), np.arange(m)]).sum() / n)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataError(f"a rule is one user an output ({m},) or a matrix ({n}, {m}), but this has shape {array.shape}")
    array = array.astype(np.float64)
    _check_columns(array, array.sum(axis=0), array.shape, channel)
    right = channel.matrix.multiply(array).sum() if channel.is_sparse else np.vdot(channel.matrix, array)
    return float(right / n)


def partial_information(expected: Any) -> float:
    """Return what the best attacker with partial information reaches: ``(1/n) sum_o max_i E[P | W][i, o]``.

    The attacker does not know ``P``, but has seen ``W``, one independent representation of each user, and knows the
    distribution that ``P`` was drawn from. The row-stochastic matrix ``E[P | W]``, for the Topics model made of the
    rows of :func:`reidrisk.bounds.topics_posterior`, then takes the place of ``P`` in :func:`random_user`, and the
    bound is reached (carey, Lemma 2).

    >>> partial_information([[0.6, 0.4], [0.4, 0.6]])
    0.6
    """
    return random_user(expected)


def _checked_users(array: Array, channel: Channel) -> Ints:
    n, m = channel.shape
    if array.dtype.kind not in "iu":
        raise DataError(f"a rule names users by their index, but its values are of type {array.dtype}")
    if array.shape != (m,):
        raise DataError(f"the rule answers {array.size:,} outputs, but the channel has {m:,}; give one user an output")
    wrong = np.flatnonzero((array < 0) | (array >= n))
    if wrong.size:
        raise DataError(f"the rule names user {array[wrong[0]]} for output {wrong[0]}; users lie in [0, {n})")
    return array.astype(np.int64)


def _check_columns(values: Array, sums: Array, shape: Any, channel: Channel) -> None:
    if tuple(shape) != channel.shape:
        raise DataError(f"the rule has shape {tuple(shape)}, but the channel has {channel.shape}")
    if not (np.isfinite(values).all() and values.min(initial=0.0) >= 0.0):
        raise DataError("the rule holds values that are no probabilities; they are numbers in [0, 1]")
    wrong = np.flatnonzero(np.abs(sums - 1.0) > ROW_SUM_TOLERANCE)
    if wrong.size:
        raise DataError(f"column {wrong[0]} of the rule adds up to {sums[wrong[0]]:.9g}; the answers must add up to 1")
