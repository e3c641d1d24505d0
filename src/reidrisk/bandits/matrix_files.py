"""Reads transition matrices that somebody has made already, with the profiles of their users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reidrisk.bandits.transitions import Behaviour
from reidrisk.errors import DataError, FormatError
from reidrisk.io.formats import existing_file, reading

__all__ = ["read_matrices"]


def read_matrices(path: str | Path) -> Behaviour:
    """Read an NPZ file of transition matrices.

    Parameters
    ----------
    path : path
        The arrays ``records`` (n, d, d), whose rows add up to 1, and ``profiles`` (n, p); where there are any, the
        names ``users`` (n,) and ``states`` (d,).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "behaviour.npz"
    >>> np.savez(file, records=[[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.1, 0.9]]], profiles=[[1.0], [2.0]])
    >>> read_matrices(file)
    Behaviour(2 users x 2 states, profiles of 1 number)
    """
    file, name = existing_file(path), str(path)
    with reading(name, "NPZ"):
        _check_kind(file, name)
        with np.load(file, allow_pickle=False) as stored:
            arrays = {key: _array(stored, key, name) for key in stored.files}
    for key in ("records", "profiles"):
        if key not in arrays:
            raise FormatError(f"{name}: there is no array {key!r}; store 'records' (n, d, d) and 'profiles' (n, p)")
        if arrays[key].dtype.kind not in "fiu":
            raise FormatError(f"{name}: the array {key!r} is of type {arrays[key].dtype}; it must hold numbers")
    for key, array in arrays.items():
        if not array.ndim:
            raise FormatError(
                f"{name}: the array {key!r} is a single value; store 'records', 'profiles' and names as lists"
            )
        if key in ("users", "states") and array.ndim > 1:
            raise FormatError(f"{name}: the array {key!r} has shape {array.shape}; store a list of names")
    records = arrays["records"]
    shape = records.shape if records.ndim == 3 else (0, 0, 0)  # a wrong shape is refused below, by name
    users = arrays.get("users", np.arange(shape[0]))
    states = arrays.get("states", np.arange(shape[1]))
    try:
        return Behaviour(
            records=records,
            profiles=arrays["profiles"],
            users=tuple(map(str, users)),
            states=tuple(map(str, states)),
            origin=f"Transition matrices of {len(records):,} users ({name}).",
        )
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def _check_kind(file: Path, name: str) -> None:
    """Refuse what is no archive of arrays: the library would take it for stored Python objects, and say so."""
    with open(file, "rb") as opened:
        head = opened.read(6)
    if head == b"\x93NUMPY":
        raise FormatError(f"{name}: it holds a single array; store 'records' and 'profiles' with numpy.savez")
    if not head.startswith(b"PK"):
        what = "is empty" if not head else "is no NPZ file"
        raise FormatError(f"{name}: {what}; store 'records' (n, d, d) and 'profiles' (n, p) with numpy.savez")


def _array(stored: Any, key: str, name: str) -> Any:
    try:
        array = stored[key]
    except ValueError as error:
        if "Object arrays" not in str(error):
            raise
        raise FormatError(f"{name}: the array {key!r} holds Python objects; store numbers, or names as text") from error
    if not isinstance(array, np.ndarray):
        raise FormatError(f"{name}: {key!r} is no array; store 'records' and 'profiles' with numpy.savez")
    return array
