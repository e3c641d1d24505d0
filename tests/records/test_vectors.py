import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import DataError
from reidrisk.records import Case, Truth, Vectors


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 2.0], [1.0]], "row 1 has 1 numbers and row 0 has 2"),
        ([[1.0], [float("nan")]], "row 1 holds nan at dimension 0"),
        ([[1.0, 2.0], [1.0, float("inf")]], "row 1 holds inf at dimension 1"),
        ([[1e200]], "row 0 holds 1e+200"),
        ([1.0, 2.0], "shape"),
        (np.zeros((0, 3)), "empty"),
        ([["a"]], "numbers"),
    ],
)
def test_what_is_no_vector_is_refused_in_one_line(values, message):
    with pytest.raises(DataError) as caught:
        Vectors(values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.integers(1, 20), st.integers(1, 5))
def test_rows_are_kept_with_their_users(n, d):
    values = np.arange(n * d, dtype=np.float64).reshape(n, d)
    table = Vectors(values, users=np.arange(n) + 100)
    part = table.take(np.arange(n)[::-1])
    assert table.values.dtype == np.float32
    assert (part.values == values[::-1]).all()
    assert part.users.tolist() == list(range(100, 100 + n))[::-1]
    assert not table.values.flags.writeable
    values[:] = -1.0
    assert table.values[0, 0] == 0.0


def test_cases_of_vectors_have_a_truth():
    table = Vectors(np.eye(3), users=["a", "b", "c"])
    assert Case(table, table, Truth(np.arange(3), "given")).truth.target.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="one row only"):
        Vectors(np.eye(2), users=["a", "a"])
