import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import OptionError
from reidrisk.search.engines import ThreadsEngine


@given(st.lists(st.lists(st.integers()), min_size=1), st.integers(1, 4))
def test_merging_keeps_the_order_of_the_shards(shards, threads):
    found = ThreadsEngine(threads).map_reduce(shards, 1, lambda shard, by: [x + by for x in shard], lambda a, b: a + b)
    assert found == [x + 1 for shard in shards for x in shard]


def test_an_error_in_a_shard_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        ThreadsEngine(2).map_reduce([1, 0], None, lambda shard, _: 1 / shard, lambda a, b: a + b)


def test_bad_requests_are_refused():
    with pytest.raises(OptionError, match="at least one shard"):
        ThreadsEngine().map_reduce([], None, lambda s, b: s, lambda a, b: a)
    with pytest.raises(OptionError, match="at least 1, not 0"):
        ThreadsEngine(0)
