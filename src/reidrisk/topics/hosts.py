"""Hosts as people give them: what is one, its plain form, and a column of them by distinct value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.errors import DataError

__all__ = ["distinct_values", "plain_host", "spaced"]

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")


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
        reason = " ".join(str(error).split())[:120]
        raise DataError(f"hosts must be strings ({reason})") from error
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = whole.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()


def plain_host(value: str | None) -> tuple[str, str]:
    """Return the host in lower-case ASCII and an empty string, or an empty string and what is wrong with it.

    Examples
    --------
    >>> plain_host("WWW.Example.org."), plain_host("http://example.org")
    (('www.example.org', ''), ('', 'it has a scheme'))
    """
    if not value:
        return "", "it is empty"
    if re.search(r"\s", value):
        return "", "it has blanks"
    if "://" in value:
        return "", "it has a scheme"
    if re.search(r"[/?#@]", value):
        return "", "it is more than a host"
    if ":" in value or "[" in value:
        return "", "it has a port or is an IP address"
    host = value.lower().removesuffix(".")
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return "", "it is not a name that can be written in ASCII"
    labels = host.split(".")
    # As in the URL standard, a name whose last label is a number is an IPv4 address, well-formed or not.
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        return "", "it is an IP address"
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return "", "it is not a well-formed name"
    return host, ""


def spaced(name: str) -> str:
    """Return a name as the published lists and models write it.

    Examples
    --------
    >>> spaced("rain-radar.example.com")
    'rain radar example com'
    """
    return re.sub(r"[._-]", " ", name)
