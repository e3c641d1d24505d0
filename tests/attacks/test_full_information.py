import numpy as np
import pytest

from reidrisk import TopSets, Traces, attacks, bounds, measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.topics import TopicsAPI


def population(n=400, r=3, n_tokens=30, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return TopSets(np.argsort(rng.random((n, r, n_tokens)), axis=2)[:, :, :k], n_tokens)


def test_scores_count_hits_in_the_sets():
    sets = population()
    api = TopicsAPI(30, top_k=3, noise=0.1)
    a, b = (api.expose(sets, seed=1, site=s) for s in "ab")
    attack = attacks.FullInformation(sets, noise=0.1).fit(a)
    links = attack.link(b, probability=True)
    hits = (sets.tokens[None] == b.tokens[:, None, :, None]).any(axis=3).sum(axis=2)
    gain = attack.weights_.match[0, 0]
    assert np.array_equal(links.score, hits.max(axis=1) * gain)
    assert np.array_equal(links.n_ties, (hits == hits.max(axis=1, keepdims=True)).sum(axis=1))
    assert np.array_equal(links.target, hits.argmax(axis=1))
    likelihood = np.exp(hits * gain / 65536)
    assert np.allclose(links.probability, likelihood.max(axis=1) / likelihood.sum(axis=1), rtol=1e-6)
    rows, _ = attack.candidates(b, 2)
    assert np.array_equal(rows[:, 0], links.target)


def test_it_reaches_the_optimum_of_corollary_1_and_beats_the_others():
    sets = population(n=3_000, r=1, n_tokens=40)
    api = TopicsAPI(40, top_k=3, noise=0.1)
    a, b = (api.expose(sets, seed=2, site=s) for s in "ab")
    full = measure.random_user(attacks.FullInformation(sets, noise=0.1), a, b)
    optimum = bounds.topics_full_information(sets, 0.1)[0]
    assert optimum.reference == "carey, Corollary 1"
    assert full.low <= optimum.value <= full.high
    partial = measure.random_user(attacks.WeightedHamming(3, 0.1), a, b)
    assert partial.rate < full.rate


def test_sets_follow_the_users():
    sets = TopSets([[[0, 1]], [[2, 3]]], n_tokens=9, users=["a", "b"])
    targets = Traces([[2], [0]], 9, users=["b", "a"])
    links = attacks.FullInformation(sets).fit(targets).link(Traces([[3]], 9))
    assert links.target.tolist() == [0]


@pytest.mark.parametrize(
    ("sets", "targets", "message"),
    [
        (TopSets([[[0, -1]]], 9), Traces([[0]], 9), "pad them once"),
        (TopSets([[[0, 1]]], 9), Traces([[0, 1]], 9), "cover 1 epochs"),
        (TopSets([[[0, 1]]], 9), Traces([[0], [1]], 9), "1 users for 2 targets"),
        (TopSets([[[0, 1]]], 9, users=["a"]), Traces([[0]], 9, users=["b"]), "1 targets have no top sets"),
        (TopSets([[[0, 1]]], 9), Traces([[0]], 9, users=["b"]), "name them in both or in neither"),
    ],
)
def test_sets_that_do_not_fit_are_refused(sets, targets, message):
    with pytest.raises(DataError, match=message):
        attacks.FullInformation(sets).fit(targets)


def test_queries_must_fit_and_fit_comes_first():
    attack = attacks.FullInformation(TopSets([[[0, 1]]], 9))
    with pytest.raises(OptionError, match="call fit"):
        attack.link(Traces([[0]], 9))
    with pytest.raises(OptionError, match="there is one outside"):
        attack.fit(Traces([[0]], 9)).score(Traces([[0]], 9), np.array([-1]))
    with pytest.raises(DataError, match="queries have 2"):
        attack.fit(Traces([[0]], 9)).link(Traces([[0, 1]], 9))
