"""Cells as values: numbers with commas or points, ids and labels the same however a file types them, slips of case."""

import re
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import DataError, Floats, Ints
from reidrisk.io.exports.times import MISSING
from reidrisk.io.tables.columns import holds_text

_WHOLE = r"^(?:0|-?[1-9][0-9]{0,17})$"
_DECIMAL = r"^-?(?:0|[1-9][0-9]{0,10})(?:[.,][0-9]{1,4})?$"  # of so few digits that a number keeps them all
_SHORTEST = r"^(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)[.,][0-9]*[1-9])$"
_FIGURE = r"^[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]{1,3})?$"
_SCIENTIFIC = re.compile(r"[+-]?[0-9](?:[.,][0-9]+)?E\+([0-9]{2,3})")
_BLANKS = "['’ \u00a0\u202f]"
_FIGURES = {
    mark: re.compile(
        rf"[+-]?(?:\d+|[1-9]\d{{0,2}}(?P<group>{_BLANKS}|{group})\d{{3}}(?:(?P=group)\d{{3}})*)?"
        rf"(?:{point}\d*)?(?:[eE][+-]?\d{{1,3}})?"
    )
    for mark, point, group in (("point", r"\.", ","), ("comma", ",", r"\."))
}
_CODES = (r"^[+-]?0[0-9]", r"^[+-]?[0-9]{16}")  # zeros in front, or more digits than a number keeps
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")  # thousands, or three decimals

_NUMBERS, _DIFFERENT, _ODD = 20, 5, 0.01  # prior: numbers of a column of them but for a few, and how many these are


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
    """Read a column of numbers; ``comma`` says whether fractions are expected behind a comma.

    What a mark is that may part thousands or fractions, the other cells must show; else the column is refused.

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
    if more == 0:
        mark = _point_or_comma([text for text, is_given in zip(texts, given, strict=True) if is_given], where, comma)
    else:
        mark = "comma" if more > 0 else "point"
    good = given & fits[mark] if texts else given
    if given.any() and good.sum() <= 0.5 * given.sum():
        shown = next(text for text, is_good in zip(texts, given & ~good, strict=True) if is_good)
        raise DataError(f"{where} holds {shown!r}, which is no number; name another column")
    parts, rest = (rf"\.|{_BLANKS}", ",") if mark == "comma" else (f",|{_BLANKS}", ".")
    figures = np.array(
        [
            float(re.sub(parts, "", text).replace(rest, ".")) if is_good else np.nan
            for text, is_good in zip(texts, good, strict=True)
        ]
    )
    good &= ~np.isinf(figures) if texts else good
    place = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = np.append(np.where(good, figures, np.nan), np.nan)[place]
    return Numbers(values, mark, np.flatnonzero(np.append(given & ~good, False)[place]))


def _point_or_comma(texts: list[str], where: str, comma: bool) -> str:
    """Say what stands before fractions where no single number shows it, but all of them together may.

    Of ``1.234`` and ``7``, the first is a thousand if zeros at its end are written, or if fractions are expected behind
    the other mark. ``3.000`` alone is either.
    """
    usual = "comma" if comma else "point"
    either = [(text, found[1]) for text in texts if (found := _EITHER.fullmatch(text))]
    if not either:
        return usual
    marks, shown = {mark for _, mark in either}, either[0][0]
    bare = [len(text.lstrip("+-")) for text in texts if text.lstrip("+-").isdigit()]
    is_usual = marks == {"," if comma else "."}
    are_round = all(text.endswith("000") for text, _ in either)
    may_part = max(bare, default=0) <= 3  # nobody parts some thousands and not the others
    if is_usual:
        fractions = not are_round and not (bare and may_part)
        thousands = bool(bare) and may_part and any(text.endswith("0") for text, _ in either)
    else:
        fractions, thousands = False, may_part and (bool(bare) or (marks == {","} and not are_round))
    if len(marks) > 1 or not (fractions or thousands):
        what = f"{where} holds {shown!r}, which may be {re.sub('[.,]', '', shown)} or {shown[:-4]}"
        raise DataError(f"{what}; write numbers without marks between thousands, or name another column")
    return "comma" if (marks == {","}) == fractions else "point"


def nearly_numbers(cells: Any, where: str, comma: bool) -> Numbers | None:
    """Return a column of text that holds numbers but for a few cells, which are bad ones; ``None`` where it does not.

    Digits with zeros in front, and those that no number keeps, are codes. Of twenty numbers or more, five of them
    different, one cell in a hundred may be none, or one.

    >>> import pyarrow as pa
    >>> found = nearly_numbers(pa.chunked_array([[*map(str, range(40)), "total", "NA"]]), "a.csv", comma=False)
    >>> found.bad.tolist()
    [40]
    """
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(pc.unique(cells.drop_null()))
    if len(texts) == 0 or any(bool(pc.any(pc.match_substring_regex(texts, code)).as_py()) for code in _CODES):
        return None
    try:
        found = read_numbers(cells, where, comma)
    except DataError:
        return None
    there = int(np.count_nonzero(~np.isnan(found.values)))
    different = int(pc.sum(pc.match_substring_regex(texts, r"^[+-]?[.,]?[0-9]")).as_py())
    most = max(1, _ODD * there) if there >= _NUMBERS and different >= _DIFFERENT else 0
    return found if there and len(found.bad) <= most else None


def plain_values(cells: Any, is_id: bool, comma: bool = False, keep: bool = False) -> Any:
    """Return a column of ids or labels in one form, however it is typed.

    Text that is whole numbers throughout becomes these, with ``.0`` behind them too; items that are fractions
    throughout, all with as many digits or all without a zero at their end, become these. All other text is kept, as no
    two texts may become one value; all of it if that is what to ``keep``. Blanks around text are left out where no two
    values become one by it. Of ids, what stands for nothing is null.

    >>> import pyarrow as pa
    >>> plain_values(pa.chunked_array([["7.0", None, "12.0"]]), is_id=True).to_pylist()
    [7, None, 12]
    >>> plain_values(pa.chunked_array([["4.1", "4.10"]]), is_id=False).to_pylist()
    ['4.1', '4.10']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(cells.type):
        cells = cells.cast(pa.large_string())
    if not holds_text(cells.type):
        return cells
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    words = pc.utf8_trim_whitespace(encoded.dictionary)
    nothing = ["", *MISSING] if is_id else ["", "NULL", "\\N", "#N/A", "(null)"]
    words = pc.if_else(pc.is_in(words, pa.array(nothing, words.type)), pa.scalar(None, words.type), words)
    there = words.drop_null()
    numbers = None if keep else _as_numbers(there, words, is_id, comma)
    if numbers is not None:
        return pa.chunked_array([numbers.take(encoded.indices)])
    if pc.count_distinct(there).as_py() < len(there):
        words = pc.if_else(words.is_valid(), encoded.dictionary, pa.scalar(None, words.type))
    return pa.chunked_array([words.take(encoded.indices)])


def _as_numbers(there: Any, words: Any, is_id: bool, comma: bool) -> Any:
    """Return words as numbers, where all are and no two of them are the same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _all_match(there, _WHOLE):
        return words.cast(pa.int64())
    behind = pc.binary_length(pc.replace_substring_regex(there, "^[^.,]*", ""))
    is_fixed = pc.min(behind).as_py() == pc.max(behind).as_py()
    if is_fixed and _all_match(there, r"^(?:0|-?[1-9][0-9]{0,14})\.0+$"):
        return pc.replace_substring_regex(words, r"\.0+$", "").cast(pa.int64())
    thousands = bool(pc.any(pc.match_substring_regex(there, r"^-?[1-9][0-9]{0,2}\.[0-9]{3}$")).as_py())
    commas = bool(pc.any(pc.match_substring(there, ",")).as_py())
    if is_id or commas > comma or (comma and thousands) or not _all_match(there, _DECIMAL):
        return None
    if not (is_fixed or _all_match(there, _SHORTEST)):
        return None
    return pc.replace_substring(words, ",", ".").cast(pa.float64())


def _all_match(texts: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return len(texts) > 0 and bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def are_figures(cells: Any) -> bool:
    """Tell whether a column of text holds numbers throughout: they were kept as text since no number is as exact."""
    import pyarrow.compute as pc

    return holds_text(cells.type) and _all_match(pc.utf8_trim_whitespace(pc.unique(cells.drop_null())), _FIGURE)


def damaged(cells: Any, least: int = 0) -> int:
    """Count cells that a spreadsheet has written in scientific notation, by powers of ten from ``least`` on.

    What was a code has lost its last digits, and so has one that is a fraction of a size that holds no single ones.

    >>> import pyarrow as pa
    >>> damaged(pa.chunked_array([["2.98725E+13", "17", "1E2"]]))
    1
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(cells.type):
        return int(pc.sum(pc.greater_equal(pc.abs(cells), 2.0**53)).as_py() or 0)
    if not holds_text(cells.type):
        return 0
    cells = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    found = (_SCIENTIFIC.fullmatch(text.strip()) for text in cells.dictionary.to_pylist())
    hit = np.array([*(one is not None and int(one[1]) >= least for one in found), False])
    return int(hit[cells.indices.fill_null(-1).to_numpy(zero_copy_only=False)].sum())


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


def merged(cells: Any, spelt: dict[str, str]) -> Any:
    """Return a column of text in which labels that differ only in case or blanks are one: the most frequent of them.

    ``spelt`` says how those that were met before are written, in this table or in another one, and learns the others.
    """
    import pyarrow as pa

    if not holds_text(cells.type):
        return cells
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    labels = encoded.dictionary.to_pylist()
    place = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    often = np.bincount(place[place >= 0], minlength=len(labels))
    for at in sorted(range(len(labels)), key=lambda one: (-int(often[one]), labels[one])):
        spelt.setdefault(folded(labels[at]), labels[at].strip())
    words = pa.array([spelt[folded(label)] for label in labels], pa.large_string())
    return pa.chunked_array([words.take(encoded.indices)])
