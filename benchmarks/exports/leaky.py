"""Exports in which a few lines by hand find at least half of the people."""

from __future__ import annotations

import collections
import datetime as dt
import hashlib
import re
import unicodedata
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from .case import (
    Cells,
    Export,
    Table,
    by_distance,
    by_facts,
    by_key,
    by_order,
    by_rank,
    per_person,
    read,
    share_right,
    shuffled,
    users,
)

Rng = np.random.Generator
Draw = Callable[[Rng], Any]
Write = Callable[[Any], Any]

LEAKY: list[Export] = []
SYLLABLES = (
    "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to"
)
WORDS = "late bread asked about the gift wrap and the blue box please call back before noon two days in a row no reply"


def add(name: str, make: Callable[[Rng], list[Table]], by_hand: Any, **more: Any) -> None:
    """Put one export into the suite."""
    LEAKY.append(Export(name, make, by_hand, **more))


def cells(value: Any) -> tuple[Any, ...]:
    """Return one cell or several as a tuple."""
    return value if isinstance(value, tuple) else (value,)


def column(
    name: str,
    draw: Draw,
    left: Write,
    right: Write,
    back: Callable[..., Any],
    head: str = "stamp",
    other: str | None = None,
    *,
    shape: str = "log",
    by_hand: Any = None,
    people: int = 200,
    **more: Any,
) -> None:
    """Add two tables that share one fact for each row, written in two ways, beside a column that tells next to nothing.

    `log`: five events each with a category of two; `items`: five events with the fact alone; `people`: one row each
    with the sex. By hand a person is found by the facts, read `back`.
    """

    def make(rng: Rng) -> list[Table]:
        rows = [
            (user, f"c{rng.integers(2)}", draw(rng)) if shape != "people" else (user, "fm"[rng.integers(2)], draw(rng))
            for user in users(rng, people)
            for _ in range(1 if shape == "people" else 5)
        ]
        beside = {"log": "user,category,", "items": "user,", "people": "user,sex,"}[shape]

        def table(columns: str, write: Write) -> Table:
            done: list[Cells] = [(u, *((c,) if shape != "items" else ()), *cells(write(fact))) for u, c, fact in rows]
            return beside + columns, shuffled(rng, done)

        return [table(head, left), table(other or head, right)]

    width = head.count(",") + 1
    by_hand = by_hand or by_key(lambda rows: tuple(sorted(str(back(*row[-width:])) for row in rows)))
    add(name, make, by_hand, **more)


def same(value: Any) -> Any:
    """Write a value as it is."""
    return value


def moment(rng: Rng) -> dt.datetime:
    """Draw a second of 60 days."""
    return dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(rng.integers(60 * 86_400)))


def name_of(rng: Rng) -> str:
    """Draw a surname of four syllables."""
    return "".join(rng.choice(SYLLABLES.split(), 4)).capitalize()


def digits(count: int) -> Draw:
    """Draw a code of this many digits without a leading zero."""
    return lambda rng: str(rng.integers(1, 10)) + "".join(map(str, rng.integers(0, 10, count - 1)))


def remark(rng: Rng) -> str:
    """Draw a remark of seven words."""
    return " ".join(rng.choice(WORDS.split(), 7))


def only(pattern: str) -> Callable[[str], str]:
    """Return what is left of a text in lower case without this pattern."""
    return lambda text: re.sub(pattern, "", text.casefold())


def parsed(*formats: str) -> Callable[[str], dt.datetime]:
    """Return a reader of times in any of these formats."""

    def parse(text: str) -> dt.datetime:
        for form in formats:
            try:
                return dt.datetime.strptime(text.strip(), form).replace(tzinfo=None)
            except ValueError:
                continue
        raise ValueError(text)

    return parse


def form(pattern: str, *, upper: bool = False) -> Write:
    """Return a writer of times."""
    return lambda time: time.strftime(pattern).upper() if upper else time.strftime(pattern)


ISO = "%Y-%m-%d %H:%M:%S"
iso = form(ISO)


# One table: what somebody knows of a person's rows is in nobody else's.


def log(rows: int, head: str, *draws: Draw, people: int = 200) -> Callable[[Rng], list[Table]]:
    """Return one log whose cells are drawn independently."""

    def make(rng: Rng) -> list[Table]:
        table: list[Cells] = [(u, *(draw(rng) for draw in draws)) for u in users(rng, people) for _ in range(rows)]
        return [(head, shuffled(rng, table))]

    return make


def place(count: int) -> Draw:
    """Draw one of a few places, some more often."""
    return lambda rng: f"p{min(int(rng.exponential(count / 4)), count - 1)}"


def label_day(rng: Rng) -> str:
    """Draw a day of 60."""
    return f"{moment(rng):%Y-%m-%d}"


ONE = {"files": ("log.csv",)}
add("log-second", log(12, "user,time,category", lambda r: iso(moment(r)), place(12)), by_facts(1, tuple), **ONE)
add(
    "log-minute", log(8, "user,time,shop", lambda r: f"{moment(r):%Y-%m-%d %H:%M}", place(4)), by_facts(1, tuple), **ONE
)
add("log-day-place", log(10, "user,date,place", label_day, place(40)), by_facts(4, tuple), **ONE)
add("log-day-few", log(16, "customer,date,product", label_day, place(4), people=300), by_facts(4, tuple), **ONE)
add(
    "log-hour-of-call",
    log(10, "customer,date,hour,product", label_day, lambda r: int(r.integers(24)), place(3)),
    by_facts(2, tuple),
    **ONE,
)


def few_rows(each: int, *, dated: bool) -> Callable[[Rng], list[Table]]:
    """Return a log in which 80 % have very few rows that are theirs alone, the rest four common ones."""

    def make(rng: Rng) -> list[Table]:
        rows: list[Cells] = []
        for i, user in enumerate(users(rng, 250)):
            rare = rng.permutation(400)[:each] if each > 1 else [1_000 + i]
            codes = [f"icd{code}" for code in (rare if i % 5 else rng.integers(0, 5, 4))]
            rows += [(user, *((label_day(rng),) if dated else ()), code) for code in codes]
        return [("patient,date,diagnosis" if dated else "patient,diagnosis", shuffled(rng, rows))]

    return make


add("one-row-each", few_rows(1, dated=False), by_facts(4, tuple), **ONE)
add("one-row-each-dated", few_rows(1, dated=True), by_facts(4, tuple), **ONE)
add("two-rows-each", few_rows(2, dated=False), by_facts(4, tuple), **ONE)


def odometer(rng: Rng, tables: int, error: int) -> list[Table]:
    """Return cars whose mileage is read at every event."""
    made: list[list[Cells]] = [[] for _ in range(tables)]
    for user in users(rng, 150):
        for mile in np.cumsum(rng.integers(200, 900, 6)) + rng.integers(5_000, 90_000):
            for rows in made:
                rows.append((user, f"c{rng.integers(3)}", int(mile + rng.integers(-error, error + 1))))
    return [("customer,service,odometer", shuffled(rng, rows)) for rows in made]


def sorted_numbers(rows: list[list[str]]) -> list[float]:
    """Return the numbers of the last column in order."""
    return sorted(float(row[-1]) for row in rows)


add("odometer-one", lambda rng: odometer(rng, 1, 0), by_facts(1, lambda row: row[-1]), **ONE)
add("odometer", lambda rng: odometer(rng, 2, 0), by_distance(sorted_numbers))
add("odometer-error", lambda rng: odometer(rng, 2, 2), by_distance(sorted_numbers))
add(
    "price-one",
    log(6, "customer,product,paid", place(5), lambda r: f"{r.uniform(5, 900):.2f}"),
    by_facts(1, lambda row: row[-1]),
    **ONE,
)
add(
    "coordinates-one",
    log(6, "user,activity,pos_a,pos_b", place(3), *[lambda r: f"{r.uniform(40, 60):.5f}"] * 2),
    by_facts(1, lambda row: tuple(row[-2:])),
    **ONE,
)
add(
    "people-one",
    log(
        1,
        "id,age,postcode,sex",
        *(lambda r: int(r.integers(18, 90)), lambda r: int(r.integers(100, 140)), lambda r: "fm"[r.integers(2)]),
    ),
    by_facts(1, tuple),
    files=("people.csv",),
)


def constant(columns: int, tables: int) -> Callable[[Rng], list[Table]]:
    """Return logs in which the birth year and the postcode are repeated at every row of a person."""

    def make(rng: Rng) -> list[Table]:
        made: list[list[Cells]] = [[] for _ in range(tables)]
        for user in users(rng, 200):
            fixed = (int(rng.integers(1940, 2006)), int(rng.integers(10_000, 10_060)), "fm"[rng.integers(2)])[:columns]
            for rows in made:
                rows += [(user, f"c{rng.integers(4)}", *fixed) for _ in range(rng.integers(4, 8))]
        return [
            ("user,category," + ",".join(["birth_year", "postcode", "sex"][:columns]), shuffled(rng, rows))
            for rows in made
        ]

    return make


fixed_cells = by_key(lambda rows: tuple(rows[0][1:]))
add("constant-columns-one", constant(2, 1), fixed_cells, **ONE)
add("constant-columns-one-3", constant(3, 1), fixed_cells, **ONE)
add("constant-columns", constant(3, 2), fixed_cells)


# Two tables: the same bytes.


def amount(rng: Rng) -> int:
    """Draw a whole amount that few share."""
    return int(rng.integers(1_000, 99_999))


def identical(head: str, *draws: Draw) -> Callable[[Rng], list[Table]]:
    """Return the same table twice."""

    def make(rng: Rng) -> list[Table]:
        return log(4, head, *draws)(rng) * 2

    return make


every_cell = by_key(lambda rows: tuple(sorted(map(tuple, rows))))
add("identical-amounts", identical("user,product,quantity", place(2), amount), every_cell)
add("identical-numbers", identical("user,product,points", place(2), amount), every_cell)
add("identical-lines", identical("user,product,paid", place(2), amount), every_cell, files=("a.jsonl", "b.jsonl"))

# Codes and labels written in two ways.

text = only("")


def code20(rng: Rng) -> str:
    """Draw a card's number of 20 digits."""
    return f"8949{digits(16)(rng)}"


column("codes-20-digits", code20, same, same, text, "product", shape="items")
column("codes-20-digits-lines", code20, int, int, text, "product", shape="items", files=("a.jsonl", "b.jsonl"))
column(
    "codes-20-digits-close",
    lambda r: f"89491000000000000{r.integers(1000):03}",
    same,
    same,
    text,
    "product",
    shape="items",
)
column("padded", digits(5), lambda d: "00" + d, same, lambda t: t.lstrip("0"), "product", shape="items")
column(
    "padded-parquet",
    digits(6),
    lambda d: d.zfill(10),
    int,
    lambda t: t.lstrip("0"),
    "product",
    shape="items",
    files=("a.csv", "b.parquet"),
)
column("upper-case", name_of, str.upper, str.lower, text, "product", shape="items")
column(
    "title-case-spaces",
    lambda r: f"{name_of(r)} {name_of(r)}",
    str.title,
    lambda t: f" {t.lower()} ",
    lambda t: t.strip().casefold(),
    "product",
    shape="items",
)
ACCENTS = str.maketrans("aeiou", "áéíóú")
column(
    "accents",
    name_of,
    lambda t: t.translate(ACCENTS),
    same,
    lambda t: re.sub(r"[^a-z]", "", unicodedata.normalize("NFD", t.lower())),
    "product",
    shape="items",
)
column(
    "nfc-nfd",
    lambda r: name_of(r).translate(ACCENTS),
    lambda t: unicodedata.normalize("NFD", t),
    same,
    lambda t: unicodedata.normalize("NFC", t),
    "product",
    shape="items",
)
column(
    "thin-spaces",
    lambda r: f"{name_of(r)} {name_of(r)}",
    lambda t: t.replace(" ", "\u2009"),
    same,
    lambda t: "".join(t.split()),
    "product",
    shape="items",
)
column(
    "hyphens",
    lambda r: f"{name_of(r)} {name_of(r)}",
    lambda t: t.replace(" ", "-"),
    lambda t: t.replace(" ", "_"),
    only(r"[\W_]"),
    "product",
    shape="items",
)
column(
    "prefixed-labels",
    name_of,
    lambda t: f"prod:{t}",
    lambda t: f"article/{t}",
    lambda t: re.split("[:/]", t)[-1],
    "product",
    shape="items",
)

# People under other column names.


def born(rng: Rng) -> tuple[int, int]:
    """Draw a birth year and a postcode."""
    return int(rng.integers(1940, 2006)), int(rng.integers(10_000, 10_080))


column("renamed-birth", born, same, same, lambda *c: c, "birth_year,postcode", "yob,zip", shape="people")
column("renamed-german", born, same, same, lambda *c: c, "birth_year,postcode", "geburtsjahr,plz", shape="people")
column(
    "renamed-reordered",
    born,
    same,
    lambda c: c[::-1],
    lambda *c: sorted(c),
    "birth_year,postcode",
    "x1,x2",
    shape="people",
)
column("renamed-items", digits(3), same, same, text, "product", "artikel", shape="items")
column(
    "birth-date9",
    lambda r: dt.date(1940, 1, 1) + dt.timedelta(int(r.integers(24_000))),
    form("%d%b%Y", upper=True),
    form("%Y-%m-%d"),
    parsed("%d%b%Y", "%Y-%m-%d"),
    "birth",
    shape="people",
)
column(
    "birth-dotted",
    lambda r: dt.date(1940, 1, 1) + dt.timedelta(int(r.integers(24_000))),
    form("%d.%m.%Y"),
    form("%Y%m%d"),
    parsed("%d.%m.%Y", "%Y%m%d"),
    "birth",
    "dob",
    shape="people",
)

# A column that nobody guesses.


def coordinate(rng: Rng) -> tuple[str, str]:
    """Draw a place to the metre."""
    return f"{rng.uniform(47, 55):.5f}", f"{rng.uniform(6, 15):.5f}"


column("device-id", lambda r: f"{r.integers(1 << 40):010x}", same, same, text, "device")
column("order-number", digits(7), same, same, text, "order_number")
column("price-to-the-cent", lambda r: f"{r.uniform(1, 300):.2f}", same, same, text, "price")
column("hours-worked", lambda r: f"{r.uniform(0, 12):.3f}", same, same, text, "hours")
column("bytes-sent", lambda r: int(r.integers(1_000_000)), same, same, text, "bytes")
column("coordinates", coordinate, same, same, lambda *c: c, "pos_a,pos_b")
column(
    "coordinates-rounded",
    coordinate,
    same,
    lambda c: tuple(f"{float(x):.3f}" for x in c),
    lambda *c: [f"{float(x) + 1e-9:.2f}" for x in c],
    "lat,lon",
    by_hand=by_distance(
        lambda rows: [x for row in sorted(rows, key=lambda row: float(row[-1])) for x in map(float, row[-2:])]
    ),
)
column("session-id", lambda r: str(uuid.UUID(bytes=r.bytes(16))), same, same, text, "session")
column(
    "session-without-dashes",
    lambda r: str(uuid.UUID(bytes=r.bytes(16))),
    lambda t: f"web-{t}",
    lambda t: t.replace("-", "").upper(),
    only("web|-"),
    "session",
)

# Times that are dropped, or told otherwise.

column("date9", moment, form("%d%b%Y:%H:%M:%S", upper=True), form("%d%b%Y:%H:%M:%S", upper=True), text, "date")
column("date9-iso", moment, form("%d%b%Y:%H:%M:%S", upper=True), iso, parsed("%d%b%Y:%H:%M:%S", ISO), "time")
column(
    "dollar-date",
    moment,
    lambda t: {"$date": f"{t:%Y-%m-%dT%H:%M:%S}Z"},
    lambda t: {"$date": f"{t:%Y-%m-%dT%H:%M:%S}Z"},
    text,
    "time",
    files=("a.jsonl", "b.jsonl"),
)
column("clf", moment, form("[%d/%b/%Y:%H:%M:%S +0000]"), form("[%d/%b/%Y:%H:%M:%S +0000]"), text, "time")
column("clf-iso", moment, form("%d/%b/%Y:%H:%M:%S +0000"), iso, parsed("%d/%b/%Y:%H:%M:%S +0000", ISO), "time")
column("ctime", moment, form("%a %b %d %H:%M:%S %Y"), form("%a %b %d %H:%M:%S %Y"), text, "time")
column(
    "excel-serial",
    moment,
    lambda t: f"{(t - dt.datetime(1899, 12, 30)) / dt.timedelta(1):.6f}",
    iso,
    lambda t: (
        f"{round(float(t) * 24 * 60)}"
        if re.fullmatch(r"[\d.]+", t)
        else f"{round((parsed(ISO)(t) - dt.datetime(1899, 12, 30)) / dt.timedelta(minutes=1))}"
    ),
    "time",
)
column(
    "zone-two-hours",
    moment,
    iso,
    lambda t: iso(t + dt.timedelta(hours=2)),
    text,
    "time",
    by_hand=by_distance(lambda rows: np.diff(sorted(parsed(ISO)(row[-1]).timestamp() for row in rows)).tolist()),
)
column(
    "zone-half-hour",
    moment,
    iso,
    lambda t: iso(t + dt.timedelta(hours=5.5)),
    text,
    "time",
    by_hand=by_distance(lambda rows: np.diff(sorted(parsed(ISO)(row[-1]).timestamp() for row in rows)).tolist()),
)


def days(rows: list[list[str]]) -> list[float]:
    """Return the days of the last column in order."""
    return sorted(float(dt.date.fromisoformat(row[-1]).toordinal()) for row in rows)


def dated(shift: Callable[[Rng], int]) -> Callable[[Rng], list[Table]]:
    """Return logs whose days are shifted in the second table."""

    def make(rng: Rng) -> list[Table]:
        made: list[list[Cells]] = [[], []]
        for user in users(rng, 150):
            late = shift(rng)
            for day in rng.integers(738_900, 739_200, 6):
                for rows, move in zip(made, (0, late), strict=True):
                    rows.append((user, f"c{rng.integers(2)}", dt.date.fromordinal(int(day + move)).isoformat()))
        return [("user,category,date", shuffled(rng, rows)) for rows in made]

    return make


def gaps(rows: list[list[str]]) -> tuple[float, ...]:
    """Return the days between events."""
    return tuple(np.diff(days(rows)))


add("next-day", dated(lambda r: 1), by_key(gaps))
add("week-late", dated(lambda r: 7), by_key(gaps))
add("dates-shifted-per-person", dated(lambda r: int(r.integers(-180, 181))), by_key(gaps))

# The order of rows, of ids, of values.


def in_order(head: str, rows: int, *draws: Draw) -> Callable[[Rng], list[Table]]:
    """Return two independent tables whose people come in one order."""

    def make(rng: Rng) -> list[Table]:
        names = users(rng, 200)
        return [(head, [(u, *(d(rng) for d in draws)) for u in names for _ in range(rows)]) for _ in range(2)]

    return make


add(
    "row-order-people",
    in_order("id,age,sex", 1, lambda r: int(r.integers(18, 80)), lambda r: "fm"[r.integers(2)]),
    by_order,
)
add("row-order-log", in_order("user,category", 5, place(8)), by_order)
add(
    "row-order-lines",
    in_order("user,category,quantity", 4, place(4), lambda r: int(r.integers(1, 9))),
    by_order,
    files=("a.jsonl", "b.jsonl"),
)


def by_id(files: list[Any]) -> float:
    """Find people by the rank of their ids."""
    known, asked = (sorted(per_person(path), key=lambda user: int(re.sub(r"\D", "", user))) for path in files)
    true = {b: a for a, b in read(files[0].parent / "pairs.csv")}
    return float(np.mean([true[b] == a for a, b in zip(known, asked, strict=True)]))


def pseudonyms(new: Callable[[int, int], str]) -> Callable[[Rng], list[Table]]:
    """Return independent logs whose second ids are made of the first, and the true pairs."""

    def make(rng: Rng) -> list[Table]:
        old = sorted(rng.choice(900_000, 200, replace=False) + 100_000)
        pairs = [(str(number), new(int(number), rank)) for rank, number in enumerate(old)]
        tables = [[(pair[side], f"c{rng.integers(8)}") for pair in pairs for _ in range(5)] for side in (0, 1)]
        return [*(("user,category", shuffled(rng, rows)) for rows in tables), ("known,asked", shuffled(rng, pairs))]

    return make


PAIRED = {"files": ("known.csv", "asked.csv", "pairs.csv"), "options": ("--truth", "pairs.csv:known=asked")}
add("id-plus-777777", pseudonyms(lambda number, rank: str(number + 777_777)), by_id, **PAIRED)
add("id-by-rank", pseudonyms(lambda number, rank: f"P{rank:05}"), by_id, **PAIRED)
add("id-scaled", pseudonyms(lambda number, rank: str(3 * number + 11)), by_id, **PAIRED)


def salary(rise: Callable[[Rng, float], float]) -> Callable[[Rng], list[Table]]:
    """Return people whose salary is written otherwise in the second table."""

    def make(rng: Rng) -> list[Table]:
        rows = [(u, "fm"[rng.integers(2)], int(rng.integers(20_000, 90_000))) for u in users(rng, 300)]
        other: list[Cells] = [(u, sex, round(rise(rng, pay))) for u, sex, pay in rows]
        return [("id,sex,salary", shuffled(rng, [*rows])), ("id,sex,salary", shuffled(rng, other))]

    return make


add("salary-error", salary(lambda r, x: x + r.integers(-3, 4)), by_distance(sorted_numbers))
add("salary-rise", salary(lambda r, x: 1.02 * x), by_rank(lambda rows: float(rows[0][-1])))
add("salary-rise-by-band", salary(lambda r, x: x + 100 * np.sqrt(x)), by_rank(lambda rows: float(rows[0][-1])))

# Contact details and free text.


def misspelt(count: int) -> Write:
    """Return a writer that gets one letter in every few wrong."""
    return lambda t: "".join("x" if i % count == count - 1 else letter for i, letter in enumerate(t))


def one_letter(text: str) -> str:
    """Write a name with one wrong letter."""
    at = sum(map(ord, text)) % len(text)
    return text[:at] + "x" + text[at + 1 :]


letters = by_distance(
    lambda rows: [1000.0 * (ord(x) == ord(y)) for x in f"{rows[0][-1].lower():<40}"[:40] for y in "abdeiklmnorst"]
)
column("surname-one-letter", name_of, same, one_letter, text, "surname", shape="people", by_hand=letters)
column(
    "surname-last-letter",
    lambda r: name_of(r) + name_of(r).lower(),
    same,
    lambda t: t[:-1] + "y",
    text,
    "surname",
    "lastname",
    shape="people",
    by_hand=letters,
)
column(
    "surname-every-third",
    lambda r: name_of(r) + name_of(r).lower(),
    same,
    misspelt(3),
    text,
    "surname",
    shape="people",
    by_hand=letters,
    hard=True,
)
column(
    "phone",
    digits(10),
    lambda d: f"+49 {d[:3]} {d[3:]}",
    lambda d: f"0{d[:3]}-{d[3:6]}-{d[6:]}",
    lambda t: re.sub(r"\D", "", t)[-10:],
    "phone",
    shape="people",
)
column(
    "phone-brackets",
    digits(9),
    lambda d: f"({d[:3]}) {d[3:6]}.{d[6:]}",
    same,
    only(r"\D"),
    "phone",
    "tel",
    shape="people",
)
column(
    "remarks",
    remark,
    lambda t: f"{t.capitalize()}.",
    lambda t: t.replace(" ", ", ").upper(),
    only(r"[\W_]"),
    "remark",
    shape="people",
)
column(
    "remarks-words-turned",
    remark,
    same,
    lambda t: " ".join(reversed(t.split())),
    lambda t: sorted(t.split()),
    "remark",
    "comment",
    shape="people",
)
column(
    "free-text",
    lambda r: f"{remark(r)} {remark(r)}",
    same,
    lambda t: f"note: {t.upper()}!",
    lambda t: only(r"[\W_]")(t).removeprefix("note"),
    "text",
    shape="people",
)
column("free-text-log", remark, same, lambda t: f"{t}.", only(r"[\W_]"), "text")
column(
    "email-case",
    lambda r: f"{name_of(r)}.{name_of(r)}@example.org",
    str.lower,
    str.upper,
    text,
    "email",
    shape="people",
)
column(
    "email-tag",
    lambda r: f"{name_of(r).lower()}@example.org",
    same,
    lambda t: t.replace("@", "+shop@"),
    only(r"\+shop"),
    "email",
    shape="people",
)
column(
    "name-turned",
    lambda r: (name_of(r), name_of(r)),
    lambda n: " ".join(n),
    lambda n: f"{n[1].upper()}, {n[0]}",
    lambda t: sorted(re.findall(r"\w+", t.casefold())),
    "name",
    shape="people",
)


def address(rng: Rng) -> tuple[int, ...]:
    """Draw an address of four numbers."""
    return tuple(map(int, rng.integers(1, 255, 4)))


column(
    "ip-padded",
    address,
    lambda a: ".".join(map(str, a)),
    lambda a: ".".join(f"{x:03}" for x in a),
    lambda t: [int(x) for x in t.split(".")],
    "ip",
)
column(
    "ip-port",
    address,
    lambda a: ".".join(map(str, a)),
    lambda a: ".".join(map(str, a)) + ":443",
    lambda t: t.split(":")[0],
    "client",
    shape="items",
)
column(
    "url-query",
    name_of,
    lambda t: f"https://shop.example/{t.lower()}?ref=mail",
    lambda t: f"http://www.shop.example/{t.lower()}/",
    lambda t: t.removesuffix("?ref=mail").strip("/").split("/")[-1],
    "url",
    shape="items",
)

# Numbers in other units and marks.

column(
    "height-metres",
    lambda r: (int(r.integers(140, 210)), int(r.integers(400, 1300))),
    lambda c: (c[0], f"{c[1] / 10:.1f}"),
    lambda c: (f"{c[0] / 100:.2f}", f"{c[1] * 100}"),
    lambda a, b: (round(float(a) * (1 if float(a) > 9 else 100)), round(float(b) * (10 if float(b) < 999 else 0.01))),
    "height,weight",
    shape="people",
)
column(
    "decimal-comma",
    lambda r: int(r.integers(100_000, 9_999_999)),
    lambda n: f"{n / 100:.2f}",
    lambda n: f"{n / 100:,.2f}".translate(str.maketrans(",.", ".,")),
    only(r"\D"),
    "paid",
)
column(
    "rounded-prices",
    lambda r: r.uniform(1, 900),
    lambda x: f"{x:.2f}",
    lambda x: f"{x:.0f}",
    text,
    "price",
    by_hand=by_distance(sorted_numbers),
)
column(
    "answers-yes-no",
    lambda r: tuple(map(int, r.integers(0, 2, 14))),
    same,
    lambda c: tuple("yes" if x else "no" for x in c),
    lambda *c: [x in ("1", "yes") for x in c],
    ",".join(f"q{i}" for i in range(14)),
    shape="people",
)
column(
    "answers-turned",
    lambda r: tuple(map(int, r.integers(1, 6, 8))),
    same,
    lambda c: tuple(6 - x for x in c),
    text,
    ",".join(f"q{i}" for i in range(8)),
    shape="people",
    by_hand=by_distance(lambda rows: [abs(float(x) - 3) for x in rows[0][-8:]]),
)


def missing(columns: int) -> Callable[[Rng], list[Table]]:
    """Return people whose answers are independent, but missing in the same places."""

    def make(rng: Rng) -> list[Table]:
        made: list[list[Cells]] = [[], []]
        for user in users(rng, 200):
            gone = rng.random(columns) < 0.5
            for rows in made:
                rows.append((user, *("" if empty else int(rng.integers(1, 6)) for empty in gone)))
        return [("id," + ",".join(f"q{i}" for i in range(columns)), shuffled(rng, rows)) for rows in made]

    return make


empty = by_key(lambda rows: tuple(cell == "" for cell in rows[0]))
add("missing-pattern-12", missing(12), empty)
add("missing-pattern-24", missing(24), empty)


# How often, and how much.


def row_counts(rng: Rng) -> list[Table]:
    """Return logs of independent items in which everybody has a number of rows of their own."""
    made: list[list[Cells]] = [[], []]
    for i, user in enumerate(users(rng, 100)):
        for rows in made:
            rows += [(user, f"c{rng.integers(4)}") for _ in range(i + 3)]
    return [("user,category", shuffled(rng, rows)) for rows in made]


add("rows-per-person", row_counts, by_key(len))


def wide(noise: float) -> Callable[[Rng], list[Table]]:
    """Return counts of 30 products for each person, the second with other counts of the same tastes."""

    def make(rng: Rng) -> list[Table]:
        taste = rng.gamma(0.3, 12.0, (200, 30))
        names = users(rng, 200)
        counts = [rng.poisson(taste) if noise else taste.round().astype(int) for _ in range(2)]
        if not noise:
            counts[1] = counts[0] + rng.integers(0, 2, taste.shape)
        return [
            (
                "id," + ",".join(f"prod_{i:03}" for i in range(30)),
                shuffled(rng, [(u, *map(int, c)) for u, c in zip(names, one, strict=True)]),
            )
            for one in counts
        ]

    return make


add("counts-wide", wide(0.0), by_distance(lambda rows: map(float, rows[0])))
add("counts-wide-drawn", wide(1.0), by_distance(lambda rows: np.sqrt([float(x) for x in rows[0]])))


def log_and_totals(rng: Rng) -> list[Table]:
    """Return a log with amounts, and one row for each person with the sum."""
    names = users(rng, 200)
    spent = rng.integers(100, 9_999, (200, 4))
    rows: list[Cells] = [(u, f"c{rng.integers(3)}", int(x)) for u, one in zip(names, spent, strict=True) for x in one]
    totals: list[Cells] = [(u, "fm"[rng.integers(2)], int(one.sum())) for u, one in zip(names, spent, strict=True)]
    return [("user,category,amount", shuffled(rng, rows)), ("user,sex,turnover", shuffled(rng, totals))]


add("log-and-totals", log_and_totals, by_key(lambda rows: sum(int(row[-1]) for row in rows)))

# Vectors.


def vectors(change: Callable[[Rng, np.ndarray], np.ndarray], width: int) -> Callable[[Rng], list[Table]]:
    """Return vectors, the second changed."""

    def make(rng: Rng) -> list[Table]:
        names, first = users(rng, 200), rng.normal(size=(200, width))
        head = "id," + ",".join(f"d{i}" for i in range(width))
        both = first, change(rng, first)
        return [
            (head, shuffled(rng, [(u, *(f"{x:.5f}" for x in v)) for u, v in zip(names, one, strict=True)]))
            for one in both
        ]

    return make


def one_exact(at: int) -> Callable[[Rng, np.ndarray], np.ndarray]:
    """Draw every column anew but one."""

    def change(rng: Rng, first: np.ndarray) -> np.ndarray:
        other = rng.normal(size=first.shape)
        other[:, at] = first[:, at]
        return other

    return change


add("vectors-one-exact", vectors(one_exact(17), 40), by_key(lambda rows: rows[0][17]))
add("vectors-one-exact-last", vectors(one_exact(15), 16), by_key(lambda rows: rows[0][15]))
add("vectors-sign", vectors(lambda r, x: -x, 16), by_key(lambda rows: tuple(c.lstrip("-") for c in rows[0])))
in_size = by_distance(lambda rows: sorted(map(float, rows[0])))
add("vectors-permuted", vectors(lambda r, x: x[:, r.permutation(x.shape[1])], 24), in_size, hard=True)
add(
    "vectors-permuted-noise",
    vectors(lambda r, x: x[:, r.permutation(x.shape[1])] + r.normal(0, 0.01, x.shape), 24),
    in_size,
    hard=True,
)

# Labels hashed with another salt in each table.


def salted(head: str, shape: str) -> Callable[[Rng], list[Table]]:
    """Return the same events with labels hashed anew; `order` keeps the order of rows, `dates` the days."""

    def make(rng: Rng) -> list[Table]:
        share = 1.0 / np.arange(1, 41) ** 1.2
        events = []
        for user in users(rng, 200):
            count = {"order": 10, "dates": 5, "repeats": 60, "labels": 8}[shape]
            taste = rng.dirichlet(share * 3) if shape == "repeats" else share / share.sum()
            chosen = rng.choice(40, count, p=taste, replace=shape != "labels")
            events += [(user, *((label_day(rng),) if shape == "dates" else ()), int(item)) for item in chosen]
        made = []
        for salt in "ab":
            hashed: list[Cells] = [
                (*e[:-1], hashlib.sha256(f"{salt}{e[-1]}".encode()).hexdigest()[:10]) for e in events
            ]
            if shape == "order":
                names = list(dict.fromkeys(e[0] for e in events))
                place = {user: i for i, user in enumerate(shuffled(rng, names))}
                made.append((head, sorted(hashed, key=lambda row: place[row[0]])))
            else:
                made.append((head, shuffled(rng, hashed)))
        return made

    return make


def repeats(rows: list[list[str]]) -> tuple[int, ...]:
    """Return where each label first came up: what a change of labels keeps."""
    first: dict[str, int] = {}
    return tuple(first.setdefault(row[-1], len(first)) for row in rows)


def by_popularity(files: list[Any]) -> float:
    """Find people by the popularity of their labels, which hashing keeps."""
    keys = []
    for path in files:
        table = per_person(path)
        held = collections.Counter(row[-1] for rows in table.values() for row in rows)
        keys.append({user: tuple(sorted(held[row[-1]] for row in rows)) for user, rows in table.items()})
    return share_right(*keys)


add("salted-order-kept", salted("user,product", "order"), by_key(repeats))
add("salted-dates", salted("user,date,product", "dates"), by_key(lambda rows: tuple(sorted(row[0] for row in rows))))
add(
    "salted-repeats",
    salted("user,product", "repeats"),
    by_key(lambda rows: tuple(sorted(collections.Counter(r[-1] for r in rows).values()))),
)
add("salted-labels", salted("user,product", "labels"), by_popularity, hard=True)
