import numpy as np
import pytest

from reidrisk import TopSets
from reidrisk.errors import DataError, OptionError
from reidrisk.topics import TopicsAPI

SETS = TopSets(np.tile([[3, 1, 4]], (40_000, 1, 1)), n_tokens=20)


def test_each_topic_is_shown_as_often_as_the_model_says():
    api = TopicsAPI(n_topics=20, top_k=3, noise=0.2)
    share = np.bincount(api.expose(SETS, seed=0).tokens.ravel(), minlength=20) / len(SETS)
    inside = np.isin(np.arange(20), [3, 1, 4])
    assert np.allclose(share[inside], api.q_in, atol=0.01)
    assert np.allclose(share[~inside], api.q_out, atol=0.004)
    assert api.q_in * 3 + api.q_out * 17 == pytest.approx(1.0)


def test_sites_are_independent_given_the_sets():
    api = TopicsAPI(n_topics=20, top_k=3, noise=0.0)
    a, b = (api.expose(SETS, seed=1, site=site).tokens.ravel() for site in "ab")
    assert np.mean(a == b) == pytest.approx(1 / 3, abs=0.01)


def test_same_seed_and_site_same_trace():
    api = TopicsAPI(n_topics=20, top_k=3)
    first = api.expose(SETS, seed=1, site="a").tokens
    assert np.array_equal(first, api.expose(SETS, seed=1, site="a").tokens)
    assert not np.array_equal(first, api.expose(SETS, seed=2, site="a").tokens)


def test_users_and_vocabulary_travel():
    sets = TopSets([[[0, 1]], [[1, 0]]], n_tokens=2, users=[7, 9])
    assert TopicsAPI(2, top_k=2).expose(sets, seed=0).users.tolist() == [7, 9]


def test_short_sets_and_other_shapes_are_refused():
    with pytest.raises(DataError, match=r"pad them once, for all observers: top_sets.padded\(seed\)"):
        TopicsAPI(9, top_k=2).expose(TopSets([[[0, -1]]], n_tokens=9), seed=0)
    with pytest.raises(DataError, match="hold 2 of 9 topics, but the API holds 5 of 9"):
        TopicsAPI(9).expose(TopSets([[[0, 1]]], n_tokens=9), seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"noise": 1.5}, "noise must lie in"), ({"top_k": 0}, "top_k must be"), ({"window": 0}, "at least 1 epoch"),
     ({"top_k": 30}, "top_k must be a whole number from 1 to the 20")],
)  # fmt: skip
def test_bad_parameters_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        TopicsAPI(n_topics=20, **options)
