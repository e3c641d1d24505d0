import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces, attacks, measure
from reidrisk.base.errors import DataError, OptionError


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**20))
def test_overlap_agrees_with_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, q, m = (int(rng.integers(1, top)) for top in (15, 8, 6))
    targets, queries = (rng.poisson(0.5, (k, m)) for k in (n, q))
    scores = np.minimum(queries[:, None], targets[None]).sum(axis=2)
    attack = attacks.Overlap().fit(Bags(targets))
    links = attack.link(Bags(queries))
    assert np.array_equal(links.score, scores.max(axis=1))
    assert np.array_equal(links.n_ties, (scores == scores.max(axis=1, keepdims=True)).sum(axis=1))
    assert np.array_equal(links.target, scores.argmax(axis=1))
    rows = rng.integers(0, n, q)
    assert np.array_equal(attack.score(Bags(queries), rows), scores[np.arange(q), rows])
    best, values = attack.candidates(Bags(queries), n)
    assert np.array_equal(best, np.argsort(-scores, axis=1, kind="stable"))
    assert np.array_equal(values, -np.sort(-scores, axis=1))


def test_a_million_plays_take_no_more_room_than_one():
    plays = np.array([[10**9, 5, 0], [10**6, 10**6, 1]])
    links = attacks.Overlap().fit(Bags(plays)).link(Bags(plays // 2))
    assert links.score.tolist() == [5 * 10**8 + 2, 10**6]
    assert links.target.tolist() == [0, 1]


def test_a_measured_rate_of_bags():
    bags = Bags(np.eye(6, dtype=int), users=list("abcdef"))
    risk = measure.random_user(attacks.Overlap(), bags, bags)
    assert risk.rate == 1.0
    assert risk.n_epochs == 0


def test_what_does_not_fit_is_refused():
    attack = attacks.Overlap()
    with pytest.raises(OptionError, match="call fit"):
        attack.link(Bags([[1]]))
    with pytest.raises(DataError, match="compares bags, not Traces"):
        attack.fit(Traces([[0]], 1))
    attack.fit(Bags([[1, 0]]))
    with pytest.raises(DataError, match="use one vocabulary"):
        attack.link(Bags([[1]]))
    with pytest.raises(OptionError, match="cannot give 2 candidates of 1"):
        attack.candidates(Bags([[1, 0]]), 2)
