"""TFRecord framing: length, checksum, data, checksum; every checksum (CRC-32C, Castagnoli) is verified."""

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from reidrisk.base import Bytes, FormatError, Ints, UInts, njit
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.io.tables.opening import check_bytes, existing_file, is_packed, while_reading

_POLYNOMIAL = 0x82F63B78  # reflected


def _tables() -> UInts:
    """Entry [j, b]: what byte b leaves in the register after j more zero bytes."""
    tables = np.zeros((8, 256), dtype=np.uint64)
    register = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        register = np.where(register & 1, (register >> 1) ^ _POLYNOMIAL, register >> 1).astype(np.uint64)
    tables[0] = register
    for j in range(1, 8):
        tables[j] = tables[0][tables[j - 1] & 0xFF] ^ (tables[j - 1] >> np.uint64(8))
    return tables


_TABLES = _tables()


@njit(cache=True, nogil=True)
def crc32c_of(buffer: Any, start: int, stop: int) -> Any:
    """Return the checksum of ``buffer[start:stop]``, an array of bytes."""
    byte = np.uint64(0xFF)
    register = np.uint64(0xFFFFFFFF)
    at = start
    while at + 8 <= stop:
        mixed, register = register, np.uint64(0)
        for j in range(4):
            first = (mixed >> np.uint64(8 * j)) & byte ^ np.uint64(buffer[at + j])
            register ^= _TABLES[7 - j, first] ^ _TABLES[3 - j, buffer[at + 4 + j]]
        at += 8
    while at < stop:
        register = _TABLES[0, (register ^ np.uint64(buffer[at])) & byte] ^ (register >> np.uint64(8))
        at += 1
    return register ^ np.uint64(0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes."""
    return int(crc32c_of(np.frombuffer(data, dtype=np.uint8), 0, len(data)))


@njit(cache=True, nogil=True)
def masked(checksum: int) -> Any:
    """Return the form in which TFRecord stores a checksum: rotated, plus a constant."""
    value = np.uint64(checksum)
    rotated = ((value >> np.uint64(15)) | (value << np.uint64(17))) & np.uint64(0xFFFFFFFF)
    return (rotated + np.uint64(0xA282EAD8)) & np.uint64(0xFFFFFFFF)


_CHUNK = 1 << 20
_HEAD, _TAIL = 12, 4  # length and its checksum; checksum of the data
_WRONG = {
    1: "is cut off in its head",
    2: "has a length whose checksum is wrong",
    3: "is cut off in its data",
    4: "has data whose checksum is wrong",
}


def read_frames(path: PathLike) -> tuple[Bytes, Ints, Ints]:
    """Return the bytes of a file, and where the data of each record start and stop.

    Where it is truncated or damaged, the error has the number of the record, from 1, and its byte offset.
    """
    file, name = existing_file(path), str(path)
    with while_reading(name, "TFRecord"):
        if is_packed(file):
            import gzip

            check_bytes(file, name)
            data = bytearray()  # grows in place: joining the parts at the end would hold them twice
            with gzip.open(file, "rb") as unpacked:
                while part := unpacked.read(_CHUNK):
                    data += part
            buffer = np.frombuffer(data, dtype=np.uint8)
        elif file.stat().st_size:
            buffer = np.memmap(file, dtype=np.uint8, mode="r").view(np.ndarray)
        else:
            buffer = np.empty(0, dtype=np.uint8)  # which cannot be mapped
    buffer.flags.writeable = False  # as mapped files are: kernels are compiled for one kind of array
    n = _count(buffer)
    if not n:
        raise FormatError(f"{name}: the file is empty; a TFRecord file has at least one record")
    starts, stops = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    record, offset, wrong = _verify(buffer, starts, stops)
    if wrong:
        at = f"record {record + 1} at byte {offset}"
        raise FormatError(f"{name}: {at} {_WRONG[wrong]}; the file is truncated, damaged or no TFRecord file")
    return buffer, starts, stops


def write_frames(path: PathLike, records: Iterable[bytes]) -> None:
    """Write records as a TFRecord file, in one step."""
    with write_atomically(path) as temporary, open(temporary, "wb") as file:
        for data in records:
            for part in (struct.pack("<Q", len(data)), data):
                file.write(part + struct.pack("<I", int(masked(crc32c(part)))))


@njit(cache=True, nogil=True)
def _number(buffer: Any, at: int, width: int) -> Any:
    value = np.uint64(0)
    for j in range(width):
        value |= np.uint64(buffer[at + j]) << np.uint64(8 * j)
    return value


@njit(cache=True, nogil=True)
def _count(buffer: Any) -> int:
    """Return an upper bound of the number of records, by their lengths alone."""
    at: Any = 0
    n = 0
    while at < len(buffer):
        n += 1
        if at + _HEAD > len(buffer):
            break
        length = _number(buffer, at, 8)
        if length > np.uint64(len(buffer)):
            break
        at += _HEAD + np.int64(length) + _TAIL
    return n


@njit(cache=True, nogil=True)
def _verify(buffer: Any, starts: Any, stops: Any) -> tuple[int, int, int]:
    """Fill in where each record lies; return the first that is wrong, its offset and what is wrong with it."""
    at: Any = 0
    for record in range(len(starts)):
        if at + _HEAD > len(buffer):
            return record, at, 1
        if _number(buffer, at + 8, 4) != masked(crc32c_of(buffer, at, at + 8)):
            return record, at, 2
        length = _number(buffer, at, 8)
        if length > np.uint64(len(buffer)) or at + _HEAD + np.int64(length) + _TAIL > len(buffer):
            return record, at, 3
        start = at + _HEAD
        stop = start + np.int64(length)
        if _number(buffer, stop, 4) != masked(crc32c_of(buffer, start, stop)):
            return record, at, 4
        starts[record], stops[record] = start, stop
        at = stop + _TAIL
    return 0, 0, 0
