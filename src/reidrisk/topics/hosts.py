"""Hosts as people give them: a column of them by distinct value, and as the published lists write them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.errors import DataError
from reidrisk.base.foreign import reason
from reidrisk.base.hosts import plain_host

__all__ = ["distinct_values", "plain_host", "spaced"]


def distinct_values(hosts: Any) -> tuple[npt.NDArray[np.int64], list[str | None]]:
    """Return for each value its number among the distinct ones, and those in order of first occurrence.

    Examples
    --------
    >>> codes, values = distinct_values(["b.org", "a.org", "b.org"])
    >>> codes.tolist(), values
    ([0, 1, 0], ['b.org', 'a.org'])
    """
    import pyarrow as pa

    if isinstance(hosts, str):
        raise DataError("hosts is one string; give a list of hosts")
    try:
        column = hosts.to_arrow() if hasattr(hosts, "to_arrow") else hosts
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column, type=pa.large_string())
        column = column.cast(pa.large_string())
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"hosts must be strings ({reason(error, 120)})") from error
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = whole.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()


def spaced(name: str) -> str:
    """Return a name as the published lists and models write it.

    Examples
    --------
    >>> spaced("rain-radar.example.com")
    'rain radar example com'
    """
    return re.sub(r"[._-]", " ", name)
