"""Attributes: each column has values of its own, missing ones are -1, two tables come over one vocabulary."""

import datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.base.errors import DataError, OptionError
from reidrisk.records import Attributes

PEOPLE = {
    "id": ["a", "b", "c", "d"],
    "age": [31, 40, 31, None],
    "zip": ["01234", "01299", "?", "9"],
    "sex": ["f", "m", "", "f"],
}


def test_kinds_are_guessed_and_can_be_said():
    table = Attributes(PEOPLE, user="id")
    assert [column.kind for column in table.columns] == ["number", "category", "category"]
    assert table.users.to_pylist() == PEOPLE["id"]
    assert Attributes(PEOPLE, user="id", columns={"zip": "prefix"}).columns[1].kind == "prefix"
    assert Attributes(PEOPLE, columns={"id": None}).names == ("age", "zip", "sex")
    assert Attributes(PEOPLE, columns=["sex", "age"]).names == ("sex", "age")


def test_missing_cells_are_minus_one_and_are_counted():
    table = Attributes(PEOPLE, user="id")
    assert (table.tokens < 0).tolist() == [[False] * 3, [False] * 3, [False, True, True], [True, False, False]]
    assert table.notes[0].code == "cells-missing"
    assert (table.notes[0]["missing"], table.notes[0]["of"]) == (3, 12)


def test_tokens_of_columns_do_not_meet_and_have_labels():
    table = Attributes(PEOPLE, user="id")
    assert table.vocabulary.labels == ("age=31", "age=40", "zip=01234", "zip=01299", "zip=9", "sex=f", "sex=m")
    assert table.start.tolist() == [0, 2, 5]
    assert table.vocabulary.decode(table.tokens[1]) == ["age=40", "zip=01299", "sex=m"]


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_any_frame_gives_the_same(frame):
    one, two = Attributes(PEOPLE, user="id"), Attributes(frame(PEOPLE), user="id")
    assert np.array_equal(one.tokens, two.tokens)
    assert one.vocabulary == two.vocabulary


def test_numbers_as_text_and_dates_are_numbers_in_their_order():
    days = [datetime.date(1990, 1, 2), datetime.date(1980, 5, 1)]
    table = Attributes({"n": ["10", " 9"], "x": ["1.0", "1"], "born": days, "code": ["01", "1"]})
    assert [column.kind for column in table.columns] == ["number", "number", "number", "category"]
    assert table.columns[0].labels == (" 9", "10")
    assert len(table.columns[1]) == 1
    assert np.diff(table.columns[2].numbers).tolist() == [(days[0] - days[1]).days]


def test_rows_and_columns_can_be_taken():
    table = Attributes(PEOPLE, user="id")
    some = table.take(np.array([2, 0]))
    assert some.users.to_pylist() == ["c", "a"]
    assert some.names == table.names
    only = table.only(["sex", "age"])
    assert (only.names, only.start.tolist(), only.n_tokens) == (("sex", "age"), [5, 0], table.n_tokens)
    assert table.epochs(2).names == ("age", "zip")
    with pytest.raises(OptionError, match="'town'"):
        table.only(["town"])


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        ([1, 2], {}, "Arrow interface"),
        (PEOPLE, {"columns": {"town": "number"}}, "'town'"),
        (PEOPLE, {"columns": {"sex": "number"}}, "'f', which is no number"),
        (PEOPLE, {"columns": {"sex": "word"}}, "'word'"),
        (PEOPLE, {"columns": "sex"}, "list of names"),
        (PEOPLE, {"user": "sex"}, "row 2, column 'sex' has no id"),
        ({"x": ["?", ""]}, {}, "every cell is empty"),
        ({"id": [1, 1], "x": [1, 2]}, {"user": "id"}, "user 1 is in rows 0 and 1"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(frame, options, said):
    with pytest.raises((DataError, OptionError), match=said) as refused:
        Attributes(frame, **options)
    assert "\n" not in str(refused.value)


def test_with_tokens_refuses_those_of_another_column():
    table = Attributes({"x": ["a", "b"], "y": ["c", "d"]})
    with pytest.raises(DataError, match="row 0, column 'y' holds token 1"):
        table.with_tokens(np.array([[0, 1], [1, 2]]))


cells = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "?", ""]))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=8), st.lists(st.tuples(cells, cells), min_size=1, max_size=8)
)
def test_two_tables_agree_where_their_values_do(one, two):
    frames = [{"x": [row[0] for row in rows], "y": [row[1] for row in rows]} for rows in (one, two)]
    for frame in frames:  # a column without a value is fine, a table without one is not
        frame["z"] = ["t"] * len(frame["x"])
    a, b = Attributes.together(*(Attributes(frame) for frame in frames))
    assert a.vocabulary == b.vocabulary
    for i, left in enumerate(zip(*frames[0].values(), strict=True)):
        for j, right in enumerate(zip(*frames[1].values(), strict=True)):
            equal = [p == q and p not in (None, "", "?") for p, q in zip(left, right, strict=True)]
            assert ((a.tokens[i] == b.tokens[j]) & (a.tokens[i] >= 0)).tolist() == equal


def test_columns_of_one_table_are_left_out_and_said():
    one, two = Attributes({"x": [1, 2], "y": ["a", "b"]}), Attributes({"z": [3.5], "x": [2]})
    a, b = Attributes.together(one, two)
    assert a.names == b.names == ("x",)
    assert (a.tokens.tolist(), b.tokens.tolist()) == ([[0], [1]], [[1]])
    assert a.notes[-1].code == "columns-in-one-table"
    assert a.notes[-1]["columns"] == ["y", "z"]
    with pytest.raises(DataError, match="no column in common"):
        Attributes.together(one.only(["y"]), two)


def test_columns_of_two_kinds_become_categories():
    a, b = Attributes.together(Attributes({"x": [1, 2]}), Attributes({"x": ["2", "old"]}))
    assert a.columns[0].kind == "category"
    assert b.tokens[0] == a.tokens[1]
