"""Canonical forms of cells: what differently written cells of one meaning have in common, as 64-bit tokens.

A cell has several tokens: its text without case, accents, blanks and marks; its words, their 4-grams; as a number
without signs and outer zeros, and rounded; the digits in it; the year, day, minute and second of a time. All are text
in one namespace, so that 20240213 and 13 February 2024 meet. Columns are treated alike, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reidrisk.base import each, slices
from reidrisk.base.arrays import Ints, UInts

if TYPE_CHECKING:
    import polars as pl

_SLICE = 1 << 18  # limit: cells whose forms are made at once
_GRAM = 4  # unit: characters of a part of a word
_WORD = 6  # prior: letters of a word from which parts of it count, so that one wrong letter leaves some
_PHONE = 7  # prior: last digits of a number that stay when prefixes of lines and countries change
_PLACES = 3, 2, 1  # prior: decimals to which longer fractions are rounded: coordinates to 100 m, prices, districts

Tokens = tuple["pl.Series", "pl.Series"]  # cells, and a text of each
Found = tuple["pl.Series", "pl.Series", "pl.Series", list[Tokens], list[Tokens]]
"""Cells, the most exact text of each, a coarser one, all of them, and parts of words."""

_NUMBER = r"^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)$"
_THOUSANDS = r"^[+-]?(\d{1,3}(?:[.,' ]\d{3})+)(?:[.,](\d{1,2}))?$"
_SOLE = r"^\D*?(\d+(?:[.,]\d+)?)\D*$"
_CLOCK = r"(?:^|[t_ :])(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?: ?([ap])m)?"
_ZONE = r" ?(?:z|[a-z]{3,4}|[+-]\d\d:?\d\d)?"
_COMPACT = r"^((?:19|20)\d{6})[t_ ]?(\d\d)(\d\d)(\d\d)?z?$"
_UNIX = r"^1\d{9}(?:\d{3})?$"
_SERIAL = r"^[2-5]\d{4}(?:[.,]\d+)?$"  # days and parts of days as spreadsheets count them
_SERIAL_1970 = 25_569  # unit: 1 January 1970 in such days
_WEEKDAY = r"^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[ ,]+"
_SHORT = ("%d-%m-%y", "%m-%d-%y", "%y-%m-%d")
_DATES = ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d", "%d%B%Y", "%d-%B-%Y", "%B-%d-%Y", "%Y-%B-%d", *_SHORT)


class Forms(NamedTuple):
    """Tokens of cells: cell ``place[k]`` has ``token[k]``; and of each cell the most exact token and a coarser one.

    The last bit of a token is set where it is a part of a word. 0 stands for an empty cell.
    """

    place: Ints
    token: UInts
    fine: UInts
    coarse: UInts


def is_part(token: UInts) -> Any:
    """Tell which tokens are parts of words."""
    return (token & np.uint64(1)).astype(bool)


def as_text(cells: Any) -> pl.Series:
    """Return cells of an Arrow column as text; times as on the clock of their place.

    >>> import pyarrow as pa
    >>> as_text(pa.chunked_array([[1.5, None, 12.0]])).to_list()
    ['1.5', None, '12.0']
    """
    import polars as pl

    found = pl.Series(cells)
    if found.dtype == pl.Date:
        return found.dt.strftime("%Y-%m-%d")
    if found.dtype == pl.Datetime:
        return found.dt.strftime("%Y-%m-%d %H:%M:%S")
    if found.dtype == pl.Time:
        return found.dt.strftime("%H:%M:%S")
    if found.dtype == pl.Duration:
        found = found.dt.total_milliseconds()
    return found if found.dtype == pl.String else found.cast(pl.String, strict=False)


def days_of(cells: Any) -> pl.Series | None:
    """Return the day of each cell, counted on, where most cells of an Arrow column read as times.

    >>> import pyarrow as pa
    >>> days = days_of(pa.chunked_array([["13.02.2024", "2024-02-20 10:00", None]]))
    >>> (days - days[0]).to_list()
    [0, 7, None]
    """
    import polars as pl

    text = _folded(as_text(cells).fill_null(""))
    values = pl.DataFrame({"t": text}).unique(maintain_order=True).with_row_index("i")
    number = values["t"].str.contains(_NUMBER)
    day = np.full(len(values), -1, dtype=np.int64)
    for at, fine, *_ in _times(values.filter(~number), values.filter(number)):
        dates = fine.str.slice(0, 8).str.to_date("%Y%m%d", strict=False)
        day[at.to_numpy()] = dates.dt.epoch("d").fill_null(-1).to_numpy()
    read = values.select("t", day=pl.Series(day)).with_columns(day=pl.when(pl.col("day") >= 0).then("day"))
    found = pl.DataFrame({"t": text}).join(read, on="t", how="left", maintain_order="left")["day"]
    return found if 2 * found.is_not_null().sum() > max((text != "").sum(), 1) else None


def forms_of(values: pl.Series, exact: bool = False, asked: Any = None) -> Forms:
    """Return the tokens of cells of text: all, or the most ``exact`` of each; none that is not ``asked`` for.

    >>> import polars as pl
    >>> found = forms_of(pl.Series(["012.50", "12,5", "Müller-Ost", "muller ost", "13.02.2024", "20240213"]))
    >>> [len({*found.fine[i : i + 2].tolist()}) for i in (0, 2, 4)]
    [1, 1, 1]
    """

    def part(rows: slice) -> Forms:
        found = _forms(values[rows], exact, asked)
        return found._replace(place=found.place + rows.start)

    made = each(part, slices(len(values), _SLICE)) if len(values) else []
    if not made:
        none = np.zeros(0, dtype=np.uint64)
        return Forms(np.zeros(0, dtype=np.int64), none, none, none)
    return Forms(*(np.concatenate(parts) for parts in zip(*made, strict=True)))


def _forms(values: pl.Series, exact: bool, asked: Any) -> Forms:
    """Return the tokens of one slice of cells."""
    import polars as pl

    frame = pl.DataFrame({"t": _folded(values)}).with_row_index("i")
    frame = frame.filter(pl.col("t").str.len_bytes() > 0)
    number = frame["t"].str.contains(_NUMBER)
    numbers, rest = frame.filter(number), frame.filter(~number)
    made: list[Tokens] = []
    parts: list[Tokens] = []
    fine, coarse = (np.zeros(len(values), dtype=np.uint64) for _ in range(2))
    times = list(_times(rest, numbers))
    for cells, *_ in times:  # what reads as a time is no other text, but it may be a number
        rest = rest.filter(~pl.col("i").is_in(cells.implode()))
    for cells, one, other, found, some in (*_numbers(numbers), *_texts(rest), *times):
        made += found
        parts += some
        at = cells.to_numpy()
        fine[at], coarse[at] = _hashed(one), _hashed(other)
    if exact:
        place = np.flatnonzero(fine if asked is None else (fine > 0) & asked(fine))
        return Forms(place, fine[place], fine, coarse)
    tokens = [(cells.to_numpy(), _hashed(text)) for cells, text in made]
    tokens += [(cells.to_numpy(), _hashed(text) | np.uint64(1)) for cells, text in parts]
    if asked is not None:
        tokens = [(cells[inside], token[inside]) for cells, token in tokens for inside in (asked(token),)]
    if not tokens:
        return Forms(np.zeros(0, dtype=np.int64), fine[:0], fine, coarse)
    place = np.concatenate([cells for cells, _ in tokens]).astype(np.int64)
    return Forms(place, np.concatenate([token for _, token in tokens]), fine, coarse)


def _hashed(text: pl.Series) -> UInts:
    """Return the tokens of texts; their last bit is 0, and none is 0."""
    found = text.hash(0).to_numpy()
    return np.asarray(np.maximum(found & ~np.uint64(1), np.uint64(2)), dtype=np.uint64)


def _folded(values: pl.Series) -> pl.Series:
    """Return text without case, outer blanks and the forms that Unicode has for one character."""
    import polars as pl

    plain = values.str.len_bytes() == values.str.len_chars()
    if not plain.all():
        wide = values.filter(~plain).str.normalize("NFKC").str.to_uppercase().str.normalize("NFKD")
        values = pl.select(
            pl.when(plain.fill_null(True)).then(values).otherwise(None)  # what is wide is put in its place below
        ).to_series()
        values = values.scatter((~plain).fill_null(False).arg_true(), wide.str.replace_all(r"\p{M}", ""))
    return values.str.to_lowercase().str.strip_chars()


def _decimal(text: pl.Series) -> pl.Series:
    """Return numbers without sign, outer zeros and decimal comma."""
    import polars as pl

    bare = text.str.replace(",", ".", literal=True).str.strip_chars_start("+-0")
    bare = pl.select(
        pl.when(bare.str.contains(".", literal=True))
        .then(bare.str.strip_chars_end("0").str.strip_chars_end("."))
        .otherwise(bare)
    ).to_series()
    return pl.select(pl.when(bare == "").then(pl.lit("0")).otherwise(bare)).to_series()


def _numbers(frame: pl.DataFrame) -> Iterator[Found]:
    """Yield plain numbers: as they are, and rounded where they have more places than that."""
    import polars as pl

    if not len(frame):
        return
    text = _decimal(frame["t"])
    frame = pl.DataFrame({"i": frame["i"], "t": frame["t"], "c": text})
    made = [(frame["i"], text)]
    places = pl.col("c").str.len_chars() - 1 - pl.col("c").str.find(".", literal=True)
    broken = frame.filter(pl.col("c").str.contains(".", literal=True)).with_columns(
        places=places, x=pl.col("c").cast(pl.Float64, strict=False)
    )
    coarse = frame.select("i", r="c")
    for digits in (*_PLACES, 0):
        some = broken.filter(pl.col("places") > max(digits, 0 if digits == 0 else _PLACES[1]))
        some = some.filter(pl.col("places") <= _PLACES[1]) if digits == 0 else some
        rounded = some.select("i", r=_rounded(digits))
        if digits:
            made.append((rounded["i"], _decimal(rounded["r"])))
        if digits in (0, _PLACES[1]):
            coarse = coarse.update(rounded.select("i", r=_decimal(rounded["r"])), on="i")
    hundreds = broken.filter(pl.col("places") <= _PLACES[1]).select("i", r=(pl.col("x") * 100).round().cast(pl.Int64))
    made.append((hundreds["i"], hundreds["r"].cast(pl.String)))  # cents, centimetres, percent
    wide = frame.filter(pl.col("t").str.len_bytes() > _PHONE).filter(~pl.col("t").str.contains(r"[.,]"))
    wide = wide.select("i", r=pl.col("t").str.slice(-_PHONE))
    made.append((wide["i"], wide["r"]))
    coarse = coarse.update(wide, on="i")
    long = frame.filter(pl.col("t").str.contains(_THOUSANDS))
    made.append((long["i"], _thousands(long["t"])))
    yield frame["i"], text, coarse["r"], made, []


def _rounded(digits: int) -> Any:
    import polars as pl

    return pl.col("x").round(digits).cast(pl.String)


def _thousands(text: pl.Series) -> pl.Series:
    whole, rest = (text.str.extract(_THOUSANDS, group) for group in (1, 2))
    return _decimal(whole.str.replace_all(r"\D", "") + "." + rest.fill_null("0"))  # null where it is none


def _times(rest: pl.DataFrame, numbers: pl.DataFrame) -> Iterator[Found]:
    """Yield what reads as a time: its year, day, minute and second, in each reading that there is."""
    import polars as pl

    t = pl.col("t")
    digits = numbers.filter(t.str.contains(rf"^(?:(?:19|20)\d{{6}}(?:\d{{4}}(?:\d\d)?)?)$|{_UNIX}|{_SERIAL}"))
    looks = rest.filter((t.str.len_bytes() < 48) & t.str.contains(r"\d{4}|:\d\d|^\d\d?[-/.]\d\d?[-/.]\d\d$"))
    for frame in (looks, digits):
        if len(frame):
            yield from _read_times(frame)


def _read_times(frame: pl.DataFrame) -> Iterator[Found]:
    import polars as pl

    t = pl.col("t")
    whole = t.str.extract_groups(_COMPACT).struct.rename_fields(["date", "hour", "minute", "second"])
    clock = t.str.extract_groups(_CLOCK).struct.rename_fields(["h", "m", "s", "half"])
    left = t.str.replace(_WEEKDAY, "").str.replace(_CLOCK + _ZONE, " ").str.strip_chars(" -,")
    frame = frame.with_columns(whole=whole, clock=clock, left=left.str.replace_all(r"[\s/.,_-]+", "-"))
    frame = frame.unnest("whole", "clock")
    serial = (t.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False) - _SERIAL_1970) * 86_400
    unix: pl.Expr = pl.when(t.str.contains(_SERIAL)).then(serial.round().cast(pl.Int64, strict=False))
    is_unix = pl.col("date").is_null() & t.str.contains(_UNIX)
    unix = pl.coalesce(unix, pl.when(is_unix).then(t.str.slice(0, 10).cast(pl.Int64, strict=False)))
    hour = pl.col("h").cast(pl.Int32, strict=False)
    hour = pl.when(pl.col("half").is_null()).then(hour).otherwise(hour % 12 + 12 * (pl.col("half") == "p"))
    frame = frame.with_columns(
        date=pl.coalesce("date", "left"),
        hour=pl.coalesce(pl.col("hour").cast(pl.Int32, strict=False), hour, unix // 3600 % 24).fill_null(0),
        minute=pl.coalesce("minute", "m").cast(pl.Int32, strict=False).fill_null(unix // 60 % 60).fill_null(0),
        second=pl.coalesce("second", "s").cast(pl.Int32, strict=False).fill_null(unix % 60).fill_null(0),
        unix=pl.from_epoch(unix).dt.date(),
    )
    days = frame.select("date").unique()
    readings = days.with_columns(
        pl.col("date").str.to_date(form, strict=False).alias(str(i)) for i, form in enumerate(_DATES)
    )
    frame = frame.join(readings, on="date", how="left", maintain_order="left")
    years = [pl.when(pl.col(str(i)).dt.year().is_between(1900, 2099)).then(pl.col(str(i))) for i in range(len(_DATES))]
    first = pl.coalesce("unix", *years)
    frame = frame.with_columns(first=first, last=pl.coalesce("unix", *reversed(years)))
    frame = frame.filter(pl.col("first").is_not_null() & (pl.col("hour") < 24))
    frame = frame.with_columns(
        clock=pl.format("{}{}", *(pl.col(one).cast(pl.String).str.zfill(2) for one in ("hour", "minute"))),
        timed=(pl.col("hour") > 0) | (pl.col("minute") > 0) | (pl.col("second") > 0),
    )
    made = []
    for one in ("first", "last"):
        day = pl.col(one).dt.strftime("%Y%m%d")
        some = frame if one == "first" else frame.filter(pl.col("first") != pl.col("last"))
        some = some.with_columns(day=day, year=pl.col(one).dt.year().cast(pl.String))
        moved = some.filter("timed").with_columns(at=pl.col("day") + pl.col("clock"))
        made += [(some["i"], some["day"]), (some["i"], some["year"]), (moved["i"], moved["at"])]
        made.append((moved["i"], moved["at"] + moved["second"].cast(pl.String).str.zfill(2)))
    text = pl.col("first").dt.strftime("%Y%m%d")
    full = text + pl.col("clock") + pl.col("second").cast(pl.String).str.zfill(2)
    fine = frame.select(pl.when("timed").then(full).otherwise(text).alias("fine"))["fine"]
    yield frame["i"], fine, frame["last"].dt.strftime("%Y%m%d"), made, []


def _texts(rest: pl.DataFrame) -> Iterator[Found]:
    """Yield other text: its letters and digits, words, parts of words, and the numbers in it."""
    import polars as pl

    if not len(rest):
        return
    t = pl.col("t")
    spaced = t.str.replace_all(r"[^\pL\pN]+", " ").str.strip_chars()
    frame = rest.with_columns(w=spaced).with_columns(
        solid=pl.col("w").str.replace_all(" ", "", literal=True), figures=t.str.replace_all(r"\D", "")
    )
    frame = frame.with_columns(solid=pl.when(pl.col("solid") == "").then("t").otherwise("solid"))
    made = [(frame["i"], frame["solid"])]
    words = frame.filter(pl.col("w").str.contains(r" .*\pL|\pL.* ")).select("i", w=pl.col("w").str.split(" "))
    words = words.explode("w")
    made.append((words["i"], words["w"]))
    figured = frame.filter(pl.col("figures").str.len_bytes() >= _GRAM)
    made.append((figured["i"], figured["figures"].str.strip_chars_start("0")))
    others = []
    for some, what in (
        (frame, _thousands(frame["t"])),
        (figured, figured["figures"].str.extract(rf"(\d{{{_PHONE}}})$")),
        (frame, _decimal(frame["t"].str.extract(_SOLE))),
    ):
        others.append(pl.DataFrame({"i": some["i"], "r": what}).drop_nulls())
        made.append((others[-1]["i"], others[-1]["r"]))
    coarse = frame.select("i", r="solid")
    for other in reversed(others):
        coarse = coarse.update(other, on="i")
    single = frame.filter(~pl.col("w").str.contains(" ", literal=True)).select("i", "w")
    yield frame["i"], frame["solid"], coarse["r"], made, _parts(pl.concat([words, single]))


def _parts(words: pl.DataFrame) -> list[tuple[pl.Series, pl.Series]]:
    """Return the parts of words of letters, each as long as :data:`_GRAM`."""
    import polars as pl

    words = words.filter(pl.col("w").str.contains(rf"^\pL{{{_WORD},}}$"))
    every = words.select("w").unique().with_columns(n=pl.col("w").str.len_chars())
    found = []
    for at in range(int(every["n"].max() or 0) - _GRAM + 1):  # type: ignore[arg-type]
        found.append(every.filter(pl.col("n") >= at + _GRAM).select("w", g=pl.col("w").str.slice(at, _GRAM)))
    if not found:
        return []
    grams = words.join(pl.concat(found), on="w")
    return [(grams["i"], grams["g"])]
