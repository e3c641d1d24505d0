"""Damage to stored arrays: NPZ members whose headers lie, hostile indices, odd types; safetensors whose offsets lie."""

from __future__ import annotations

import functools
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.mutate_bytes import BYTES
from fuzz.mutate_json import json_text, text_that_may_be_json

__all__ = ["npz", "safetensors", "zipped"]

_SHAPES = (
    (),
    (0,),
    (1,),
    (3,),
    (-1,),
    (2, 2),
    (0, 3),
    (3, 0),
    (2, 2, 2),
    (10**12,),
    (2**62,),
    (2**40, 2**40),
    (1,) * 40,
)
_TYPES = (
    "<i8",
    "<u8",
    "<i1",
    "<f2",
    "<f4",
    "<f8",
    "<f16",
    "<c16",
    "|b1",
    "<U3",
    "|S3",
    "<M8[s]",
    "<m8",
    "|O",
    "|V4",
    ">i8",
    ">f8",
)
_INTEGERS = (-1, 0, 1, 2, 3, 100, 2**31 - 1, 2**31, 2_000_000, 2**40, 2**62, -(2**63), 2**63 - 1)
_FLOATS = (0.0, -0.0, -1.0, 1.0, np.nan, np.inf, -np.inf, 3e38, 1e-320, 0.5)

Members = dict[str, bytes]


def npz(rng: random.Random, data: bytes) -> bytes:
    """Change a member of an archive of arrays."""
    members = _opened(data)
    name = rng.choice(sorted(members))
    kind = rng.random()
    if kind < 0.12:
        del members[name]
    elif kind < 0.2:
        members[rng.choice(("matrix.npy", "tokens.npy", "readme.txt", "x.npy", "\x1b[31m.npy", "user.npy"))] = members[
            name
        ]
    elif kind < 0.25:
        members[name] = rng.choice((b"", b"no array", members[name][:20], b"\x93NUMPY\x09\x00"))
    elif kind < 0.3:
        members["a" + name] = _bomb()
    elif kind < 0.36:
        members[name] = rng.choice(BYTES)(rng, members[name])
    elif kind < 0.5:
        members[name] = _lying(rng, members[name])
    else:
        members[name] = _saved(rng.choice(_ARRAYS)(rng, _loaded(members[name])))
    return _packed(rng, members)


def zipped(rng: random.Random, data: bytes) -> bytes:
    """Change a member of any other archive."""
    members = _opened(data)
    name = rng.choice(sorted(members))
    if rng.random() < 0.2:
        del members[name]
    else:
        members[name] = rng.choice(BYTES)(rng, members[name])
    return _packed(rng, members)


def safetensors(rng: random.Random, data: bytes) -> bytes:
    """Change the header, its length or where it says that tensors lie."""
    (size,) = struct.unpack("<Q", data[:8])
    header, body = data[8 : 8 + size], data[8 + size :]
    kind = rng.random()
    if kind < 0.15:
        return struct.pack("<Q", rng.choice((0, 1, size + 1, 2**31, 2**63))) + header + body
    if kind < 0.3:
        document = json.loads(header)
        for name, entry in document.items():
            if name != "__metadata__" and isinstance(entry, dict):
                entry["dtype"] = rng.choice(("F16", "BF16", "F64", "I8", "I64", "BOOL", "U8", "F32"))
                entry["shape"] = rng.choice(([], [0], [2, 2, 2, 4], [1, 1], [2**40, 2**40], [-1], entry.get("shape")))
        header = json.dumps(document).encode()
    elif kind < 0.9:
        header = json_text(rng, header)
    else:
        body = np.frombuffer(body[: len(body) // 4 * 4], dtype="<f4").copy()
        if body.size:
            body[rng.randrange(body.size)] = rng.choice(_FLOATS)
        body = body.tobytes()
    return struct.pack("<Q", len(header)) + header + body


def _other_type(rng: random.Random, array: Any) -> Any:
    if rng.random() < 0.2:
        return np.zeros(array.shape, dtype=[("a", "<i4"), ("b", "<f8")])
    return np.zeros(array.shape, dtype=np.dtype(rng.choice([kind for kind in _TYPES if kind != "|O"])))


def _objects(rng: random.Random, array: Any) -> Any:
    return np.array([None, {"a": 1}], dtype=object)


def _other_shape(rng: random.Random, array: Any) -> Any:
    kind = rng.randrange(6)
    if kind == 0:
        return array.ravel()
    if kind == 1:
        return array[None]
    if kind == 2:
        return array[..., :0] if array.ndim else array
    if kind == 3:
        return array[:0] if array.ndim else np.array([array])
    if kind == 4:
        return np.concatenate([array, array]) if array.ndim else array
    return array.T


@np.errstate(over="ignore")
def _hostile_values(rng: random.Random, array: Any) -> Any:
    changed = np.array(array)
    flat = changed.reshape(-1)
    for _ in range(rng.choice((1, 1, 2))):
        if flat.size and changed.dtype.kind in "iu":
            limits = np.iinfo(changed.dtype)
            flat[rng.randrange(flat.size)] = min(max(rng.choice(_INTEGERS), limits.min), limits.max)
        elif flat.size and changed.dtype.kind == "f":
            flat[rng.randrange(flat.size)] = rng.choice(_FLOATS)
        elif flat.size and changed.dtype.kind in "US":
            kept = text_that_may_be_json(rng, str(array.reshape(-1)[0])).replace("\x00", "")
            return np.array(kept).astype(changed.dtype.kind) if kept.isascii() else np.array(kept)
    return changed


def _wide_integers(rng: random.Random, array: Any) -> Any:
    if array.dtype.kind not in "iuf":
        return np.array(rng.choice(_INTEGERS))
    return _hostile_values(rng, np.nan_to_num(array).astype(rng.choice(("<i8", "<i4", "<u8"))))


_ARRAYS: tuple[Callable[[random.Random, Any], Any], ...] = (
    *(_other_type, _objects, _other_shape, _hostile_values, _hostile_values, _hostile_values, _wide_integers),
)


def _lying(rng: random.Random, member: bytes) -> bytes:
    """Give the member a header that its bytes do not bear out."""
    array = _loaded(member)
    shape = rng.choice(_SHAPES) if rng.random() < 0.6 else array.shape
    described = rng.choice(_TYPES) if rng.random() < 0.5 else np.lib.format.dtype_to_descr(array.dtype)
    header = {"descr": described, "fortran_order": rng.random() < 0.2, "shape": shape}
    if rng.random() < 0.1:
        header[rng.choice(("extra", "shape"))] = "x" * rng.choice((1, 12_000))
    written = (repr(header) + "\n").encode()
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(written)) + written + array.tobytes()


def _loaded(member: bytes) -> Any:
    return np.lib.format.read_array(io.BytesIO(member), allow_pickle=False)


def _saved(array: Any) -> bytes:
    written = io.BytesIO()
    np.lib.format.write_array(written, np.asarray(array), allow_pickle=True)
    return written.getvalue()


@functools.cache
def _bomb() -> bytes:
    return _saved(np.zeros(40_000_000, dtype=np.int8))


def _opened(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def _packed(rng: random.Random, members: Members) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        for name, content in members.items():
            large = len(content) > 1_000_000
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED if large or rng.random() < 0.3 else zipfile.ZIP_STORED
            packed.writestr(info, content, compresslevel=1)
    return written.getvalue()
