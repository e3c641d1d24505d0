import numpy as np
import pytest

from reidrisk import TopSets, Traces
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mechanisms.popularity import popularity
from reidrisk.topics import TopicsAPI


def population(n, seed=0):
    """Sets of two out of six topics, the first topic in 60 % of them."""
    rng = np.random.default_rng(seed)
    first = np.where(rng.random(n) < 0.6, 0, 1)
    second = rng.integers(2, 5, n)
    return TopSets(np.stack([first, second], axis=1)[:, None, :], n_tokens=6)


def test_the_estimate_recovers_the_share_of_holders():
    sets = population(60_000)
    seen = TopicsAPI(6, top_k=2, noise=0.3).expose(sets, seed=1)
    estimate = popularity(seen, top_k=2, noise=0.3)[0]
    assert np.allclose(estimate, [0.6, 0.4, 1 / 3, 1 / 3, 1 / 3, 0.0], atol=0.02)


def test_topics_below_the_noise_floor_are_clipped_to_zero():
    seen = Traces(np.zeros((100, 1), dtype=np.int64), n_tokens=10)
    estimate = popularity(seen, top_k=2, noise=0.3)[0]
    assert estimate.min() == 0.0
    assert estimate.max() == 1.0


def test_missing_tokens_are_left_out_and_epochs_can_be_kept_apart():
    seen = Traces([[0, -1], [0, 1], [-1, 1], [1, 1]], n_tokens=2)
    assert np.allclose(popularity(seen, top_k=1, noise=0.0), [[2 / 6, 4 / 6]])
    assert np.allclose(popularity(seen, top_k=1, noise=0.0, per_epoch=True), [[2 / 3, 1 / 3], [0, 1]])


def test_nothing_observed_and_pure_noise_are_refused():
    with pytest.raises(DataError, match="no token was observed in epoch 1"):
        popularity(Traces([[0, -1]], n_tokens=2), top_k=1, noise=0.0, per_epoch=True)
    with pytest.raises(OptionError, match="noise 1"):
        popularity(Traces([[0]], n_tokens=2), top_k=1, noise=1.0)
