"""Codes keep their text, damage is refused in one line or noted, and sizes count what is read, not what is stored."""

import gzip
import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offices import workbook
from reidrisk import io
from reidrisk.base.errors import DataError, FormatError, OptionError, ReidRiskError, SizeError
from reidrisk.io import Reading
from reidrisk.io.exports.source import open_source
from reidrisk.present import words


def log(items, **columns):
    """Return a log in which two people hold some items, three times each."""
    return {"user": [1, 2] * (3 * len(items)), "item": [item for item in items for _ in range(6)], **columns}


def text(folder, lines, name="log.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def codes(found):
    return {note.code for note in found.notes}


@pytest.mark.parametrize("items", [["4.1", "4.10"], ["1E2", "100"], ["+1", "1"], ["1.0", "1"], ["0.50", "0.5"]])
def test_two_texts_are_two_items_in_both_of_two_tables(items):
    numbers = {"user": [1, 2], "item": ["4.1", "100"]}  # reads as numbers, were it alone
    one, two = io.read_exports(log(items), numbers, Reading(layout="log"))
    assert set(items) <= set(one.records.vocabulary.labels)
    other, same = io.read_exports(numbers, log(items), Reading(layout="log"))
    assert one.records.vocabulary == two.records.vocabulary == other.records.vocabulary == same.records.vocabulary


def test_what_is_a_code_in_one_table_is_one_in_the_other():
    fixed = {"user": [1, 2], "item": ["4.10", "4.20"]}
    assert io.read_export(fixed, Reading(layout="log")).records.vocabulary.labels == ("4.1", "4.2")
    for sides in ((fixed, log(["4.1", "4.10"])), (log(["4.1", "4.10"]), fixed)):
        found = io.read_exports(*sides, Reading(layout="log"))[0].records
        assert found.vocabulary.labels == ("4.1", "4.10", "4.20")


def test_case_is_merged_over_both_tables():
    one, two = io.read_exports(log(["Tea", "rum"]), log(["TEA", "Rum", "gin"]), Reading(merge_case=True))
    assert one.records.vocabulary.labels == two.records.vocabulary.labels == ("Tea", "gin", "rum")
    a, b = io.read_exports(
        {"id": [1, 2], "town": ["Bonn", "Kiel"]}, {"id": [1, 2], "town": ["BONN", "kiel "]}, Reading(merge_case=True)
    )
    assert (a.records.tokens == b.records.tokens).all()


def test_long_attributes_are_codes_and_numbers_written_twice_are_noted():
    people = {"id": range(60), "code": [f"894910000000000000{n:02}" for n in range(60)]}
    (column,) = io.read_export(people).records.columns
    assert (column.kind, len(column)) == ("category", 60)
    people = {"id": range(40), "size": [f"{n}.5" for n in range(38)] + ["7.50", "8.50"]}
    found = io.read_export(people)
    assert found.records.columns[0].kind == "number"
    assert next(note for note in found.notes if note.code == "numbers-written-twice")["n"] == 2


@pytest.mark.parametrize(("column", "values", "role"), [
    ("date", ["soon", "later"], "time"),
    ("Datum", ['{"$date": 1}', '{"$date": 2}'], "time"),
    ("menge", ["3 kg", "4 kg"], "amount"),
    ("quantity", ["3.5", "4.5"], "amount"),
    ("quantity", ["3.000", "4.000"], "amount"),
])  # fmt: skip
def test_a_column_that_is_called_so_and_cannot_be_read_is_noted_or_refused(column, values, role):
    frame = log(["tea", "rum"]) | {column: values * 6}
    note = next(note for note in io.read_export(frame).notes if note.code == "unreadable-column")
    assert (note["column"], note["role"]) == (column, role)
    assert column in words.sentence(note)
    with pytest.raises(DataError, match=f"{column}.*{role}=|{column}.*name another"):
        io.read_export(frame, Reading(**{role: column}))
    assert "unreadable-column" not in codes(io.read_export(frame, Reading(**{role: "none"})))


def test_a_date_beside_lists_is_noted_as_well():
    frame = pa.table({"user": [1, 1, 2], "date": ["soon", "later", "now"], "items": [["a"], ["b"], ["a"]]})
    assert [note["column"] for note in io.read_export(frame).notes if note.code == "unreadable-column"] == ["date"]


def test_signs_of_damage_are_noted(tmp_path):
    rows = [f"{2.98 + n / 100:.2f}E+13,tea" for n in range(4)] * 3
    note = next(note for note in io.read_export(text(tmp_path, ["user,item", *rows])).notes if "scien" in note.code)
    assert (note["column"], note["n"]) == ("user", 12)
    days = [f"1,{'21-07-2015' if n % 2 else '5/1/2015'},tea" for n in range(40)]
    assert "mixed-date-orders" in codes(io.read_export(text(tmp_path, ["user,date,item", *days])))
    days = [f"1,{n % 28 + 1:02}-{n // 28 % 12 + 1:02}-2015,tea" for n in range(400)]
    assert "mixed-date-orders" not in codes(io.read_export(text(tmp_path, ["user,date,item", *days])))
    days[7] = "1,07-21-2015,tea"
    found = io.read_export(text(tmp_path, ["user,date,item", *days]), Reading(skip_bad_rows=True))
    assert {"mixed-date-orders", "bad-rows"} <= codes(found)


def test_one_rule_for_zones_in_all_formats(tmp_path):
    rows = [{"user": n % 2, "date": f"2024-01-0{n + 1}T10:00:00+02:00", "item": "tea"} for n in range(6)]
    lines = text(tmp_path, map(json.dumps, rows), "log.jsonl")
    table = text(tmp_path, ["user,date,item", *(",".join(map(str, row.values())) for row in rows)])
    times = pa.compute.assume_timezone(
        pa.array([row["date"][:19] for row in rows]).cast(pa.timestamp("s")), "Etc/GMT-2"
    )
    frame = pa.table({"user": [0, 1] * 3, "date": times, "item": ["tea"] * 6})
    for given in (lines, table, frame):
        found = io.read_export(given)
        assert set((found.records.time % 86_400).tolist()) == {36_000.0}
        assert "zone-left-out" in codes(found)


@pytest.mark.parametrize("content", [
    '{"user": 1, "item": "café"}\n'.encode("latin-1"),
    b'{"user": 1, "item": "x\\ud800"}\n',
    b'[{"user": 1, "item": "x\\udfff"}]',
])  # fmt: skip
def test_json_that_is_no_text_is_one_line(content, tmp_path):
    (tmp_path / "log.jsonl").write_bytes(content)
    with pytest.raises(FormatError, match=r"log\.jsonl"):
        io.read_export(tmp_path / "log.jsonl")


def test_a_damaged_head_of_an_array_is_one_line(tmp_path):
    np.save(tmp_path / "v.npy", np.eye(4))
    whole = (tmp_path / "v.npy").read_bytes()
    for at in range(10, 70):
        (tmp_path / "v.npy").write_bytes(whole[:at] + b"x" + whole[at + 1 :])
        with pytest.raises(ReidRiskError, match=r"v\.npy") as refused:
            io.read_export(tmp_path / "v.npy")
        assert "\n" not in str(refused.value)


def test_ids_of_bytes_are_read_as_text(tmp_path):
    ids = [bytes([255 - n]) * 16 for n in (0, 1, 0, 1)]
    table = pa.table({"user": pa.array(ids, pa.binary(16)), "item": pa.array([b"tea", b"rum", b"\xff", b"tea"])})
    pq.write_table(table, tmp_path / "log.parquet")
    found = io.read_export(tmp_path / "log.parquet").records
    assert found.users.to_pylist() == ["fefefefe-fefe-fefe-fefe-fefefefefefe", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
    assert found.vocabulary.labels == ("0xff", "rum", "tea")


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.txt", "log.xlsx", "log.parquet", "log.arrow", "log.npz"])
def test_the_bound_on_bytes_counts_what_is_unpacked(name, tmp_path, monkeypatch):
    path, n = tmp_path / name, 40_000
    frame = {"user": np.arange(n) // 9_999, "item": ["tea"] * n}
    table = pa.table(frame)
    if name.endswith(("csv", "txt")):
        path.write_bytes(gzip.compress(b"user,item\n" + b"1,tea\n" * n))
    elif name.endswith("jsonl"):
        path.write_bytes(gzip.compress(b'{"user": 1, "item": "tea"}\n' * n))
    elif name.endswith("xlsx"):
        workbook(path, list(frame), [(1, "tea")] * 5_000)
    elif name.endswith("parquet"):
        pq.write_table(table, path, use_dictionary=False, compression="zstd")
    elif name.endswith("arrow"):
        with pa.ipc.new_file(str(path), table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as sink:
            sink.write_table(table)
    else:
        np.savez_compressed(path, user=frame["user"], item=np.array(frame["item"]))
    assert len(io.read_export(path, Reading(layout="log")).records) >= 5_000
    monkeypatch.setenv("REIDRISK_MAX_BYTES", "150000")
    assert path.stat().st_size < 130_000
    with pytest.raises(SizeError, match="REIDRISK_MAX_BYTES"):
        io.read_export(path, Reading(layout="log"))


def test_the_first_sheet_that_is_shown_is_read_and_merged_cells_are_refused(tmp_path):
    rows = [(1, "tea"), (1, "rum"), (2, "tea")]
    workbook(tmp_path / "a.xlsx", ("user", "item"), rows, before=[("old", [("user", "item"), (9, "gin"), (9, "ale")])])
    found = io.read_export(tmp_path / "a.xlsx")
    assert (found.records.vocabulary.labels, len(found.records)) == (("rum", "tea"), 3)
    assert next(note for note in found.notes if note.code == "first-sheet")["sheet"] == "Export"
    workbook(tmp_path / "b.xlsx", ("user", "item"), [(1, "tea"), (None, "rum"), (2, "tea")], merges=["A2:A3"])
    with pytest.raises(FormatError, match="A2:A3"):
        io.read_export(tmp_path / "b.xlsx")
    assert zipfile.is_zipfile(tmp_path / "b.xlsx")


@pytest.mark.parametrize("mark", "^~:#/\x01")
def test_rare_delimiters_are_found_or_asked_for(mark, tmp_path):
    rows = ["user^date^item", *(f"{n % 3}^2024-01-{n + 10}^tea" for n in range(9))]
    found = io.read_export(text(tmp_path, [row.replace("^", mark) for row in rows]))
    assert (found.how["delimiter"], len(found.records)) == (mark, 9)
    odd = [row.replace("^", mark) + f"{mark}x" * (at % 4) for at, row in enumerate(rows)]
    with pytest.raises(OptionError, match="delimiter="):
        io.read_export(text(tmp_path, odd))


def test_rows_are_counted_from_one_everywhere(tmp_path):
    rows = [f"{n % 2},2024-01-{n + 2:02},{n},tea" for n in range(20)]
    for wrong in ("1,soon,3,tea", "1,2024-01-02,many,tea", "1,2024-01-02,3,tea,x", "1,2024-02-30,3,tea"):
        lines = ["user,date,amount,item", rows[0], wrong, *rows]
        with pytest.raises(DataError, match=r"row 2\b"):
            io.read_export(text(tmp_path, lines), Reading(amount="amount", time="date"))
    with pytest.raises(DataError, match=r"row 2\b"):
        io.read_export({"user": [1, 1], "item": ["a", "b"], "n": [1.0, 1.5]}, Reading(amount="n", layout="log"))
    with pytest.raises(DataError, match=r"row 2\b"):
        io.read_export({"user": [1, 1], "item": ["a", "b"], "n": [1.0, 1e300]}, Reading(amount="n", layout="log"))
    with pytest.raises(DataError, match=r"row 2\b"):
        io.read_export({"user": [1, 1], "item": ["a", "b"], "at": [1.0, np.inf]}, Reading(time="at", layout="log"))
    gap = {"id": [1, 2], "v": pa.array([[1.0, 2.0], [3.0, np.nan]])}
    np.save(tmp_path / "gap.npy", np.array([[1.0, 2.0], [3.0, np.inf]]))
    for given in (pa.table(gap), tmp_path / "gap.npy"):
        with pytest.raises(DataError, match=r"row 2 holds (nan|inf) at dimension 2\b"):
            io.read_export(given)
    with pytest.raises(DataError, match=r"rows 1 and 3\b"):
        io.read_export({"user": [1, 2, 1], "town": ["a", "b", "b"]}, Reading(layout="people"))
    text(tmp_path, ['{"user": 1, "item": "a"}', "", "[1]", '{"user": 1, "item": "b"}'], "log.jsonl")
    with pytest.raises(DataError, match=r"row 2\b"):
        io.read_export(tmp_path / "log.jsonl")


@pytest.mark.parametrize(
    ("cell", "is_list"),
    [
        ("[]", True),
        ('["a", "b"]', True),
        ("[1, 2]", True),
        ("[-1.5]", True),
        ("[null, 3]", True),
        ("[13/Feb/2024:14:07:00 +0100]", False),
        ("[a]", False),
        ("[2024-02-13 10:00]", False),
    ],
)
def test_a_time_in_brackets_is_no_list(cell, is_list):
    source = open_source({"x": [cell] * 3}, io.Reading())
    assert source.holds_json_lists("x") == is_list
