import numpy as np
import pytest

from reidrisk import TopSets
from reidrisk.base.errors import DataError, OptionError
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
    [({"noise": 1.5}, "noise is a probability from 0 to 1"), ({"top_k": 0}, "top_k must be"),
     ({"window": 0}, "window must be a whole number of epochs, at least 1, not 0"),
     ({"window": 1.5}, "window must be .* not 1.5"), ({"window": "3"}, "window must be .* not '3'"),
     ({"top_k": 30}, "top_k must be a whole number from 1 to the 20")],
)  # fmt: skip
def test_bad_parameters_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        TopicsAPI(n_topics=20, **options)


WEEKS = TopSets(np.tile([[3, 1, 4]], (200, 9, 1)), n_tokens=20)


@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_a_first_visit_shows_a_window_and_every_later_week_one_more(window):
    """N epochs of visits give N + E - 1 tokens (jha, footnote 10)."""
    api = TopicsAPI(n_topics=20, top_k=3, window=window)
    for first in range(window - 1, 9):
        visits = np.zeros((200, 9), dtype=bool)
        visits[:, first:] = True
        visited = 9 - first
        assert (api.observe(WEEKS, seed=1, visits=visits).observed.sum(axis=1) == visited + window - 1).all()
    once = np.zeros((200, 9), dtype=bool)
    once[:, -1] = True
    seen = api.observe(WEEKS, seed=1, visits=once).observed
    assert (seen == (np.arange(9) >= 9 - window)).all()
    once[:, -1], once[:, 0] = False, True
    assert (api.observe(WEEKS, seed=1, visits=once).observed.sum(axis=1) == 1).all()  # nothing is older than epoch 0


def test_a_token_that_is_shown_does_not_depend_on_the_visits():
    api = TopicsAPI(n_topics=20, top_k=3, noise=0.3)
    full = api.expose(WEEKS, seed=5, site="b").tokens
    visits = np.random.default_rng(0).random((200, 9)) < 0.2
    seen = api.observe(WEEKS, seed=5, site="b", visits=visits, shown=2)
    direct = np.array([[any(row[e : e + 2]) for e in range(9)] for row in visits.tolist()])
    assert np.array_equal(seen.observed, direct)
    assert np.array_equal(seen.tokens[direct], full[direct])
    assert np.array_equal(api.observe(WEEKS, seed=5, site="b").tokens, full)


def test_visits_with_a_probability_are_independent_draws_by_site():
    api = TopicsAPI(n_topics=20, top_k=3)
    many = TopSets(np.tile([[3, 1, 4]], (20_000, 6, 1)), n_tokens=20)
    a, b = (api.observe(many, seed=1, site=site, visits=0.3, shown=1).observed for site in "ab")
    assert a.mean(axis=0) == pytest.approx(0.3, abs=0.015)
    assert np.mean(a & b) == pytest.approx(0.09, abs=0.01)
    wide = api.observe(many, seed=1, site="a", visits=0.3).observed
    assert wide[:, :4].mean() == pytest.approx(1 - 0.7**3, abs=0.01)
    assert wide[:, 5].mean() == pytest.approx(0.3, abs=0.015)
    assert not api.observe(many, seed=1, visits=0).observed.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"visits": 1.5}, "from 0 to 1, not 1.5"), ({"visits": float("nan")}, "from 0 to 1, not nan"),
     ({"visits": np.ones((200, 8), dtype=bool)}, r"shape \(200, 8\).*\(200, 9\)"),
     ({"visits": np.ones((200, 9))}, "type float64"), ({"shown": 0}, "shown must be"), ({"shown": 1.5}, "shown must")],
)  # fmt: skip
def test_bad_visits_are_named(options, message):
    with pytest.raises((OptionError, DataError), match=message):
        TopicsAPI(20, top_k=3).observe(WEEKS, seed=0, **options)
