"""CRC-32C (Castagnoli), the checksum of TFRecord files, eight bytes at a time."""

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.kernels import njit

_POLYNOMIAL = 0x82F63B78  # reflected


def _tables() -> npt.NDArray[np.uint64]:
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
