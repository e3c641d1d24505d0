"""True pairs of any two columns, ids in one form, and frames in memory."""

import numpy as np
import polars as pl
import pytest

from reidrisk import io
from reidrisk.base.errors import DataError, OptionError, TruthError
from reidrisk.base.users import as_users
from reidrisk.io.exports.pairs import read_pairs

A, B = as_users([11, 12, 13], 3), as_users(["x", "y", "z"], 3)


def test_any_two_columns_are_pairs(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("no;Partner_ID;crm_id\n1;y;11\n2;x;13\n3;w;12\n4;z;99\n")
    rows, notes = read_pairs(f"{file}:crm_id=partner_id", A, B)
    assert rows.tolist() == [2, 0, -1]
    assert [(note.code, note["pairs"], note["targets"], note["queries"]) for note in notes] == [
        ("pairs-absent", 4, 1, 1)
    ]
    with pytest.raises(TruthError, match="COLUMN=COLUMN"):
        read_pairs(file, A, B)
    with pytest.raises(TruthError, match="no pair"):
        read_pairs(f"{file}:no=crm_id", A, B)
    with pytest.raises(OptionError, match="no column"):
        read_pairs(f"{file}:crm_id=nobody", A, B)


def test_named_columns_and_mappings_may_be_the_other_way_round(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("target,query\ny,11\nx,13\n")
    for given in (file, f"{file}:query=target", f"{file}:target=query", {11: "y", 13: "x"}, {"y": 11, "x": 13}):
        assert read_pairs(given, A, B)[0].tolist() == [2, 0, -1]
    assert read_pairs({11: 12, 12: 11}, A, A)[0].tolist() == [1, 0, -1]
    for strangers in ({}, {"eve": "mallory"}):
        with pytest.raises(TruthError, match="no pair"):
            read_pairs(strangers, A, B)


def test_two_columns_are_told_apart_by_the_tables():
    for names in (("a", "b"), ("b", "a")):
        pairs = dict(zip(names, ([11, 12], ["x", "y"]) if names[0] == "a" else (["x", "y"], [11, 12]), strict=True))
        assert read_pairs(pairs, A, B)[0].tolist() == [0, 1, -1]
    with pytest.raises(TruthError, match="either table"):
        read_pairs({"a": [11, 12], "b": [12, 11]}, A, A)
    with pytest.raises(TruthError, match="same person"):
        read_pairs({"target": [11, 12], "query": ["x", "x"]}, A, B)
    with pytest.raises(TruthError, match="name people"):
        read_pairs({"target": [11, 12], "query": ["x", "x"]}, None, B)


def test_the_pairs_of_two_tables_of_traces_may_be_any_columns(tmp_path):
    for name, text in (
        ("a", "user,epoch_0\nann,news\nbob,music\n"),
        ("b", "user,epoch_0\n901,music\n902,news\n"),
        ("pairs", "crm,shop\nbob,901\nann,902\neve,903\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(text)
    pair = io.read_pair(tmp_path / "a.csv", tmp_path / "b.csv", truth=f"{tmp_path / 'pairs.csv'}:crm=shop")
    assert pair.truth.tolist() == [1, 0]
    assert "pairs-absent" in [note.code for note in pair.notes]


def test_ids_are_brought_into_one_form():
    log = {"item": ["a", "b", "c"]}
    one, two = io.read_exports(log | {"user": ["007", "007", "012"]}, log | {"user": [7, 12, 12]})
    assert one.records.users.to_pylist() == two.records.users.to_pylist() == ["7", "12"]
    assert "zeros-left-out" in [note.code for note in one.notes]
    one, two = io.read_exports(log | {"user": ["7", "7", "x"]}, log | {"user": [7, 12, 12]})
    assert two.records.users.to_pylist() == ["7", "12"]


def test_frames_make_bags_and_pairs():
    frame = pl.DataFrame({"customer": [1, 1, 2], "item": ["a", "b", "a"]})
    assert io.bags_from_frame(frame).counts.toarray().tolist() == [[1, 1], [1, 0]]
    pair = io.pair_from_frames(frame, frame.rename({"customer": "client"}))
    assert pair.matched.target.tolist() == [0, 1]
    assert pair.notes[0].code == "understood-as"
    people = pl.DataFrame({"age": [31, 40], "sex": ["f", "m"]})
    assert io.pair_from_frames(people, people).targets.names == ("age", "sex")


def test_wrong_types_are_one_line():
    for wrong in (7, [1, 2], np.zeros((2, 2)), io):
        with pytest.raises(DataError):
            io.bags_from_frame(wrong)
        with pytest.raises(DataError):
            io.pair_from_frames({"user": [1, 1], "item": ["a", "b"]}, wrong)
    with pytest.raises(DataError, match="layout='log'"):
        io.bags_from_frame({"age": [1, 2], "sex": ["f", "m"]})
    with pytest.raises(OptionError):
        io.bags_from_frame({"user": [1, 1], "item": ["a", "b"]}, users="user")
