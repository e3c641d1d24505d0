"""JSON and NPZ files, and lists of labels: whatever is wrong with one is one line that names the file."""

import json
import math
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from reidrisk.base import Array, DataError, FormatError, Vocabulary, reason, sizes
from reidrisk.io.atomic import PathLike
from reidrisk.io.tables.opening import existing_file, text_of, while_reading

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS = "biufcSUMm"  # numbers, text, times; no Python objects and no records


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


def read_npz(path: PathLike, name: str | None = None, store: str = "arrays with numpy.savez") -> dict[str, Any]:
    """Return the arrays of an NPZ file, which messages call ``name`` (default: its path) and ask to ``store`` anew."""
    name = str(path) if name is None else name
    with while_reading(name, "NPZ"), open(existing_file(path), "rb") as opened:
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
                    found[key] = read_array(packed, member.file_size, name, f"the array {key!r}")
    return found


def read_array(packed: IO[bytes], size: int, name: str, what: str) -> Array:
    """Return the array of a stream in the format NPY, of that many bytes; messages call it ``what`` of ``name``."""
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
        raise FormatError(f"{name}: {what} is damaged, or no array; store arrays with NumPy") from error
    if kind.kind not in _KINDS or kind.hasobject or kind.itemsize == 0 or any(side < 0 for side in shape):
        held = "holds Python objects" if kind.hasobject else f"is of type {kind}"
        raise FormatError(f"{name}: {what} {held}; store numbers, or names as text")
    asked, there = math.prod(shape) * kind.itemsize, size - packed.tell()
    if asked != there:
        wrong = f"of shape {shape} takes {asked:,} bytes and {there:,} are there"
        raise FormatError(f"{name}: {what} {wrong}; the file is damaged, write it again")
    values = np.empty(math.prod(shape), dtype=kind)
    room = memoryview(values.view(np.uint8).data)
    while len(room) and (got := packed.readinto(room)):  # type: ignore[attr-defined]
        room = room[got:]
    if len(room):
        raise FormatError(f"{name}: {what} ends early; the file is damaged, write it again")
    # In the byte order of this machine: kernels take no other.
    values = values.astype(kind.newbyteorder("="), copy=False)
    return values.reshape(shape[::-1]).T if by_columns else values.reshape(shape)


def read_vocabulary(path: PathLike) -> Vocabulary:
    r"""Read the labels of all tokens of a system.

    A file whose name ends in ``.json`` holds a list of labels (integers are taken as text), or of objects with a
    ``topic_id``, as the taxonomy of Google's Topics release; any other file is UTF-8 text, one label per line.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "labels.txt"
    >>> _ = file.write_text("news\nsports\n")
    >>> read_vocabulary(file)
    Vocabulary(2 labels: 'news', 'sports')
    """
    text, name = text_of(path), str(path)
    is_json = Path(path).suffix.lower() == ".json"
    # Not splitlines: a label may hold the rarer separators of Unicode.
    labels = _from_json(name, text) if is_json else [line.removesuffix("\r") for line in text.split("\n")]
    if not is_json and labels[-1] == "":
        labels.pop()
    sizes.TOKENS.check(len(labels), name, "leave out what nobody has")
    if not labels:
        raise DataError(f"{name}: there is no label in it; give one label per line")
    what, first = "entry" if is_json else "line", dict[str, int]()
    for number, label in enumerate(labels, start=1):
        if not label.strip():
            raise DataError(f"{name}: {what} {number} is empty; every token has a label")
        if label in first:
            raise DataError(f"{name}: {what}s {first[label]} and {number} are both {label!r}; labels are distinct")
        first[label] = number
    return Vocabulary(labels)


def _from_json(name: str, text: str) -> list[str]:
    document = parse_json(text, name)
    if not isinstance(document, list):
        raise FormatError(f"{name}: holds a {type(document).__name__}; give a list of labels")
    labels = [entry.get("topic_id") if isinstance(entry, dict) else entry for entry in document]
    for number, label in enumerate(labels, start=1):
        if isinstance(label, bool) or not isinstance(label, str | int):
            raise FormatError(f"{name}: entry {number} is {label!r}; labels are text")
        if isinstance(label, int) and label.bit_length() > 64:
            raise FormatError(f"{name}: entry {number} is a number of more than 64 bits; give such labels as text")
    return [str(label) for label in labels]
