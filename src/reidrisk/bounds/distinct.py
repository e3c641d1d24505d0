"""Distinct rows of a table of tokens, for millions of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["row_keys"]

_LARGEST = int(np.iinfo(np.int64).max)


def row_keys(tokens: npt.NDArray[np.signedinteger[Any]], n_tokens: int) -> npt.NDArray[np.int64]:
    """Return one integer a row, equal exactly where rows are equal.

    Columns are digits of a number in base ``n_tokens + 1`` (-1 is a digit too); whenever the next digit
    would not fit, the numbers so far are replaced by their ranks.

    Parameters
    ----------
    tokens : (n, r) array
        Values in ``[-1, n_tokens)``.
    n_tokens : int
        Size of the vocabulary.

    Examples
    --------
    >>> row_keys(np.array([[3, -1], [0, 1], [3, -1]]), n_tokens=5).tolist()
    [24, 8, 24]
    """
    base = n_tokens + 1
    keys = np.zeros(len(tokens), dtype=np.int64)
    size = 1
    for column in tokens.T:
        if size > _LARGEST // base:
            values, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), int(values.size)
        keys *= base
        keys += column
        keys += 1
        size *= base
    return keys
