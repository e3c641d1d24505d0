"""Sites that are written shard by shard are those of one simulation, whatever the shards and threads."""

import numpy as np
import pytest

from reidrisk import io, populations, topics
from reidrisk.base.errors import OptionError


def test_shards_hold_the_people_of_one_simulation(tmp_path):
    n, shard = 70_000, 65_536
    one, two = topics.write_sites(tmp_path, n, epochs=2, seed=3, shard=shard, threads=2)
    sets = populations.published(n, 2, seed=3)
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    for site, place in (("a", one), ("b", two)):
        parts = [io.read_traces(path) for path in sorted(place.iterdir())]
        assert [len(part) for part in parts] == [shard, n - shard]
        assert np.array_equal(np.concatenate([part.tokens for part in parts]), api.expose(sets, 3, site).tokens)
        assert np.array_equal(np.concatenate([part.users for part in parts]), np.arange(n))
        assert parts[0].vocabulary == sets.vocabulary


def test_what_cannot_be_sharded_is_refused(tmp_path):
    with pytest.raises(OptionError, match="whole blocks"):
        topics.write_sites(tmp_path, 10, 1, shard=1000)
    with pytest.raises(OptionError, match="begin a block"):
        populations.published(10, 1, first=100)
    topics.write_sites(tmp_path / "once", 10, 1)
    with pytest.raises(OptionError, match="not empty"):
        topics.write_sites(tmp_path / "once", 10, 1)
