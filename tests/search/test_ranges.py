"""Weights of ranges of tokens: what lies near the query's token is worth something, too."""

import numpy as np
import pytest
import search_twins
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import search
from reidrisk.base.errors import DataError
from reidrisk.search import RangeWeights, scan


@st.composite
def problems(draw):
    n, q, r, n_tokens, levels = (draw(st.integers(1, top)) for top in (40, 12, 5, 9, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.3]))
    tables = [np.where(rng.random((m, r)) < missing, -1, rng.integers(0, n_tokens, (m, r))) for m in (n, q)]
    ends = np.sort(rng.integers(0, n_tokens, (2, levels, n_tokens)), axis=0)
    match, mismatch = (rng.integers(-2, 4, (1, n_tokens)) for _ in range(2))
    weights = RangeWeights(match, mismatch, 1, ends[0], ends[1], rng.integers(-1, 3, (levels, n_tokens)))
    return tables[0], tables[1], weights, n_tokens


@settings(deadline=None, max_examples=150)
@given(problems(), st.data())
def test_every_answer_agrees_with_the_twin(problem, data):
    targets, queries, weights, n_tokens = problem
    index, k = search.Index(targets, n_tokens), data.draw(st.integers(1, len(targets)))
    scores = search_twins.scores(targets, queries, weights)
    assert np.array_equal(scan.scores(index, queries, weights), scores)
    for ours, theirs in zip(
        search.best(index, queries, weights), search_twins.best(targets, queries, weights), strict=True
    ):
        assert np.array_equal(ours, theirs)
    for ours, theirs in zip(
        search.candidates(index, queries, weights, k),
        search_twins.candidates(targets, queries, weights, k),
        strict=True,
    ):
        assert np.array_equal(ours, theirs)
    rows = np.array([data.draw(st.integers(0, len(targets) - 1)) for _ in queries])
    assert np.array_equal(search.pair_scores(targets, queries, weights, rows), scores[np.arange(len(rows)), rows])


def test_a_range_outside_the_vocabulary_is_refused():
    one = np.ones((1, 3), dtype=np.int64)
    with pytest.raises(DataError, match=r"\[0, 3\)"):
        RangeWeights(one, one, 1, 0 * one, 3 * one, one)
    with pytest.raises(DataError, match="do not fit"):
        RangeWeights(one, one, 1, one[:, :2], one, one)
