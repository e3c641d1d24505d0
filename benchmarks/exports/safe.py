"""Exports that are safe by construction, with the largest share of people that any attacker can find."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Cells, Export, Table, by_key, by_overlap, shuffled, users

Rng = np.random.Generator
Draw = Callable[[Rng], Any]
Make = Callable[[Rng], list[Table]]

SAFE: list[Export] = []
ONE: dict[str, Any] = {"files": ("log.csv",)}


def add(name: str, make: Make, best: float, by_hand: Any = by_overlap, **more: Any) -> None:
    """Put one export into the suite."""
    SAFE.append(Export(name, make, by_hand, best=best, **more))


def whole(low: int, high: int) -> Draw:
    """Draw a whole number."""
    return lambda rng: int(rng.integers(low, high))


def label(count: int, prefix: str = "c") -> Draw:
    """Draw one of a few labels, each as often."""
    return lambda rng: f"{prefix}{rng.integers(count)}"


def skewed(count: int) -> Draw:
    """Draw one of a few labels, some more often."""
    return lambda rng: f"p{min(int(rng.exponential(count / 4)), count - 1)}"


def cents(rng: Rng) -> str:
    """Draw an amount to the cent."""
    return f"{rng.lognormal(4, 1):.2f}"


def second(rng: Rng) -> str:
    """Draw a moment of 60 days."""
    return f"{dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(rng.integers(60 * 86_400))):%Y-%m-%d %H:%M:%S}"


def day(rng: Rng) -> str:
    """Draw a day of 60."""
    return second(rng)[:10]


def code(rng: Rng) -> str:
    """Draw something new for each row."""
    return f"{rng.integers(1 << 40):010x}"


def always(value: Any) -> Draw:
    """Draw one and the same value."""
    return lambda rng: value


# Two independent tables over the same ids.


def independent(
    people: int, first: tuple[str, tuple[Draw, ...]], second: tuple[str, tuple[Draw, ...]], rows: int
) -> Make:
    """Return two tables whose cells are drawn independently: of people, or logs with up to twice as many rows each."""

    def make(rng: Rng) -> list[Table]:
        names, tables = users(rng, people), []
        for head, draws in (first, second):
            each = rng.integers(rows, 2 * rows, people) if rows > 1 else np.ones(people, int)
            table: list[Cells] = [
                (u, *(d(rng) for d in draws)) for u, n in zip(names, each, strict=True) for _ in range(n)
            ]
            tables.append((head, shuffled(rng, table)))
        return tables

    return make


def twice(name: str, people: int, head: str, *draws: Draw, rows: int = 1, **more: Any) -> None:
    """Add two independent tables of the same columns."""
    add(name, independent(people, (head, draws), (head, draws), rows), 1 / people, **more)


sex, age, postcode = label(2, "s"), whole(18, 90), whole(10_000, 10_300)
twice("independent-people-two", 300, "id,age,sex", age, sex)
twice("independent-people-postcode", 500, "id,age,postcode,sex", age, postcode, sex)
twice("independent-people-salary", 400, "id,sex,salary", sex, whole(20_000, 90_000))
twice("independent-people-constant", 300, "id,age,country,sex", age, always("DE"), sex)
twice("independent-people-code", 300, "id,age,sex,reference", age, sex, code)
twice("independent-people-answers", 250, "id," + ",".join(f"q{i}" for i in range(12)), *[whole(1, 6)] * 12)
twice("independent-people-lines", 300, "id,age,sex", age, sex, files=("a.jsonl", "b.jsonl"))
add(
    "independent-people-other-names",
    independent(
        300, ("id,birth_year,postcode", (whole(1940, 2006), postcode)), ("id,yob,zip", (whole(1940, 2006), postcode)), 1
    ),
    1 / 300,
)
twice("independent-log-category", 300, "user,category", skewed(12), rows=5)
twice("independent-log-products", 200, "user,product", skewed(60), rows=6)
twice("independent-log-second", 200, "user,time,category", second, skewed(12), rows=5)
twice("independent-log-day", 300, "user,date,product", day, skewed(20), rows=4)
twice("independent-log-amount", 250, "user,product,quantity", skewed(8), whole(1, 9), rows=5)
twice("independent-log-price", 200, "user,date,product,price", day, skewed(12), cents, rows=4)
twice("independent-log-constant", 250, "user,category,channel", skewed(12), always("web"), rows=5)
twice("independent-log-code", 250, "user,category,receipt", skewed(12), code, rows=4)
twice("independent-log-lines", 200, "user,time,category", second, skewed(8), rows=4, files=("a.jsonl", "b.jsonl"))

# The cells of one table, in another order in each column.


def mixed(people: int, head: str, *draws: Draw, rows: int = 1, cells: bool) -> Make:
    """Return a table, and its cells shuffled in each column, or its ids given to other people."""

    def make(rng: Rng) -> list[Table]:
        names = users(rng, people)
        facts = [[draw(rng) for draw in draws] for _ in range(people * rows)]
        other = [list(column) for column in zip(*facts, strict=True)]
        if cells:
            other = [[column[i] for i in rng.permutation(len(column))] for column in other]
        owners = [name for name in shuffled(rng, [*names]) for _ in range(rows)]
        first = [(u, *fact) for u, fact in zip([u for u in names for _ in range(rows)], facts, strict=True)]
        second = [(u, *fact) for u, fact in zip(owners, zip(*other, strict=True), strict=True)]
        return [(head, shuffled(rng, [*rows])) for rows in (first, second)]

    return make


add("cells-people", mixed(300, "id,age,sex", age, sex, cells=True), 1 / 300)
add("cells-salary", mixed(300, "id,sex,salary,postcode", sex, whole(20_000, 90_000), postcode, cells=True), 1 / 300)
add("cells-names", mixed(250, "id,surname,sex", code, sex, cells=True), 1 / 250)
add("cells-log", mixed(200, "user,category", skewed(12), rows=6, cells=True), 1 / 200)
add("cells-log-second", mixed(200, "user,time,category", second, skewed(12), rows=5, cells=True), 1 / 200)
add("cells-log-price", mixed(200, "user,product,price", skewed(12), cents, rows=5, cells=True), 1 / 200)
add("ids-people", mixed(300, "id,age,postcode,sex", age, postcode, sex, cells=False), 1 / 300)
add("ids-log", mixed(200, "user,category", skewed(20), rows=6, cells=False), 1 / 200)
add("ids-log-second", mixed(200, "user,time,category", second, skewed(12), rows=5, cells=False), 1 / 200)

# Classes of people who are alike.

CLASSES = [(band, region) for band in ("18-39", "40-59", "60+") for region in ("north", "south")]


def alike(people: int, classes: int, head: str, tables: int, beside: tuple[Draw, ...] = ()) -> Make:
    """Return tables of people whose class, of equal size, is all that a table shows or that two tables share."""

    def make(rng: Rng) -> list[Table]:
        rows = [(u, *CLASSES[i % classes]) for i, u in enumerate(users(rng, people))]
        return [(head, shuffled(rng, [(*row, *(draw(rng) for draw in beside)) for row in rows])) for _ in range(tables)]

    return make


every_cell = by_key(lambda rows: tuple(sorted(map(tuple, rows))))
PEOPLE: dict[str, Any] = {"files": ("people.csv",)}
add("classes-people-6", alike(480, 6, "id,age_band,region", 1), 6 / 480, every_cell, **PEOPLE)
add("classes-people-4", alike(400, 4, "id,age_band,region", 1), 4 / 400, every_cell, **PEOPLE)
add(
    "classes-people-constant",
    alike(300, 6, "id,age_band,region,country", 1, (always("DE"),)),
    6 / 300,
    every_cell,
    **PEOPLE,
)
add("classes-two", alike(480, 6, "id,age_band,region", 2), 6 / 480)
add("classes-two-answers", alike(300, 6, "id,age_band,region,q1,q2", 2, (whole(1, 6), whole(1, 6))), 6 / 300)
add("classes-two-code", alike(300, 4, "id,age_band,region,reference", 2, (code,)), 4 / 300)


def panel(people: int, classes: int, rows: int, tables: int = 1, *, dates: bool) -> Make:
    """Return logs in which everybody of a class has the same rows."""

    def make(rng: Rng) -> list[Table]:
        names, made = users(rng, people), []
        for _ in range(tables):
            kinds = [
                [(*((day(rng),) if dates else ()), f"c{rng.integers(9)}") for _ in range(rows)] for _ in range(classes)
            ]
            table: list[Cells] = [(u, *row) for i, u in enumerate(names) for row in kinds[i % classes]]
            made.append(("user,date,category" if dates else "user,category", shuffled(rng, table)))
        return made

    return make


add("panel-dates", panel(400, 4, 8, dates=True), 4 / 400, every_cell, **ONE)
add("panel-dates-6", panel(360, 6, 6, dates=True), 6 / 360, every_cell, **ONE)
add("panel-items", panel(300, 5, 6, dates=False), 5 / 300, every_cell, **ONE)
add("panel-same-items", panel(250, 1, 6, dates=False), 1 / 250, every_cell, **ONE)
add("panel-two", panel(300, 5, 6, tables=2, dates=True), 5 / 300)


def equal_rows(people: int, items: int, rows: int, head: str = "user,category", *beside: Draw) -> Make:
    """Return one log whose few items are drawn from one distribution for everybody."""

    def make(rng: Rng) -> list[Table]:
        table: list[Cells] = [
            (u, f"c{rng.integers(items)}", *(draw(rng) for draw in beside))
            for u in users(rng, people)
            for _ in range(rows)
        ]
        return [(head, shuffled(rng, table))]

    return make


add("draws-two-items", equal_rows(600, 2, 6), 7 / 600, every_cell, **ONE)
add("draws-three-items", equal_rows(700, 3, 4), 15 / 700, every_cell, **ONE)
add("draws-constant", equal_rows(400, 2, 5, "user,category,channel", always("web")), 6 / 400, every_cell, **ONE)

# Counts and vectors.


def numbers(
    people: int, width: int, draw: Callable[[Rng, tuple[int, int]], np.ndarray], prefix: str, *, mix: bool = False
) -> Make:
    """Return two independent wide tables, or one whose ids are given to other people."""

    def make(rng: Rng) -> list[Table]:
        names, one = users(rng, people), draw(rng, (people, width))
        other = one[rng.permutation(people)] if mix else draw(rng, (people, width))
        head = "id," + ",".join(f"{prefix}{i:02}" for i in range(width))
        return [
            (head, shuffled(rng, [(u, *row) for u, row in zip(names, table.round(5).tolist(), strict=True)]))
            for table in (one, other)
        ]

    return make


def poisson(rng: Rng, shape: tuple[int, int]) -> np.ndarray:
    """Draw counts without tastes."""
    return rng.poisson(np.linspace(0.1, 3.0, shape[1]), shape)


def normal(rng: Rng, shape: tuple[int, int]) -> np.ndarray:
    """Draw vectors."""
    return rng.normal(size=shape)


add("counts", numbers(300, 30, poisson, "prod_"), 1 / 300)
add("counts-few", numbers(400, 10, poisson, "n"), 1 / 400)
add("counts-ids", numbers(250, 30, poisson, "prod_", mix=True), 1 / 250)
add("vectors", numbers(300, 16, normal, "d"), 1 / 300)
add("vectors-wide", numbers(250, 40, normal, "d"), 1 / 250)
add("vectors-ids", numbers(300, 16, normal, "d", mix=True), 1 / 300)
