"""Cells as values: numbers with commas or points, ids and labels the same however a file types them, slips of case."""

import re
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import DataError, Floats, Ints
from reidrisk.io.exports.times import MISSING
from reidrisk.io.tables.columns import holds_text

_WHOLE = r"^-?(?:0|[1-9][0-9]{0,17})$"
_WHOLE_WITH_ZERO = r"^-?(?:0|[1-9][0-9]{0,14})\.0+$"
_POINT = r"^[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$"
_FIGURES = {
    "point": re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[, '\u00a0\u202f]\d{3})+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?"),
    "comma": re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[. '\u00a0\u202f]\d{3})+)?(?:,\d*)?(?:[eE][+-]?\d{1,3})?"),
}

_NUMBERS, _DIFFERENT, _ODD = 20, 5, 0.01  # numbers of a column that holds them but for a few, and how many these are


class Numbers(NamedTuple):
    """A column of numbers: NaN where there is none, and the rows whose cell is no number."""

    values: Floats
    mark: str  # "point" or "comma": what stands before fractions
    bad: Ints


class Spellings(NamedTuple):
    """Labels that are written in several ways: how many, and those that would be one."""

    labels: int
    groups: tuple[tuple[str, ...], ...]


def read_numbers(cells: Any, where: str, comma: bool) -> Numbers:
    """Read a column of numbers; ``comma`` says what a comma is where it may part thousands or fractions.

    >>> import pyarrow as pa
    >>> read_numbers(pa.chunked_array([["1.234,5", "7", None]]), "a.csv, column 'n'", comma=True).values.tolist()
    [1234.5, 7.0, nan]
    """
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind) or pa.types.is_decimal(kind):
        values = cells.cast(pa.float64(), safe=False).combine_chunks().to_numpy(zero_copy_only=False)
        return Numbers(values, "point", np.empty(0, dtype=np.int64))
    if not holds_text(kind):
        raise DataError(f"{where} is of type {kind}; give numbers")
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    texts = [text.strip() for text in encoded.dictionary.to_pylist()]
    given = np.array([text not in ("", *MISSING) for text in texts], dtype=bool)
    fits = {
        mark: np.array([figure.fullmatch(text) is not None and any(map(str.isdigit, text)) for text in texts])
        for mark, figure in _FIGURES.items()
    }
    more = int((fits["comma"] & given).sum()) - int((fits["point"] & given).sum())
    mark = ("comma" if comma else "point") if more == 0 else ("comma" if more > 0 else "point")
    good = given & fits[mark] if texts else given
    if given.any() and good.sum() <= 0.5 * given.sum():
        shown = next(text for text, is_good in zip(texts, given & ~good, strict=True) if is_good)
        raise DataError(f"{where} holds {shown!r}, which is no number; name another column")
    parts, rest = ("[. '\u00a0\u202f]", ",") if mark == "comma" else ("[, '\u00a0\u202f]", ".")
    figures = [
        float(re.sub(parts, "", text).replace(rest, ".")) if is_good else np.nan
        for text, is_good in zip(texts, good, strict=True)
    ]
    place = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = np.array([*figures, np.nan])[place]
    return Numbers(values, mark, np.flatnonzero(np.append(given & ~good, False)[place]))


def nearly_numbers(cells: Any, where: str, comma: bool) -> Numbers | None:
    """Return a column of text that holds numbers but for a few cells, which are bad ones; ``None`` where it does not.

    Digits with zeros in front are codes. Of twenty numbers or more, five of them different, one cell in a hundred may
    be none, or one.

    >>> import pyarrow as pa
    >>> found = nearly_numbers(pa.chunked_array([[*map(str, range(40)), "total", "NA"]]), "a.csv", comma=False)
    >>> found.bad.tolist()
    [40]
    """
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(pc.unique(cells.drop_null()))
    is_code = len(texts) == 0 or pc.any(pc.match_substring_regex(texts, r"^[+-]?0[0-9]")).as_py()
    if is_code or int(pc.sum(pc.match_substring_regex(texts, r"^[+-]?[.,]?[0-9]")).as_py()) < _DIFFERENT:
        return None
    try:
        found = read_numbers(cells, where, comma)
    except DataError:
        return None
    there = int(np.count_nonzero(~np.isnan(found.values)))
    return found if there >= _NUMBERS and len(found.bad) <= max(1, _ODD * there) else None


def plain_values(cells: Any, is_id: bool, comma: bool = False) -> Any:
    """Return a column of ids or labels in one form, however it is typed.

    Text that is whole numbers throughout becomes these, with ``.0`` behind them too; items that are fractions
    throughout become these. Digits with zeros in front are text. Blanks around text are left out where no two values
    become one by it. Of ids, what stands for nothing is null.

    >>> import pyarrow as pa
    >>> plain_values(pa.chunked_array([["7.0", None, "12.0"]]), is_id=True).to_pylist()
    [7, None, 12]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not holds_text(cells.type):
        return cells
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    words = pc.utf8_trim_whitespace(encoded.dictionary)
    nothing = ["", *MISSING] if is_id else ["", "NULL", "\\N", "#N/A", "(null)"]
    words = pc.if_else(pc.is_in(words, pa.array(nothing, words.type)), pa.scalar(None, words.type), words)
    there = words.drop_null()
    numbers = _as_numbers(there, words, is_id, comma)
    if numbers is not None:
        return pa.chunked_array([numbers.take(encoded.indices)])
    if pc.count_distinct(there).as_py() < len(there):
        words = pc.if_else(words.is_valid(), encoded.dictionary, pa.scalar(None, words.type))
    return pa.chunked_array([words.take(encoded.indices)])


def _as_numbers(there: Any, words: Any, is_id: bool, comma: bool) -> Any:
    """Return words as numbers, where all are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def all_match(pattern: str) -> bool:
        return len(there) > 0 and bool(pc.all(pc.match_substring_regex(there, pattern)).as_py())

    if all_match(_WHOLE):
        return words.cast(pa.int64())
    if all_match(_WHOLE_WITH_ZERO):
        return pc.replace_substring_regex(words, r"\.0+$", "").cast(pa.int64())
    if is_id:
        return None
    if not all_match(_POINT):
        if not comma:
            return None
        there, words = (pc.replace_substring(some, ",", ".", max_replacements=1) for some in (there, words))
        if not all_match(_POINT):
            return None
    return words.cast(pa.float64())


def spellings(labels: list[str]) -> Spellings:
    """Find labels that differ only in case or blanks.

    >>> spellings(["Tea", "tea ", "rum"])
    Spellings(labels=2, groups=(('Tea', 'tea '),))
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(folded(label), []).append(label)
    several = tuple(tuple(group) for group in groups.values() if len(group) > 1)
    return Spellings(sum(map(len, several)), several)


def folded(label: str) -> str:
    """Return a label without what differs by case or blanks."""
    return " ".join(label.split()).casefold()


def merged(cells: Any) -> Any:
    """Return a column of text in which labels that differ only in case or blanks are one: the most frequent of them."""
    import pyarrow as pa

    if not holds_text(cells.type):
        return cells
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    labels = encoded.dictionary.to_pylist()
    place = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    often = np.bincount(place[place >= 0], minlength=len(labels))
    best: dict[str, int] = {}
    for at in sorted(range(len(labels)), key=lambda one: (-int(often[one]), labels[one])):
        best.setdefault(folded(labels[at]), at)
    words = pa.array([labels[best[folded(label)]].strip() for label in labels], pa.large_string())
    return pa.chunked_array([words.take(encoded.indices)])
