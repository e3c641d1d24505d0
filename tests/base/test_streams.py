import numpy as np
import pytest

from reidrisk.base.errors import OptionError
from reidrisk.base.streams import blocks, checked_seed, stream


def test_streams_differ_by_each_part_of_the_key():
    keys = [(0, "a", 0), (1, "a", 0), (0, "b", 0), (0, "a", 1)]
    draws = [stream(*key).integers(2**62) for key in keys]
    assert len(set(draws)) == len(keys)
    assert draws[0] == stream(0, "a", 0).integers(2**62)


def test_streams_are_pinned():
    """A change of this number changes every simulated result; it needs an entry in the changelog."""
    assert stream(7, "example", 3).integers(10**9) == 109986407


@pytest.mark.parametrize("n", [0, 1, 99, 100, 101])
def test_blocks_cover_everything_once(n):
    covered = [i for _, start, stop in blocks(n, size=25) for i in range(start, stop)]
    assert covered == list(range(n))


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_bad_seeds_are_named(seed):
    with pytest.raises(OptionError, match="whole number of at least 0"):
        checked_seed(seed)


def test_numpy_seeds_are_fine():
    assert checked_seed(np.int64(5)) == 5
