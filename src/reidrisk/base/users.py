"""User ids: 64-bit integers or Arrow strings, never Python objects, so that ten million of them fit and join fast."""

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import frozen
from reidrisk.base.errors import DataError
from reidrisk.base.foreign import reason
from reidrisk.base.options import is_whole

UserIds = Any  # either an int64 array or a pyarrow array of strings (typed loosely: pyarrow has no type stubs)


def is_text(users: UserIds) -> bool:
    """Return whether these ids are Arrow strings."""
    return not isinstance(users, np.ndarray)


def as_users(users: Any, n: int) -> UserIds | None:
    """Check ``n`` user ids and bring them into one of the two forms; ``None`` stays ``None``.

    >>> as_users(["ann", "bob"], 2).to_pylist()
    ['ann', 'bob']
    >>> as_users([7, 7], 2)
    Traceback (most recent call last):
        ...
    reidrisk.base.errors.DataError: user 7 is in rows 0 and 1; every user may have one row only
    """
    if users is None:
        return None
    ids = formed(users, n)
    _refuse_duplicates(ids)
    return ids


def first_seen(ids: UserIds) -> tuple[npt.NDArray[np.int64], UserIds]:
    """Return for each id its number in the order of first appearance, and the distinct ids in that order.

    >>> [part.tolist() for part in first_seen(np.array([9, 5, 9]))]
    [[0, 1, 0], [9, 5]]
    """
    is_number = isinstance(ids, np.ndarray)
    encoded = (_arrow().array(ids) if is_number else ids).dictionary_encode()
    rows = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return rows, encoded.dictionary.to_numpy() if is_number else encoded.dictionary


def formed(users: Any, n: int) -> UserIds:
    """Bring ``n`` ids, which may repeat, into one of the two forms."""
    ids = _integers(users)
    if ids is None:
        ids = _strings(users)
    if len(ids) != n:
        raise DataError(f"there are {len(ids):,} user ids for {n:,} rows; give one id per row")
    return ids


def take_users(users: UserIds | None, index: npt.NDArray[np.int64] | slice) -> UserIds | None:
    """Return the ids of the chosen rows, without checking them again."""
    if users is None:
        return None
    if isinstance(users, np.ndarray):
        return frozen(users[index])
    if isinstance(index, slice):
        start, stop, step = index.indices(len(users))
        if step == 1:
            return users.slice(start, max(stop - start, 0))
        index = np.arange(start, stop, step, dtype=np.int64)
    return users.take(_arrow().array(index))


def find_users(wanted: UserIds, known: UserIds) -> npt.NDArray[np.int64]:
    """Return for each wanted id its row among the known ones, -1 where there is none.

    >>> find_users(as_users([9, 5], 2), as_users([5, 7, 9], 3)).tolist()
    [2, 0]
    """
    if is_text(wanted) != is_text(known):
        kinds = ["text" if is_text(ids) else "integers" for ids in (wanted, known)]
        raise DataError(f"user ids are {kinds[0]} in one table and {kinds[1]} in the other; give both the same type")
    if not isinstance(wanted, np.ndarray):
        rows = _arrow().compute.index_in(wanted, value_set=known)
        return np.asarray(rows.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    if len(known) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)
    rows = order[place]
    return np.where(known[rows] == wanted, rows, -1).astype(np.int64)


def _arrow() -> Any:
    # Imported where text ids occur: machines with NumPy alone can still work with integers.
    import pyarrow
    import pyarrow.compute

    return pyarrow


def _integers(users: Any) -> npt.NDArray[np.int64] | None:
    if isinstance(users, list | tuple | range):
        if not all(map(is_whole, users)):
            return None
        users = np.array(users, dtype=np.int64)
    if isinstance(users, np.ndarray) and users.dtype.kind in "iu":
        if users.dtype == np.uint64 and users.size and users.max() > np.iinfo(np.int64).max:
            raise DataError(f"user id {int(users.max())} does not fit into 64 signed bits; give such ids as text")
        return frozen(np.array(users, dtype=np.int64).ravel())
    return None


def _strings(users: Any) -> UserIds:
    pa = _arrow()
    try:
        if isinstance(users, np.ndarray) and users.dtype.kind in "UT":
            users = users.ravel().tolist()
        ids = users if isinstance(users, pa.Array | pa.ChunkedArray) else pa.array(users)
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        if isinstance(ids, pa.ChunkedArray):  # combine_chunks keeps chunks that do not fit one array
            ids = pa.concat_arrays(ids.chunks)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"user ids must be all integers or all text: {reason(error)}") from error
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"row {row} has no user id; drop it or give it one")
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if pa.types.is_integer(ids.type):
        return _integers(ids.to_numpy(zero_copy_only=False))
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type) or pa.types.is_string_view(ids.type)):
        raise DataError(f"user ids are of type {ids.type}; give integers or text")
    return ids.cast(pa.large_string())


def _refuse_duplicates(ids: UserIds) -> None:
    if isinstance(ids, np.ndarray):
        ordered = np.sort(ids)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if not twice.size:
            return
        user = int(ordered[twice[0]])
        rows = np.flatnonzero(ids == user)[:2]
    else:
        # Distinct hashes prove distinct ids at a fraction of the memory; equal ones are looked into.
        import polars

        hashes = polars.Series(ids).hash().to_numpy().copy()
        hashes.sort()
        if not (hashes[1:] == hashes[:-1]).any():
            return
        pc = _arrow().compute
        counts = pc.value_counts(ids)
        if len(counts) == len(ids):
            return
        user = counts.field("values")[int(np.argmax(counts.field("counts").to_numpy() > 1))].as_py()
        rows = np.flatnonzero(pc.equal(ids, user).to_numpy(zero_copy_only=False))[:2]
    raise DataError(f"user {user!r} is in rows {rows[0]} and {rows[1]}; every user may have one row only")
