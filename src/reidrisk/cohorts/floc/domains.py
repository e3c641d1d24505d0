"""From hosts to registrable domains, which is what FLoC hashed, by the public suffix list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.extras import require
from reidrisk.base.hosts import plain_host


def registrable(hosts: Sequence[str], invalid: Literal["refuse", "none"] = "refuse") -> list[str | None]:
    """Return the registrable domain of each host: one label more than its public suffix.

    Capitals and one final dot do not count. What has no registrable domain (an IP address, a public suffix itself, a
    single label, what is not a host) is refused with its position, or becomes ``None``; on the command line,
    ``--invalid-hosts drop`` leaves it out.

    The list changes. The one bundled with the installed ``publicsuffixlist`` is used, private suffixes included, and
    nothing is fetched; domains of years ago may come out otherwise today, and so may their SimHash. Needs the extra
    ``topics``.

    Examples
    --------
    >>> registrable(["www.yahoo.co.jp", "Mail.Example.org.", "10.0.0.1"], invalid="none")
    ['yahoo.co.jp', 'example.org', None]
    """
    if invalid not in ("refuse", "none"):
        raise OptionError(f"invalid must be 'refuse' or 'none', not {invalid!r}")
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
            raise DataError(
                f"host {row} is {host!r}: {fault}; leave it out, or pass invalid='none' (--invalid-hosts drop)"
            )
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
