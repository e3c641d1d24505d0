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
from reidrisk.io.periods import ordered_periods, ordered_texts

UNDERSTOOD = {
    "numbers in words": (["week 10", "Week 9", "week 1"], ["week 1", "Week 9", "week 10"]),
    "ISO dates": (["2024-02-01", "2023-12-31", "2024-01-31"], ["2023-12-31", "2024-01-31", "2024-02-01"]),
    "short ISO dates": (["2024-10", "2024-9"], ["2024-9", "2024-10"]),
    "ISO weeks": (["2024-W02", "2023-W52"], ["2023-W52", "2024-W02"]),
    "times with offsets": (
        ["2024-01-01T00:30:00+02:00", "2023-12-31T23:00:00+00:00"],
        ["2024-01-01T00:30:00+02:00", "2023-12-31T23:00:00+00:00"],
    ),
    "times with different offsets": (
        ["2024-01-31T23:00:00-05:00", "2024-02-01T01:00:00Z", "2024-02-01T02:30:00+01:00"],
        ["2024-02-01T01:00:00Z", "2024-02-01T02:30:00+01:00", "2024-01-31T23:00:00-05:00"],
    ),
    "fractions of a second": (
        ["2024-01-01 00:00:00.5", "2024-01-01 00:00:00.25"],
        ["2024-01-01 00:00:00.25", "2024-01-01 00:00:00.5"],
    ),
    "the day first": (["31/01/2024", "01/02/2024", "15/12/2023"], ["2023-12-15", "2024-01-31", "2024-02-01"]),
    "the month first": (["01/31/2024", "02/01/2024", "12/15/2023"], ["2023-12-15", "2024-01-31", "2024-02-01"]),
    "dots": (["31.1.2024", "1.2.2024"], ["2024-01-31", "2024-02-01"]),
    "with the time": (["31/01/2024 23:05", "01/02/2024 4:00"], ["2024-01-31 23:05:00", "2024-02-01 04:00:00"]),
    "quarters": (["2024Q1", "2023Q4"], ["2023Q4", "2024Q1"]),
    "seasons": (["2024/25", "2023/24"], ["2023/24", "2024/25"]),
    "times of the day": (["10:15", "9:30"], ["9:30", "10:15"]),
    "basic times": (["20240201T0900", "20240131T1000"], ["20240131T1000", "20240201T0900"]),
    "dates without separators": (["20240201", "20240131"], ["20240131", "20240201"]),
    "months without separators": (["202101", "202012"], ["202012", "202101"]),
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
    "a day and a month": ["31/01", "01/02", "28/02"],
    "a month and a day": ["01-31", "02-01"],
    "a day and a month around the new year": ["15/12", "15/01"],
    "quarters in front of the year": ["1Q24", "4Q23"],
    "weeks in front of the year": ["w52-23", "w01-24"],
    "a month that cannot be": ["2024-31-01", "2024-01-02"],
    "a week that cannot be": ["2024-W54", "2023-W01"],
    "two numbers and no year": ["p1w10", "p2w1"],
    "an offset and none": ["2024-01-31T23:00", "2024-02-01T01:00Z"],
    "one moment in two ways": ["2024-02-01T01:00Z", "2024-02-01T02:00+01:00"],
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


@pytest.mark.parametrize(
    "labels",
    [
        ["31012024", "01022024"],
        ["01312024", "02012023"],
        ["20243101", "20240102"],
        ["310124", "010224"],
        ["012024", "122023"],
        ["w522023", "w012024"],
        ["310120241000", "010220240900"],
    ],
)
def test_numbers_that_are_dates_with_the_year_last_are_refused_as_text_and_as_integers(labels):
    with pytest.raises(DataError, match="year last; write the year first"):
        ordered_texts("t.csv", labels)
    if not labels[0].startswith("w"):
        integers = pa.chunked_array([[int(label) for label in labels]])
        with pytest.raises(DataError, match="year last; write the year first"):
            ordered_periods("t.csv", integers)


@pytest.mark.parametrize("numbers", [[3, 1, 2], [202101, 202012], [202001, 201953], [20240201, 20240131], [-1, 32024]])
def test_other_integers_come_in_their_order(numbers):
    assert ordered_periods("t.csv", pa.chunked_array([numbers])).names == sorted(numbers)


FORMATS = [
    *(
        "%d/%m",
        "%m/%d",
        "%d.%m.",
        "%d-%m",
        "%d%m%Y",
        "%m%d%Y",
        "%Y%d%m",
        "%m%Y",
        "w%V%G",
        "w%V-%y",
        "week %V/%G",
        "%Y-%d-%m",
    ),
    *(
        "%Y-%m-%d",
        "%Y/%m",
        "%Y%m%d",
        "%Y%m",
        "%G-W%V",
        "%GW%V-%u",
        "%Y-%j",
        "%d.%m.%Y",
        "%m/%Y",
        "%d %m %Y",
        "%Y %d %m",
    ),
    *("{q}Q%y", "Q{q} %Y", "%YQ{q}", "%Y-Q{q}", "%d%m%Y%H%M", "%Y%m%d%H%M", "%d-%m-%YT%H:%M", "%Y-%m-%d %H:%M"),
]


@settings(max_examples=600, deadline=None)
@given(
    st.lists(st.datetimes(datetime(2001, 1, 1), datetime(2050, 1, 1)), min_size=2, max_size=8),
    st.sampled_from(FORMATS),
    st.booleans(),
)
def test_dates_of_any_format_come_in_the_order_of_the_calendar_or_not_at_all(moments, form, as_integers):
    moments.append(moments[0].replace(day=13, month=1))  # shows which number is the day
    moments.append(moments[0].replace(day=1, month=2))
    moments.append(moments[0].replace(day=14, month=3, year=moments[0].year - 1))
    first: dict[str, datetime] = {}  # the first moment of each label
    for moment in sorted(moments):
        first.setdefault(moment.strftime(form.replace("{q}", str((moment.month + 2) // 3))), moment)
    labels = list(first)[::-1]
    try:
        if as_integers and all(label.isdecimal() for label in labels):
            names = ordered_periods("t.csv", pa.chunked_array([[int(label) for label in labels]])).names
            order = [[int(label) for label in labels].index(name) for name in names]
        else:
            order = ordered_texts("t.csv", labels)[0]
    except DataError:
        assert form not in ("%Y-%m-%d", "%Y/%m", "%Y%m%d", "%Y%m", "%G-W%V", "%YQ{q}", "%Y-%m-%d %H:%M")
        return
    assert [first[labels[i]] for i in order] == sorted(first.values())


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
