"""Where compiled kernels are kept: where numba would keep them, or in a temporary folder of this user.

Numba keeps them beside the source, or in the cache folder of the user. Where neither can be written (a package that
root installed, run by a service that has no home), it refuses to compile; a folder of our own is the way out. What
lies there is executed, so a folder that somebody else could have filled is never used.
"""

from __future__ import annotations

import os
import stat
import sys

__all__ = ["settle"]

_VARIABLE = "NUMBA_CACHE_DIR"


def settle() -> None:
    """Name a folder for numba if it would find none; call this before the first kernel is imported.

    Examples
    --------
    >>> settle()  # nothing to do where there is a folder already
    """
    if not hasattr(os, "getuid"):  # elsewhere temporary folders, like homes, belong to the user anyway
        return
    given = os.environ.get(_VARIABLE)
    if (given and _usable(given)) or _usable(_of_user()) or all(map(_usable, _beside_source())):
        return
    try:
        folder = _temporary()
    except OSError:
        return  # numba says why it cannot go on
    os.environ[_VARIABLE] = folder
    if "numba" in sys.modules:  # it has read the environment already
        sys.modules["numba"].config.CACHE_DIR = folder


def _usable(folder: str) -> bool:
    """Tell whether a folder can be written, or made where it is missing."""
    there = os.path.abspath(folder)
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)


def _of_user() -> str:
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/numba")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "numba")


def _beside_source() -> list[str]:
    package = os.path.dirname(os.path.abspath(__file__))
    with os.scandir(package) as entries:
        parts = [entry.path for entry in entries if entry.is_dir() and entry.name != "__pycache__"]
    return [os.path.join(part, "__pycache__") for part in parts]


def _temporary() -> str:
    """Return the folder of this user among the temporary ones; one for this run alone if its name is taken."""
    import tempfile

    user = os.getuid()
    folder = os.path.join(tempfile.gettempdir(), f"reidrisk-kernels-{user}")
    try:
        os.mkdir(folder, mode=0o700)
    except FileExistsError:
        there = os.lstat(folder)
        if not stat.S_ISDIR(there.st_mode) or there.st_uid != user or stat.S_IMODE(there.st_mode) != 0o700:
            import atexit
            import shutil

            folder = tempfile.mkdtemp(prefix="reidrisk-kernels-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
