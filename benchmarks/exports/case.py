"""What an export is, how one is written, and how its people are found by hand."""

from __future__ import annotations

import collections
import csv
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Cells = Sequence[Any]
Table = tuple[str, list[Cells]]
"""A header with commas, and rows; the first column is the id."""


@dataclass(frozen=True)
class Export:
    """One or two files, and what is true of them.

    Args:
        name: What the runner calls it.
        make: Draws the tables, one for each file.
        by_hand: Finds people in the files in a few lines; returns the share that is found.
        files: The names of the files; the suffix decides the format.
        options: What a plain user must add to the command line.
        hard: Whether finding people takes a key, a model of language or a search over permutations.
        best: The largest share that any attacker can find, where that is known.
    """

    name: str
    make: Callable[[np.random.Generator], list[Table]]
    by_hand: Callable[[list[Path]], float]
    files: tuple[str, ...] = ("known.csv", "asked.csv")
    options: tuple[str, ...] = ()
    hard: bool = False
    best: float | None = None

    def write(self, folder: Path, seed: int) -> list[Path]:
        """Write the files, and return the paths of the tables to audit."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        paths = [folder / name for name in self.files]
        for path, (head, rows) in zip(paths, self.make(rng), strict=True):
            write_table(path, head.split(","), rows)
        return paths[:2]


def write_table(path: Path, head: list[str], rows: list[Cells]) -> None:
    """Write one table as CSV, JSON lines or Parquet."""
    if path.suffix == ".jsonl":
        lines = (json.dumps(dict(zip(head, row, strict=True)), ensure_ascii=False) for row in rows)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet

        columns = {name: list(column) for name, column in zip(head, zip(*rows, strict=True), strict=True)}
        pyarrow.parquet.write_table(pa.table(columns), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *rows])


def read(path: Path) -> list[list[str]]:
    """Return the rows of a table as text, without the header."""
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        return [[str(cell) for cell in json.loads(line).values()] for line in lines]
    if path.suffix == ".parquet":
        import pyarrow.parquet

        return [[str(cell) for cell in row.values()] for row in pyarrow.parquet.read_table(path).to_pylist()]
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def per_person(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each person without the id, in the order of the file."""
    found: dict[str, list[list[str]]] = {}
    for user, *cells in read(path):
        found.setdefault(user, []).append(cells)
    return found


def share_right(known: Mapping[str, Hashable], asked: Mapping[str, Hashable]) -> float:
    """Return the share of asked people found by an equal key; equal candidates are drawn at random.

    >>> share_right({"a": 1, "b": 2, "c": 2}, {"a": 1, "b": 2})
    0.75
    """
    held = collections.Counter(known.values())
    return float(np.mean([(known.get(user) == key) / held[key] if held[key] else 0.0 for user, key in asked.items()]))


def by_key(key: Callable[[list[list[str]]], Hashable]) -> Callable[[list[Path]], float]:
    """Find people by a key of their rows that is equal in both tables; one table is compared with itself."""

    def find(files: list[Path]) -> float:
        known, asked = ({user: key(rows) for user, rows in per_person(path).items()} for path in (files * 2)[:2])
        return share_right(known, asked)

    return find


def by_distance(vector: Callable[[list[list[str]]], Iterable[float]]) -> Callable[[list[Path]], float]:
    """Find people by the nearest vector of numbers in L1."""

    def find(files: list[Path]) -> float:
        known, asked = ({user: [*vector(rows)] for user, rows in per_person(path).items()} for path in files)
        table, right = np.array([*known.values()], float), 0.0
        for user, one in asked.items():
            far = np.abs(table - np.array(one, float)).sum(1)
            nearest = far <= far.min() + 1e-9
            right += nearest[[*known].index(user)] / nearest.sum()
        return right / len(asked)

    return find


def by_rank(number: Callable[[list[list[str]]], float]) -> Callable[[list[Path]], float]:
    """Find people by their rank in a number."""

    def find(files: list[Path]) -> float:
        known, asked = ({user: number(rows) for user, rows in per_person(path).items()} for path in files)
        pairs = zip(sorted(known, key=known.__getitem__), sorted(asked, key=asked.__getitem__), strict=True)
        return float(np.mean([a == b for a, b in pairs]))

    return find


def by_order(files: list[Path]) -> float:
    """Find people by the order in which they first appear."""
    known, asked = (per_person(path) for path in files)
    return float(np.mean([a == b for a, b in zip(known, asked, strict=True)]))


def by_facts(facts: int, fact: Callable[[list[str]], Hashable]) -> Callable[[list[Path]], float]:
    """Find the people of one table of whom the first few facts are known."""

    def find(files: list[Path]) -> float:
        held = {user: collections.Counter(map(fact, rows)) for user, rows in per_person(files[0]).items()}
        known = {user: collections.Counter([*count.elements()][:facts]) for user, count in held.items()}
        return float(np.mean([1 / sum(one <= other for other in held.values()) for one in known.values()]))

    return find


def by_overlap(files: list[Path]) -> float:
    """Find people by the cells that are equal, each weighed by its rarity (tf-idf with the cosine)."""
    names: dict[tuple[int, str], int] = {}
    tables = [per_person(path) for path in files]
    held = [
        {
            user: list({names.setdefault(cell, len(names)) for row in rows for cell in enumerate(row)})
            for user, rows in t.items()
        }
        for t in tables
    ]
    known = np.zeros((len(held[0]), len(names)))
    for i, tokens in enumerate(held[0].values()):
        known[i, tokens] = 1
    known *= np.log(len(known) / np.maximum(known.sum(0), 1)) + 1e-3
    known /= np.sqrt(known.sum(1, keepdims=True))
    places, right = {user: i for i, user in enumerate(held[0])}, 0.0
    for user, tokens in held[1].items():
        scores = known[:, tokens].sum(1)
        best = scores >= scores.max() - 1e-9
        right += best[places[user]] / best.sum()
    return right / len(held[1])


def shuffled(rng: np.random.Generator, rows: Sequence[Any]) -> list[Any]:
    """Return the rows in random order: the order of a file must tell nothing by accident."""
    return [rows[i] for i in rng.permutation(len(rows))]


def users(rng: np.random.Generator, people: int) -> list[str]:
    """Return distinct ids in random order."""
    return [f"u{number}" for number in rng.choice(90_000, people, replace=False) + 10_000]
