"""Tokens as the kernels want them: one contiguous column an epoch, smallest unsigned type, maximum = missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Columns", "columns"]


class Columns(NamedTuple):
    """Tokens of one table, epoch by epoch.

    ``tokens`` is (r, n), unsigned and contiguous; ``missing`` is the value that stands for -1;
    ``gaps`` tells whether it occurs at all.
    """

    tokens: npt.NDArray[np.unsignedinteger[Any]]
    missing: int
    gaps: bool

    @property
    def n_users(self) -> int:
        """Number of users n."""
        return int(self.tokens.shape[1])

    @property
    def n_epochs(self) -> int:
        """Number of epochs r."""
        return int(self.tokens.shape[0])


def columns(tokens: npt.NDArray[np.signedinteger[Any]], n_tokens: int) -> Columns:
    """Turn (n, r) signed tokens into :class:`Columns`.

    Two tables over the same vocabulary get the same type, so that kernels compare like with like.

    Examples
    --------
    >>> import numpy as np
    >>> c = columns(np.array([[3, -1], [0, 1]]), n_tokens=5)
    >>> c.tokens.tolist(), c.missing, c.gaps
    ([[3, 0], [65535, 1]], 65535, True)
    """
    # Never uint8: vectorised compares are as fast on 16 bits, and one type fewer is compiled.
    dtype: type[np.unsignedinteger[Any]] = np.uint16 if n_tokens <= np.iinfo(np.uint16).max else np.uint32
    missing = int(np.iinfo(dtype).max)
    turned = np.ascontiguousarray(tokens.T)
    absent = turned < 0
    gaps = bool(absent.any())
    cast = turned.astype(dtype)
    if gaps:
        cast[absent] = missing
    return Columns(cast, missing, gaps)
