"""Times as exports write them: one form for the whole column, said; never an order of text.

Understood are the forms of a table below: ISO dates and times, day or month first, which the whole column must show,
months by name in four languages, digits alone, days of the year, ISO weeks; Unix time; and plain numbers. Times are
those on the clock of the place, as they are written: a zone is left out, and noted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reidrisk.base import Bools, DataError, Ints, Note, OptionError
from reidrisk.base.options import option
from reidrisk.io.tables.columns import holds_text

_ZONE = r"(?:\s*(?P<zone>[Zz]|[+-][0-9]{2}:?(?:[0-9]{2})?|[A-Z]{2,5})?(?:\s*[\[(][A-Za-z_/ ]+[\])])?)"
_CLOCK = (
    r"(?:(?:[Tt ,:]|\b(?:um|at|à)\b)+(?P<H>[0-9]{1,2})(?:[:h.](?P<M>[0-9]{2})"
    r"(?:[:.](?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?)?h?(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?(?:\s*[Uu]hr)?)?"
)
_BASIC = r"(?:[Tt _-]?(?P<H>[0-9]{2})(?P<M>[0-9]{2})?(?P<S>[0-9]{2})?)?"
_NAMES = {
    1: "jan jän ene",
    2: "feb fév",
    3: "mar mär mrz",
    4: "apr avr abr",
    5: "may mai",
    6: "jun juin",
    7: "jul juil",
    8: "aug aoû ago",
    9: "sep",
    10: "oct okt",
    11: "nov",
    12: "dec dez déc dic",
}
_MONTHS = {name: month for month, names in _NAMES.items() for name in names.split()}
"""What months begin with in English, German, French and Spanish."""
_MONTH = rf"(?P<name>(?i:{'|'.join(sorted(_MONTHS, key=len, reverse=True))}))\p{{L}}*\.?"
_YEAR, _WEEKDAY, _DAY = r"(?P<y>[0-9]{4}|[0-9]{2})", r"(?:\p{L}{2,12}[.,]*\s+)?", r"(?P<d>[0-9]{1,2})"
_FORMS = {
    "year-first": rf"(?P<y>[0-9]{{4}})[-/.](?P<m>[0-9]{{1,2}})[-/.]{_DAY}{_CLOCK}",
    "digits": rf"(?P<y>(?:19|20)[0-9]{{2}})(?P<m>[0-9]{{2}})(?P<d>[0-9]{{2}}){_BASIC}",
    "in-some-order": rf"(?P<a>[0-9]{{1,2}})[./-](?P<b>[0-9]{{1,2}})[./-](?P<c>[0-9]{{4}}|[0-9]{{2}}){_CLOCK}",
    "day-name": rf"\[?{_WEEKDAY}{_DAY}(?:er|st|nd|rd|th)?(?:[ ./-]|\bde\b)*{_MONTH}(?:[ ,./-]|\bde\b)*{_YEAR}{_CLOCK}",
    "name-day": rf"{_WEEKDAY}{_MONTH}\s+{_DAY}(?:st|nd|rd|th)?(?:,\s*|\s+)(?P<y>[0-9]{{4}}){_CLOCK}",
    "name-clock-year": rf"{_WEEKDAY}{_MONTH}\s+{_DAY}{_CLOCK}{_ZONE}\s+(?P<y>[0-9]{{4}})",
    "year-name": rf"(?P<y>[0-9]{{4}})[ -]{_MONTH}[ -]{_DAY}{_CLOCK}",
    "day-of-year": rf"(?P<y>(?:19|20)[0-9]{{2}})-?(?P<j>[0-3][0-9]{{2}}){_CLOCK}",
    "week": r"(?P<y>[0-9]{4})[-_/ ]?[Ww](?P<w>[0-9]{1,2})(?:-?(?P<wd>[1-7]))?",
    "month": r"(?P<y>(?:19|20)[0-9]{2})[-/.](?P<m>[0-9]{1,2})",
}
_PATTERNS = {
    form: f"^(?:{pattern}{'' if form in ('week', 'month', 'name-clock-year') else _ZONE}\\]?)$"
    for form, pattern in _FORMS.items()
}
_YEAR_LAST = r"^(?P<a>[0-9]{2})(?P<b>[0-9]{2})(?P<c>(?:19|20)[0-9]{2})$"
_SHORT = r"^(?P<a>[0-9]{2})(?P<b>[0-9]{2})(?P<c>[0-9]{2})$"
_NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]+)?$"
_SAMPLE = 2000  # limit: texts that show the form of all
_UNITS = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}
_FIRST, _LAST = 157_766_400, 4_102_444_800  # prior: 1975 and 2100, in seconds since 1970
_PIVOT = 69  # unit: years of two digits: 69 to 99 are of the last century
_FEW = 0.01  # level: share of dates against the order of the others that are taken for slips
_EVERY_MONTH = 28  # unit: days that every month has
_EXACT = 2**24  # unit: whole numbers that 32 bits of a fraction tell apart

Places = Bools


class Times(NamedTuple):
    """A column of times, in the form it was found to have, and the cells that are none."""

    values: Any  # Arrow timestamps or numbers; null where nothing is said
    form: str
    proof: str  # a cell that shows which number is the day
    bad: Ints  # rows whose cell is no time
    zones: tuple[str, ...] = ()  # that were left out
    mixed: int = 0  # different texts that may have another order of day and month than the others

    def notes(self, name: str, column: str) -> list[Note]:
        """Return what is to be known of the times of a column of the table ``name``."""
        mixed = [Note("mixed-date-orders", name=name, column=column, n=self.mixed)] if self.mixed else []
        return [*mixed, *([Note("zone-left-out", name=name, column=column, zones=list(self.zones))] * bool(self.zones))]


@dataclass(frozen=True)
class _Parts:
    """The numbers in the cells that fit a form."""

    fits: Places
    number: Mapping[str, Ints]

    def get(self, part: str, default: int = 0) -> Ints:
        return self.number.get(part, np.full(len(self.fits), default, dtype=np.int64))


def looks_like_times(cells: Any) -> bool:
    """Tell by some cells of a text column whether it may hold times, plain numbers apart."""
    import polars as pl

    texts = pl.Series(cells.drop_null().slice(0, 200), dtype=pl.String).str.strip_chars()
    texts = texts.filter(texts != "")
    return len(texts) > 0 and max(int(texts.str.contains(form).sum()) for form in _PATTERNS.values()) > 0.5 * len(texts)


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
        return Times(cells, "times", "", none, () if getattr(kind, "tz", None) is None else (kind.tz,))
    if pa.types.is_null(kind):
        return Times(cells.cast(pa.float64()), "numbers", "", none)
    if pa.types.is_decimal(kind):
        cells, kind = cells.cast(pa.float64()), pa.float64()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _of_numbers(cells, where, dates)
    if not holds_text(kind):
        raise DataError(
            f"{where} is of type {kind}; times are dates, datetimes, numbers or text (or say {option('time', 'none')})"
        )
    encoded = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    texts = pl.Series(encoded.dictionary, dtype=pl.String).str.strip_chars()
    place = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    found = _of_texts(texts, where, dates)
    rows = np.flatnonzero(np.append(found.bad, False)[place])
    values = pa.chunked_array([found.values.take(pa.array(place, mask=place == len(texts)))])
    return found._replace(values=values, bad=rows)


def _of_texts(texts: Any, where: str, dates: str | None) -> Times:
    """Return the time of each distinct text; ``bad`` tells of each whether it is none."""
    import polars as pl
    import pyarrow as pa

    given = ~texts.is_in(["", *MISSING]).to_numpy()
    if not given.any():
        return Times(pa.nulls(len(texts), pa.float64()), "numbers", "", given)
    numbers = texts.str.contains(_NUMBER).to_numpy()
    if numbers.sum() > 0.5 * given.sum():
        figures = texts.set(pl.Series(~numbers), None).cast(pl.Float64, strict=False).to_arrow()
        of_all = _of_numbers(figures, where, dates)
        numbers[of_all.bad] = False
        return of_all._replace(bad=given & ~numbers)
    some = texts.filter(given).head(_SAMPLE)
    form = max(_PATTERNS, key=lambda one: int(some.str.contains(_PATTERNS[one]).sum()))
    parts, zones = _parts(texts, _PATTERNS[form])
    if parts.fits.sum() <= 0.5 * given.sum():
        shown = texts[int(np.argmax(given))]
        what = f"{where} holds {shown!r}, which is no time that is understood"
        raise DataError(f"{what}; write 2024-05-31 or 31.05.2024, or say {option('time', 'none')}")
    proof, mixed = "", 0
    if form == "in-some-order":
        form, proof, parts, mixed = _ordered(texts, parts, where, dates)
    moments, exists = _moments(parts)
    good = parts.fits & exists
    return Times(pa.array(moments, pa.timestamp("us"), mask=~good), form, proof, given & ~good, zones, mixed)


def _parts(texts: Any, pattern: str) -> tuple[_Parts, tuple[str, ...]]:
    """Return the numbers in the texts that fit a pattern, and the zones that some of them name."""
    import polars as pl

    found = texts.str.extract_groups(pattern).struct.unnest()
    number: dict[str, Ints] = {}
    for part in found.columns:
        if part != "zone":
            read = _READ.get(part, lambda cells: cells.cast(pl.Int64, strict=False))
            number[part] = found.select(read(pl.col(part)).fill_null(-1).cast(pl.Int64))[part].to_numpy()
    zones = found["zone"].drop_nulls().unique().sort().to_list() if "zone" in found.columns else []
    return _Parts(texts.str.contains(pattern).to_numpy(), number), tuple(zones)


def _year(cells: Any) -> Any:
    import polars as pl

    year = cells.cast(pl.Int64, strict=False)
    return pl.when(cells.str.len_chars() == 4).then(year).otherwise(_in_full(year))


def _in_full(year: Any) -> Any:
    """Return years of two digits with their century."""
    return year + 1900 + 100 * (year < _PIVOT)


_READ: dict[str, Callable[[Any], Any]] = {
    "name": lambda cells: cells.str.to_lowercase().replace_strict(_MONTHS, default=None),
    "half": lambda cells: cells.str.to_lowercase().replace_strict(["a", "p"], [0, 12], default=None),
    "f": lambda cells: cells.str.pad_end(6, "0").str.head(6).cast(int, strict=False),
    "y": _year,
}


def _ordered(texts: Any, parts: _Parts, where: str, dates: str | None) -> tuple[str, str, _Parts, int]:
    """Decide by all dates which number is what; a few against the others are taken for slips, and counted."""
    a, b, c = (parts.number[part] for part in "abc")
    short = c < 100
    last = np.where(short, _in_full(c), c)
    as_written = {"day-first": (last, b, a), "month-first": (last, a, b)}
    if bool(short[parts.fits].mean() > 0.5):
        as_written["year-first"] = (_in_full(a), b, c)
    orders = {
        order: _Parts(parts.fits, {**parts.number, "y": year, "m": month, "d": day})
        for order, (year, month, day) in as_written.items()
    }
    exist = {order: parts.fits & _moments(made)[1] for order, made in orders.items()}
    decisive = np.any(list(exist.values()), axis=0) & ~np.all(list(exist.values()), axis=0)
    possible = [order for order, there in exist.items() if (decisive & ~there).sum() <= _FEW * decisive.sum()]
    if dates in orders:
        possible = [str(dates)]
    if not possible:
        shown = [texts[int(np.argmax(decisive & exist[order]))] for order in ("day-first", "month-first")]
        raise DataError(f"{where}: {shown[0]!r} has the day first and {shown[1]!r} the month; write dates in one way")
    # Whole months in one place, and not in the other, are days.
    days = [order for order in possible if len(np.unique(as_written[order][2][exist[order]])) >= _EVERY_MONTH]
    chosen = days if len(days) == 1 else possible
    if len(chosen) > 1:
        shown = texts[int(np.argmax(parts.fits))]
        what = f"nothing in {where} tells whether {shown!r} has the day first, the month, or the year"
        raise OptionError(f"{what}; say {option('dates', 'day-first')}, month-first or year-first")
    order = chosen[0]
    proofs = decisive & exist[order]
    mark = texts.str.extract("([./-])").fill_null("").to_numpy()
    unproved = parts.fits & ~np.isin(mark, np.unique(mark[proofs].astype(str)))
    against = (decisive & ~exist[order]) | (unproved if proofs.any() else False)
    return order, texts[int(np.argmax(proofs))] if proofs.any() else "", orders[order], int(against.sum())


def _moments(parts: _Parts) -> tuple[Ints, Places]:
    """Return microseconds since 1970 of each cell, and which of them are dates and times that exist."""
    year = np.clip(parts.get("y"), 1, 9999)
    if "w" in parts.number:
        return _weeks(year, parts.get("w"), np.maximum(parts.get("wd", 1), 1))
    if "j" in parts.number:  # the day of the year, whose months are one
        month, day, months = np.ones_like(year), parts.number["j"], 12
    else:
        month, day, months = parts.get("name" if "name" in parts.number else "m"), parts.get("d", 1), 1
    exists = (month >= 1) & (month <= 12) & (day >= 1) & (parts.get("y") >= 1)
    first = (year - 1970).astype("M8[Y]").astype("M8[M]") + (np.clip(month, 1, 12) - 1)
    start = first.astype("M8[D]").astype(np.int64)
    exists &= day <= (first + months).astype("M8[D]").astype(np.int64) - start
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


def _of_numbers(cells: Any, where: str, dates: str | None) -> Times:
    """Take numbers for dates in digits or Unix time where all of them read so, else for numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bad = np.empty(0, dtype=np.int64)
    if pa.types.is_floating(cells.type):
        bad = np.flatnonzero(pc.is_inf(cells).fill_null(False).to_numpy(zero_copy_only=False))
        cells = pc.if_else(pc.is_finite(cells), cells, pa.scalar(None, cells.type))
    there = cells.drop_null()
    if not len(there):
        return Times(cells.cast(pa.float64()), "numbers", "", bad)
    ends = pc.min_max(there)
    low, high = float(ends["min"].as_py()), float(ends["max"].as_py())
    if pa.types.is_floating(there.type) and there.type.bit_width < 64 and max(abs(low), abs(high)) > _EXACT:
        lost = f"{where} holds times in {there.type.bit_width} bits, which are up to minutes off"
        raise DataError(f"{lost}; store them in 64 bits, or say {option('time', 'none')}")
    if low >= 0 and (found := _of_digits(cells, low, high, where, dates)):
        return found._replace(bad=bad)
    for unit, per_second in _UNITS.items():
        if low >= _FIRST * per_second and high < _LAST * per_second:
            factor = 1_000_000 / per_second
            micro = pc.multiply(cells.cast(pa.float64(), safe=False), factor) if factor != 1 else cells
            return Times(pc.round(micro).cast(pa.int64(), safe=False).cast(pa.timestamp("us")), unit, "", bad)
    return Times(cells.cast(pa.float64(), safe=False), "numbers", "", bad)


def _of_digits(cells: Any, low: float, high: float, where: str, dates: str | None) -> Times | None:
    """Return dates that are written in digits alone, where every number is one and there are several."""
    import polars as pl
    import pyarrow as pa

    widths = (len(str(int(low))), len(str(int(high))))
    if widths[0] < 5 or widths[1] > 14:
        return None
    numbers = pl.Series(cells).cast(pl.Float64)
    if not (numbers.drop_nulls() % 1 == 0).all():
        return None
    found = numbers.cast(pl.Int64).cast(pl.String)
    distinct = found.drop_nulls().unique().sort()
    forms: list[tuple[str, int, str]] = []
    if widths[0] == widths[1]:
        forms += [(form, 0, _PATTERNS[form]) for form in ("digits", "day-of-year")]
    if widths[0] >= 7 and widths[1] <= 8:
        forms += [("year-last", 8, _YEAR_LAST)]
    if widths[1] <= 6:
        forms += [("short", 6, _SHORT)]
    fitting: dict[str, tuple[Any, _Parts]] = {}
    for form, width, pattern in forms:
        texts = distinct.str.zfill(width)
        parts = _parts(texts, pattern)[0]
        orders = (
            [parts]
            if "a" not in parts.number
            else [
                _Parts(parts.fits, {"d": parts.number[d], "m": parts.number[m], "y": parts.number[y] % 100 + 2000})
                for d, m, y in ("abc", "bac", "cba")
            ]
        )
        if parts.fits.all() and any(_moments(one)[1].all() for one in orders):
            fitting[form] = (texts, parts)
    if not fitting:
        return None
    form, (texts, parts) = next(iter(fitting.items()))
    if len(fitting) > 1 or form == "short":
        if len(distinct) == 1:
            return None
        what = f"{where} holds {texts[0]!r} and other numbers that may be dates in several ways"
        raise DataError(f"{what}; write 2024-05-31, or say {option('time', 'none')}")
    if form == "year-last":
        form, _, parts, _ = _ordered(texts, parts, where, dates)
    moments = pa.array(_moments(parts)[0], pa.timestamp("us"))
    rows = found.replace_strict(distinct, pl.arange(len(distinct), eager=True), default=None).to_arrow()
    return Times(pa.chunked_array([moments.take(rows)]), form, "", np.empty(0, dtype=np.int64))


MISSING = ("NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "NaT", "None", "none", "?", "-", "\\N", "#N/A", "(null)")
"""What stands for nothing where a person, a time or a number is expected."""
