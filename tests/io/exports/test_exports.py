"""Raw logs go in as they are; what was understood, left out and merged is noted."""

import gzip
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from reidrisk import io
from reidrisk.base.errors import DataError, FormatError, OptionError
from reidrisk.io import Reading

ROWS = [
    ("ann", date(2024, 1, 13), "Tea", 2),
    ("bob", date(2024, 2, 1), "Rum", 1),
    ("ann", date(2024, 3, 5), "Crème", 3),
]


def same(one, other):
    assert list(map(str, one.users.tolist() if hasattr(one.users, "tolist") else one.users)) == list(
        map(str, other.users.tolist() if hasattr(other.users, "tolist") else other.users)
    )
    assert one.vocabulary == other.vocabulary
    assert (one.user == other.user).all()
    assert (one.item == other.item).all()
    assert (one.amount == other.amount).all()
    assert (one.time is None) == (other.time is None)
    assert one.time is None or (one.time == other.time).all()


def written(folder, delimiter=",", day="%Y-%m-%d", encoding="utf-8", end="\n", name="shop.csv"):
    lines = [delimiter.join(("customer", "date", "category", "quantity"))]
    lines += [delimiter.join((who, when.strftime(day), what, str(n))) for who, when, what, n in ROWS]
    path = folder / name
    content = (end.join(lines) + end).encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


DIALECTS = {
    "plain": {},
    "semicolons": {"delimiter": ";"},
    "tabs": {"delimiter": "\t", "name": "shop.txt"},
    "bars": {"delimiter": "|"},
    "blanks": {"delimiter": " ", "name": "shop.dat"},
    "windows": {"delimiter": ";", "encoding": "cp1252", "end": "\r\n", "day": "%d.%m.%Y"},
    "mark": {"encoding": "utf-8-sig", "day": "%m/%d/%Y"},
    "utf-16": {"encoding": "utf-16", "delimiter": "\t", "day": "%Y%m%d"},
    "packed": {"name": "shop.csv.gz", "day": "%d-%b-%Y"},
    "no ending": {"name": "shop", "day": "%B %d, %Y", "delimiter": ";"},
}


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_dialect_changes_nothing(dialect, tmp_path):
    plain = io.read_export(written(tmp_path, name="plain.csv"))
    found = io.read_export(written(tmp_path, **dialect))
    same(found.records, plain.records)
    assert (found.how["user"], found.how["time"], found.how["items"]) == ("customer", "date", ["category"])
    assert found.how["amount"] == "quantity"


TIMES = {
    "12/1/2010 8:26": "2010-12-01T08:26",
    "13.11.2024 8": "2024-11-13T08:00",
    "2024-11-13T08:26:30.5Z": "2024-11-13T08:26:30.5",
    "2024-W05": "2024-01-29",
    "2024-W53-1": None,
    "1700000000": "2023-11-14T22:13:20",
    "1700000000500": "2023-11-14T22:13:20.5",
    "19970101": "1997-01-01",
    "20240229T0815": "2024-02-29T08:15",
    "4/13/2016 1:05:00 PM": "2016-04-13T13:05",
    "4/13/2016 12:05:00 AM": "2016-04-13T00:05",
    "1 Nov 2024 08:00": "2024-11-01T08:00",
    "2024-11": "2024-11-01",
    "01.11.24": None,
}


@pytest.mark.parametrize(("text", "moment"), TIMES.items())
def test_a_time_is_what_it_says(text, moment, tmp_path):
    first = {"12/1/2010 8:26": "12/13/2010 8:26"}.get(text, text)
    log = tmp_path / "log.csv"
    log.write_text(f"user;when;item\n1;{text};a\n1;{first};b\n")
    if moment is None:
        with pytest.raises((DataError, OptionError)):
            io.read_export(log, Reading(time="when"))
        return
    found = io.read_export(log, Reading(time="when")).records
    at = found.time[found.item == 0][0]
    assert at == np.datetime64(moment, "us").astype(np.int64) / 1e6


def test_the_day_must_show_or_be_said(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user;date;item\n1;01.11.2024;a\n1;02.10.2024;b\n")
    with pytest.raises(OptionError, match="dates="):
        io.read_export(log)
    for dates, month in (("day-first", 11), ("month-first", 1)):
        found = io.read_export(log, Reading(dates=dates)).records
        assert found.time[found.item == 0][0] == np.datetime64(f"2024-{month:02}-{12 - month:02}", "s").astype(int)
    log.write_text("user;date;item\n1;13.11.2024;a\n1;11.13.2024;b\n")
    with pytest.raises(DataError, match="one way"):
        io.read_export(log)


def test_what_is_ambiguous_is_asked_back(tmp_path):
    log = tmp_path / "log.csv"
    for header, option in (
        ("client,member,date,item", "user="),
        ("client,order_date,invoice_date,item", "time="),
        ("client,date,product,shop", "items="),
        ("client,date,steps,distance", "items="),
    ):
        log.write_text(f"{header}\n1,2024-01-01,2024-01-02,x\n1,2024-01-01,2024-01-03,y\n2,2024-01-01,2024-01-02,y\n")
        with pytest.raises(OptionError, match=option):
            io.read_export(log)


def test_bad_rows_are_named_and_skipped_on_demand(tmp_path):
    log = tmp_path / "log.csv"
    rows = [f"{n % 9},2024-01-{n % 28 + 1:02},tea" for n in range(100)]
    rows[3], rows[50], rows[70] = "1,2024-13-01,tea", "2,2024-01-02,tea,rum", "3,soon,tea"
    log.write_text("user,date,item\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match=r"3 of 100 rows .*row 51 has 4 cells.*skip_bad_rows=True"):
        io.read_export(log)
    found = io.read_export(log, Reading(skip_bad_rows=True))
    assert len(found.records) == 97
    note = next(note for note in found.notes if note.code == "bad-rows")
    assert (note["n"], note["of"], len(note["first"])) == (3, 100, 3)
    assert not any("soon" in place for place in note["first"])


def test_returns_and_rows_of_nobody_are_counted(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("CustomerID,Quantity,Description\n7.0,2,tea\n,1,tea\n7.0,-2,tea\n8.0,1,rum\n8.0,0,rum\n")
    found = io.read_export(log)
    note = next(note for note in found.notes if note.code == "export-read")
    assert note["dropped"] == {"user": 1, "zero": 1, "returned": 1}
    assert (note["rows"], note["events"], found.records.users.tolist()) == (5, 2, [7, 8])


def test_labels_that_differ_in_case_are_counted_and_merged_on_demand():
    frame = {"user": list(range(60)) * 2, "item": ["Tea", "tea ", "rum"] * 40}
    found = io.read_export(frame)
    note = next(note for note in found.notes if note.code == "labels-alike")
    assert (note["labels"], note["merged"], note["shown"]) == (2, 1, [["Tea", "tea"]])
    merged = io.read_export(frame, Reading(merge_case=True)).records
    assert merged.vocabulary.labels == ("Tea", "rum")
    alone = io.read_export({"user": [1, 1, 2], "item": ["Tea", "tea", "rum"]})
    assert next(note for note in alone.notes if note.code == "labels-alike")["shown"] == []


def test_channels_are_kept_apart_and_columns_joined():
    frame = {"user": [1, 1, 2], "place": ["bar", "home", "bar"], "what": ["tea", "tea", None]}
    joined = io.read_export(frame, Reading(items=("place", "what"))).records
    assert joined.vocabulary.labels == ("bar / ", "bar / tea", "home / tea")
    apart = io.read_export(frame, Reading(items=("place", "what"), channels=True)).records
    assert apart.vocabulary.labels == ("place=bar", "place=home", "what=tea")
    assert len(apart) == 5


def test_a_header_that_is_missing_is_named(tmp_path):
    log = tmp_path / "friends.dat"
    log.write_text("2\t275\n2\t428\n3\t275\n")
    with pytest.raises(OptionError, match="columns="):
        io.read_export(log)
    assert len(io.read_export(log, Reading(columns="user,friend")).records) == 3


def test_two_exports_come_over_one_vocabulary(tmp_path):
    one, two = io.read_exports(
        written(tmp_path, name="a.csv"),
        {"client": ["bob", "bob"], "day": [date(2024, 1, 1)] * 2, "product": ["Ale", "Tea"]},
    )
    assert one.records.vocabulary == two.records.vocabulary
    assert one.records.vocabulary.labels == ("Ale", "Crème", "Rum", "Tea")
    first, second = io.read_exports(
        {"x": [1, 1], "y": ["a", "b"]}, {"x1": [1, 1], "y1": ["a", "b"]}, Reading(user="x=x1", items="y=y1")
    )
    same(first.records, second.records)


def test_coordinates_become_places():
    frame = {"user": [1, 1, 2], "lat": [52.52, 52.5201, 48.1], "lon": [13.405, 13.4051, 11.6]}
    with pytest.raises(OptionError, match="grid="):
        io.read_export(frame)
    found = io.read_export(frame, Reading(grid="500m"))
    assert found.records.n_tokens == 2
    with pytest.raises(DataError, match="latitude"):
        io.read_export(frame | {"lat": [520.0, 1.0, 1.0]}, Reading(grid="500m"))


def test_what_is_no_table_is_refused_in_one_line(tmp_path):
    for given in (3, object(), None):
        with pytest.raises(DataError):
            io.read_export(given)
    for name, content in (("a.parquet", b"PAR2"), ("a.csv", b""), ("a.csv", b"\xff\xfe\x00"), ("a.xlsx", b"user")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((FormatError, DataError, OptionError)):
            io.read_export(tmp_path / name)


def test_frames_of_several_libraries_say_the_same():
    days = [date(2024, 1, 1) + timedelta(days=n) for n in range(9)]
    frame = pl.DataFrame({"user": ["a", "b", "c"] * 3, "date": days, "item": list("xyzxyzxyz")})
    plain = io.read_export(frame).records
    same(io.read_export(frame.to_arrow()).records, plain)
    same(io.read_export(frame.cast({"item": pl.Categorical})).records, plain)
    same(io.read_export({name: frame[name].to_list() for name in frame.columns}).records, plain)


@pytest.mark.parametrize(
    ("day", "clocks"),
    [
        ("2024-01-{:02}", ("08:30", "20:15")),
        ("{:02}.01.2024", ("8.30", "20h15")),
        ("01/{:02}/2024", ("8:30 AM", "8:15 pm")),
    ],
)
def test_a_clock_in_a_column_of_its_own_is_joined_to_the_date(day, clocks, tmp_path):
    log = tmp_path / "log.csv"
    rows = [f"{n % 3};{day.format(n % 28 + 1)};{clocks[n % 2]};tea" for n in range(60)]
    log.write_text("customer;date;time;item\n" + "\n".join(rows) + "\n")
    found = io.read_export(log)
    assert (found.how["time"], found.how["clock"], found.how["unused"]) == ("date", "time", [])
    assert set((found.records.time % 86_400).tolist()) == {8.5 * 3600, 20.25 * 3600}
    log.write_text("customer;date;time;item\n" + "\n".join([*rows, "1;" + day.format(3) + ";25:00;tea"]) + "\n")
    with pytest.raises(DataError, match=r"1 of 61 rows .*'25:00' in column 'time'"):
        io.read_export(log)


def test_a_date_with_a_clock_of_its_own_is_left_alone(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user;date;delivery_time;item\n1;2024-01-13 08:00;09:30;a\n1;2024-01-14 09:00;10:00;b\n")
    found = io.read_export(log)
    assert (found.how["clock"], found.how["unused"]) == (None, ["delivery_time"])


def test_a_column_of_one_value_is_no_candidate_for_what_people_did(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("client,date,product,shop\n1,2024-01-01,tea,A\n1,2024-01-02,rum,A\n2,2024-01-03,tea,A\n")
    assert io.read_export(log).how["items"] == ["product"]
