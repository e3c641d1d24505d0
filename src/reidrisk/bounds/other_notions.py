"""Other notions of privacy: k-anonymity, mutual information, quantitative information flow (carey, Appendix B)."""

import math
from typing import Any

import numpy as np

from reidrisk.base import ArrayLike, DataError, Floats, OptionError, slices, whole
from reidrisk.bounds.columns import BLOCK, checked_prior, column_max, column_mean, entry_rows
from reidrisk.records import Channel


def from_k_anonymity(k: int) -> float:
    """Return the bound ``1/k`` on the random-user accuracy of any attacker (carey, Lemma 7).

    ``k = 0`` means 'not k-anonymous for any k', as :func:`k_anonymity` reports it: the bound is then 1.

    >>> from_k_anonymity(4), from_k_anonymity(0)
    (0.25, 1.0)
    """
    k = whole("k", k, least=0)
    return 1.0 / k if k else 1.0


def k_anonymity(P: Any) -> int:
    """Return the largest k for which the channel is k-anonymous: ``min_i |{j : P[j] = P[i]}|``, rows one-hot.

    It is 0 where some row is not one-hot: a representation that varies is outside the definition, whatever the size of
    the crowd (carey, Appendix B.1).

    >>> k_anonymity([[1, 0, 0], [1, 0, 0], [0, 1, 0]]), k_anonymity([[0.5, 0.5], [0.5, 0.5]])
    (1, 0)
    """
    channel = Channel(P)
    matrix = channel.matrix
    # Rows add up to 1, so a row with a single entry is one-hot.
    entries = np.diff(matrix.indptr) if channel.is_sparse else np.count_nonzero(matrix, axis=1)
    if (entries != 1).any():
        return 0
    sharing = np.bincount(matrix.indices if channel.is_sparse else matrix.argmax(axis=1))
    return int(sharing[sharing > 0].min())


def from_mutual_information(bits: float, n: int) -> float:
    """Return the bound ``(1 + MI(I; O | P)) / log2(n)`` on the random-user accuracy of any attacker.

    Fano's inequality (carey, Lemma 9), for the mutual information in bits of n users drawn uniformly and their
    representations. The plain value is returned: above 1 it says nothing, always so for ``n = 2``. For ``n = 1`` it is
    1.

    >>> from_mutual_information(1.0, n=1024)
    0.2
    """
    n = whole("n", n)
    if not bits >= 0.0:
        raise OptionError(f"mutual information is a number of at least 0 bits, not {bits!r}")
    return (1.0 + float(bits)) / math.log2(n) if n > 1 else 1.0


def mutual_information(P: Any, prior: ArrayLike | None = None) -> float:
    """Return ``MI(I; O | P) = sum_i prior[i] sum_o P[i, o] log2(P[i, o] / q[o])`` in bits, with ``q = prior P``.

    How much the representation tells about who it is of (carey, Appendix B.3); ``0 log 0 = 0``.

    >>> mutual_information([[1, 0], [0, 1]]), mutual_information([[0.3, 0.7], [0.3, 0.7]])
    (1.0, 0.0)
    """
    channel = Channel(P)
    n = channel.n_users
    weights = np.full(n, 1.0 / n) if prior is None else checked_prior(prior, n)
    outputs = column_mean(channel, None if prior is None else weights)
    if channel.is_sparse:
        entries = channel.matrix
        terms = entries.data * _log_ratio(entries.data, outputs[entries.indices])
        return max(0.0, float(terms @ weights[entry_rows(entries)]))
    bits = 0.0
    for block in slices(n, BLOCK // channel.n_outputs):
        rows = channel.matrix[block]
        bits += float(weights[block] @ (rows * _log_ratio(rows, outputs)).sum(axis=1))
    return max(0.0, bits)


def vulnerability(P: Any, gain: Any = None, prior: ArrayLike | None = None) -> float:
    """Return the posterior vulnerability ``V = sum_o max_w sum_i prior[i] P[i, o] gain[w, i]``.

    The expected gain of the best attacker who sees the representation (carey, Appendix B.4); the (actions, n) ``gain``
    says what action ``w`` is worth when the user is ``i``. Without it this is the Bayes vulnerability, where only the
    right user counts; with a uniform prior that is :func:`random_user`.

    >>> P = [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    >>> vulnerability(P), vulnerability(P, gain=[[1, 0], [0, 1], [0.9, 0.9]])  # a third action: 'one of the two'
    (0.75, 0.95)
    """
    channel = Channel(P)
    n = channel.n_users
    if gain is None and prior is None:
        return float(column_max(channel).sum() / n)
    weights = np.full(n, 1.0 / n) if prior is None else checked_prior(prior, n)
    if gain is None:
        return float(column_max(channel, weights).sum())
    return float(_best_gains(channel, _checked_gain(gain, n), weights).sum())


def min_entropy_leakage(P: Any, prior: ArrayLike | None = None) -> float:
    """Return ``log2(V(P) / max_i prior[i])`` in bits: by which factor the representation helps one guess.

    ``V`` is the Bayes :func:`vulnerability`; the leakage is 0 when the representation is of no use, and at most
    ``log2(min(n, m))`` (carey, Appendix B.4).

    >>> min_entropy_leakage([[1, 0], [0, 1]]), min_entropy_leakage([[0.5, 0.5], [0.5, 0.5]])
    (1.0, 0.0)
    """
    channel = Channel(P)
    guess = 1.0 / channel.n_users if prior is None else float(checked_prior(prior, channel.n_users).max())
    return max(0.0, math.log2(vulnerability(channel, prior=prior) / guess))


def _log_ratio(values: Floats, outputs: Floats) -> Floats:
    """Return ``log2(values / outputs)``, and 0 where the value is 0 (or so small that its average is)."""
    ratio = np.ones(np.broadcast_shapes(values.shape, outputs.shape))
    np.divide(values, outputs, out=ratio, where=(values > 0.0) & (outputs > 0.0))
    return np.log2(ratio)


def _best_gains(channel: Channel, gain: Any, weights: Floats) -> Floats:
    """Return ``max_w sum_i gain[w, i] prior[i] P[i, o]`` for each output, by blocks of actions."""
    best = np.full(channel.n_outputs, -np.inf)
    for rows in slices(gain.shape[0], BLOCK // channel.n_outputs):
        part = gain[rows]
        weighted = part * weights if isinstance(part, np.ndarray) else part.multiply(weights).tocsr()
        largest = (weighted @ channel.matrix).max(axis=0)
        best = np.maximum(best, largest if isinstance(largest, np.ndarray) else largest.toarray().ravel())
    return best


def _checked_gain(gain: Any, n: int) -> Any:
    if hasattr(gain, "tocsr"):
        from scipy import sparse

        table = sparse.csr_array(gain, dtype=np.float64)
        values = table.data
    else:
        table = values = np.asarray(gain, dtype=np.float64)
    if len(table.shape) != 2 or table.shape[1] != n or table.shape[0] == 0:
        raise DataError(f"the gain has shape {table.shape}; give (actions, {n}): the worth of each for each user")
    if not np.isfinite(values).all():
        raise DataError("the gain holds values that are not finite numbers")
    return table
