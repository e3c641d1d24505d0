"""Where study data is: the folder named by REIDRISK_DATA, else ``../shared/data``; nothing of it is shipped."""

from __future__ import annotations

import os
from pathlib import Path

from reidrisk.base.errors import DataError

__all__ = ["MissingDataError", "data_file", "data_folder"]

_VARIABLE = "REIDRISK_DATA"
_ELSE = Path("../shared/data")


class MissingDataError(DataError):
    """A file of study data that is not on this machine."""


def data_folder() -> Path:
    """Return the folder in which study data is looked for; it need not exist."""
    return Path(os.environ.get(_VARIABLE) or _ELSE)


def data_file(name: str) -> Path:
    """Return the path of a file of study data, or say which one is missing and where it was looked for.

    Parameters
    ----------
    name : str
        Path within the data folder, such as ``"msweb/anonymous-msweb.data.gz"``.

    Examples
    --------
    >>> data_file("nowhere/nothing.csv")
    Traceback (most recent call last):
        ...
    reidrisk_studies.data.MissingDataError: nowhere/nothing.csv is not in the data folder ...
    """
    folder = data_folder()
    path = folder / name
    if not path.is_file():
        raise MissingDataError(
            f"{name} is not in the data folder {folder}; set {_VARIABLE} to the folder that has it, or go without"
        )
    return path
