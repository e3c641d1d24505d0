"""Fingerprints of the files that were audited: keyed, so that nobody can try guesses of a table against them."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reidrisk.base import FormatError, OptionError, Result

_SHORTEST, _LONGEST = 16, 4096  # bytes of a key: fewer can be guessed, and more are no key but some other file


@dataclass(frozen=True, eq=False)
class Fingerprints(Result):
    """Sums of the files that were read, by their role (``"targets"``, ``"queries"``, ``"truth"``, ``"vocabulary"``).

    ``method`` is ``"hmac-sha256"``, which only the holder of the key can compute, or ``"sha256"``, which anyone can:
    whoever knows a table but for a few cells finds these cells by trying.
    """

    method: Literal["hmac-sha256", "sha256"]
    sums: dict[str, str]


def read_key(path: str | Path) -> bytes:
    """Read the key of fingerprints: a file of 16 to 4,096 bytes that nobody else has."""
    file = Path(path)
    make = "make one with: head -c 32 /dev/urandom > key"
    if not file.exists():
        raise OptionError(f"{path}: there is no such file to take a key from; {make}")
    if not file.is_file():
        raise OptionError(f"{path}: is a folder, a pipe or a device, not a file to take a key from; {make}")
    with file.open("rb") as opened:
        key = opened.read(_LONGEST + 1)
    if not _SHORTEST <= len(key) <= _LONGEST:
        size = f"{len(key)} bytes" if len(key) <= _LONGEST else f"more than {_LONGEST:,} bytes"
        raise OptionError(f"{path}: a key has {_SHORTEST} to {_LONGEST:,} bytes, and this file has {size}; {make}")
    return key


def fingerprints(files: Mapping[str, str | Path | None], key: bytes | None) -> Fingerprints:
    """Return the keyed sum of each file by its role, or the plain SHA-256 where there is no key.

    A pipe can be read once only, and has no sum; nor has what is missing.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("user,epoch_0")
    >>> plain, keyed = (fingerprints({"targets": path}, key).sums["targets"] for key in (None, bytes(32)))
    >>> len(plain), len(keyed), plain == keyed
    (64, 64, False)
    """
    found = {role: _sum(Path(path), key) for role, path in files.items() if path is not None and Path(path).is_file()}
    return Fingerprints("sha256" if key is None else "hmac-sha256", found)


def differing(saved: Fingerprints, files: Mapping[str, str | Path | None], key: bytes | None) -> tuple[str, ...]:
    """Return the roles of the files that are not those of the saved fingerprints.

    A role that was not fingerprinted, or a file that is missing, counts as another file.
    """
    keyed = saved.method == "hmac-sha256"
    if keyed and key is None:
        raise OptionError("the fingerprints of this result are keyed; give the key of the audit (--fingerprint-key)")
    found = fingerprints(files, key if keyed else None).sums
    given = (role for role, path in files.items() if path is not None)
    return tuple(one for one in given if not hmac.compare_digest(saved.sums.get(one, ""), found.get(one, "?")))


def _sum(path: Path, key: bytes | None) -> str:
    start = hashlib.sha256 if key is None else lambda: hmac.new(key, digestmod="sha256")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, start).hexdigest()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})") from error
