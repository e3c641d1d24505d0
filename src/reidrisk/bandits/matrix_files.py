"""Reads transition matrices that somebody has made already, with the profiles of their users."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reidrisk.bandits.transitions import Behaviour
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.notes import Note
from reidrisk.io.arrays import read_npz
from reidrisk.io.tables.opening import existing_file


def read_matrices(path: str | Path) -> Behaviour:
    """Read an NPZ file of transition matrices.

    It holds the arrays ``records`` (n, d, d), whose rows add up to 1, and ``profiles`` (n, p); where there are any, the
    names ``users`` (n,) and ``states`` (d,).
    """
    name = str(path)
    arrays = read_npz(existing_file(path), name, store="'records' (n, d, d) and 'profiles' (n, p)")
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
            origin=Note("matrices-read", users=len(records), name=name),
        )
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
