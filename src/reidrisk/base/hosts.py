"""What is a host, and its plain form: one check for all that take hosts."""

from __future__ import annotations

import re

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")


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
