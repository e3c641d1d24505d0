"""One row per event, one row per person, lists, traces: told apart by the columns, or as is said."""

import json

import numpy as np
import pyarrow as pa
import pytest

from reidrisk import io
from reidrisk.base.errors import DataError, OptionError
from reidrisk.io import Reading
from reidrisk.records import Attributes, Bags, Events, Traces

SURVEY = "id;Alter;PLZ;geb. Datum\n1;31;01234;13.01.1990\n2;40;01235;01.02.1985\n3;?;99999;\n"


def test_one_row_per_person_is_a_table_of_attributes(tmp_path):
    file = tmp_path / "survey.csv"
    file.write_text(SURVEY)
    found = io.read_export(file)
    assert (found.kind, type(found.records), len(found.records)) == ("people", Attributes, 3)
    assert [column.kind for column in found.records.columns] == ["number", "category", "number"]
    kinds = io.read_export(file, Reading(columns="PLZ=prefix,Alter")).records
    assert {column.name: column.kind for column in kinds.columns} == {"Alter": "number", "PLZ": "prefix"}


def test_a_survey_without_ids_is_rows_of_people(tmp_path):
    file = tmp_path / "survey.csv"
    file.write_text("age, sex, town\n31, f, Bonn\n31, m, Bonn\n40, f, Kiel\n")
    found = io.read_export(file)
    assert (found.kind, found.records.users) == ("people", None)
    assert found.records.columns[1].labels == ("f", "m")


def test_two_surveys_name_their_columns_alike():
    one, two = io.read_exports({"hours-per-week": [1, 2], "sex": ["f", "m"]}, {"sex": ["m"], "Hours_per_week": [2]})
    assert one.records.names == two.records.names == ("hours-per-week", "sex")
    assert one.records.tokens.tolist()[1] == two.records.tokens.tolist()[0]


def test_lists_are_bags_as_such_or_in_json(tmp_path):
    frame = pa.table({"user": ["ann", "bob", "eve"], "topics": [["tea", "rum", "tea"], ["rum"], []]})
    plain = io.read_export(frame)
    assert (plain.kind, type(plain.records)) == ("lists", Bags)
    assert plain.records.counts.toarray().tolist() == [[1, 2], [1, 0]]
    read = next(note for note in plain.notes if note.code == "export-read")
    assert read["dropped"] == {"item": 1}
    file = tmp_path / "lists.csv"
    rows = [f"{who}\t{json.dumps(what)}" for who, what in zip(*frame.to_pydict().values(), strict=True)]
    file.write_text("user\ttopics\n" + "\n".join(rows) + "\n")
    assert (io.read_export(file).records.counts != plain.records.counts).nnz == 0
    lines = tmp_path / "lists.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in frame.to_pylist()))
    assert (io.read_export(lines).records.counts != plain.records.counts).nnz == 0
    assert len(io.read_export(frame.select(["topics"])).records) == 2


def test_lists_with_times_are_a_log():
    frame = pa.table(
        {"user": [1, 1], "date": np.array(["2024-01-01", "2024-01-02"], "M8[D]"), "items": [["a", "b"], ["a"]]}
    )
    found = io.read_export(frame)
    assert (found.kind, type(found.records), len(found.records)) == ("log", Events, 3)


def test_tables_of_traces_are_read_as_before(tmp_path):
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text("user,epoch_0,epoch_1\nann,news,sports\nbob,music,\n")
    long.write_text("user,epoch,token\nann,0,news\nann,1,sports\nbob,0,music\n")
    for file in (wide, long):
        found = io.read_export(file)
        assert (found.kind, type(found.records)) == ("traces", Traces)
        assert (found.records.tokens == io.read_traces(file).tokens).all()
    one, two = io.read_exports(wide, long)
    assert one.records.vocabulary == two.records.vocabulary


def test_several_rows_for_one_period_are_a_log(tmp_path):
    file = tmp_path / "long.csv"
    file.write_text("user,epoch,token\nann,0,news\nann,0,sports\nbob,0,music\n")
    assert len(io.read_export(file).records) == 3
    with pytest.raises(DataError, match="one row for each"):
        io.read_export(file, Reading(layout="long"))


def test_two_of_a_kind_are_wanted():
    with pytest.raises(OptionError, match="layout="):
        io.read_exports({"user": [1, 2], "item": ["a", "b"]}, {"user": [1, 1], "item": ["a", "b"]})
    one, _ = io.read_exports(
        {"user": [1, 2], "item": ["a", "b"]}, {"user": [1, 1], "item": ["a", "b"]}, Reading(layout="log")
    )
    assert one.kind == "log"


def test_times_without_people_are_asked_for():
    frame = {"row_id": [1, 2], "date": np.array(["2024-01-01", "2024-01-02"], "M8[D]"), "item": ["a", "b"]}
    with pytest.raises(OptionError, match="user="):
        io.read_export(frame)
    assert io.read_export(frame, Reading(layout="people")).kind == "people"


def test_a_pattern_names_many_columns():
    frame = {"Id": [1, 1], "Minute00": [0, 1], "Minute01": [2, 2]}
    found = io.read_export(frame, Reading(items="minute*", channels=True)).records
    assert found.vocabulary.labels == ("Minute00=0", "Minute00=1", "Minute01=2")


CENSUS = [f"{17 + n % 60}, {'State-gov' if n % 3 else '?'}, {'f' if n % 2 else 'm'}" for n in range(300)]


@pytest.mark.parametrize(
    ("lines", "how", "row"),
    [
        (["age,class,sex", *CENSUS, "total,,"], {}, "row 301 holds 'total' in column 'age'"),
        (["|1x3 Cross validator", *CENSUS, ""], {"columns": "age,class,sex"}, "row 1 has 1 cells, not 3"),
        (["age,class,sex", *CENSUS, "Sources", ""], {}, "row 301 has 1 cells, not 3"),
    ],
)
def test_a_stray_row_is_named_and_makes_no_category_of_a_number(lines, how, row, tmp_path):
    file = tmp_path / "census.data"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=f"1 of 301 rows .*{row}.*skip_bad_rows=True"):
        io.read_export(file, Reading(**how))
    found = io.read_export(file, Reading(skip_bad_rows=True, **how))
    assert (len(found.records), found.records.columns[0].kind) == (300, "number")
    assert next(note for note in found.notes if note.code == "bad-rows")["n"] == 1


def test_what_is_no_number_often_is_a_category_and_codes_are_no_numbers(tmp_path):
    file = tmp_path / "survey.csv"
    rows = [f"{n % 4 if n % 10 else '4+'},{n % 50:03d},{'NA' if n % 7 == 0 else n}" for n in range(200)]
    file.write_text("children,code,income\n" + "\n".join(rows) + "\n")
    found = io.read_export(file)
    assert [column.kind for column in found.records.columns] == ["category", "category", "number"]
    assert int((found.records.tokens[:, 2] < 0).sum()) == 29
