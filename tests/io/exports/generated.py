"""Exports drawn at random, each with the events that it means: what a reader may make of them is known beforehand.

An export is a table of ``Event`` in one writing of ids, times, items and amounts, stored in one format. A reader gives
the events back, refuses the file in one line, or leaves a note that says what it could not do.
"""

import csv
import gzip
import io
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from offices import workbook

EPOCH = datetime(1970, 1, 1)
_MONTHS = {
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "fr-short": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "de-short": "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "es-short": "ene feb mar abr may jun jul ago sep oct nov dic",
}


@dataclass(frozen=True)
class Event:
    """What a row means."""

    user: str
    at: datetime
    item: str
    amount: int


@dataclass
class Made:
    """An export, what it means, and how it was drawn."""

    path: Path
    events: list[Event]
    parts: dict[str, str]
    columns: tuple[str, str, str, str]


def _seconds(at: datetime) -> int:
    return int((at - EPOCH).total_seconds())


def _day(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0)


def _minute(at: datetime) -> datetime:
    return at.replace(second=0)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0)


def _month(at: datetime) -> datetime:
    return _day(at).replace(day=1)


def _same(at: datetime) -> datetime:
    return at


def _in(language: str, form: str) -> Callable[[datetime], str]:
    names = _MONTHS[language].split()
    return lambda at: at.strftime(form).replace("MON", names[at.month - 1]).replace("D_", str(at.day))


def _form(form: str) -> Callable[[datetime], str]:
    return lambda at: at.strftime(form)


def _bare(form: str) -> Callable[[datetime], str]:
    """Write a date without zeros in front."""
    return lambda at: form.format(d=at.day, m=at.month, y=at.year, H=at.hour, M=at.minute)


def _zone(at: datetime) -> str:
    return "+0200" if 4 <= at.month <= 10 else "+0100"


# How a time is written, and what of it the writing keeps.
DATES: dict[str, tuple[Callable[[datetime], str], Callable[[datetime], datetime]]] = {
    "iso day": (_form("%Y-%m-%d"), _day),
    "iso minute": (_form("%Y-%m-%d %H:%M"), _minute),
    "iso second": (_form("%Y-%m-%dT%H:%M:%S"), _same),
    "iso z": (_form("%Y-%m-%dT%H:%M:%SZ"), _same),
    "iso millis": (_form("%Y-%m-%dT%H:%M:%S.000+02:00"), _same),
    "iso offset": (lambda at: at.strftime("%Y-%m-%d %H:%M:%S") + _zone(at), _same),
    "iso java": (_form("%Y-%m-%dT%H:%M:%S+02:00[Europe/Paris]"), _same),
    "slashes first": (_form("%Y/%m/%d %H:%M:%S"), _same),
    "dots first": (_form("%Y.%m.%d"), _day),
    "german": (_form("%d.%m.%Y"), _day),
    "german minute": (_form("%d.%m.%Y %H:%M"), _minute),
    "german uhr": (_form("%d.%m.%Y %H:%M Uhr"), _minute),
    "german short": (_form("%d.%m.%y"), _day),
    "british": (_form("%d/%m/%Y"), _day),
    "american": (_form("%m/%d/%Y"), _day),
    "american pm": (_form("%m/%d/%Y %I:%M %p"), _minute),
    "american bare": (_bare("{m}/{d}/{y} {H}:{M:02}"), _minute),
    "american short": (_form("%m/%d/%y"), _day),
    "short first": (_form("%y-%m-%d"), _day),
    "short first slash": (_form("%y/%m/%d"), _day),
    "short first dot": (_form("%y.%m.%d"), _day),
    "digits": (_form("%Y%m%d"), _day),
    "digits hour": (_form("%Y%m%d%H"), _hour),
    "digits minute": (_form("%Y%m%d%H%M"), _minute),
    "digits second": (_form("%Y%m%d%H%M%S"), _same),
    "digits basic": (_form("%Y%m%dT%H%M%SZ"), _same),
    "digits day first": (_form("%d%m%Y"), _day),
    "digits month first": (_form("%m%d%Y"), _day),
    "digits mmddyy": (_form("%m%d%y"), _day),
    "digits ddmmyy": (_form("%d%m%y"), _day),
    "digits yymmdd": (_form("%y%m%d"), _day),
    "date9": (lambda at: at.strftime("%d%b%Y").upper(), _day),
    "datetime20": (lambda at: at.strftime("%d%b%Y:%H:%M:%S").upper(), _same),
    "oracle": (lambda at: at.strftime("%d-%b-%y").upper(), _day),
    "year name": (_form("%Y-%b-%d"), _day),
    "clf": (_form("[%d/%b/%Y:%H:%M:%S +0100]"), _same),
    "ctime": (_form("%a %b %d %H:%M:%S %Y"), _same),
    "ctime zone": (_form("%a %b %d %H:%M:%S CET %Y"), _same),
    "rfc": (_form("%a, %d %b %Y %H:%M:%S +0000"), _same),
    "english": (_form("%B %d, %Y"), _day),
    "zone word": (_form("%Y-%m-%d %H:%M:%S CET"), _same),
    "utc word": (_form("%Y-%m-%d %H:%M:%S UTC"), _same),
    "julian": (_form("%Y-%j"), _day),
    "julian digits": (_form("%Y%j"), _day),
    "week": (lambda at: "{}-W{:02}".format(*at.isocalendar()[:2]), lambda at: _day(at) - timedelta(at.weekday())),
    "month": (_form("%Y-%m"), _month),
    "unix": (lambda at: str(_seconds(at)), _same),
    "unix millis": (lambda at: str(_seconds(at) * 1000), _same),
    "unix fraction": (lambda at: f"{_seconds(at)}.5", lambda at: at + timedelta(milliseconds=500)),
    "net date": (lambda at: f"/Date({_seconds(at) * 1000})/", _same),
    "mongo": (lambda at: json.dumps({"$date": at.strftime("%Y-%m-%dT%H:%M:%SZ")}), _same),
    "french": (_in("fr", "D_ MON %Y"), _day),
    "french short": (_in("fr-short", "%d MON %Y %H:%M"), _minute),
    "german name": (_in("de", "D_. MON %Y"), _day),
    "german name short": (_in("de-short", "%d. MON %Y"), _day),
    "spanish": (_in("es", "D_ de MON de %Y"), _day),
    "spanish short": (_in("es-short", "%d-MON-%Y"), _day),
    "two orders": (lambda at: at.strftime("%d-%m-%Y") if at.day > 12 else _bare("{m}/{d}/{y}")(at), _day),
}

AMOUNTS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "zero": lambda n: f"{n}.0",
    "two decimals": lambda n: f"{n}.00",
    "three decimals": lambda n: f"{n}.000",
    "comma decimals": lambda n: f"{n},00",
    "three comma decimals": lambda n: f"{n},000",
    "english": lambda n: f"{n:,}",
    "german": lambda n: f"{n:,}".replace(",", "."),
    "blank": lambda n: f"{n:,}".replace(",", " "),
    "hard blank": lambda n: f"{n:,}".replace(",", "\u202f"),
    "swiss": lambda n: f"{n:,}".replace(",", "'"),
    "english decimals": lambda n: f"{n:,}.00",
    "german decimals": lambda n: f"{n:,}.00".translate(str.maketrans(",.", ".,")),
    "percent": lambda n: f"{n}%",
    "pieces": lambda n: f"{n} pcs",
    "formula": lambda n: f"=1*{n}",
    "plus": lambda n: f"+{n}",
    "none": lambda n: "",
}

# Amounts that these writings tell apart only in part: few digits, four digits, thousands alone.
RANGES: dict[str, Callable[[np.random.Generator], int]] = {
    "small": lambda rng: int(rng.integers(1, 9)),
    "wide": lambda rng: int(10 ** rng.uniform(0, 4.5)),
    "large": lambda rng: int(rng.integers(1_000, 40_000)),
    "round": lambda rng: int(rng.integers(1, 20)) * int(rng.choice([1, 1_000])),
    "thousands": lambda rng: int(rng.integers(1, 20)) * 1_000,
}

ITEMS: dict[str, list[str]] = {
    "words": ["tea", "rum", "Crème", "Brot & Brötchen", "O'Hara", "wine, red", "ale; dark"],
    "numbers": ["3", "17", "100", "2048", "5", "88"],
    "long codes": [f"894910000000000000{n:02}" for n in range(7, 14)],
    "longer codes": [f"8949100000000000000000{n:02}" for n in range(7, 14)],
    "beyond": [str(2**63 + n) for n in range(6)],
    "dotted": ["4.1", "4.10", "4.2", "5", "5.0", "12.30"],
    "powers": ["1E2", "100", "2E1", "20", "7"],
    "signs": ["+1", "1", "-1", "2", "+2"],
    "points": ["1.0", "1", "2.0", "2", "3"],
    "zeros": ["007", "07", "7", "012", "12"],
    "commas": ["4,1", "4,10", "5", "5,0"],
    "mixed": ["A1", "12", "1.50", "1.5", "tea"],
    "case": ["Tea", "TEA", "tea", "rum"],
}

IDS: dict[str, Callable[[int], str]] = {
    "number": lambda n: str(n + 101),
    "point": lambda n: f"{n + 101}.0",
    "zeros": lambda n: f"{n + 7:05}",
    "letter": lambda n: f"C{n + 101}",
    "uuid": lambda n: str(uuid.UUID(int=2**127 + n)),
    "long": lambda n: f"894910000000000000{n + 7:02}",
    "damaged": lambda n: f"{2.98725 + n // 3 / 1e5:.5f}E+13",
}

HEADERS = [
    ("customer", "date", "category", "quantity"),
    ("Kundennr", "Datum", "Artikel", "Menge"),
    ("user_id", "timestamp", "item", "count"),
    ("CustomerID", "InvoiceDate", "Description", "Quantity"),
]
DELIMITERS = [",", ";", "\t", "|", " ", "^", "~", ":", "#", "/", "\x01"]
_NUMBERED = ("number", "numbers", "plain", "unix", "unix millis", "digits", "digits minute", "digits hour")


def drawn(seed: int, folder: Path) -> Made:
    """Return an export of its seed: text in three of four, else a format with types."""
    rng = np.random.default_rng([seed, 20])
    pick = lambda names: str(rng.choice(list(names)))  # noqa: E731
    is_text = rng.random() < 0.72
    # One part is odd at a time, mostly, so that the others do not have the file refused before it is looked at.
    parts = {"date": "iso second", "amount": "plain", "items": "words", "ids": "number", "range": "small"}
    odd = rng.choice(["date", "amount", "items", "ids"], size=int(rng.choice([1, 2], p=[0.8, 0.2])), replace=False)
    tables: dict[str, Any] = {"date": DATES, "amount": AMOUNTS, "items": ITEMS, "ids": IDS}
    parts |= {str(part): pick(tables[str(part)]) for part in odd}
    if "amount" in odd:
        parts["range"] = pick(RANGES)
    events = _events(rng, parts)
    header = HEADERS[int(rng.integers(len(HEADERS)))]
    path = folder / f"export {seed}"
    if is_text:
        parts |= {"format": "text", "delimiter": str(rng.choice(DELIMITERS, p=[0.3, 0.3, *[0.4 / 9] * 9]))}
        return Made(_text(path, rng, header, events, parts), _meant(events, parts), parts, header)
    parts["format"] = pick(["parquet", "arrow", "jsonl", "json", "xlsx", "frame parquet"])
    return Made(_typed(path, rng, header, events, parts), _meant(events, parts), parts, header)


def _events(rng: np.random.Generator, parts: dict[str, str]) -> list[Event]:
    labels = ITEMS[parts["items"]]
    years = int(rng.choice([1, 3]))
    start = datetime(2023, int(rng.integers(1, 13)), 1)
    events = [
        Event(
            IDS[parts["ids"]](int(rng.integers(9))),
            start + timedelta(seconds=int(rng.integers(years * 365 * 86_400))),
            labels[n % len(labels)] if n < 2 * len(labels) else labels[int(rng.integers(len(labels)))],
            RANGES[parts["range"]](rng),
        )
        for n in range(60)
    ]
    events.append(replace(events[0], amount=max(RANGES[parts["range"]](rng), 2)))
    return events


def _meant(events: list[Event], parts: dict[str, str]) -> list[Event]:
    """Return what of the events the writing keeps."""
    keeps = DATES[parts["date"]][1]
    amount = (lambda n: 1) if parts["amount"] == "none" else (lambda n: n)
    return [Event(e.user.removesuffix(".0"), keeps(e.at), e.item, amount(e.amount)) for e in events]


def _written(event: Event, parts: dict[str, str]) -> tuple[str, str, str, str]:
    return event.user, DATES[parts["date"]][0](event.at), event.item, AMOUNTS[parts["amount"]](event.amount)


def _text(path: Path, rng: np.random.Generator, header: Any, events: list[Event], parts: dict[str, str]) -> Path:
    rows = [_written(event, parts) for event in events]
    width = 3 if parts["amount"] == "none" else 4
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
    text = io.StringIO(newline="")
    writer = csv.writer(
        text, delimiter=parts["delimiter"], lineterminator=str(rng.choice(["\n", "\r\n"])), quoting=quoting
    )
    writer.writerows(row[:width] for row in (header, *rows))
    packed = rng.random() < 0.1
    ending = str(rng.choice([".csv", ".txt", ".dat", ".csv.gz" if packed else ".csv"]))
    path = path.with_name(path.name + ending)
    encodings = ["utf-8", "utf-8-sig", "utf-16"] + ["cp1252"] * ("\u202f" not in text.getvalue())
    parts["encoding"] = str(rng.choice(encodings))
    content = text.getvalue().encode(parts["encoding"])
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def _typed(path: Path, rng: np.random.Generator, header: Any, events: list[Event], parts: dict[str, str]) -> Path:
    rows = [_written(event, parts) for event in events]
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
    if parts["format"] in ("jsonl", "json", "xlsx"):
        return _values(path, rng, header, events, columns, parts)
    arrays = [
        _column(rng, columns[0], parts, "ids"),
        _time(rng, events, columns[1], parts),
        _column(rng, columns[2], parts, "items"),
        _amount(rng, events, columns[3], parts),
    ]
    width = 3 if parts["amount"] == "none" else 4
    table = pa.table(dict(zip(header[:width], arrays[:width], strict=True)))
    if parts["format"] == "arrow":
        path = path.with_name(path.name + ".arrow")
        packed = pa.ipc.IpcWriteOptions(compression=str(rng.choice(["zstd", "lz4"])))
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema, options=packed) as sink:
            sink.write_table(table)
        return path
    path = path.with_name(path.name + str(rng.choice([".parquet", ".csv", ""])))
    pq.write_table(table, path, row_group_size=int(rng.choice([7, 1000])))
    return path


def _column(rng: np.random.Generator, cells: list[str], parts: dict[str, str], part: str) -> Any:
    """Return ids or items in one of the types that hold them."""
    kinds = ["text", "view", "dictionary", "bytes"]
    if parts[part] in ("number", "numbers"):
        kinds += ["int64", "uint16", "float64", "decimal"]
    if parts[part] == "uuid":
        kinds += ["sixteen"] * 4
    if parts[part] == "beyond":
        kinds += ["uint64"] * 3
    kind = parts[f"{part} type"] = str(rng.choice(kinds))
    if kind == "sixteen":
        return pa.array([uuid.UUID(cell).bytes for cell in cells], pa.binary(16))
    if kind == "bytes":
        return pa.array([cell.encode() for cell in cells], pa.binary())
    if kind in ("int64", "uint16", "float64", "uint64"):
        return pa.array([int(cell) for cell in cells], getattr(pa, kind)())
    if kind == "decimal":
        return pa.array([Decimal(cell) for cell in cells], pa.decimal128(12, 0))
    array = pa.array(cells, pa.large_string())
    return (
        array.dictionary_encode() if kind == "dictionary" else array.cast(pa.string_view()) if kind == "view" else array
    )


def _time(rng: np.random.Generator, events: list[Event], cells: list[str], parts: dict[str, str]) -> Any:
    kinds = ["stamp", "zone", "date", "float32", "decimal", "duration", "int64", "text", "float64"]
    kind = parts["time type"] = "text" if parts["date"] != "iso second" else str(rng.choice(kinds))
    seconds = [_seconds(event.at) for event in events]
    if kind == "stamp":
        return pa.array([event.at for event in events], pa.timestamp(str(rng.choice(["s", "ms", "us", "ns"]))))
    if kind == "zone":  # the clock of the place is what is meant
        return pa.compute.assume_timezone(pa.array([event.at for event in events], pa.timestamp("us")), "Etc/GMT-3")
    if kind == "date":
        parts["date"] = "iso day"
        return pa.array([event.at.date() for event in events])
    if kind == "float32":
        return pa.array(np.array(seconds, dtype=np.float32))
    if kind == "decimal":
        return pa.array([Decimal(n) for n in seconds], pa.decimal128(14, 2))
    if kind == "duration":
        return pa.array([timedelta(seconds=n) for n in seconds], pa.duration("s"))
    if kind in ("int64", "float64"):
        return pa.array(seconds).cast(kind)
    return pa.array(cells)


def _amount(rng: np.random.Generator, events: list[Event], cells: list[str], parts: dict[str, str]) -> Any:
    kinds = ["int32", "uint8", "float32", "decimal", "text"]
    kind = parts["amount type"] = "text" if parts["amount"] != "plain" else str(rng.choice(kinds))
    amounts = [event.amount for event in events]
    if kind == "text":
        return pa.array(cells)
    if kind == "decimal":
        return pa.array([Decimal(n) for n in amounts], pa.decimal128(9, 3))
    return pa.array(amounts, pa.int32() if kind == "uint8" and max(amounts) > 255 else getattr(pa, kind)())


def _values(path: Path, rng: np.random.Generator, header: Any, events: list[Event], columns: Any, parts: Any) -> Path:
    """Write JSON or a workbook: numbers as numbers, where they are whole."""
    is_book = parts["format"] == "xlsx"
    whole = [
        parts["ids"] in ("number", "long") and not (is_book and parts["ids"] == "long"),
        parts["date"] in _NUMBERED,
        parts["items"] in ("numbers", *(() if is_book else ("long codes", "longer codes", "beyond"))),
        parts["amount"] == "plain",
    ]
    columns = [list(map(int, cells)) if w else cells for w, cells in zip(whole, columns, strict=True)]
    if parts["amount"] == "plain" and rng.random() < 0.2:
        columns[3] = [float(n) for n in columns[3]]
    if is_book and parts["date"] == "iso second" and rng.random() < 0.7:
        columns[1] = [event.at for event in events]
    if not is_book and parts["date"] == "mongo":
        columns[1] = [json.loads(cell) for cell in columns[1]]
    width = 3 if parts["amount"] == "none" else 4
    rows = [row[:width] for row in zip(*columns, strict=True)]
    if is_book:
        path = path.with_name(path.name + ".xlsx")
        kind = parts["sheet"] = str(
            rng.choice(["only", "hidden before", "more behind", "merged"], p=[0.4, 0.2, 0.2, 0.2])
        )
        old = ("old", [header[:width], *rows[:9]])
        merges: list[str] = []
        if kind == "merged":
            order = sorted(range(len(rows)), key=lambda row: str(rows[row][0]))
            rows = [rows[at] for at in order]
            first = [at == 0 or rows[at][0] != rows[at - 1][0] for at in range(len(rows))]
            starts = [at for at, is_first in enumerate(first) if is_first]
            ends = [*starts[1:], len(rows)]
            merges = [f"A{a + 2}:A{b + 1}" for a, b in zip(starts, ends, strict=True) if b - a > 1]
            rows = [row if is_first else (None, *row[1:]) for row, is_first in zip(rows, first, strict=True)]
        before, after = ([old] if kind == "hidden before" else []), ([old] if kind == "more behind" else [])
        workbook(path, header[:width], rows, before=before, after=after, merges=merges)
        return path
    lines = [dict(zip(header[:width], row, strict=True)) for row in rows]
    path = path.with_name(
        path.name + str(rng.choice([f".{parts['format']}", ".txt" if parts["format"] == "jsonl" else ".json"]))
    )
    text = json.dumps(lines) if parts["format"] == "json" else "\n".join(map(json.dumps, lines)) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if rng.random() < 0.1 else text.encode())
    return path
