"""Which damage fits which file, and how much of it one case gets."""

from __future__ import annotations

import gzip
import os
import random
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzz.mutate_arrays import npz, safetensors, zipped
from fuzz.mutate_bytes import BYTES
from fuzz.mutate_json import json_lines, json_text
from fuzz.mutate_tables import arrow, parquet
from fuzz.mutate_text import delimited, lines

__all__ = ["damage", "fitting", "hostile_option"]

Change = Callable[[random.Random, bytes], bytes]

_OPTIONS = (
    "0",
    "-1",
    "1",
    "2",
    "1e999",
    "nan",
    "-0",
    "1" + "0" * 30,
    "1000000000000",
    "abc",
    "",
    "[/x]",
    "0.5",
    "\x1b[31m",
    "9" * 5000,
)


def tfrecord(rng: random.Random, data: bytes) -> bytes:
    """Change the content of records under checksums that fit."""
    from reidrisk.io.tfrecord.framing import crc32c, masked

    records, at = [], 0
    while at + 12 <= len(data):
        (size,) = struct.unpack("<Q", data[at : at + 8])
        records.append(data[at + 12 : at + 12 + size])
        at += 16 + size
    if records:
        place = rng.randrange(len(records))
        kind = rng.random()
        if kind < 0.8:
            records[place] = rng.choice(BYTES)(rng, records[place])
        elif kind < 0.9:
            del records[place]
        else:
            records += [records[place]] * rng.choice((1, 50))
    parts = []
    for record in records:
        head = struct.pack("<Q", len(record))
        parts += [
            head,
            struct.pack("<I", int(masked(crc32c(head)))),
            record,
            struct.pack("<I", int(masked(crc32c(record)))),
        ]
    return b"".join(parts)


def gzipped(rng: random.Random, data: bytes, inner: Change) -> bytes:
    """Change what is inside, or how it is packed."""
    kind = rng.random()
    if kind < 0.1:
        return data + data
    if kind < 0.2:
        return data + rng.randbytes(9)
    if kind < 0.3:
        return rng.choice(BYTES)(rng, data)
    if kind < 0.35:
        return data + gzip.compress(rng.choice((b"\n" * 200_000, b"\x00" * 5_000_000, b"1," * 3_000_000)), 1, mtime=0)
    return gzip.compress(inner(rng, gzip.decompress(data)), 1, mtime=0)


_tabs = partial(delimited, separator="\t")
_KINDS: tuple[tuple[str, Change], ...] = (
    (".csv.gz", partial(gzipped, inner=delimited)),
    (".tfrecord.gz", partial(gzipped, inner=tfrecord)),
    (".json.gz", partial(gzipped, inner=json_lines)),
    (".data.gz", partial(gzipped, inner=lines)),
    ("workouts.json", json_lines),
    (".csv", delimited),
    (".parquet", parquet),
    (".arrow", arrow),
    (".npz", npz),
    (".ckpt", npz),
    (".json", json_text),
    (".tfrecord", tfrecord),
    (".safetensors", safetensors),
    (".tflite", zipped),
    (".zip", zipped),
    (".pt", zipped),
    (".tsv", _tabs),
    (".dat", _tabs),
    (".md", lines),
    (".toml", lines),
    (".txt", lines),
)


def damage(rng: random.Random, file: Path) -> str:
    """Change one file in place; say how."""
    if rng.random() < 0.02:
        return _no_file(rng, file)
    data = file.read_bytes()
    structure, told = fitting(file.name), []
    if structure is not None and rng.random() < 0.85:
        data = structure(rng, data)
        told.append("structure")
    if not told or rng.random() < 0.15:  # once more, below the structure
        change = rng.choice(BYTES)
        data = change(rng, data)
        told.append(change.__name__)
    file.write_bytes(data[:8_000_000])
    return " ".join(told)


def fitting(name: str) -> Change | None:
    """Return the damage that knows the format of a file, by its name."""
    return next((change for ending, change in _KINDS if name.endswith(ending)), None)


def hostile_option(rng: random.Random, words: list[str]) -> str:
    """Give one option of a command another value; say which."""
    places = [i for i, word in enumerate(words[1:], 1) if words[i - 1].startswith("--") and not word.startswith("-")]
    places = [
        i for i in places if words[i - 1] not in ("--out", "--result", "--internal", "--blocklist", "--save-table")
    ]
    if not places:
        return "nothing"
    at = rng.choice(places)
    words[at] = rng.choice(_OPTIONS)
    return f"{words[at - 1]} {words[at][:40]!r}"


def _no_file(rng: random.Random, file: Path) -> str:
    """Put something else where the file was."""
    file.unlink()
    kind = rng.choice(("nothing", "a folder", "a link to itself", "/dev/null", "/dev/zero", "a pipe"))
    if kind == "a folder":
        file.mkdir()
    elif kind == "a link to itself":
        file.symlink_to(file.name)
    elif kind.startswith("/dev"):
        file.symlink_to(kind)
    elif kind == "a pipe":
        os.mkfifo(file)
    return f"{kind} instead of the file"
