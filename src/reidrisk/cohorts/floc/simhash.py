"""SimHash of the domains a user visited, bit for bit as Chrome computed it for FLoC."""

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.options import whole_up_to
from reidrisk.base.parallel import each
from reidrisk.cohorts.floc.cityhash import cityhash64
from reidrisk.cohorts.floc.histories import DomainLists, domain_lists

BITS = 50  # bits of a SimHash in Chrome's FLoC

_CACHED = 1 << 27  # Gaussians kept, 1 GiB of them: those of the most frequent domains
_SHARD = 16_384  # users of one piece of work


def simhash(domains: Any, bits: int = BITS) -> int | npt.NDArray[np.uint64]:
    r"""Return the SimHash of each user's domains.

    Each string is a feature, the number :math:`h` that CityHash64 v1.0.3 gives; duplicates count once. Bit ``d`` is set
    when

    .. math:: \sum_h \sqrt{-2 \ln u_1} \cos(2 \pi u_2) > 0,

    with :math:`u_1` the CityHash64WithSeed of the 16 little-endian bytes (d, h) with seed 1 and :math:`u_2` that of
    (h, d) with seed 2, both divided by 2^64 - 1. The chance that a bit of two users differs is the angle between their
    0/1 vectors over pi. The sum runs over ascending hashes, as in Chrome; a bit whose sum lies within rounding of 0
    (about 1e-14) could come out otherwise on another platform.

    A flat list of strings gives one number; a list of lists, or an Arrow or polars column of lists, one for each user,
    0 where there are no domains. Strings are hashed as they are: :func:`registrable` makes domains of hosts. There are
    1 to 64 ``bits``.

    >>> user = "nikkei.com hatenablog.com nikkansports.com yahoo.co.jp".split()
    >>> user += "sponichi.co.jp cnn.co.jp floc.glitch.me ohtsu.org".split()
    >>> simhash(user)                                    # as seen in Chrome
    779363756518407
    """
    lists = domain_lists(domains)
    hashes, _ = signatures(lists, bits)
    return int(hashes[0]) if lists.single else hashes


def signatures(lists: DomainLists, bits: int = BITS) -> tuple[npt.NDArray[np.uint64], Ints]:
    """Return the SimHash of each user and how many distinct domains it is made of."""
    from reidrisk.cohorts.floc.kernels import gaussians, sign_bits

    bits = whole_up_to("bits", bits, 64)
    # Ranks among sorted hashes: sorting a user's ranks sorts the hashes, and equal hashes are one feature.
    features, rank_of = np.unique(cityhash64(lists.distinct), return_inverse=True)
    ranks = rank_of.astype(np.int32)[lists.codes]
    place, kept = np.full(features.size, -1, dtype=np.int32), np.arange(features.size)
    if features.size * bits > _CACHED:
        kept = np.argsort(-np.bincount(ranks, minlength=features.size), kind="stable")[: _CACHED // bits]
    place[kept] = np.arange(kept.size, dtype=np.int32)
    n, chosen, cache = lists.starts.size - 1, features[kept], np.empty((kept.size, bits))
    hashes, counts = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64)
    each(lambda piece: gaussians(chosen[piece], cache[piece]), _pieces(kept.size))

    def fill(piece: slice) -> None:
        rows = lists.starts[piece.start : piece.stop + 1]
        sign_bits(rows, ranks, features, place, cache, bits, hashes[piece], counts[piece])

    each(fill, _pieces(n))
    return hashes, counts


def _pieces(n: int) -> list[slice]:
    return [slice(start, min(start + _SHARD, n)) for start in range(0, n, _SHARD)]
