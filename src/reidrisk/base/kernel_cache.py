"""Where compiled kernels are kept: where numba would keep them, or in a temporary folder of this user.

Numba keeps them beside the source, or in the cache folder of the user. Where neither can be written (a package that
root installed, run by a service that has no home), it refuses to compile; a folder of our own is the way out. What
lies there is executed, so a folder that somebody else could have filled is never chosen: not by us, and not by numba,
whose cache folder of the user may lie in the working folder (no home) or where everyone may write (a home of ``/tmp``).
"""

import os
import stat
import sys
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def settle() -> None:
    """Name a folder for numba if it would find none; call this before the first kernel is made."""
    if not hasattr(os, "getuid"):  # elsewhere temporary folders, like homes, belong to the user anyway
        return
    given = os.environ.get(_VARIABLE)
    of_user = _of_user()
    if (given and _usable(given)) or (_ours(of_user) and _usable(of_user)) or all(map(_usable, _beside_source())):
        return
    try:
        folder = _temporary()
    except OSError:
        return  # numba says why it cannot go on
    os.environ[_VARIABLE] = folder
    if "numba" in sys.modules:  # it has read the environment already
        sys.modules["numba"].config.CACHE_DIR = folder


def _usable(folder: str) -> bool:
    """Return whether a folder can be written, or made where it is missing."""
    there = _deepest(folder)
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)


def _ours(folder: str) -> bool:
    """Return whether nobody but this user (and root) can put anything into a folder, or another in its place."""
    if not os.path.isabs(folder):  # without a home '~' stays as it is, and numba looks below the working folder
        return False
    user = os.getuid()
    there = os.path.realpath(_deepest(folder))
    try:
        found = os.stat(there)
        above = [os.stat(part) for part in Path(there).parents]
    except OSError:
        return False
    if found.st_uid != user or found.st_mode & _OTHERS_WRITE:
        return False
    # Who may write a folder may rename what is in it; only the owner may where the sticky bit is set, as in /tmp.
    safe = (not part.st_mode & _OTHERS_WRITE or part.st_mode & stat.S_ISVTX for part in above)
    return all(safe) and all(part.st_uid in (0, user) for part in above)


def _deepest(folder: str) -> str:
    there = os.path.abspath(folder)
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    return there


def _of_user() -> str:
    """Return where numba would keep kernels for this user; like numba, take an empty variable as it stands."""
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/numba")
    return os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "numba")


def _beside_source() -> list[str]:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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
