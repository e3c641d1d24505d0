"""Domains that users visited, and their SimHash by CityHash, bit for bit as Chrome computed it for FLoC."""

from collections.abc import Iterable, Set
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import DataError, Ints, Ints32, UInts, each, reason, slices, whole_up_to
from reidrisk.base.frames import text_column
from reidrisk.io.tables import is_list


class DomainLists(NamedTuple):
    """Domains of all users in turn; those of user ``i`` lie from ``starts[i]`` to ``starts[i + 1]``."""

    starts: Ints
    codes: Ints32  # of each domain among the distinct ones
    distinct: Any  # an Arrow array of strings
    single: bool  # whether one user was given, as a flat list


def domain_lists(domains: Any) -> DomainLists:
    """Take one user's domains (a flat list of strings) or a list of such lists; Arrow and polars columns too."""
    if isinstance(domains, DomainLists):
        return domains
    import pyarrow as pa

    if isinstance(domains, str | bytes):
        raise DataError("domains is one string; give a list of domains, or a list of lists with one for each user")
    try:
        column = domains.to_arrow() if hasattr(domains, "to_arrow") else domains
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = _from_python(column)
        single = not is_list(column.type)
        column = column.cast(pa.large_string() if single else pa.large_list(pa.large_string()))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"domains must be strings, in one list for each user ({reason(error, 120)})") from error
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if single:
        flat, starts = whole, np.array([0, len(whole)], dtype=np.int64)
    else:
        if whole.null_count:
            raise DataError(f"user {_first_null(whole)} has no list of domains; give an empty one")
        offsets = whole.offsets.to_numpy()
        flat, starts = whole.flatten(), (offsets - offsets[0]).astype(np.int64)
    _check_values(flat, starts)
    encoded = flat.dictionary_encode()
    return DomainLists(starts, encoded.indices.to_numpy().astype(np.int32), encoded.dictionary, single)


def _from_python(domains: Any) -> Any:
    import pyarrow as pa

    if not isinstance(domains, Iterable):
        raise DataError(f"domains is {domains!r}; give a list of domains, or a list of lists with one for each user")
    # A set has no order and Arrow takes lists; the order of domains does not matter.
    rows = [list(row) if isinstance(row, Set) else row for row in domains]
    if rows and not isinstance(rows[0], str | None):
        text = next((i for i, row in enumerate(rows) if isinstance(row, str)), None)
        if text is not None:
            raise DataError(f"user {text} is the string {rows[text][:60]!r}; give a list of domains for each user")
        return pa.array(rows, type=pa.large_list(pa.large_string()))
    return pa.array(rows, type=pa.large_string())


def _first_null(column: Any) -> int:
    return int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))


def _check_values(flat: Any, starts: Ints) -> None:
    import pyarrow.compute as pc

    if flat.null_count:
        at, what = _first_null(flat), "is missing"
    else:
        empty = pc.equal(pc.binary_length(flat), 0)
        if not pc.any(empty).as_py():
            return
        at, what = int(np.argmax(empty.to_numpy(zero_copy_only=False))), "is empty"
    user = int(np.searchsorted(starts, at, side="right")) - 1
    raise DataError(f"domain {at - int(starts[user])} of user {user} {what}; leave it out")


BITS = 50  # bits of a SimHash in Chrome's FLoC

_CACHED = 1 << 27  # Gaussians kept, 1 GiB of them: those of the most frequent domains
_SHARD = 16_384  # users of one piece of work


def cityhash64(values: Any) -> UInts:
    """Return CityHash64 v1.0.3 (Pike and Alakuijala, 2011) of the UTF-8 bytes of each string of a sequence or column.

    Chrome keeps this version for FLoC. Version 1.1 changed the branches for fewer than 9 and for 17 to 64 bytes.

    >>> cityhash64(["", "hello world"]).tolist()         # as in Chrome's own test
    [11160318154034397263, 12386028635079221413]
    """
    from reidrisk.cohorts.floc.kernels import hash_columns

    whole = text_column(values, "values", "large_binary")
    if whole.null_count:
        raise DataError(f"value {_first_null(whole)} is missing; leave it out or give its text")
    _, offsets, data = whole.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
    flat = np.zeros(1, dtype=np.uint8) if data is None or not data.size else np.frombuffer(data, dtype=np.uint8)
    out = np.empty(len(whole), dtype=np.uint64)
    hash_columns(flat, starts, out)
    return out


def simhash(domains: Any, bits: int = BITS) -> int | UInts:
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


def signatures(lists: DomainLists, bits: int = BITS) -> tuple[UInts, Ints]:
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
    each(lambda piece: gaussians(chosen[piece], cache[piece]), slices(kept.size, _SHARD))

    def fill(piece: slice) -> None:
        rows = lists.starts[piece.start : piece.stop + 1]
        sign_bits(rows, ranks, features, place, cache, bits, hashes[piece], counts[piece])

    each(fill, slices(n, _SHARD))
    return hashes, counts
