"""One run at a time: a lock on what a run is going to write, which ends with the run, however that ends."""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from reidrisk.base.errors import FormatError
from reidrisk.io.atomic import PathLike, existing_folder

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


@contextmanager
def locked(path: PathLike, is_folder: bool = False) -> Iterator[bool]:
    """Keep other runs from writing the same file or folder while the block runs.

    The lock is held by the process, on a file ``.lock`` in the folder or ``.NAME.lock`` beside the file: the operating
    system lets go of it when the process ends. A file that a killed run left behind locks nothing. A folder that is
    missing is made, and removed again if it is still empty at the end. Yields False where the system has no such locks.
    """
    final = Path(os.path.realpath(path))
    folder = final if is_folder else final.parent
    file = folder / (".lock" if is_folder else f".{final.name[-200:]}.lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(existing_folder(folder))
            handle = _taken(file, path)
        except OSError as error:
            raise FormatError(f"{path}: cannot be written: {error.strerror or error} ({file})") from error
        try:
            yield handle is not None
        finally:
            if handle is not None:
                # Removed while it is still held: whoever opened it before finds that it is not the one of this name.
                with suppress(OSError):
                    file.unlink()
                os.close(handle)


def _taken(file: Path, path: PathLike) -> int | None:
    """Return the open lock, or None where there are none to be had."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    while True:
        flags = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            handle = os.open(file, flags | os.O_RDWR, 0o666)
        except PermissionError:  # left behind by a run of somebody else
            handle = os.open(file, flags | os.O_RDONLY, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(handle, 20).decode("ascii", "replace")
            os.close(handle)
            if error.errno in _NO_LOCKS:
                file.unlink()
                return None
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            who = f" (process {holder})" if holder.isdigit() else ""
            why = f"another run{who} is writing it; wait until that has ended, or give another name"
            raise FormatError(f"{path}: {why}") from error
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(file), os.fstat(handle)):
                with suppress(OSError):  # the number is for the message alone
                    os.ftruncate(handle, 0)
                    os.write(handle, str(os.getpid()).encode())
                return handle
        os.close(handle)
