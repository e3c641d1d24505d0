"""Domains that users visited, as people give them: one user's or many, by distinct domain."""

from collections.abc import Iterable, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError
from reidrisk.base.foreign import reason
from reidrisk.io.tables import is_list


class DomainLists(NamedTuple):
    """Domains of all users in turn; those of user ``i`` lie from ``starts[i]`` to ``starts[i + 1]``."""

    starts: Ints
    codes: npt.NDArray[np.int32]  # of each domain among the distinct ones
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
