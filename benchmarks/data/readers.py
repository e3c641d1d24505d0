"""Readers of public data sets whose files are no plain tables: each gives one row per event, or two observed tables.

They take the files, the number of people to draw where people are drawn, and a seed; see reidrisk.bench.Reader.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from reidrisk import populations, topics
from reidrisk.base.streams import stream
from reidrisk.bench import Reader, Sites
from reidrisk.mechanisms import TopKNoise

MSNBC_VISITORS, MSNBC_PAGES, MSNBC_SEED = 3_000, 20, 12345
CDNOW_DRAWN = 2_000
JHA_WEEKS = 30


def foursquare(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """Check-ins; minutes since the first day."""
    frame = pl.concat([pl.read_csv(path) for path in paths])
    return frame.with_columns(minute=pl.col("start_day") * 1_440 + pl.col("start_min"))


def online_retail(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """Lines of invoices, returns and lines of nobody left out; an invoice is what one customer bought at one moment."""
    frame = pl.read_parquet(paths[0])
    kept = frame.filter(
        pl.col("CustomerID").is_not_null() & (pl.col("Quantity") > 0) & pl.col("Description").is_not_null()
    )
    who, when = pl.col("CustomerID").cast(pl.Float64).cast(pl.Int64), pl.col("InvoiceDate")
    if frame["InvoiceDate"].dtype == pl.String:
        when = when.str.to_datetime()
    kept = kept.with_columns(CustomerID=who, InvoiceDate=when.cast(pl.Datetime("us")))
    return kept.with_columns(invoice=pl.format("{} {}", "CustomerID", pl.col("InvoiceDate").cast(pl.Int64)))


def cdnow(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """Purchases: customer, date as a number, number of CDs and whole dollars; columns stand apart by blanks."""
    with gzip.open(paths[0], "rt", encoding="ascii") as lines:
        cells = [cells for cells in map(str.split, lines) if len(cells) == 4 and cells[0].isdigit()]
    customer, date, number, dollars = zip(*cells, strict=True)
    return pl.DataFrame(
        {
            "customer": np.array(customer, dtype=np.int64),
            "date": np.array(date, dtype=np.int64),
            "cds": np.array(number, dtype=np.int64),
            "dollars": np.array(dollars, dtype=np.float64).astype(np.int64),
        }
    )


def msweb(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """Areas of a site that each visitor saw: a line C names a visitor, the lines V after it the areas."""
    visitor, rows = -1, []
    with gzip.open(paths[0], "rt", encoding="latin-1") as lines:
        for line in lines:
            kind, *cells = line.split(",")
            if kind == "C":
                visitor = int(cells[1])
            elif kind == "V":
                rows.append((visitor, int(cells[0])))
    return pl.DataFrame(rows, schema=["visitor", "area"], orient="row")


def cdnow_others(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """The purchases of customers whom a benchmark of 2,000 people with seed 0 does not draw."""
    frame = cdnow(paths, users, seed)
    who = frame["customer"].unique().sort()
    drawn = stream(0, "bench: people").choice(np.arange(len(who)), size=CDNOW_DRAWN, replace=False)
    return frame.filter(~pl.col("customer").is_in(who[drawn].to_list()))


def msnbc(paths: Sequence[Path], users: int, seed: int, others: bool = False) -> pl.DataFrame:
    """Categories of pages in the order of a visit, a line for each visitor: a fixed draw of those with many pages.

    ``others`` are as many more.
    """
    with zipfile.ZipFile(paths[0]) as packed:
        lines = packed.read(packed.namelist()[0]).decode("latin-1").splitlines()
    visits = [line.split() for line in lines if line[:1].isdigit()]
    long = [(number, pages) for number, pages in enumerate(visits) if len(pages) >= MSNBC_PAGES]
    first = MSNBC_VISITORS if others else 0
    drawn = np.random.default_rng(MSNBC_SEED).permutation(len(long))[first : first + MSNBC_VISITORS]
    rows = [(long[i][0], step, int(page)) for i in drawn for step, page in enumerate(long[i][1])]
    return pl.DataFrame(rows, schema=["visitor", "step", "category"], orient="row")


def fitbit(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """Minutes at each of four levels of activity in each hour; what is done is a level at an hour of the day."""
    wide = pl.read_csv(paths[0])
    when = pl.col("ActivityHour").str.to_datetime("%m/%d/%Y %H:%M")
    levels = [name for name in wide.columns if name.startswith("Intensity")]
    long = wide.with_columns(when=when).unpivot(levels, index=["Id", "when"], value_name="level").drop("variable")
    counted = long.drop_nulls().group_by("Id", "when", "level").len("minutes").sort("Id", "when", "level")
    return counted.with_columns(hour=pl.col("when").dt.hour(), minutes=pl.col("minutes").cast(pl.Int64))


def topics_users(paths: Sequence[Path], users: int, seed: int) -> pl.DataFrame:
    """The five topics of each synthetic user."""
    with tarfile.open(paths[0]) as packed:
        member = packed.extractfile(packed.getmembers()[0])
        assert member is not None
        wide = pl.read_csv(io.BytesIO(member.read()), separator="\t")
    long = wide.with_row_index("user").unpivot([f"t{i}" for i in range(1, 6)], index="user", value_name="topic")
    return long.with_columns(pl.col("user", "topic").cast(pl.Int64)).drop("variable").filter(pl.col("topic") > 0)


def jha_real(paths: Sequence[Path], users: int, seed: int) -> Sites:
    """The 268 users whose rates were released, seen by two sites."""
    return _sites(populations.real(populations.read_rates(paths[0])[:users]), seed)


def jha_crossover(paths: Sequence[Path], users: int, seed: int) -> Sites:
    """Personas whose rates are those of two real users each."""
    from reidrisk_studies.jha.personas import crossover

    return _sites(crossover(populations.read_rates(paths[0]), users, seed), seed)


def _sites(rates: populations.Rates, seed: int) -> Sites:
    api = topics.TopicsAPI(rates.n_topics)
    sets = api.top_sets(rates, epochs=JHA_WEEKS, seed=seed)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    return Sites(one, two, TopKNoise(api.top_k, api.noise, rates.n_topics))


READERS: dict[str, Reader] = {
    "foursquare": foursquare,
    "online-retail": online_retail,
    "cdnow": cdnow,
    "msweb": msweb,
    "cdnow-others": cdnow_others,
    "msnbc": msnbc,
    "msnbc-others": partial(msnbc, others=True),
    "fitbit": fitbit,
    "topics-users": topics_users,
    "jha-real": jha_real,
    "jha-crossover": jha_crossover,
}
"""Readers by the format that the manifest names."""
