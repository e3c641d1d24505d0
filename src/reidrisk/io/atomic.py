"""Writing files, one run at a time, each in one step: an interrupted run leaves the old file or none, never half."""

import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from reidrisk.base.errors import FormatError

_ENDING = 40  # characters
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

PathLike = str | os.PathLike[str]  # where a file is: text or anything with a path in it


@contextmanager
def write_atomically(path: PathLike) -> Iterator[Path]:
    """Give a temporary name in the folder of ``path``; move that file into place when the block ends well.

    The file is there, empty, with the ending of ``path``; if the block raises, it is removed and ``path`` is left as it
    was. Missing folders are made, a symbolic link is followed. What is no regular file (a named pipe) is never
    replaced: what was written is passed on into it. A file that is replaced keeps its permissions, owner and group.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with write_atomically(folder / "result.json") as temporary:
    ...     _ = temporary.write_text("{}")
    >>> sorted(file.name for file in folder.iterdir())
    ['result.json']
    """
    final = Path(os.path.realpath(path))
    above = next(folder for folder in final.parents if os.path.lexists(folder))
    if os.path.isdir(final):
        raise FormatError(f"{path}: cannot write here, it is a folder; name a file in it")
    if os.path.islink(final) or os.path.islink(above):  # links were followed already, as far as they go
        raise FormatError(f"{path}: cannot write here, a link leads back to itself; name another, or remove the link")
    if not os.path.isdir(above):
        raise FormatError(f"{path}: cannot write here, {above} is a file; name a folder")
    if is_write_protected(path):
        raise FormatError(f"{path}: cannot be written: the file is write-protected; name another, or permit writing it")
    try:
        with _passed_on(path) if is_stream(path) else _moved(final) as temporary:
            yield temporary
    except BrokenPipeError:  # the reader of a stream went away, which is no fault of the file
        raise
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_text(text: str, path: PathLike) -> None:
    """Write a text file in one step."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def is_stream(path: PathLike) -> bool:
    """Tell whether what is there takes bytes but is no file to replace: a pipe, a device, standard output."""
    with suppress(OSError):
        there = os.stat(path)
        return not (stat.S_ISREG(there.st_mode) or stat.S_ISDIR(there.st_mode)) or _standard(there) is not None
    return False


def is_write_protected(path: PathLike) -> bool:
    """Tell whether there is a file that must not be written; without any write permission, not by root either."""
    with suppress(OSError):
        there = os.stat(path)
        if _standard(there) is None:  # otherwise it is open already, whoever opened it
            return not os.access(path, os.W_OK) or (stat.S_ISREG(there.st_mode) and not there.st_mode & 0o222)
    return False


@contextmanager
def _moved(final: Path) -> Iterator[Path]:
    """Give a name beside the final one, and move what was written there over it."""
    # The whole name and more would be too long where the name is as long as names may be; its ending tells the format.
    temporary = final.parent / f".{secrets.token_hex(4)}.{final.name[-_ENDING:]}"
    with existing_folder(final.parent):
        try:
            # What only its owner may read is never readable under the other name either.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if final.exists() else 0o666))
            yield temporary
            flush(temporary)
            if final.exists():
                take_over(final, temporary)
            os.replace(temporary, final)
        finally:
            with suppress(OSError):  # after the move there is nothing under this name any more
                temporary.unlink()


@contextmanager
def existing_folder(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; those that were made and are still empty at the end are removed."""
    made = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for one in made:
            with suppress(OSError):
                one.rmdir()


@contextmanager
def _passed_on(path: PathLike) -> Iterator[Path]:
    """Give a name in a folder that nobody else may read, and copy what was written there into the stream."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / Path(path).name
        yield temporary
        number = _standard(os.stat(path))
        if number is None:
            target = os.open(path, os.O_WRONLY)
        else:
            # Opened by name, a redirected output would begin at its first byte and overwrite what was printed.
            target = os.dup(number)
            sys.stdout.flush()
        with open(temporary, "rb") as source, open(target, "wb") as sink:
            shutil.copyfileobj(source, sink)


def _standard(there: os.stat_result) -> int | None:
    """Return the number of standard output or error, where that is what is there."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(there, os.fstat(number)):
                return number
    return None


def take_over(old: Path, new: Path) -> None:
    """Give a new file the owner, group and permissions of the old one, or less where they cannot be kept."""
    there = old.stat()
    mode = stat.S_IMODE(there.st_mode) & 0o777
    if hasattr(os, "chown"):
        try:
            os.chown(new, there.st_uid, there.st_gid)
        except OSError:
            with suppress(OSError):
                os.chown(new, -1, there.st_gid)
        if new.stat().st_gid != there.st_gid:  # another group must not read what only the old one could
            mode &= 0o707 | (mode & 0o007) << 3
    new.chmod(mode)


def flush(file: Path) -> None:
    """Have the content of a file, or the names in a folder, written to the disk."""
    # Without this a power cut after the move could leave an empty file under the final name.
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
