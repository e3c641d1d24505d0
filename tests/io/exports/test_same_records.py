"""A shuffled, re-encoded, re-typed export gives the same records."""

import json

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offices import DIALECTS, START, write
from reidrisk import io
from reidrisk.io import Reading

LABELS = st.sampled_from(
    ["Tee", "Käse", "Brot & Brötchen", "Crème; fein", "Rum, alt", "tab\\le", "Bücher|Hefte", "O'Hara"]
)
ROWS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 365), LABELS, st.integers(1, 999)), min_size=4, max_size=30
).filter(lambda rows: len({row[0] for row in rows}) < len(rows))
FORMATS = st.sampled_from([*DIALECTS, "parquet", "arrow", "text in parquet", "jsonl", "frame", "categories", "floats"])


def stored(folder, rows, form):
    """Write rows in a format, or return a frame of them."""
    if form in DIALECTS:
        return write(folder / f"log {form}", rows, dialect=form)
    frame = pl.DataFrame(rows, schema=["customer", "date", "category", "price"], orient="row")
    if form == "frame":
        return frame
    if form == "categories":
        return frame.cast({"category": pl.Categorical, "customer": pl.UInt16})
    if form == "floats":
        return frame.cast({"customer": pl.Float64, "date": pl.Datetime("ms")}).to_arrow()
    path = folder / f"log.{form.rpartition(' ')[2]}"
    if form == "text in parquet":
        frame.with_columns(pl.col("date").dt.to_string("%Y-%m-%d %H:%M"), pl.col("customer").cast(str)).write_parquet(
            path
        )
    elif form == "jsonl":
        lines = frame.with_columns(pl.col("date").dt.to_string("iso")).to_dicts()
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        getattr(frame, {"parquet": "write_parquet", "arrow": "write_ipc"}[form])(path)
    return path


@given(rows=ROWS, form=FORMATS, seed=st.integers(0, 99))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_form_of_an_export_does_not_matter(rows, form, seed, tmp_path):
    made = [(who, START + np.timedelta64(day, "D").item(), what, n / 4) for who, day, what, n in rows]
    made += [(made[0][0], START.replace(day=31), "Tee", 1.25)]  # a day beyond 12, so that dates can be read
    plain = io.read_export(stored(tmp_path, made, "frame"), Reading(items="category")).records
    shuffled = [made[i] for i in np.random.default_rng(seed).permutation(len(made))]
    said = Reading(items="category", comment="#" if form == "columns" else None)
    found = io.read_export(stored(tmp_path, shuffled, form), said).records
    assert found.users.tolist() == plain.users.tolist()
    assert found.vocabulary == plain.vocabulary
    for part in ("user", "item", "time", "amount"):
        assert (getattr(found, part) == getattr(plain, part)).all()
