import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import DataError
from reidrisk.base.users import as_users, find_users, take_users

ids = st.one_of(
    st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=30, unique=True),
    st.lists(st.text(max_size=5), min_size=1, max_size=30, unique=True),
)


@given(ids, st.data())
def test_find_agrees_with_list_index(names, data):
    wanted = data.draw(st.permutations(names)) + ([10**17 + 1] if isinstance(names[0], int) else ["\x00no"])
    known = as_users(names, len(names))
    found = find_users(as_users(wanted, len(wanted)), known)
    assert found.tolist() == [names.index(w) if w in names else -1 for w in wanted]


@given(ids)
def test_take_chooses_rows(names):
    users = as_users(names, len(names))
    rows = np.arange(len(names))[::-1]
    taken = take_users(users, rows)
    assert list(taken.tolist() if isinstance(taken, np.ndarray) else taken.to_pylist()) == names[::-1]
    part = take_users(users, slice(0, 1))
    assert len(part) == 1


@pytest.mark.parametrize(
    "given_ids",
    [["a", "b"], np.array(["a", "b"]), pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]]), pl.Series(["a", "b"]),
     pa.array(["a", "b"]).dictionary_encode()],
)  # fmt: skip
def test_text_from_any_container(given_ids):
    assert as_users(given_ids, 2).to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("given_ids", "message"),
    [
        ([1, 2, 1], "user 1 is in rows 0 and 2"),
        (["a", "b", "b"], "user 'b' is in rows 1 and 2"),
        (["a", None, "b"], "row 1 has no user id"),
        ([1.5, 2.5, 3.5], "of type double"),
        ([1, "a", 2], "all integers or all text"),
        ([1, 2], "2 user ids for 3 rows"),
        (np.array([2**63, 1, 2], dtype=np.uint64), "does not fit into 64 signed bits"),
    ],
)
def test_bad_ids_are_named(given_ids, message):
    with pytest.raises(DataError, match=message):
        as_users(given_ids, 3)


def test_ids_of_two_kinds_do_not_join():
    with pytest.raises(DataError, match="integers in one table and text in the other"):
        find_users(as_users([1], 1), as_users(["1"], 1))
