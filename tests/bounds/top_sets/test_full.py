import math

import numpy as np
import pytest
from channel_strategies import quick
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import Bound, TopSets, Traces, bounds
from reidrisk.base.errors import DataError, OptionError
from reidrisk.bounds.matching import row_keys


@st.composite
def top_sets(draw, max_epochs=1):
    n, r = draw(st.integers(1, 8)), draw(st.integers(1, max_epochs))
    n_tokens = draw(st.integers(1, 6))
    k = draw(st.integers(1, n_tokens))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return TopSets(np.argsort(rng.random((n, r, n_tokens)) ** 3, axis=2)[:, :, :k], n_tokens)


def channel(sets, noise):
    """The whole (n, N^r) matrix."""
    q_in, q_out = bounds.token_probabilities(sets.n_tokens, sets.k, noise)
    rows = np.ones((sets.n_users, 1))
    for s in range(sets.n_epochs):
        P = np.full((sets.n_users, sets.n_tokens), q_out)
        np.put_along_axis(P, sets.tokens[:, s].astype(np.int64), q_in, axis=1)
        rows = (rows[:, :, None] * P[:, None, :]).reshape(sets.n_users, -1)
    return rows


NOISES = st.sampled_from([0.0, 0.05, 0.5, 1.0])


@given(top_sets(), NOISES)
@quick
def test_one_epoch_is_exact(sets, noise):
    P = channel(sets, noise)
    optimum, private, informed, matched = bounds.topics_full_information(sets, noise)
    assert optimum.value == pytest.approx(bounds.random_user(P), abs=1e-12)
    assert matched.value == pytest.approx(bounds.matching(P), abs=1e-12)
    assert informed.inputs["bits"] == pytest.approx(bounds.mutual_information(P), abs=1e-11)
    assert private.inputs["epsilon"] >= bounds.ldp_epsilon(P) - 1e-12
    for bound in (optimum, private, informed, matched):
        assert bound.n_epochs == 1
        assert bound.low == bound.high == bound.value
        assert Bound.from_json(bound.to_json()) == bound


@given(top_sets(max_epochs=3), NOISES)
@quick
def test_several_epochs_bound_the_whole_matrix(sets, noise):
    P = channel(sets, noise)
    optimum, private, informed, matched = bounds.topics_full_information(sets, noise, level=0.9999)
    exact = bounds.random_user(P)
    assert optimum.value >= exact - 1e-12
    assert private.value >= exact - 1e-12
    assert informed.value >= exact - 1e-12
    assert informed.inputs["bits"] >= bounds.mutual_information(P) - 1e-11
    assert matched.low - 1e-12 <= bounds.matching(P) <= matched.high + 1e-12
    if private.value < math.inf:
        assert optimum.value <= private.value * (1 + 1e-9)  # never weaker than Lemma 3


def test_epsilon_of_the_api_is_reached():
    sets = TopSets([[[0, 1], [0, 1]], [[2, 3], [2, 3]]], n_tokens=4)
    private = bounds.topics_full_information(sets, 0.3)[1]
    assert private.inputs["epsilon"] == pytest.approx(bounds.ldp_epsilon(channel(sets, 0.3)))


@pytest.mark.parametrize("noise", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("r", [1, 2, 3])
def test_the_estimated_optimum_agrees_with_the_whole_matrix(noise, r):
    rng = np.random.default_rng(r)
    sets = TopSets(np.argsort(rng.random((60, r, 8)), axis=2)[:, :, :3], 8)
    bound = bounds.topics_optimum(sets, noise, samples=3000, level=0.999)
    assert bound.low <= bounds.random_user(channel(sets, noise)) <= bound.high
    assert bound.high - bound.low < 0.1
    assert bound.value <= bounds.topics_full_information(sets, noise)[0].value + (bound.high - bound.value)


def test_many_epochs_do_not_underflow():
    rng = np.random.default_rng(0)
    sets = TopSets(np.argsort(rng.random((20, 200, 30)), axis=2)[:, :, :5], 30)
    for noise in (0.05, 1e-12):
        assert bounds.topics_optimum(sets, noise, samples=20).value == pytest.approx(1.0)


def test_partial_information_is_no_better_than_full():
    """Lemma 2 averages over the sets what Corollary 1 knows: it cannot exceed the average of the latter."""
    rng = np.random.default_rng(3)
    n, r, n_tokens, k, noise = 400, 3, 20, 3, 0.05
    sets = TopSets(np.argsort(rng.random((n, r, n_tokens)), axis=2)[:, :, :k], n_tokens)
    slot = rng.integers(k, size=(n, r))
    shown = np.take_along_axis(sets.tokens, slot[:, :, None], axis=2)[:, :, 0]
    shown = np.where(rng.random((n, r)) < noise, rng.integers(n_tokens, size=(n, r)), shown)
    partial = bounds.topics_partial_information(shown, np.full(n_tokens, k / n_tokens), k, noise)
    full = bounds.topics_optimum(sets, noise)
    assert partial.high < full.low


def test_given_queries_are_the_draw():
    sets = TopSets([[[0, 1], [0, 1]], [[2, 3], [2, 3]], [[0, 1], [0, 1]]], n_tokens=4)
    matched = bounds.topics_full_information(sets, 0.1, queries=Traces([[0, 1], [2, 2], [0, 1]], 4))[3]
    assert matched.value == 2 / 3
    assert matched.inputs["distinct"] == 2
    slack = math.sqrt(3 * math.log(2 / 0.05) / 2) / 3
    assert matched.low == pytest.approx(max(2 / 3 - slack, 1 / 3))
    assert matched.high == 1.0


def test_distinct_traces_estimate_lemma_4_without_the_channel():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(300, 0.2), size=500)
    exact, inside = bounds.matching(P), 0
    for _ in range(100):
        shown = (P.cumsum(axis=1) < rng.random((500, 1))).sum(axis=1)
        bound = bounds.distinct_outputs(Traces(shown[:, None], 300), level=0.9)
        inside += bound.low <= exact <= bound.high
    assert inside >= 90
    assert abs(bound.value - exact) < 0.1


def test_a_missing_token_is_a_value_of_its_own():
    bound = bounds.distinct_outputs(Traces([[0, -1], [0, -1], [0, 1], [-1, 0]], 4))
    assert bound.value == 3 / 4
    assert bound.n_epochs == 2


def test_where_all_traces_differ_nothing_is_said():
    bound = bounds.distinct_outputs(Traces([[0], [1], [2]], 4))
    assert bound.value == bound.high == 1.0


def test_the_draw_depends_on_the_seed_alone():
    rng = np.random.default_rng(0)
    sets = TopSets(np.argsort(rng.random((70_000, 2, 12)), axis=2)[:, :, :4], 12)
    first, again = (bounds.topics_full_information(sets, 0.05, seed=3) for _ in range(2))
    assert first == again


@given(st.integers(1, 40), st.integers(1, 30), st.sampled_from([1, 2, 469, 30_000]), st.integers(0, 2**32 - 1))
@quick
def test_row_keys_are_equal_exactly_where_rows_are(n, r, n_tokens, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(-1, n_tokens, size=(5, r))
    tokens = kinds[rng.integers(5, size=n)]
    tokens[rng.random(n) < 0.2, rng.integers(r)] = n_tokens - 1
    _, expected = np.unique(tokens, axis=0, return_inverse=True)
    keys = row_keys(tokens, n_tokens)
    assert ((keys[:, None] == keys) == (expected.ravel()[:, None] == expected.ravel())).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: bounds.topics_full_information(TopSets([[[0, -1]]], 4), 0.1), DataError, "not full"),
        (lambda s: bounds.topics_full_information(s, -0.1), OptionError, "noise is a probability from 0 to 1"),
        (lambda s: bounds.topics_full_information(s, 0.1, level=1.0), OptionError, "level must lie strictly"),
        (
            lambda s: bounds.topics_full_information(s, 0.1, queries=Traces([[0, 1]], 4)),
            DataError,
            r"queries have \(users, epochs, tokens\) \(1, 2, 4\), but the top sets have \(2, 2, 4\)",
        ),
        (lambda s: bounds.distinct_outputs(Traces([[0]], 4), level=0.0), OptionError, "level must lie strictly"),
        (lambda s: bounds.topics_optimum(s, 0.1, samples=0), OptionError, "samples must be"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call(TopSets([[[0, 1], [0, 1]], [[2, 3], [2, 3]]], n_tokens=4))
