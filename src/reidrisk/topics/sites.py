"""Sites as the API counts them: registrable domains, so that mail.a.co.uk and www.a.co.uk are one observer."""

from __future__ import annotations

from collections.abc import Sequence

from reidrisk.base.errors import OptionError
from reidrisk.base.extras import require
from reidrisk.topics.hosts import plain_host


def registrable(hosts: Sequence[str | None]) -> list[str | None]:
    """Return the registrable domain of each host by the public suffix list, ``None`` where there is none.

    Needs the extra ``topics``.

    Examples
    --------
    >>> registrable(["mail.a.co.uk", "a.com", "co.uk", "10.0.0.1", None])
    ['a.co.uk', 'a.com', None, None, None]
    """
    # The list is bundled with the library: nothing is fetched.
    known = require("publicsuffixlist", "topics", "telling which site a host belongs to").PublicSuffixList()
    plain = [plain_host(host)[0] for host in hosts]
    return [known.privatesuffix(host) if host else None for host in plain]


def checked_observers(observers: Sequence[str]) -> tuple[str, ...]:
    """Return the observers in plain form, or name the first that is not a registrable domain or comes twice.

    Examples
    --------
    >>> checked_observers(["Shop.example", "news.co.uk"])
    ('shop.example', 'news.co.uk')
    """
    if not observers:
        raise OptionError("give at least one observer: a registrable domain such as example.org")
    found: list[str] = []
    for given, site in zip(observers, registrable(list(observers)), strict=True):
        plain, fault = plain_host(given)
        if site is None or plain != site:
            why = fault or (f"it belongs to {site}" if site else "it is a public suffix")
            raise OptionError(
                f"observer {given!r} is not a registrable domain: {why}; give {site or 'a domain such as example.org'}"
            )
        if site in found:
            raise OptionError(f"observer {given!r} is named twice; name every observer once")
        found.append(site)
    return tuple(found)
