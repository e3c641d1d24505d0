"""Writing a file in one step: an interrupted run leaves the old file or none, never half of a new one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reidrisk.errors import FormatError

__all__ = ["PathLike", "write_atomically"]

PathLike = str | os.PathLike[str]
"""Where a file is: text or anything with a path in it."""


@contextmanager
def write_atomically(path: PathLike) -> Iterator[Path]:
    """Give a temporary name in the folder of ``path``; move that file into place when the block ends well.

    Parameters
    ----------
    path : str or path
        The file to write. Its folder must exist. A symbolic link is followed.

    Yields
    ------
    Path
        Where to write. It has the same ending as ``path``. If the block raises, it is removed and ``path`` is
        left as it was.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_atomically(folder / "result.json") as temporary:
    ...     _ = temporary.write_text("{}")
    >>> sorted(file.name for file in folder.iterdir())
    ['result.json']
    """
    final = Path(os.path.realpath(path))
    if final.is_dir():
        raise FormatError(f"{path}: cannot write here, it is a folder; name a file in it")
    if not final.parent.is_dir():
        raise FormatError(f"{path}: cannot write here, the folder {Path(path).parent} does not exist; create it first")
    temporary = final.parent / f".{secrets.token_hex(4)}.{final.name}"
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, final)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FormatError(f"{path}: cannot be written: {reason}") from error
    finally:
        # After the move there is nothing under this name any more.
        with suppress(OSError):
            temporary.unlink()


def _flush(file: Path) -> None:
    # Without this a power cut after the move could leave an empty file under the final name.
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
