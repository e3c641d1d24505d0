"""Times as exports write them: one form for the whole column, said; never an order of text.

Understood are ISO dates and times, with or without blanks, zones and minutes; day or month first, which the whole
column must show; months by their English names; ISO weeks; Unix time; and plain numbers. Times are those on the clock
of the place, as they are written: a zone is left out.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Bools, DataError, Ints, OptionError
from reidrisk.io.tables.columns import holds_text

_CLOCK = (
    r"(?:[Tt ,]+(?P<H>[0-9]{1,2})(?:[:h.](?P<M>[0-9]{2})(?:[:.](?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?)?h?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?)?(?:\s*(?:[Zz]|UTC|GMT|[+-][0-9]{2}:?(?:[0-9]{2})?))?"
)
_BASIC = r"(?:[Tt _-]?(?P<H>[0-9]{2})(?P<M>[0-9]{2})?(?P<S>[0-9]{2})?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>(?i:{'|'.join(_NAMES)}))[a-zA-Z]*\.?"
_YEAR, _WEEKDAY = r"(?P<y>[0-9]{4}|[0-9]{2})", r"(?:[A-Za-z]{2,9},?\s+)?"
_FORMS = {
    "year-first": rf"(?P<y>[0-9]{{4}})[-/.](?P<m>[0-9]{{1,2}})[-/.](?P<d>[0-9]{{1,2}}){_CLOCK}",
    "digits": rf"(?P<y>(?:19|20)[0-9]{{2}})(?P<m>[0-9]{{2}})(?P<d>[0-9]{{2}}){_BASIC}",
    "day-or-month-first": rf"(?P<a>[0-9]{{1,2}})[./-](?P<b>[0-9]{{1,2}})[./-]{_YEAR}{_CLOCK}",
    "day-name": rf"{_WEEKDAY}(?P<d>[0-9]{{1,2}})[ ./-]+{_MONTH}[ ,./-]+{_YEAR}{_CLOCK}",
    "name-day": rf"{_WEEKDAY}{_MONTH}\s+(?P<d>[0-9]{{1,2}})(?:,\s*|\s+)(?P<y>[0-9]{{4}}){_CLOCK}",
    "week": r"(?P<y>[0-9]{4})[-_/ ]?[Ww](?P<w>[0-9]{1,2})(?:-?(?P<wd>[1-7]))?",
    "month": r"(?P<y>(?:19|20)[0-9]{2})[-/.](?P<m>[0-9]{1,2})",
}
_PATTERNS = {form: re.compile(pattern) for form, pattern in _FORMS.items()}
_NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]+)?$"
_SAMPLE = 2000  # texts that show the form of all
_UNITS = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}
_FIRST, _LAST = 157_766_400, 4_102_444_800  # 1975 and 2100, in seconds since 1970
_PIVOT = 69  # years of two digits: 69 to 99 are of the last century
_FEW = 0.01  # share of dates against the order of the others that are taken for slips

Places = Bools


class Times(NamedTuple):
    """A column of times, in the form it was found to have, and the cells that are none."""

    values: Any  # Arrow timestamps or numbers; null where nothing is said
    form: str
    proof: str  # a cell that shows which number is the day
    bad: Ints  # rows whose cell is no time


@dataclass(frozen=True)
class _Parts:
    """The numbers in the cells that fit a form."""

    fits: Places
    number: dict[str, Ints]

    def get(self, part: str, default: int = 0) -> Ints:
        return self.number.get(part, np.full(len(self.fits), default, dtype=np.int64))


def looks_like_times(cells: Any) -> bool:
    """Tell by some cells of a text column whether it may hold times, plain numbers apart."""
    texts = [text for text in cells.drop_null().slice(0, 200).to_pylist() if text.strip()]
    fit = sum(any(pattern.fullmatch(text.strip()) for pattern in _PATTERNS.values()) for text in texts)
    return bool(texts) and fit > 0.5 * len(texts)


def read_times(cells: Any, where: str, dates: str | None = None) -> Times:
    """Read a column of numbers, dates or text; ``where`` says whose it is, ``dates`` which number of two comes first.

    >>> import pyarrow as pa
    >>> found = read_times(pa.chunked_array([["01.11.2024", "13.11.2024 8"]]), "log.csv, column 'date'")
    >>> found.form, found.proof, str(found.values[1])
    ('day-first', '13.11.2024 8', '2024-11-13 08:00:00')
    """
    import polars as pl
    import pyarrow as pa

    none = np.empty(0, dtype=np.int64)
    kind = cells.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return Times(cells, "times", "", none)
    if pa.types.is_null(kind):
        return Times(cells.cast(pa.float64()), "numbers", "", none)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _of_numbers(cells, none)
    if not holds_text(kind):
        raise DataError(f"{where} is of type {kind}; times are dates, datetimes, numbers or text")
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    texts = pl.Series(encoded.dictionary, dtype=pl.String).str.strip_chars()
    place = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    values, form, proof, wrong = _of_texts(texts, where, dates)
    rows = np.flatnonzero(np.append(wrong, False)[place])
    found = pa.chunked_array([values.take(pa.array(place, mask=place == len(texts)))])
    return Times(found, form, proof, rows)


def _of_texts(texts: Any, where: str, dates: str | None) -> tuple[Any, str, str, Places]:
    """Return the time of each distinct text, the form of most of them, what shows it, and which are none."""
    import polars as pl
    import pyarrow as pa

    given = ~texts.is_in(["", *MISSING]).to_numpy()
    if not given.any():
        return pa.nulls(len(texts), pa.float64()), "numbers", "", given
    numbers = texts.str.contains(_NUMBER).to_numpy()
    if numbers.sum() > 0.5 * given.sum():
        figures = texts.set(pl.Series(~numbers), None).cast(pl.Float64, strict=False).to_arrow()
        found = _of_numbers(figures, np.empty(0, dtype=np.int64))
        return found.values, found.form, "", given & ~numbers
    form, parts = _most_frequent(texts, given)
    if parts.fits.sum() <= 0.5 * given.sum():
        shown = texts[int(np.argmax(given))]
        raise DataError(f"{where} holds {shown!r}, which is no time that is understood; write 2024-05-31 or 31.05.2024")
    proof = ""
    if form == "day-or-month-first":
        form, proof, parts = _ordered(texts, parts, where, dates)
    moments, exists = _moments(parts)
    good = parts.fits & exists
    values = pa.array(moments, pa.timestamp("us"), mask=~good)
    return values, form, proof, given & ~good


def _most_frequent(texts: Any, given: Places) -> tuple[str, _Parts]:
    """Return the form that most of some texts have, and what all texts hold in it."""
    some = texts.filter(given).head(_SAMPLE)
    fits = {form: int(some.str.contains(f"^(?:{pattern})$").sum()) for form, pattern in _FORMS.items()}
    form = max(fits, key=lambda one: fits[one])
    return form, _parts(texts, form)


def _parts(texts: Any, form: str) -> _Parts:
    import polars as pl

    pattern = f"^(?:{_FORMS[form]})$"
    found = texts.str.extract_groups(pattern).struct.unnest()
    number: dict[str, Ints] = {}
    for part in found.columns:
        cells = pl.col(part)
        read = _READ.get(part, lambda cells: cells.cast(pl.Int64, strict=False))
        number[part] = found.select(read(cells).fill_null(-1).cast(pl.Int64))[part].to_numpy()
    return _Parts(texts.str.contains(pattern).to_numpy(), number)


def _year(cells: Any) -> Any:
    import polars as pl

    year = cells.cast(pl.Int64, strict=False)
    return (
        pl.when(cells.str.len_chars() == 4)
        .then(year)
        .otherwise(year + pl.when(year < _PIVOT).then(2000).otherwise(1900))
    )


_READ: dict[str, Callable[[Any], Any]] = {
    "name": lambda cells: cells.str.to_lowercase().replace_strict(list(_NAMES), list(range(1, 13)), default=None),
    "half": lambda cells: cells.str.to_lowercase().replace_strict(["a", "p"], [0, 12], default=None),
    "f": lambda cells: cells.str.pad_end(6, "0").str.head(6).cast(int, strict=False),
    "y": _year,
}


def _ordered(texts: Any, parts: _Parts, where: str, dates: str | None) -> tuple[str, str, _Parts]:
    """Decide by all dates which number is the day; a few against the others are taken for slips."""
    a, b = parts.number["a"], parts.number["b"]
    day_first, month_first = np.flatnonzero(parts.fits & (a > 12)), np.flatnonzero(parts.fits & (b > 12))
    decisive = len(day_first) + len(month_first)
    if dates is None:
        if not decisive:
            shown = texts[int(np.argmax(parts.fits))]
            what = f"nothing in {where} tells whether {shown!r} has the day first or the month"
            raise OptionError(f"{what}; say --dates day-first or month-first")
        if min(len(day_first), len(month_first)) > _FEW * decisive:
            two = (
                f"{where}: {texts[int(day_first[0])]!r} has the day first and {texts[int(month_first[0])]!r} the month"
            )
            raise DataError(f"{two}; write dates in one way")
        dates = "day-first" if len(day_first) > len(month_first) else "month-first"
    proofs = day_first if dates == "day-first" else month_first
    day, month = (a, b) if dates == "day-first" else (b, a)
    return (
        dates,
        texts[int(proofs[0])] if len(proofs) else "",
        _Parts(parts.fits, parts.number | {"d": day, "m": month}),
    )


def _moments(parts: _Parts) -> tuple[Ints, Places]:
    """Return microseconds since 1970 of each cell, and which of them are dates and times that exist."""
    year = np.clip(parts.get("y"), 1, 9999)
    if "w" in parts.number:
        return _weeks(year, parts.get("w"), np.maximum(parts.get("wd", 1), 1))
    month = parts.number["name"] if "name" in parts.number else parts.get("m")
    day = np.where(parts.get("d", 1) < 0, 1, parts.get("d", 1))
    exists = (month >= 1) & (month <= 12) & (day >= 1) & (parts.get("y") >= 1)
    first = (year - 1970).astype("M8[Y]").astype("M8[M]") + (np.clip(month, 1, 12) - 1)
    start = first.astype("M8[D]").astype(np.int64)
    exists &= day <= (first + 1).astype("M8[D]").astype(np.int64) - start
    hour, minute, second = (np.maximum(parts.get(part), 0) for part in "HMS")
    if "half" in parts.number:
        half = parts.number["half"]
        exists &= (half < 0) | ((hour >= 1) & (hour <= 12))
        hour = np.where(half < 0, hour, hour % 12 + half)
    exists &= (hour < 24) & (minute < 60) & (second < 61)
    seconds = (start + day - 1) * 86_400 + hour * 3_600 + minute * 60 + second
    return seconds * 1_000_000 + np.maximum(parts.get("f"), 0), exists


def _weeks(year: Ints, week: Ints, weekday: Ints) -> tuple[Ints, Places]:
    """Return the days of ISO weeks: week 1 is that of 4 January, and begins on its Monday."""

    def monday(of: Ints) -> Ints:
        fourth = (of - 1970).astype("M8[Y]").astype("M8[D]").astype(np.int64) + 3
        return np.asarray(fourth - (fourth + 3) % 7)

    start = monday(year) + 7 * (week - 1)
    return (start + weekday - 1) * 86_400_000_000, (week >= 1) & (start < monday(year + 1))


def _of_numbers(cells: Any, bad: Ints) -> Times:
    """Take numbers for dates of eight digits or Unix time where all of them read so, else for numbers."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc

    there = cells.drop_null()
    if pa.types.is_floating(there.type):
        there = there.filter(pc.is_finite(there))
    if not len(there):
        return Times(cells.cast(pa.float64()), "numbers", "", bad)
    ends = pc.min_max(there)
    low, high = float(ends["min"].as_py()), float(ends["max"].as_py())
    for unit, per_second in _UNITS.items():
        if low >= _FIRST * per_second and high < _LAST * per_second:
            factor = 1_000_000 / per_second
            micro = pc.multiply(cells.cast(pa.float64(), safe=False), factor) if factor != 1 else cells
            return Times(pc.round(micro).cast(pa.int64(), safe=False).cast(pa.timestamp("us")), unit, "", bad)
    if low >= 19_000_101 and high <= 21_001_231:
        encoded = cells.cast(pa.int64(), safe=False)
        codes = (encoded if isinstance(encoded, pa.Array) else encoded.combine_chunks()).dictionary_encode()
        parts = _parts(pl.Series(codes.dictionary).cast(pl.String), "digits")
        moments, exists = _moments(parts)
        if (parts.fits & exists).all():
            return Times(pa.array(moments, pa.timestamp("us")).take(codes.indices), "digits", "", bad)
    return Times(cells.cast(pa.float64(), safe=False), "numbers", "", bad)


MISSING = ("NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "NaT", "None", "none", "?", "-", "\\N", "#N/A", "(null)")
"""What stands for nothing where a person, a time or a number is expected."""
