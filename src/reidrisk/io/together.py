"""Files that belong together, written in one step: whatever happens, they are all the old ones or all the new ones.

New files are written into a folder of their own, ``.KEY.writing-…``, beside the old ones. Only when all are complete
is it renamed to ``.KEY.complete``, which is the one step that decides, and then they are moved over the old ones.
Whoever reads them asks :func:`current` or :func:`found`: a run that was killed while it moved them has lost nothing.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reidrisk.base.errors import FormatError
from reidrisk.io.atomic import existing_folder, flush, is_write_protected, take_over, write_atomically

_GONE = "removed"  # names the files that the new ones do without


@contextmanager
def write_together(folder: Path, key: str, names: Sequence[str]) -> Iterator[Path]:
    """Give an empty folder to write files into; when the block ends well, they replace those in ``folder`` together.

    ``key`` tells these files from others that belong together in the same folder, which is made if it is not there.
    Every file that may be among them is in ``names``: one that was not written this time is removed, all other files
    are left alone. If the block raises, ``folder`` is as it was.
    """
    for name in names:
        if is_write_protected(folder / name):
            raise FormatError(f"{folder / name}: cannot be written: the file is write-protected; permit writing it")
    is_new = not folder.exists()
    writing = folder / f".{key}.writing-{secrets.token_hex(4)}"
    try:
        with existing_folder(folder):
            try:
                _move(folder, key)  # what an earlier run had complete
                writing.mkdir()
                yield writing
                (writing / _GONE).write_text("\n".join(name for name in names if not (writing / name).exists()))
                for path in (*writing.iterdir(), writing):
                    flush(path)
                os.rename(writing, _complete(folder, key))
            finally:
                shutil.rmtree(writing, ignore_errors=True)  # after the rename there is nothing under this name
    except OSError as error:
        kept = "nothing was written" if is_new else "what it holds was kept"
        raise FormatError(f"{folder}: cannot be written: {error.strerror or error}; {kept}") from error
    flush(folder)
    _move(folder, key)


def current(folder: Path, key: str, name: str) -> Path:
    """Return where a file of these is to be read: in place, or complete and not yet moved there."""
    waiting = _complete(folder, key)
    return waiting / name if (waiting / name).exists() or name in _gone(waiting) else folder / name


def found(folder: Path, key: str, pattern: str) -> list[Path]:
    """Return where the files of these whose names fit a pattern are, in the order of their names."""
    names = {path.name for place in (folder, _complete(folder, key)) for path in place.glob(pattern)}
    paths = (current(folder, key, name) for name in sorted(names))
    return [path for path in paths if path.exists()]  # an old one that is still there may be among those to remove


def _complete(folder: Path, key: str) -> Path:
    return folder / f".{key}.complete"


def _gone(waiting: Path) -> list[str]:
    try:
        return (waiting / _GONE).read_text().splitlines()
    except OSError:  # nothing waits
        return []


def _move(folder: Path, key: str) -> None:
    """Move complete files into place; who is killed on the way leaves the rest for the next to move."""
    waiting = _complete(folder, key)
    if not waiting.is_dir():
        return
    for name in _gone(waiting):
        (folder / name).unlink(missing_ok=True)
    for path in [path for path in waiting.iterdir() if path.name != _GONE]:
        _put(path, Path(os.path.realpath(folder / path.name)))
    shutil.rmtree(waiting)


def _put(new: Path, final: Path) -> None:
    """Move a file over another, with the owner and the permissions of that one; a link was followed."""
    if final.exists():
        take_over(final, new)
    try:
        os.replace(new, final)
    except OSError as error:
        if error.errno != errno.EXDEV:  # a link led to another file system
            raise
        with write_atomically(final) as temporary:
            shutil.copyfile(new, temporary)
        new.unlink()
