"""Hosts as people give them and as the published lists write them; observers, which are registrable domains."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.foreign import reason
from reidrisk.base.hosts import plain_host, registrable


def distinct_values(hosts: Any) -> tuple[Ints, list[str | None]]:
    """Return for each value its number among the distinct ones, and those in order of first occurrence."""
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

    >>> spaced("rain-radar.example.com")
    'rain radar example com'
    """
    return re.sub(r"[._-]", " ", name)


def checked_observers(observers: Sequence[str]) -> tuple[str, ...]:
    """Return the observers in plain form, or name the first that is not a registrable domain or comes twice."""
    if not observers:
        raise OptionError("give at least one observer: a registrable domain such as example.org")
    found: list[str] = []
    for given, site in zip(observers, registrable(list(observers), "none"), strict=True):
        plain, fault = plain_host(given)
        if site is None or plain != site:
            why = fault or (f"it belongs to {site}" if site else "it is a public suffix")
            advice = site or "a domain such as example.org"
            raise OptionError(f"observer {given!r} is not a registrable domain: {why}; give {advice}")
        if site in found:
            raise OptionError(f"observer {given!r} is named twice; name every observer once")
        found.append(site)
    return tuple(found)
