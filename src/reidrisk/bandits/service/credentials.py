"""Tokens and enrolment codes: drawn from the operating system, shown once, kept as digests, compared in constant time.

A token is ``rr_AGENT_SECRET``: the agent is looked up by its id, and the 256-bit secret is compared by its SHA-256
digest. Secrets of that length need no slow hash: there is nothing to guess.
"""

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from reidrisk.base.errors import DataError
from reidrisk.io.tables import existing_file

AGENT = r"[0-9a-f]{16}"
_TOKEN = re.compile(rf"rr_({AGENT})_([A-Za-z0-9_-]{{43}})")
_NOBODY = hashlib.sha256(secrets.token_bytes(32)).hexdigest()  # compared with where there is no agent


def new_agent() -> str:
    """Draw the id of an agent, which is no secret."""
    return secrets.token_hex(8)


def new_token(agent: str) -> tuple[str, str]:
    """Draw a token for an agent; return it, to be shown once, and the digest to keep.

    >>> token, kept = new_token("0123456789abcdef")
    >>> agent, secret = parts(token)
    >>> agent, matches(secret, kept), matches(secret, None)
    ('0123456789abcdef', True, False)
    """
    secret = secrets.token_urlsafe(32)
    return f"rr_{agent}_{secret}", digest(secret)


def new_code() -> tuple[str, str]:
    """Draw an enrolment code of 160 bits; return it, to be shown once, and the digest to keep."""
    code = f"enrol-{secrets.token_urlsafe(20)}"
    return code, digest(code)


def digest(secret: str) -> str:
    """Return the SHA-256 digest of a secret."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def parts(token: str) -> tuple[str, str]:
    """Return agent and secret of a token; of what is no token, an agent that does not exist."""
    found = _TOKEN.fullmatch(token)
    return (found[1], found[2]) if found else ("", token)


def matches(secret: str, kept: str | None) -> bool:
    """Return whether a secret has this digest; the time it takes does not tell where they differ, or that none is."""
    same = hmac.compare_digest(digest(secret), _NOBODY if kept is None else kept)
    return same and kept is not None


def administrator(path: Path) -> str:
    """Return the digest of the administrator's token in this file, which is made, for its owner's eyes, if missing."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        token = existing_file(path).read_text("ascii", errors="replace").strip()
        if len(token) < 32:
            raise DataError(f"{path} holds no administrator's token of 32 characters or more; remove it") from None
        if path.stat().st_mode & 0o077:
            raise DataError(f"{path} can be read by others; permit it to its owner alone (chmod 600)") from None
        return digest(token)
    with os.fdopen(handle, "w") as file:
        token = secrets.token_urlsafe(32)
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    return digest(token)
