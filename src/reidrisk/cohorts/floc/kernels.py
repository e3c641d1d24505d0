"""Compiled CityHash64 v1.0.3, and the SimHash made of it; the twins are in the tests."""

import math
from typing import Any

import numpy as np

from reidrisk.base.kernels import njit

CONSTANTS = (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557)
MULTIPLIER = 0x9DDFEA08EB382D69
TWO_PI = 2.0 * 3.141592653589793
SCALE = float(2**64 - 1)  # rounds to 2^64, in Chrome too

_K0, _K1, _K2, _K3 = (np.uint64(k) for k in CONSTANTS)
_M = np.uint64(MULTIPLIER)


@njit(cache=True, nogil=True, inline="always")
def _rotate(value: Any, by: int) -> Any:
    return (value >> np.uint64(by)) | (value << np.uint64(64 - by))


@njit(cache=True, nogil=True, inline="always")
def _shift_mix(value: Any) -> Any:
    return value ^ (value >> np.uint64(47))


@njit(cache=True, nogil=True, inline="always")
def _mix16(u: Any, v: Any) -> Any:
    a = _shift_mix((u ^ v) * _M)
    return _shift_mix((v ^ a) * _M) * _M


@njit(cache=True, nogil=True, inline="always")
def seeded_pair(i: Any, j: Any, seed: Any) -> Any:
    """Return CityHash64WithSeed of the 16 little-endian bytes of two words."""
    plain = _mix16(i, _rotate(j + np.uint64(16), 16)) ^ j
    return _mix16(plain - _K2, seed)


@njit(cache=True, nogil=True)
def _fetch(data: Any, at: int, width: int) -> Any:
    word = np.uint64(0)
    for i in range(width):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@njit(cache=True, nogil=True)
def _weak32(data: Any, at: int, a: Any, b: Any) -> Any:
    z = _fetch(data, at + 24, 8)
    a += _fetch(data, at, 8)
    b = _rotate(b + a + z, 21)
    c = a
    a += _fetch(data, at + 8, 8) + _fetch(data, at + 16, 8)
    return a + z, b + _rotate(a, 44) + c


@njit(cache=True, nogil=True)
def _fold32(a: Any, one: Any, two: Any, z: Any) -> Any:
    b, c = _rotate(a + z, 52), _rotate(a, 37)
    a += one
    c += _rotate(a, 7)
    a += two
    return a + z, b + _rotate(a, 31) + c


@njit(cache=True, nogil=True)
def _hash(data: Any, s: int, n: int) -> Any:
    length, end = np.uint64(n), s + n
    if n == 0:
        return _K2
    if n < 4:
        y = np.uint64(data[s]) + (np.uint64(data[s + n // 2]) << np.uint64(8))
        z = length + (np.uint64(data[end - 1]) << np.uint64(2))
        return _shift_mix((y * _K2) ^ (z * _K3)) * _K2
    if n <= 8:
        return _mix16(length + (_fetch(data, s, 4) << np.uint64(3)), _fetch(data, end - 4, 4))
    if n <= 16:
        b = _fetch(data, end - 8, 8)
        return _mix16(_fetch(data, s, 8), _rotate(b + length, n)) ^ b
    if n <= 32:
        a, b = _fetch(data, s, 8) * _K1, _fetch(data, s + 8, 8)
        c, d = _fetch(data, end - 8, 8) * _K2, _fetch(data, end - 16, 8) * _K0
        return _mix16(_rotate(a - b, 43) + _rotate(c, 30) + d, a + _rotate(b ^ _K3, 20) - c + length)
    if n <= 64:
        start = _fetch(data, s, 8) + (length + _fetch(data, end - 16, 8)) * _K0
        vf, vs = _fold32(start, _fetch(data, s + 8, 8), _fetch(data, s + 16, 8), _fetch(data, s + 24, 8))
        start = _fetch(data, s + 16, 8) + _fetch(data, end - 32, 8)
        wf, ws = _fold32(start, _fetch(data, end - 24, 8), _fetch(data, end - 16, 8), _fetch(data, end - 8, 8))
        return _shift_mix(_shift_mix((vf + ws) * _K2 + (wf + vs) * _K0) * _K0 + vs) * _K2
    x = _fetch(data, end - 40, 8)
    y = _fetch(data, end - 16, 8) + _fetch(data, end - 56, 8)
    z = _mix16(_fetch(data, end - 48, 8) + length, _fetch(data, end - 24, 8))
    v0, v1 = _weak32(data, end - 64, length, z)
    w0, w1 = _weak32(data, end - 32, y + _K1, x)
    x = x * _K1 + _fetch(data, s, 8)
    for at in range(s, s + (n - 1) // 64 * 64, 64):
        x = (_rotate(x + y + v0 + _fetch(data, at + 8, 8), 37) * _K1) ^ w1
        y = _rotate(y + v1 + _fetch(data, at + 48, 8), 42) * _K1 + v0 + _fetch(data, at + 40, 8)
        z = _rotate(z + w0, 33) * _K1
        v0, v1 = _weak32(data, at, v1 * _K1, x + w0)
        w0, w1 = _weak32(data, at + 32, z + w1, y + _fetch(data, at + 16, 8))
        x, z = z, x
    return _mix16(_mix16(v0, w0) + _shift_mix(y) * _K1 + z, _mix16(v1, w1) + x)


@njit(cache=True, nogil=True)
def hash_columns(data: Any, starts: Any, out: Any) -> None:
    """Fill ``out`` with the hashes of the strings from ``starts[i]`` to ``starts[i + 1]`` of a byte buffer."""
    for i in range(out.size):
        out[i] = _hash(data, starts[i], starts[i + 1] - starts[i])


@njit(cache=True, nogil=True, inline="always")
def _gaussian(d: int, feature: Any) -> Any:
    place = np.uint64(d)
    one = np.float64(seeded_pair(place, feature, np.uint64(1))) / SCALE
    two = np.float64(seeded_pair(feature, place, np.uint64(2))) / SCALE
    return math.sqrt(-2.0 * math.log(one)) * math.cos(TWO_PI * two)


@njit(cache=True, nogil=True)
def gaussians(features: Any, out: Any) -> None:
    """Fill ``out`` (features, bits) with the Gaussian of each feature and bit."""
    for i in range(features.size):
        for d in range(out.shape[1]):
            out[i, d] = _gaussian(d, features[i])


@njit(cache=True, nogil=True)
def sign_bits(
    starts: Any, ranks: Any, features: Any, place: Any, cache: Any, bits: int, hashes: Any, counts: Any
) -> None:
    """Fill in the SimHash of each user and the number of distinct features; ``place`` -1 means not in the cache."""
    sums = np.empty(bits)
    for user in range(hashes.size):
        own = np.sort(ranks[starts[user] : starts[user + 1]])
        sums[:] = 0.0
        last, distinct = -1, 0
        for rank in own:
            if rank == last:
                continue
            last = rank
            distinct += 1
            row = place[rank]
            if row >= 0:
                for d in range(bits):
                    sums[d] += cache[row, d]
            else:
                for d in range(bits):
                    sums[d] += _gaussian(d, features[rank])
        value = np.uint64(0)
        for d in range(bits):
            if sums[d] > 0.0:
                value |= np.uint64(1) << np.uint64(d)
        hashes[user] = value
        counts[user] = distinct
