"""Every cell of two large tables: `AllCells` on ten million rows, beside a plain join of polars on all columns.

Both look the rows of some sampled people up among those of all. The join needs cells that are written alike, and gets
them; the attack reads the second table as it would come: other column names, other dates, other decimals, upper case.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
import polars as pl

from reidrisk.attacks import AllCells, SameCells
from reidrisk.attacks.base import Attack
from reidrisk.records import Bags, RawTable

SEED = 0


def rows(n: int, people: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Return rows of purchases, and whose each is."""
    rng = np.random.default_rng(SEED)
    who = rng.integers(0, people, n)
    moment = pl.Series(1_700_000_000 + rng.integers(0, 365 * 86_400, n))
    frame = pl.DataFrame(
        {
            "time": pl.from_epoch(moment).dt.strftime("%Y-%m-%d %H:%M:%S"),
            "product": "product " + pl.Series(rng.zipf(1.3, n) % 2_000).cast(pl.String),
            "price": (pl.Series(rng.lognormal(3.0, 1.0, n)).round(2)).cast(pl.String),
            "quantity": pl.Series(rng.geometric(0.4, n)).cast(pl.String),
            "city": "city " + pl.Series(who % 500).cast(pl.String),
            "device": pl.Series(who).hash(1).cast(pl.String),
        }
    )
    return frame, who


def written_otherwise(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows as somebody else writes them."""
    day = pl.col("time").str.slice
    return frame.select(
        pl.format("{}.{}.{} {}", day(8, 2), day(5, 2), day(0, 4), day(11)).alias("wann"),
        pl.col("product").str.to_uppercase().alias("artikel"),
        pl.col("price").str.replace(".", ",", literal=True).alias("preis"),
        (pl.col("quantity") + ".0").alias("menge"),
        pl.col("city").str.to_uppercase().alias("ort"),
        pl.col("device").alias("geraet"),
    )


def records(frame: pl.DataFrame, owner: np.ndarray, n: int) -> Bags:
    raw = RawTable.of({name: frame[name].to_arrow() for name in frame.columns}, owner, n)
    return Bags(np.ones((n, 1), dtype=np.int64)).with_raw(raw)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=5_000)
    given = parser.parse_args()
    frame, who = rows(given.rows, given.people)
    drawn = np.sort(np.random.default_rng(SEED + 1).choice(given.people, given.queries, replace=False))
    place = np.full(given.people, -1)
    place[drawn] = np.arange(len(drawn))
    asked = frame.filter(pl.Series(place[who] >= 0))
    owner = place[who][place[who] >= 0]
    known = records(frame, who, given.people)
    queries = records(written_otherwise(asked), owner, len(drawn))

    began = time.perf_counter()
    key = list(frame.columns)
    sides = (frame.with_columns(who=pl.Series(who)), asked.with_columns(asked=pl.Series(owner)))
    joined = sides[0].join(sides[1], on=key, how="inner").group_by("asked", "who").len()
    by_join = time.perf_counter() - began
    best = joined.sort("len", descending=True).unique("asked", keep="first", maintain_order=True)
    right = float((drawn[best["asked"].to_numpy()] == best["who"].to_numpy()).sum() / len(drawn))
    print(f"{given.rows:,} rows x {len(key)} columns of {given.people:,} people, {len(drawn):,} asked for", flush=True)
    print(f"polars join on all columns, written alike: {by_join:6.1f} s, {right:.1%} right, peak {peak():.1f} GiB")
    del sides, joined
    attacks: tuple[Attack[Any], ...] = (SameCells(), AllCells())
    for attack in attacks:
        began, worked = time.perf_counter(), time.process_time()
        links = attack.fit(known).link(queries)
        seconds, worked = time.perf_counter() - began, time.process_time() - worked
        same = attack.score(queries, drawn) == links.score
        print(
            f"{attack.name}: {seconds:6.1f} s ({worked:.1f} s of processors), {seconds / by_join:.1f} of the join, "
            f"{np.mean(same / links.n_ties):.1%} right, peak {peak():.1f} GiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
