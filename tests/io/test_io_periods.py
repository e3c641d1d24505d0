"""Periods are put in order only where their order is understood."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import io
from reidrisk.base.errors import DataError
from reidrisk.io.periods import ordered_texts

UNDERSTOOD = {
    "numbers in words": (["week 10", "Week 9", "week 1"], ["week 1", "Week 9", "week 10"]),
    "ISO dates": (["2024-02-01", "2023-12-31", "2024-01-31"], ["2023-12-31", "2024-01-31", "2024-02-01"]),
    "short ISO dates": (["2024-10", "2024-9"], ["2024-9", "2024-10"]),
    "ISO weeks": (["2024-W02", "2023-W52"], ["2023-W52", "2024-W02"]),
    "times with offsets": (
        ["2024-01-01T00:30:00+02:00", "2023-12-31T23:00:00+00:00"],
        ["2024-01-01T00:30:00+02:00", "2023-12-31T23:00:00+00:00"],
    ),
    "fractions of a second": (
        ["2024-01-01 00:00:00.5", "2024-01-01 00:00:00.25"],
        ["2024-01-01 00:00:00.25", "2024-01-01 00:00:00.5"],
    ),
    "the day first": (["31/01/2024", "01/02/2024", "15/12/2023"], ["2023-12-15", "2024-01-31", "2024-02-01"]),
    "the month first": (["01/31/2024", "02/01/2024", "12/15/2023"], ["2023-12-15", "2024-01-31", "2024-02-01"]),
    "dots": (["31.1.2024", "1.2.2024"], ["2024-01-31", "2024-02-01"]),
    "with the time": (["31/01/2024 23:05", "01/02/2024 4:00"], ["2024-01-31 23:05:00", "2024-02-01 04:00:00"]),
    "one word": (["before"], ["before"]),
    "years": (["2024", "1999"], ["1999", "2024"]),
    "the same year last": (["Q2 2024", "Q1 2024"], ["Q1 2024", "Q2 2024"]),
}

NOT_UNDERSTOOD = {
    "months": ["jan", "feb", "nov", "dec"],
    "months and years": ["Jan 2024", "Feb 2024"],
    "months of another language": ["März", "Mai"],
    "days of the week": ["Mon", "Tue"],
    "words": ["before", "after"],
    "ambiguous dates": ["01/02/2024", "03/04/2024"],
    "both ways": ["31/01/2024", "01/31/2024"],
    "years of two digits": ["31/01/24", "01/02/24"],
    "a date that does not exist": ["31/02/2024", "01/03/2024"],
    "two separators": ["31/01/2024", "01.02.2024"],
    "dates beside ISO dates": ["31/01/2024", "2024-02-01"],
    "dates beside times": ["31/01/2024", "01/02/2024 10:00"],
    "twelve hours": ["31/01/2024 10:00 PM", "01/02/2024 09:00 AM"],
    "twelve hours alone": ["10:00 pm", "9:00 pm"],
    "the year last": ["Q1 2024", "Q4 2023"],
    "the month and the year": ["01-2024", "12-2023"],
    "fractions or numbers of two parts": ["1.5", "1.10"],
    "an ISO time that does not exist": ["2024-13-01 00:00", "2024-01-01 00:00"],
}


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_periods_whose_order_is_understood(case):
    given_labels, wanted = UNDERSTOOD[case]
    for labels in (given_labels, given_labels[::-1]):
        order, names, _ = ordered_texts("t.csv", labels)
        assert names == wanted
        assert sorted(order) == list(range(len(labels)))


@pytest.mark.parametrize("case", NOT_UNDERSTOOD)
def test_periods_whose_order_is_not_understood_are_refused_with_what_to_do(case, tmp_path: Path):
    rows = "".join(f"ann,{label},{token}\n" for token, label in enumerate(NOT_UNDERSTOOD[case]))
    file = tmp_path / "t.csv"
    file.write_text("user,epoch,token\n" + rows)
    with pytest.raises(DataError) as caught:
        io.read_traces(file)
    message = str(caught.value)
    assert str(file) in message
    assert "write" in message
    assert any(repr(label) in message for label in NOT_UNDERSTOOD[case]) or case == "dates beside times"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dates(date(1990, 1, 1), date(2050, 1, 1)), min_size=2, max_size=8, unique=True), st.booleans())
def test_dates_come_in_the_order_of_the_calendar_or_not_at_all(days, day_first):
    form = "%d/%m/%Y" if day_first else "%m/%d/%Y"
    labels = [day.strftime(form) for day in days]
    if any(day.day > 12 for day in days):
        order, names, notes = ordered_texts("t.csv", labels)
        assert [days[i] for i in order] == sorted(days)
        assert names == [str(day) for day in sorted(days)]
        assert len(notes) == 1
        assert (notes[0]["first"] == "day") == day_first
    else:
        with pytest.raises(DataError, match="day first or the month"):
            ordered_texts("t.csv", labels)


def test_tokens_follow_the_calendar_and_the_reading_is_noted(tmp_path: Path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("user,epoch,token\nann,01/02/2024,2\nann,31/01/2024,1\nann,15/12/2023,0\n")
    b.write_text("user,epoch,token\nann,2024-01-31,1\nann,2023-12-15,0\nann,2024-02-01,2\n")
    assert io.read_traces(a).tokens.tolist() == [[0, 1, 2]]
    pair = io.read_pair(a, b)  # the same days, written in another way, are the same epochs
    assert pair.targets.tokens.tolist() == pair.queries.tokens.tolist() == [[0, 1, 2]]
    assert [note for note in pair.notes if note.get("first") == "day" and note["proof"] == "'31/01/2024'"]


def test_very_long_numbers_are_compared_without_being_read(tmp_path: Path):
    long = ["9" * 60_000, "1" + "0" * 60_000, "8" * 60_000]
    assert ordered_texts("t.csv", long)[1] == [long[2], long[0], long[1]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_have_one_name_whatever_their_unit(unit, tmp_path: Path):
    days = [datetime(2024, 2, 1, tzinfo=UTC), datetime(2023, 12, 31, 10, 30, tzinfo=UTC)]
    for name, kind in (("a", pa.timestamp(unit, "UTC")), ("b", pa.timestamp("us"))):
        times = pa.array([day.replace(tzinfo=None) for day in days], pa.timestamp("us")).cast(kind)
        pq.write_table(pa.table({"user": [1, 1], "epoch": times, "token": [1, 0]}), tmp_path / f"{name}.parquet")
    pair = io.read_pair(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert pair.targets.tokens.tolist() == pair.queries.tokens.tolist() == [[0, 1]]


def test_nanoseconds_and_far_years_sort(tmp_path: Path):
    times = pa.array([2**62 + 1, 2**62, -(2**62)], pa.int64()).cast(pa.timestamp("ns"))
    pq.write_table(pa.table({"user": [1, 1, 1], "epoch": times, "token": [2, 1, 0]}), tmp_path / "t.parquet")
    assert io.read_traces(tmp_path / "t.parquet").tokens.tolist() == [[0, 1, 2]]
    times = pa.array([2**61, -(2**61)], pa.int64()).cast(pa.timestamp("s"))
    far = pa.table({"user": [1, 1], "epoch": times, "token": [1, 0]})
    assert io.traces_from_frame(far).tokens.tolist() == [[0, 1]]
