"""Records of real numbers: rows keep their users, and what is no number is refused in one line."""

import numpy as np
import pytest

from reidrisk import attacks
from reidrisk.base.errors import DataError
from reidrisk.records import Cells


def test_rows_are_taken_with_their_users():
    cells = Cells([[0.2, 0.8], [0.5, float("nan")], [0.1, 0.9]], users=["ann", "bob", "cem"])
    assert repr(cells) == "Cells(3 records x 2 cells, 17 % unknown)"
    taken = cells.take(np.array([2, 0]))
    assert (taken.values[:, 0].tolist(), taken.users.to_pylist()) == ([0.1, 0.2], ["cem", "ann"])
    assert attacks.Cells is Cells


@pytest.mark.parametrize(
    ("values", "message"), [([1.0], "shape"), ([[1.0], [float("inf")]], "record 1 has an infinite cell")]
)
def test_what_is_no_table_of_numbers_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        Cells(values)
