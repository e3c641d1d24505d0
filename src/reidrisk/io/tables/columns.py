"""Cells of one column: whole numbers, labels or user ids, with the row at fault where they are none."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from reidrisk.base import Array, DataError, Floats, FormatError, Ints, UserIds, first_seen


class Labels(dict[str, int]):
    """Text tokens on their way in: each new label gets the next code."""

    def codes(self, cells: Any) -> Ints:
        """Return the code of each cell of an Arrow text array; -1 where it is null or empty."""
        import pyarrow as pa

        if pa.types.is_null(cells.type):
            return np.full(len(cells), -1, dtype=np.int64)
        if not pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_encode()
        of_word = np.full(len(cells.dictionary) + 1, -1, dtype=np.int64)  # the last one, at -1, is for nulls
        used: Ints = cells.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        for word in np.unique(used[used >= 0]).tolist():
            if label := cells.dictionary[word].as_py():
                of_word[word] = self.setdefault(label, len(self))
        return of_word[used]


def whole_numbers(
    cells: Any, name: str, column: str, first_row: int = 0, what: str = "token", rows: Array | None = None
) -> Array:
    """Return an Arrow array of numbers as integers from -1 up; nulls become -1, anything else is refused.

    The first cell is of row ``first_row`` (counted from 0); where the cells come from lists, ``rows`` says how many
    rows after it each one is.
    """
    import pyarrow as pa

    def at(position: int) -> str:
        return cell(name, first_row + (position if rows is None else int(rows[position])), column)

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_null(cells.type):
        return np.full(len(cells), -1, dtype=np.int16)
    if pa.types.is_floating(cells.type):
        numbers = _from_floats(cells, at, what)
    elif pa.types.is_integer(cells.type):
        if cells.null_count:
            if pa.types.is_unsigned_integer(cells.type):  # it has no -1
                cells = cells.cast(pa.int64(), safe=False)
            cells = cells.fill_null(-1)
        numbers = cells.to_numpy(zero_copy_only=False)
        if numbers.dtype == np.uint64:
            numbers = numbers.astype(np.int64)  # beyond 2^63 it turns negative and is refused below
    else:
        raise FormatError(f"{name}: column {column!r} is of type {cells.type}; {what}s are integers or text")
    if numbers.dtype.kind == "i" and numbers.size and numbers.min() < -1:
        row = int(np.argmax(numbers < -1))
        allowed = f"{what}s are whole numbers from 0, and -1 or an empty cell means not observed"
        raise DataError(f"{at(row)} holds {what} {int(numbers[row])}; {allowed}")
    return numbers


def _from_floats(cells: Any, at: Callable[[int], str], what: str) -> Ints:
    values: Floats = cells.fill_null(-1.0).to_numpy(zero_copy_only=False).astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)) | (np.abs(values) > 2.0**53))
    if wrong.size:
        value, where = float(values[wrong[0]]), at(int(wrong[0]))
        if np.isfinite(value):
            kind = "a fraction" if value != np.floor(value) else "too large for a whole number"
            raise DataError(f"{where} holds {value:g}, {kind}; {what}s are whole numbers")
        shown = "NaN" if np.isnan(value) else f"{value:g}"
        raise DataError(f"{where} holds {shown}, which is no {what}; leave the cell empty where nothing was observed")
    return values.astype(np.int64)


def number_matrix(columns: Sequence[Any], names: Sequence[str], name: str, rule: str) -> Floats:
    """Return columns of text as a matrix, or name the first cell that is no number, with the ``rule`` for them all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    matrix = np.empty((len(columns[0]), len(columns)))
    for j, cells in enumerate(columns):
        try:
            matrix[:, j] = pc.utf8_trim_whitespace(cells).cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid as error:
            texts = cells.to_pylist()
            row = next((row for row, text in enumerate(texts) if not is_number_text(text)), 0)
            raise DataError(f"{cell(name, row, names[j])} holds {texts[row]!r}; {rule}") from error
    return matrix


def is_number_text(text: str) -> bool:
    """Tell whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def cell(name: str, row: int, column: str) -> str:
    """Say where a cell is; people count rows from 1, without the header."""
    return f"{name}: row {row + 1}, column {column!r}"


def plain_kind(kind: Any) -> Any:
    """Return the Arrow type of the values, also where a dictionary holds them."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def holds_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text, as such or as a dictionary of it."""
    import pyarrow as pa

    types, plain = pa.types, plain_kind(kind)
    return bool(types.is_string(plain) or types.is_large_string(plain) or types.is_string_view(plain))


def is_bytes(kind: Any) -> bool:
    """Tell whether an Arrow type is bytes: of any or of one length, or a UUID."""
    import pyarrow as pa

    types, plain = pa.types, getattr(kind, "storage_type", kind)
    return any(is_one(plain) for is_one in (types.is_binary, types.is_large_binary, types.is_fixed_size_binary))


def bytes_as_text(cells: Any) -> Any:
    r"""Return an Arrow array of bytes as text: what is text as it is, 16 other bytes as a UUID, all else in hex.

    >>> import pyarrow as pa
    >>> bytes_as_text(pa.array([b"ann", bytes(range(16)), b"\xff"])).to_pylist()
    ['ann', '00010203-0405-0607-0809-0a0b0c0d0e0f', '0xff']
    """
    import pyarrow as pa

    is_uuid = isinstance(cells.type, pa.BaseExtensionType)
    encoded = (cells.storage if is_uuid else cells).dictionary_encode()
    words = [_text_of(value, is_uuid) for value in encoded.dictionary.to_pylist()]
    return pa.array(words, pa.large_string()).take(encoded.indices)


def _text_of(value: bytes, is_uuid: bool) -> str:
    try:
        if (text := value.decode()).isprintable() and not is_uuid:
            return text
    except UnicodeDecodeError:
        pass
    return str(UUID(bytes=value)) if len(value) == 16 else f"0x{value.hex()}"


def is_list(kind: Any) -> bool:
    """Tell whether an Arrow type is a plain list, of any kind of length."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


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


def first_repeat(codes: Array) -> tuple[int, int] | None:
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


def refuse_two_tokens(name: str, keys: Ints, users: UserIds, epochs: list[Any]) -> None:
    """Say in which rows of a file one epoch of a user is given twice; a key is user x number of epochs + epoch."""
    seen = np.zeros(len(users) * len(epochs), dtype=np.bool_)
    seen[keys] = True
    if int(seen.sum()) == len(keys):
        return
    first, second = first_repeat(keys) or (0, 0)
    user, epoch = divmod(int(keys[second]), len(epochs))
    both = f"rows {first + 1} and {second + 1} both give user {shown_user(users, user)} a token in epoch"
    raise DataError(f"{name}: {both} {epochs[epoch]}; keep one row for each user and epoch")


def shown_user(users: UserIds, row: int) -> str:
    """Write an id for a message: a number as it is, text in quotes."""
    return str(users[row]) if isinstance(users, np.ndarray) else repr(users[row].as_py())
