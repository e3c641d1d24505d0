"""Records keep every cell of the file they were read from, and it stays theirs whatever is done with them."""

import numpy as np
import pyarrow as pa
import pytest

from reidrisk import io
from reidrisk.base import DataError
from reidrisk.records import Bags, RawTable
from reidrisk.scenarios import Split, TwoTables


def shop(seed: int = 0, n: int = 60) -> dict[str, list[object]]:
    """A log whose bill number names the person, so that a row in the wrong hands shows."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, 9, n)
    return {
        "user": [f"u{i}" for i in user],
        "item": [f"i{i}" for i in rng.integers(0, 5, n)],
        "time": [int(t) for t in rng.permutation(n)],
        "bill": [f"u{i}-{j}" for j, i in enumerate(user)],
    }


def owners(raw: RawTable, users: list[str]) -> bool:
    return all(
        bill.split("-")[0] == users[i] for bill, i in zip(raw.column("bill").to_pylist(), raw.owner, strict=True)
    )


def test_events_keep_the_cells_of_their_rows() -> None:
    log = io.read_export(shop()).records
    raw = log.raw
    assert raw.names == ("item", "time", "bill")
    assert owners(raw, log.users.to_pylist())
    assert raw.column("time").to_pylist() == log.time.astype(int).tolist()


def test_both_sides_of_a_split_hold_their_own_rows_and_no_others() -> None:
    case = Split(io.read_export(shop()).records, by="time").case(seed=1)
    known, asked = case.raw
    assert owners(known, case.targets.users.to_pylist())
    assert owners(asked, case.queries.users.to_pylist())
    assert not set(known.column("bill").to_pylist()) & set(asked.column("bill").to_pylist())


@pytest.mark.parametrize("rows", [slice(2, 5), np.array([4, 0, 4])])
def test_rows_that_are_taken_take_their_cells_along(rows: slice | np.ndarray) -> None:
    case = TwoTables(*(part.records for part in io.read_exports(shop(), shop(1)))).case()
    part = case.queries.take(rows)
    assert owners(part.raw, part.users.to_pylist())
    assert part.with_counts(part.counts.data).raw is None  # changed records are no longer those of the file


def test_a_table_of_people_keeps_columns_that_are_not_compared_and_leaves_out_rows_of_nobody() -> None:
    people = {"id": ["a", None, "c"], "age": [3, 4, 5], "note": ["x", "y", "z"]}
    read = io.read_export(people, io.Reading(layout="people", user="id", columns=("age",))).records
    assert read.raw.column("note").to_pylist() == ["x", "z"]


def test_cells_of_other_people_are_refused() -> None:
    raw = RawTable.of({"x": pa.chunked_array([[1, 2]])}, np.array([0, 1]), 2)
    with pytest.raises(DataError):
        Bags([[1]]).with_raw(raw)


def test_the_cells_stay_where_events_of_one_moment_are_a_visit():
    log = {"who": [1, 1, 2, 2], "what": ["tea", "rum", "tea", "gin"], "day": ["2024-01-01"] * 4, "price": [5, 7, 9, 2]}
    bags = io.read_export(log, io.Reading(user="who", items="what", time="day", layout="log")).records.bags()
    assert bags.visits is not None
    assert bags.raw.column("price").to_pylist() == [7, 5, 2, 9]
