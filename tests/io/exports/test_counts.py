"""A table of counts, one row per person and one column per item, is read as bags: zeros are no agreement."""

import numpy as np
import polars as pl
import pytest

from reidrisk import attacks, io, measure
from reidrisk.base import DataError
from reidrisk.records import Attributes, Bags


def purchases(seed: int = 0, n: int = 200, m: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Two observations of the same people, 25 purchases each."""
    rng = np.random.default_rng(seed)
    taste = rng.dirichlet(np.full(m, 0.15), n)
    return tuple(np.array([rng.multinomial(25, one) for one in taste]) for _ in range(2))


def pivot(counts: np.ndarray) -> dict[str, object]:
    people = {"customer": [f"c{i:04d}" for i in range(len(counts))]}
    return people | {f"prod_{j:03d}": counts[:, j] for j in range(counts.shape[1])}


@pytest.mark.parametrize("as_csv", [True, False])
def test_counts_give_the_rate_of_the_same_bags(as_csv, tmp_path):
    sides = purchases()
    tables = [pl.DataFrame(pivot(side)) for side in sides]
    if as_csv:
        paths = [tmp_path / f"{name}.csv" for name in "ab"]
        for table, path in zip(tables, paths, strict=True):
            table.write_csv(path)
        tables = paths
    read = io.read_exports(*tables)
    assert [export.kind for export in read] == ["counts", "counts"]
    known, asked = (export.records for export in read)
    assert (known.counts.toarray() == sides[0]).all()
    truth = np.arange(len(known))
    rates = [
        measure.random_user(attacks.Hellinger(), one, two, truth).rate
        for one, two in ((known, asked), (Bags(sides[0]), Bags(sides[1])))
    ]
    assert rates[0] == rates[1] > 0.5


def test_a_pivot_with_gaps_and_tables_of_other_columns_are_one_vocabulary():
    counts, other = purchases()
    gaps = pl.DataFrame(pivot(counts)).with_columns(pl.selectors.numeric().replace(0, None).cast(pl.Float64))
    one, two = io.read_exports(gaps, {name: v for name, v in pivot(other).items() if name != "prod_003"})
    assert one.records.vocabulary == two.records.vocabulary
    assert (one.records.counts.toarray() == counts).all()


def test_people_with_ages_and_answers_are_no_counts():
    rng = np.random.default_rng(1)
    people = {"id": np.arange(50)} | {f"q{i}": rng.integers(1, 6, 50) for i in range(12)}
    assert isinstance(io.read_export(people).records, Attributes)


def test_counts_that_are_none_are_refused_in_one_line():
    with pytest.raises(DataError, match="whole numbers"):
        io.read_export({"id": [1, 2], "a": [0.5, 1.0], "b": [1, 2]}, io.Reading(layout="counts", user="id"))
