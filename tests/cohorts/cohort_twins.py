"""Twins of the kernels that hash domains and count cohorts: slow, and plainly right."""

import numpy as np

from reidrisk.cohorts.floc.kernels import CONSTANTS, MULTIPLIER, SCALE, TWO_PI
from reidrisk.cohorts.floc.simhash import BITS

_MASK = (1 << 64) - 1


def counted_visits(assignment, visited):
    """Return the cohorts that occur, and users by cohort and category."""
    cohorts = np.unique(assignment[assignment >= 0])
    return cohorts, np.array([(visited[assignment == cohort] > 0).sum(axis=0) for cohort in cohorts])


def sim_hash(domains: list[str], bits: int = BITS) -> int:
    """Compute one SimHash in NumPy, feature by feature: the twin of the kernel."""
    sums = np.zeros(bits)
    for feature in sorted({city_hash(domain.encode()) for domain in domains}):
        word = feature.to_bytes(8, "little")
        places = [d.to_bytes(8, "little") for d in range(bits)]
        one = np.array([city_hash(d + word, seed=1) for d in places], dtype=np.float64) / SCALE
        two = np.array([city_hash(word + d, seed=2) for d in places], dtype=np.float64) / SCALE
        sums += np.sqrt(-2.0 * np.log(one)) * np.cos(TWO_PI * two)
    return sum(1 << d for d in range(bits) if sums[d] > 0)


def city_hash(data: bytes, seed: int | None = None) -> int:
    """Hash one string in plain Python: the twin of the kernel, with whole numbers of any size and slices.

    With ``seed``, the result is CityHash64WithSeed.

    """
    plain = _plain(data)
    return plain if seed is None else _mix((plain - CONSTANTS[2]) & _MASK, seed)


def _plain(s: bytes) -> int:
    n, (k0, k1, k2, k3) = len(s), CONSTANTS
    if n == 0:
        return k2
    if n < 4:
        z = s[0] + (s[n // 2] << 8)
        return _shifted(((z * k2) ^ ((n + (s[-1] << 2)) * k3)) & _MASK) * k2 & _MASK
    if n <= 8:
        return _mix(n + (_word(s[:4]) << 3), _word(s[-4:]))
    if n <= 16:
        last = _word(s[-8:])
        return _mix(_word(s[:8]), _turned(last + n, n)) ^ last
    if n <= 32:
        a, b, c, d = _word(s[:8]) * k1, _word(s[8:16]), _word(s[-8:]) * k2, _word(s[-16:-8]) * k0
        return _mix(_turned(a - b, 43) + _turned(c, 30) + d, a + _turned(b ^ k3, 20) - c + n)
    if n <= 64:
        head = [_word(s[i : i + 8]) for i in (0, 8, 16, 24)]
        tail = [_word(s[n - i : n - i + 8]) for i in (32, 24, 16, 8)]
        v0, v1 = _folded(head[0] + (n + tail[2]) * k0, head[1], head[2], head[3])
        w0, w1 = _folded(head[2] + tail[0], tail[1], tail[2], tail[3])
        r = _shifted(((v0 + w1) * k2 + (w0 + v1) * k0) & _MASK)
        return _shifted((r * k0 + v1) & _MASK) * k2 & _MASK

    def tail_word(i: int) -> int:
        return _word(s[n - i : n - i + 8])

    x, y = tail_word(40), tail_word(16) + tail_word(56)
    z = _mix(tail_word(48) + n, tail_word(24))
    v, w = _weak(s[n - 64 : n - 32], n, z), _weak(s[n - 32 :], y + k1, x)
    x = x * k1 + _word(s[:8])
    for start in range(0, (n - 1) // 64 * 64, 64):
        block = s[start : start + 64]
        word = [_word(block[i : i + 8]) for i in range(0, 64, 8)]
        x = _turned(x + y + v[0] + word[1], 37) * k1 ^ w[1]
        y = _turned(y + v[1] + word[6], 42) * k1 + v[0] + word[5]
        z = _turned(z + w[0], 33) * k1
        v, w = _weak(block[:32], v[1] * k1, x + w[0]), _weak(block[32:], z + w[1], y + word[2])
        x, z = z, x
    return _mix(_mix(v[0], w[0]) + _shifted(y & _MASK) * k1 + z, _mix(v[1], w[1]) + x)


def _word(s: bytes) -> int:
    return int.from_bytes(s, "little")


def _turned(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by | value << (64 - by)) & _MASK


def _shifted(value: int) -> int:
    return value ^ (value >> 47)


def _mix(u: int, v: int) -> int:
    u, v = u & _MASK, v & _MASK
    a = _shifted((u ^ v) * MULTIPLIER & _MASK)
    return _shifted((v ^ a) * MULTIPLIER & _MASK) * MULTIPLIER & _MASK


def _folded(a: int, one: int, two: int, z: int) -> tuple[int, int]:
    b, c = _turned(a + z, 52), _turned(a, 37)
    a += one
    c += _turned(a, 7)
    a += two
    return a + z, b + _turned(a, 31) + c


def _weak(s: bytes, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(s[i : i + 8]) for i in range(0, 32, 8))
    a += w
    b = _turned(b + a + z, 21)
    end = a + x + y
    return end + z, b + _turned(end, 44) + a
