"""What is a host, its plain form, and the registrable domain it belongs to: one check for all that take hosts."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.extras import require
from reidrisk.base.frames import text_column
from reidrisk.base.options import one_of

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_FAULTS = {r"\s": "it has blanks", r"://": "it has a scheme", r"[/?#@]": "it is more than a host"}
_FAULTS |= {r"[:\[]": "it has a port or is an IP address"}


def plain_host(value: str | None) -> tuple[str, str]:
    """Return the host in lower-case ASCII and an empty string, or an empty string and what is wrong with it.

    >>> plain_host("WWW.Example.org."), plain_host("http://example.org")
    (('www.example.org', ''), ('', 'it has a scheme'))
    """
    if not value:
        return "", "it is empty"
    for pattern, fault in _FAULTS.items():
        if re.search(pattern, value):
            return "", fault
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


def registrable(hosts: Sequence[str | None], invalid: Literal["refuse", "none"] = "refuse") -> list[str | None]:
    """Return the registrable domain of each host: one label more than its public suffix.

    Capitals and one final dot do not count. What has no registrable domain (an IP address, a public suffix itself, a
    single label, what is not a host) is refused with its position, or becomes ``None``; on the command line,
    ``--invalid-hosts drop`` leaves it out.

    The list changes. The one bundled with the installed ``publicsuffixlist`` is used, private suffixes included, and
    nothing is fetched; domains of years ago may come out otherwise today, and so may their SimHash. Needs the extra
    ``topics``.

    >>> registrable(["www.yahoo.co.jp", "Mail.Example.org.", "10.0.0.1"], invalid="none")
    ['yahoo.co.jp', 'example.org', None]
    """
    one_of("invalid", invalid, ("refuse", "none"))
    if isinstance(hosts, str) or not isinstance(hosts, Iterable):
        raise DataError(f"hosts is {'one string' if isinstance(hosts, str) else repr(hosts)}; give a list of hosts")
    known = require("publicsuffixlist", "topics", "finding registrable domains").PublicSuffixList()
    seen: dict[Any, tuple[str | None, str]] = {}
    found: list[str | None] = []
    for row, host in enumerate(hosts):
        if host not in seen:
            seen[host] = _domain(host, known.privatesuffix)
        domain, fault = seen[host]
        if domain is None and invalid == "refuse":
            allow = "leave it out, or pass invalid='none' (--invalid-hosts drop)"
            raise DataError(f"host {row} is {host!r}: {fault}; {allow}")
        found.append(domain)
    return found


def _domain(host: object, lookup: Callable[[str], str | None]) -> tuple[str | None, str]:
    """Return the domain, or ``None`` and why there is none."""
    if not isinstance(host, str):
        return None, "it is no text"
    name, fault = plain_host(host)
    if fault:
        return None, fault
    domain = lookup(name)
    return (domain, "") if domain else (None, "it has no registrable domain, being a public suffix or a single label")


def distinct_values(hosts: Any) -> tuple[Ints, list[str | None]]:
    """Return for each value its number among the distinct ones, and those in order of first occurrence."""
    encoded = text_column(hosts, "hosts").dictionary_encode(null_encoding="encode")
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
