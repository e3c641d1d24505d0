"""k-anonymity: what it implies for re-identification, and the k of a given channel (carey, Appendix B.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from reidrisk.base.options import whole
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
    if channel.is_sparse:
        single, outputs = bool((np.diff(matrix.indptr) == 1).all()), matrix.indices
    else:
        single, outputs = bool((np.count_nonzero(matrix, axis=1) == 1).all()), matrix.argmax(axis=1)
    if not single:
        return 0
    sharing = np.bincount(outputs)
    return int(sharing[sharing > 0].min())
