"""One row per person, on the public census: equivalence classes beside pycanon, and who is found in noisy copies.

The classes are counted over eight columns. The noisy copies have a tenth of the cells drawn anew from their column and
a tenth empty; beside FellegiSunter stands what ten lines of NumPy do: add up -log frequency over columns that agree.
Where REIDRISK_OUTSIDE names the Python of `make conformance`, pycanon is asked; else Python counts rows.
"""

import argparse
import json
import os
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from reidrisk import attacks, measure
from reidrisk.records import Attributes

COLUMNS = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
ANSWERS = Path(__file__).parents[1] / "tests" / "conformance" / "outside" / "answers.py"


def census(path: Path) -> pl.DataFrame:
    return pl.read_csv(path).drop_nulls("age").with_columns(pl.col(pl.String).str.strip_chars())


def counted_elsewhere(path: Path, frame: pl.DataFrame) -> tuple[str, int, int, float]:
    """Return who counted, k, the number of classes, and the seconds."""
    if python := os.environ.get("REIDRISK_OUTSIDE"):
        asked = json.dumps({"of": "classes", "path": str(path), "columns": COLUMNS})
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [python, str(ANSWERS)], input=asked, env=clean, capture_output=True, text=True, check=True
        )
        answer = json.loads(done.stdout.splitlines()[-1])
        return "pycanon", answer["k"], answer["classes"], answer["seconds"]
    began = time.perf_counter()
    found = Counter(frame.select(COLUMNS).iter_rows())
    return "a Counter of rows", min(found.values()), len(found), time.perf_counter() - began


def noisy(table: Attributes, seed: int) -> Attributes:
    rng = np.random.default_rng(seed)
    tokens = table.tokens.astype(np.int64)
    others = np.take_along_axis(tokens, rng.integers(0, len(tokens), tokens.shape), axis=0)
    tokens = np.where(rng.random(tokens.shape) < 0.1, others, tokens)
    return table.with_tokens(np.where(rng.random(tokens.shape) < 0.1, -1, tokens))


def by_ten_lines(table: Attributes, asked: Attributes, rows: np.ndarray) -> float:
    """Return the share of these people who are found by agreements weighed by -log frequency; ties count 1/t."""
    share = np.bincount(table.tokens[table.observed], minlength=table.n_tokens) / len(table)
    rarity, credit = -np.log(np.maximum(share, 1e-12)), 0.0
    for i, row in zip(rows, asked.tokens[rows], strict=True):
        score = np.zeros(len(table))
        for column, value in zip(table.tokens.T, row, strict=True):
            if value >= 0:
                score += rarity[value] * (column == value)
        best = score >= score.max() - 1e-9
        credit += best[i] / best.sum()
    return credit / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000)
    asked = parser.parse_args()
    path = Path(os.environ.get("REIDRISK_DATA", "")) / "adult_census" / "adult.data.gz"
    if not path.is_file():
        print("the census extract is not there: REIDRISK_DATA names the folder that holds adult_census/adult.data.gz")
        return
    frame = census(path)
    measure.classes(Attributes(frame.head(100)))  # imported and compiled
    who, k, n_classes, theirs = counted_elsewhere(path, frame)
    began = time.perf_counter()
    table = Attributes(frame, columns=COLUMNS)
    read = time.perf_counter()
    found = measure.classes(table)
    ours = time.perf_counter() - read
    assert (found.k, found.n_classes) == (k, n_classes)
    assert found.mean == n_classes / len(frame)
    print(
        f"{found.n:,} people, {len(COLUMNS)} columns: k {found.k}, {found.n_classes:,} classes, risk {found.mean:.4f}"
    )
    print(f"  classes: {ours:.3f} s after {read - began:.2f} s to code the table; {who} {theirs:.3f} s")
    print(f"  {theirs / ours:.1f} times the speed of {who}, {theirs / (ours + read - began):.1f} with the coding")
    for what, wide in (("all columns", Attributes(frame)), ("eight columns", table)):
        copy = noisy(wide, seed=0)
        rows = np.sort(np.random.default_rng(1).choice(len(wide), asked.queries, replace=False))
        began = time.perf_counter()
        simple = by_ten_lines(wide, copy, rows)
        middle = time.perf_counter()
        risk = measure.random_user(attacks.FellegiSunter(), wide, copy.take(rows), truth=rows)
        seconds = middle - began, time.perf_counter() - middle
        print(f"noisy copies, {what}: FellegiSunter finds {risk.rate:.4f} in {seconds[1]:.1f} s, learning included")
        print(f"  ten lines find {simple:.4f} in {seconds[0]:.1f} s; {seconds[0] / seconds[1]:.1f} times their speed")


if __name__ == "__main__":
    main()
