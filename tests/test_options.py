"""Numbers that are options: one line for all that is none."""

import numpy as np
import pytest

from reidrisk.errors import OptionError
from reidrisk.options import from_0_to_1, whole


@pytest.mark.parametrize("value", [0, -1, 1.0, 1.5, "3", None, True, float("nan"), [2], np.float64(2)])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(OptionError, match="runs must be a whole number of at least 1, not ") as caught:
        whole("runs", value)
    assert str(caught.value).endswith(repr(value))


def test_whole_numbers_of_either_kind_are_ints_from_the_least_on():
    assert [type(whole("n", value, least=0)) for value in (0, np.int8(3), np.uint64(2**63))] == [int] * 3
    with pytest.raises(OptionError, match="n must be a whole number of users, at least 2, not 1"):
        whole("n", 1, least=2, unit="users")


@pytest.mark.parametrize("value", [-0.1, 1.01, "0.5", None, True, float("nan"), [0.5]])
def test_what_is_no_share_is_named(value):
    with pytest.raises(OptionError, match="overlap is a share from 0 to 1, not "):
        from_0_to_1("overlap", value, "a share")


def test_the_ends_belong_to_it():
    assert [from_0_to_1("p", value) for value in (0, 1, np.float32(0.5))] == [0.0, 1.0, 0.5]
