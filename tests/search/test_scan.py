import numpy as np
import pytest
import search_twins
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import search
from reidrisk.base.errors import OptionError
from reidrisk.search import PairWeights, Weights, scan


@st.composite
def problems(draw):
    n, q, r, n_tokens = (draw(st.integers(1, top)) for top in (40, 12, 6, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.2]))
    tables = [np.where(rng.random((m, r)) < missing, -1, rng.integers(0, n_tokens, (m, r))) for m in (n, q)]
    rows = r if draw(st.booleans()) else 1
    # Small whole weights make ties and zero gains common; gains may be negative.
    weights = Weights(rng.integers(-2, 4, (rows, n_tokens)), rng.integers(-2, 3, (rows, n_tokens)))
    return tables[0], tables[1], weights, n_tokens


@settings(deadline=None, max_examples=150)
@given(problems(), st.sampled_from([1, 2]))
def test_best_agrees_with_the_twin(problem, threads):
    targets, queries, weights, n_tokens = problem
    found = scan.best(search.Index(targets, n_tokens), queries, weights, threads=threads)
    for ours, theirs in zip(found, search_twins.best(targets, queries, weights), strict=True):
        assert np.array_equal(ours, theirs)


@settings(deadline=None, max_examples=100)
@given(problems(), st.data())
def test_candidates_and_pair_scores_agree_with_the_twin(problem, data):
    targets, queries, weights, n_tokens = problem
    k = data.draw(st.integers(1, len(targets)))
    found = search.candidates(search.Index(targets, n_tokens), queries, weights, k)
    for ours, theirs in zip(found, search_twins.candidates(targets, queries, weights, k), strict=True):
        assert np.array_equal(ours, theirs)
    rows = np.array([data.draw(st.integers(0, len(targets) - 1)) for _ in queries])
    scores = search_twins.scores(targets, queries, weights)
    assert np.array_equal(search.pair_scores(targets, queries, weights, rows), scores[np.arange(len(rows)), rows])


@settings(deadline=None, max_examples=100)
@given(problems(), st.sampled_from([1, 2]))
def test_all_scores_agree_with_the_twin(problem, threads):
    targets, queries, weights, n_tokens = problem
    found = scan.scores(search.Index(targets, n_tokens), queries, weights, threads=threads)
    assert np.array_equal(found, search_twins.scores(targets, queries, weights))


@settings(deadline=None, max_examples=50)
@given(problems())
def test_posterior_is_a_softmax(problem):
    targets, queries, small, n_tokens = problem
    weights = Weights(small.match * 30_000, small.mismatch * 30_000)
    scores = search_twins.scores(targets, queries, weights)
    best = scores.max(axis=1)
    expected = 1.0 / np.exp((scores - best[:, None]) / search.GRID).sum(axis=1)
    found = search.UNIT / scan.totals(search.Index(targets, n_tokens), queries, weights, best)
    assert np.allclose(found, expected, rtol=1e-8)


def test_blocks_and_many_targets_change_nothing():
    rng = np.random.default_rng(0)
    targets, queries = rng.integers(0, 3, (10_000, 4)), rng.integers(0, 3, (200, 4))
    weights = Weights(rng.integers(0, 9, (4, 3)), rng.integers(-9, 0, (4, 3)))
    table = search.Index(targets, 3)
    one, two = (scan.best(table, queries, weights, threads=t) for t in (1, 2))
    expected = search_twins.best(targets, queries, weights)
    for a, b, c in zip(one, two, expected, strict=True):
        assert np.array_equal(a, b)
        assert np.array_equal(a, c)


def test_large_vocabularies_and_large_weights_keep_exact():
    targets = np.array([[70_000, 1], [69_999, 1]])
    weights = Weights(np.full((1, 70_001), 2**40), np.zeros((1, 70_001), dtype=np.int64))
    found = scan.best(search.Index(targets, 70_001), np.array([[69_999, 1]]), weights)
    assert found.score.tolist() == [2**41]
    assert found.target.tolist() == [1]


def test_a_query_without_any_token_ties_with_everyone():
    weights = Weights(np.ones((1, 3), dtype=np.int64), np.zeros((1, 3), dtype=np.int64))
    found = scan.best(search.Index(np.array([[0], [1], [-1]]), 3), np.array([[-1]]), weights)
    assert found.n_ties.tolist() == [3]


def test_bad_requests_are_refused():
    counts = Weights(np.ones((1, 3), dtype=np.int64), np.zeros((1, 3), dtype=np.int64), per_nat=0)
    table = search.Index(np.array([[0], [1]]), 3)
    with pytest.raises(OptionError, match="no posterior"):
        scan.totals(table, np.array([[0]]), counts, np.array([1]))
    with pytest.raises(OptionError, match="cannot give 3 candidates of 2"):
        search.candidates(table, np.array([[0]]), counts, 3)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]), st.booleans())
def test_weights_of_pairs_agree_with_the_twin(seed, missing, per_epoch):
    rng = np.random.default_rng(seed)
    n, q, r, n_tokens = (int(rng.integers(1, top)) for top in (40, 12, 5, 5))
    targets, queries = (np.where(rng.random((m, r)) < missing, -1, rng.integers(0, n_tokens, (m, r))) for m in (n, q))
    weights = PairWeights(rng.integers(-3, 4, (r if per_epoch else 1, n_tokens, n_tokens)) * 20_000)
    index = search.Index(targets, n_tokens)
    found = search.best(index, queries, weights)
    for ours, theirs in zip(found, search_twins.best(targets, queries, weights), strict=True):
        assert np.array_equal(ours, theirs)
    k = int(rng.integers(1, n + 1))
    for ours, theirs in zip(search.candidates(index, queries, weights, k),
                            search_twins.candidates(targets, queries, weights, k), strict=True):  # fmt: skip
        assert np.array_equal(ours, theirs)
    scores = search_twins.scores(targets, queries, weights)
    assert np.array_equal(search.pair_scores(targets, queries, weights, found.target), found.score)
    expected = 1.0 / np.exp((scores - scores.max(axis=1)[:, None]) / search.GRID).sum(axis=1)
    totals = scan.totals(index, queries, weights, found.score)
    assert np.allclose(search.UNIT / totals, expected, rtol=1e-8)
