"""Numbers that are options: one line for all that is none."""

import numpy as np
import pytest

from reidrisk.base.errors import OptionError
from reidrisk.base.options import between_0_and_1, from_0_to_1, whole, whole_up_to


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


@pytest.mark.parametrize("value", [0, 9, 1.0, "3", None, True, float("nan")])
def test_what_is_beyond_the_limit_is_named_and_so_is_the_limit(value):
    with pytest.raises(OptionError, match="k must be a whole number from 1 to the 8 tokens, not "):
        whole_up_to("k", value, 8, limit="the 8 tokens")
    assert [whole_up_to("k", k, 8, least=0) for k in (0, np.uint8(8))] == [0, 8]


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.1, "0.5", None, True, float("nan"), [0.5]])
def test_the_ends_do_not_belong_to_what_lies_between(value):
    with pytest.raises(OptionError, match="level must lie strictly between 0 and 1, not "):
        between_0_and_1("level", value)
    assert between_0_and_1("level", np.float32(0.5)) == 0.5
