"""Finished parts of a long job, in a folder, each with its checksums: what a killed job need not do again."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from reidrisk.base.errors import FormatError, OptionError

_JOB = "job.json"


class FinishedParts:
    """The parts of one job that are finished. ``job`` says what the job is; a folder of another job is refused.

    A part is a folder of files, or values that JSON can write, or both. It is finished once its ``.json`` is there,
    which is written last; a part whose files are not those that were summed then is done again.

    >>> import tempfile
    >>> parts = FinishedParts(tempfile.mkdtemp(), {"users": 10})
    >>> parts.found("rows") is None
    True
    >>> parts.finish("rows", {"n": 3})
    >>> FinishedParts(parts.folder, {"users": 10}).found("rows")
    {'n': 3}
    """

    def __init__(self, folder: str | Path, job: dict[str, Any]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            known = self.folder / _JOB
            if not known.exists():
                _write(known, job)
            elif json.loads(known.read_text("utf-8")) != job:
                raise OptionError(f"{folder} holds parts of another job, or of other files; name another (--resume)")
        except (OSError, ValueError) as error:
            if isinstance(error, OptionError):
                raise
            raise FormatError(f"{folder}: parts of a job cannot be kept there ({error})") from error

    def room(self, name: str) -> Path:
        """Return the folder of a part's files; what is left there of a part that was not finished is removed."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def finish(self, name: str, values: dict[str, Any]) -> None:
        """Say that a part is finished: sum its files, and write its values."""
        _write(self.folder / f"{name}.json", {"sums": self._sums(name), "values": values})

    def found(self, name: str) -> dict[str, Any] | None:
        """Return the values of a part that is finished and whole; None where it must be done."""
        try:
            said = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
            return said["values"] if said["sums"] == self._sums(name) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def files(self, name: str) -> tuple[str, ...]:
        """Return the Parquet files of a part."""
        return tuple(sorted(str(path) for path in (self.folder / name).glob("*.parquet")))

    def forget(self, name: str) -> None:
        """Remove a part that is not needed any more."""
        (self.folder / f"{name}.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def _sums(self, name: str) -> dict[str, str]:
        found = {}
        for path in self.files(name):
            with open(path, "rb") as file:
                found[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()
        return found


def _write(path: Path, values: dict[str, Any]) -> None:
    """Write JSON under another name, and move it into place: a file is whole, or not there."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(values), encoding="utf-8")
    new.replace(path)
