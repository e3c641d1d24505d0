"""NPZ files: what an array says of its size and type is checked first, so a small file cannot ask for all memory."""

import math
import warnings
import zipfile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import FormatError
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.opening import existing_file, reading

_KINDS = "biufcSUMm"  # numbers, text, times; no Python objects and no records


def read_npz(path: PathLike, name: str | None = None, store: str = "arrays with numpy.savez") -> dict[str, Any]:
    """Return the arrays of an NPZ file, which messages call ``name`` (default: its path) and ask to ``store`` anew."""
    name = str(path) if name is None else name
    with reading(name, "NPZ"), open(existing_file(path), "rb") as opened:
        head = opened.read(6)
        if head == b"\x93NUMPY":
            raise FormatError(f"{name}: it holds a single array without a name; store it with numpy.savez")
        if not head.startswith(b"PK"):
            raise FormatError(f"{name}: {'is no NPZ file' if head else 'is empty'}; store {store}")
        with zipfile.ZipFile(opened) as archive:
            members = archive.infolist()
            sizes.COLUMNS.check(len(members), name, "store fewer arrays")
            sizes.BYTES.check(sum(member.file_size for member in members), name, "store less in one file")
            found: dict[str, Any] = {}
            for member in members:
                key = member.filename.removesuffix(".npy")
                if key in found:
                    raise FormatError(f"{name}: the array {key!r} is there twice; write the file again")
                with archive.open(member) as packed:
                    found[key] = _array(packed, member, name, key)
    return found


def _array(packed: IO[bytes], member: zipfile.ZipInfo, name: str, key: str) -> npt.NDArray[Any]:
    library = np.lib.format
    try:
        version = library.read_magic(packed)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise ValueError(f"version {version}")
        # The third version differs in the letters of names, which the types that are read here do not have.
        read_head = library.read_array_header_1_0 if version == (1, 0) else library.read_array_header_2_0
        with warnings.catch_warnings(action="ignore"):  # a header as Python 2 wrote it is read like any other
            shape, by_columns, kind = read_head(packed)
    except Exception as error:  # the head is Python text, and what the library raises on it differs
        raise FormatError(f"{name}: {key!r} is no array; store arrays with numpy.savez") from error
    if kind.kind not in _KINDS or kind.hasobject or kind.itemsize == 0 or any(side < 0 for side in shape):
        what = "holds Python objects" if kind.hasobject else f"is of type {kind}"
        raise FormatError(f"{name}: the array {key!r} {what}; store numbers, or names as text")
    asked, there = math.prod(shape) * kind.itemsize, member.file_size - packed.tell()
    if asked != there:
        wrong = f"of shape {shape} takes {asked:,} bytes and {there:,} are there"
        raise FormatError(f"{name}: the array {key!r} {wrong}; the file is damaged, write it again")
    values = np.empty(math.prod(shape), dtype=kind)
    room = memoryview(values.view(np.uint8).data)
    while len(room) and (got := packed.readinto(room)):  # type: ignore[attr-defined]
        room = room[got:]
    if len(room):
        raise FormatError(f"{name}: the array {key!r} ends early; the file is damaged, write it again")
    # In the byte order of this machine: kernels take no other.
    values = values.astype(kind.newbyteorder("="), copy=False)
    return values.reshape(shape[::-1]).T if by_columns else values.reshape(shape)
