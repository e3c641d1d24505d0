"""User ids of a table, with the row at fault where one is missing or there twice."""

from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Ints
from reidrisk.base.errors import DataError, FormatError
from reidrisk.base.users import UserIds
from reidrisk.io.tables.columns import cell, holds_text, plain_kind


def user_ids(name: str, column: str, cells: Any) -> UserIds:
    """Return a column, an Arrow chunked array, as ids: integers as one array, text as Arrow strings; refuse gaps."""
    import pyarrow as pa
    import pyarrow.compute as pc  # not loaded with pyarrow itself

    kind, is_text = plain_kind(cells.type), holds_text(cells.type)
    if not (is_text or pa.types.is_integer(kind)):
        raise FormatError(f"{name}: column {column!r} is of type {cells.type}; user ids are integers or text")
    cells = cells.cast(pa.large_string() if is_text else kind)
    lacking = pc.or_kleene(cells.is_null(), pc.equal(cells, "")) if is_text else cells.is_null()
    if pc.any(lacking).as_py():
        row = int(np.argmax(lacking.to_numpy()))
        raise DataError(f"{cell(name, row, column)} has no user id; drop the row or name it")
    if is_text:
        return cells.combine_chunks()
    numbers = cells.to_numpy()
    if numbers.dtype == np.uint64 and numbers.size and numbers.max() > np.iinfo(np.int64).max:
        at = cell(name, int(np.argmax(numbers)), column)
        raise DataError(f"{at} holds {numbers.max()}, which does not fit into 64 signed bits; give such ids as text")
    return numbers.astype(np.int64, copy=False)


def first_seen(ids: UserIds) -> tuple[Ints, UserIds]:
    """Return for each id its number in the order of first appearance, and the distinct ids in that order."""
    import pyarrow as pa

    is_number = isinstance(ids, np.ndarray)
    encoded = (pa.array(ids) if is_number else ids).dictionary_encode()
    rows = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return rows, encoded.dictionary.to_numpy() if is_number else encoded.dictionary


def first_repeat(codes: npt.NDArray[Any]) -> tuple[int, int] | None:
    """Return the first place whose value was there before, after the place where it was."""
    order = np.argsort(codes, kind="stable")
    same = np.flatnonzero(codes[order[1:]] == codes[order[:-1]])
    if not same.size:
        return None
    pick = same[np.argmin(order[same + 1])]
    return int(order[pick]), int(order[pick + 1])


def refuse_repeated_users(name: str, users: UserIds | None, row: str = "row") -> None:
    """Say in which rows of a file a user occurs twice, if one does."""
    twice = None if users is None else first_repeat(first_seen(users)[0])
    if twice:
        who = f"{row}s {twice[0] + 1} and {twice[1] + 1} are both user {shown_user(users, twice[0])}"
        raise DataError(f"{name}: {who}; give every user one {row}")


def shown_user(users: UserIds, row: int) -> str:
    """Write an id for a message: a number as it is, text in quotes."""
    return str(users[row]) if isinstance(users, np.ndarray) else repr(users[row].as_py())
