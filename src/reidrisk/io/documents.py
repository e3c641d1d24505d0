"""JSON and NPZ files: read in one place, so that whatever is wrong with one is one line that names the file."""

import json
import math
import re
import warnings
import zipfile
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from reidrisk.base import sizes
from reidrisk.base.errors import FormatError
from reidrisk.base.foreign import reason
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.opening import existing_file, reading, text_of

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(path: PathLike, what: str = "JSON", constant: Callable[[str], Any] | None = None) -> Any:
    """Return what a JSON file holds; messages say ``what`` it should be.

    ``constant`` is given ``NaN``, ``Infinity`` or ``-Infinity`` where the file holds one of them. Default: numbers.
    """
    return parse_json(text_of(path), str(path), what, constant)


def parse_json(text: str | bytes, name: str, what: str = "JSON", constant: Callable[[str], Any] | None = None) -> Any:
    """Return what JSON text of the file ``name`` holds."""
    wrong = f"{name}: this is not JSON{'' if what == 'JSON' else f', but should be {what}'}"
    try:
        found = json.loads(text, parse_constant=constant)
        if _SURROGATE.search(text if isinstance(text, str) else text.decode("latin-1")):
            json.dumps(found, ensure_ascii=False).encode()  # half a character cannot be written again
        return found
    except UnicodeEncodeError:
        raise FormatError(f"{wrong}: a text in it holds half a character; write it again") from None
    except RecursionError:  # without its context, which is as deep as the file
        raise FormatError(f"{wrong}: it is nested too deep; write it again") from None
    except FormatError:
        raise
    except ValueError as error:  # also a number of more digits than Python takes
        raise FormatError(f"{wrong}: {reason(error).split(';')[0]}") from error


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
