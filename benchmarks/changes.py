"""Changes that an audit advises, made by hand in the files and audited in full: found as promised, or fewer?

Five pairs of tables of a few hundred people: an audit with --what-if, then the three Pareto-optimal changes that it
prints first, each made row by row in the second file and audited again with every default attack. Whoever knows of a
change makes it in the first file too, where that can be done; the larger of both rates counts. Leaving people out is
skipped: a rule that an audit learnt cannot be applied by hand.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from aim import logs

from reidrisk import audit, io

DATA = Path(os.environ.get("REIDRISK_DATA", "../shared/data"))
Pair = tuple[pl.DataFrame, pl.DataFrame]


def by_time(table: pl.DataFrame, people: int, seed: int, least: int) -> Pair:
    """Return the earlier and the later half of a log, for some people who have several events in both, at most 25."""
    middle = table["when"].median()
    parts = table.filter(pl.col("when") < middle), table.filter(pl.col("when") >= middle)
    enough = [part.group_by("who").len().filter(pl.col("len") >= least)["who"].to_list() for part in parts]
    both = sorted(set(enough[0]) & set(enough[1]))
    some = np.random.default_rng(seed).permutation(both)[:people].tolist()
    one, two = (part.filter(pl.col("who").is_in(some)).group_by("who", maintain_order=True) for part in parts)
    return one.tail(25), two.head(25)


def retail(people: int, seed: int) -> Pair:
    table = pl.read_parquet(DATA / "online_retail" / "online_retail.parquet").drop_nulls(["CustomerID", "Description"])
    table = table.filter(pl.col("Quantity") > 0).select(
        who=pl.col("CustomerID").cast(pl.Int64), what=pl.col("Description"), when=pl.col("InvoiceDate").dt.date()
    )
    return by_time(table, people, seed, 5)


def foursquare(people: int, seed: int) -> Pair:
    table = pl.concat(pl.read_csv(path) for path in sorted((DATA / "foursquare_checkins").glob("*.csv.gz")))
    minutes = pl.col("start_day") * 1440 + pl.col("start_min")
    when = pl.datetime(2024, 1, 1) + pl.duration(minutes=minutes)
    return by_time(table.select(who="user_id", what="location_id", when=when), people, seed, 5)


def cdnow(people: int, seed: int) -> Pair:
    """Return what a shop and a bank saw: each missed three purchases in ten."""
    lines = pl.read_csv(DATA / "cdnow_purchases" / "CDNOW_master.txt.gz", has_header=True, new_columns=["line"])
    rows = [line.split() for line in lines["line"]]
    table = pl.DataFrame(rows, schema=["who", "when", "cds", "what"], orient="row")
    table = table.with_columns(when=pl.col("when").str.to_date("%Y%m%d")).drop("cds")
    often = table.group_by("who").len().filter(pl.col("len") >= 3)["who"].sort().to_list()
    rng = np.random.default_rng(seed)
    table = table.filter(pl.col("who").is_in(rng.permutation(often)[:people].tolist()))
    return table.filter(rng.random(len(table)) < 0.7), table.filter(rng.random(len(table)) < 0.7)


def adult(people: int, seed: int) -> Pair:
    table = pl.read_csv(DATA / "adult_census" / "adult.data.gz")
    columns = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "hours_per_week"]
    rows = np.random.default_rng(seed).permutation(len(table))[:people]
    table = table.select(pl.col(name).cast(pl.String).str.strip_chars() for name in columns)[rows]
    table = table.with_columns(pl.col("age", "hours_per_week").cast(pl.Int64), who=pl.Series(np.arange(people)))
    return table, table


def simulated(people: int, seed: int) -> Pair:
    case = logs(people, seed)
    found = []
    for table in (case.targets, case.queries):
        when, labels = table.timeline, np.array(table.vocabulary.labels)
        day = (np.datetime64("1970-01-01", "s") + when.time.astype("m8[s]")).astype("M8[D]")
        found.append(pl.DataFrame({"who": table.users[when.owner], "what": labels[when.item], "when": day}))
    return found[0], found[1]


def changed(change: str, released: pl.DataFrame, known: pl.DataFrame, seed: int) -> Pair | None:
    """Return both tables after a change, made row by row; the known one as whoever knows of it makes it."""
    name, _, value = change.partition(":")
    rng = np.random.default_rng(seed)
    if name == "draw":
        return released.filter(rng.random(len(released)) < float(value)) if "what" in released.columns else blank(
            released, rng.random((len(released), released.width)) >= float(value)
        ), known
    if name == "random-item":
        items = sorted({*released["what"], *known["what"]})
        other = pl.Series(rng.choice(items, len(released)), dtype=released["what"].dtype)
        return released.with_columns(
            what=pl.when(pl.Series(rng.random(len(released)) < float(value))).then(other).otherwise(pl.col("what"))
        ), known
    if name == "shorten":
        order = released[rng.permutation(len(released))]
        return order.filter(pl.int_range(pl.len()).over("who") < int(value.removeprefix("items="))), known
    if name == "coarsen":
        often = Counter(released["what"].to_list()).most_common(int(value.removeprefix("keep=")))
        kept = [item for item, _ in often]
        other = pl.when(pl.col("what").is_in(kept)).then(pl.col("what").cast(pl.String)).otherwise(pl.lit("other"))
        return released.with_columns(what=other), known.with_columns(what=other)
    if name == "suppress-rare" and "what" in released.columns:
        held = released.group_by("what").agg(pl.col("who").n_unique()).filter(pl.col("who") >= int(value))
        keep = pl.col("what").is_in(held["what"].to_list())
        return released.filter(keep), known.filter(keep)
    if name == "suppress-rare":
        rare = {
            column: [v for v, n in Counter(released[column].to_list()).items() if n < int(value)]
            for column in released.columns
            if column != "who"
        }
        gone = [pl.when(pl.col(c).is_in(v)).then(None).otherwise(pl.col(c)).alias(c) for c, v in rare.items()]
        return released.with_columns(gone), known.with_columns(gone)
    if name == "rotate":
        visit = (pl.col("when").dt.date().rank("dense").over("who") - 1) // int(value)
        return released.with_columns(who=pl.format("{}-{}", "who", visit)), known
    if name == "drop-columns":
        return released.drop(value.split(",")), known.drop(value.split(","))
    if name == "generalise":
        steps = {one.rpartition("=")[0]: int(float(one.rpartition("=")[2])) for one in value.split(",")}
        coarser = [(pl.col(column) // width * width).alias(column) for column, width in steps.items()]
        return released.with_columns(coarser), known.with_columns(coarser)
    return None


def blank(table: pl.DataFrame, gone: Any) -> pl.DataFrame:
    return table.with_columns(
        pl.when(pl.Series(gone[:, i])).then(None).otherwise(pl.col(name)).alias(name)
        for i, name in enumerate(table.columns)
        if name != "who"
    )


def audited(known: pl.DataFrame, released: pl.DataFrame, seed: int, **asked: Any) -> audit.AuditResult:
    """Write both tables and audit the files."""
    log = "what" in known.columns
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("known.csv", "released.csv")]
        known.write_csv(files[0])
        released.write_csv(files[1])
        truth = None
        if not {*known["who"].to_list()} & {*released["who"].to_list()}:  # new pseudonyms
            truth = str(Path(folder) / "pairs.csv")
            pairs = released.select(released=pl.col("who")).unique().sort("released")
            pairs = pairs.with_columns(known=pl.col("released").str.split("-").list.first())
            pairs.select("known", "released").write_csv(truth)
        columns = () if log else tuple(name for name in known.columns if name != "who" and name in released.columns)
        reading = (
            io.Reading(user="who", items="what", time="when", amount="none", layout="log")
            if log
            else io.Reading(user="who", layout="people", columns=columns)
        )
        inputs = audit.Exports(files=tuple(files), reading=reading, truth=truth)
        return audit.run(audit.AuditSpec(inputs=inputs, seed=seed, **asked))


SETS: dict[str, Callable[[int, int], Pair]] = {
    "retail": retail,
    "foursquare": foursquare,
    "cdnow": cdnow,
    "adult": adult,
    "logs": simulated,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=list(SETS), action="append", help="default: all")
    parser.add_argument("--people", type=int, default=400)
    parser.add_argument("--changes", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0, help="reference seconds for trying changes")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    held = []
    for name in asked.set or SETS:
        try:
            known, released = SETS[name](asked.people, asked.seed)
        except FileNotFoundError as missing:
            print(f"{name}: left out, there is no {missing.filename or missing} (REIDRISK_DATA)", flush=True)
            continue
        result = audited(known, released, asked.seed, what_if=True, what_if_budget=asked.budget)
        verdict, found = result.strongest, result.further and result.further.what_if
        if verdict is None or found is None:
            print(f"{name}: nothing was tried", flush=True)
            continue
        print(f"{name}: as it is {verdict.rate:.3f} by {verdict.attack}; {len(found.best)} Pareto-optimal", flush=True)
        print(f"  tried with {', '.join(found.attacks)}; no time for {', '.join(found.left_out) or 'none'}", flush=True)
        by_hand = [one for one in found.best if not one.change.startswith("drop-people")]
        for one in by_hand[: asked.changes]:
            tables = changed(one.change, released, known, asked.seed + 1)
            if tables is None:
                print(f"  {one.change}: cannot be made by hand", flush=True)
                continue
            after = [audited(known, tables[0], asked.seed)]
            after += [] if tables[1] is known else [audited(tables[1], tables[0], asked.seed)]
            # Of those who are released: whoever changes a known table too may lose people of it.
            people = max(each.n_scored for each in after)
            rates = [(each.strongest.rate * each.n_scored / people, each) for each in after if each.strongest]
            rate, best = max(rates, key=lambda pair: pair[0])
            held.append(rate <= one.risk.high)
            promised = f"{one.risk.rate:.3f} ({one.risk.low:.3f} to {one.risk.high:.3f}) by {one.risk.attack}"
            more = "" if held[-1] else "  MORE THAN PROMISED"
            print(
                f"  {one.change}: promised {promised}; found {rate:.3f} of {people} by {best.strongest.attack}{more}",
                flush=True,
            )
    print(f"found within the promised interval or below: {sum(held)} of {len(held)}")


if __name__ == "__main__":
    main()
