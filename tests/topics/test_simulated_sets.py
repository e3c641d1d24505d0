"""Simulated browsing: visits, top sets and padding have the distribution the paper states."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from topics_twins import top_sets_numpy

from reidrisk import populations
from reidrisk.base.errors import DataError, OptionError, ReidRiskError
from reidrisk.populations.rates import BLOCK
from reidrisk.topics import TopicsAPI
from reidrisk.topics.visits import top_sets, visit_blocks
from reidrisk_studies.jha import personas

N = 40_000


def simulated(row, top_k, epochs=1, seed=0, n=N):
    rates = populations.real(np.tile(np.asarray(row, dtype=float), (n, 1)))
    return TopicsAPI(len(row), top_k=top_k).top_sets(rates, epochs=epochs, seed=seed).tokens


def directly(row, top_k, rng):
    """Read the definition aloud for one user and epoch."""
    visits = rng.poisson(row)
    visited = [t for t in rng.permutation(len(row)) if visits[t] > 0]
    top = sorted(visited, key=lambda t: -visits[t])[:top_k]
    rest = [t for t in range(len(row)) if t not in top]
    return top + list(rng.choice(rest, size=top_k - len(top), replace=False))


def share(tokens, n_topics):
    return np.bincount(tokens.ravel(), minlength=n_topics) / (tokens.size // tokens.shape[-1])


@pytest.mark.parametrize(
    "row", [[0.3, 0, 2.0, 5.0, 0.9, 1.1, 0], [0.05, 0.1, 0, 0, 0, 0.2, 0], [40, 29, 35, 31, 0, 0, 33]]
)
def test_frequencies_agree_with_a_direct_simulation(row):
    rng = np.random.default_rng(1)
    slow = np.array([directly(row, 3, rng) for _ in range(20_000)])
    fast = simulated(row, 3)[:, 0]
    assert share(fast, 7) == pytest.approx(share(slow, 7), abs=0.015)

    def pairs(tokens):
        held = (tokens[..., None] == np.arange(7)).any(axis=1).astype(float)
        return held.T @ held / len(held)

    assert pairs(fast) == pytest.approx(pairs(slow), abs=0.015)
    assert share(fast[:, :1], 7) == pytest.approx(share(slow[:, :1], 7), abs=0.015)


@pytest.mark.parametrize("rate", [0.1, 1.0, 7.0])
def test_one_visited_topic_in_closed_form(rate):
    tokens = simulated([0, 0, rate, 0, 0, 0], top_k=2)[:, 0]
    visited = 1 - math.exp(-rate)
    # Not visited, it may still be drawn as padding: two of six topics.
    assert share(tokens, 6)[2] == pytest.approx(visited + (1 - visited) * 2 / 6, abs=0.01)
    others = np.delete(share(tokens, 6), 2)
    assert others == pytest.approx(visited / 5 + (1 - visited) * 2 / 6, abs=0.01)


@pytest.mark.parametrize("rate", [0.4, 12.0, 50.0])
def test_equal_rates_are_equally_likely_in_every_place(rate):
    tokens = simulated([rate] * 6, top_k=2)[:, 0]
    for place in (0, 1):
        assert share(tokens[:, place : place + 1], 6) == pytest.approx(1 / 6, abs=0.01)


@pytest.mark.parametrize("one", [0.5, 3.0, 12.0, 29.0, 31.0, 80.0])
def test_who_wins_between_two_topics_in_closed_form(one):
    other = one * 1.1
    tokens = simulated([one, other], top_k=1)[:, 0, 0]
    difference = stats.skellam(one, other)
    # With equal visits, both none included, a fair coin decides.
    assert np.mean(tokens == 0) == pytest.approx(difference.sf(0) + difference.pmf(0) / 2, abs=0.012)


def test_padding_is_uniform_distinct_and_new_every_epoch():
    tokens = simulated([0] * 10, top_k=3, epochs=2)
    assert share(tokens, 10) == pytest.approx(3 / 10, abs=0.01)
    assert (np.diff(np.sort(tokens, axis=2), axis=2) > 0).all()
    same = np.mean(tokens[:, 0, 0] == tokens[:, 1, 0])
    assert same == pytest.approx(1 / 10, abs=0.01)


def test_sets_are_full_even_when_they_hold_the_whole_taxonomy():
    tokens = simulated([0, 0.5, 2.0], top_k=3, n=500)
    assert (np.sort(tokens, axis=2) == np.arange(3)).all()


def test_more_users_epochs_and_threads_change_nothing():
    matrix = np.random.default_rng(0).gamma(0.3, 4.0, size=(30, 12))
    api = TopicsAPI(12)
    n = BLOCK + 100
    all_of_them = api.top_sets(personas.crossover(matrix, n, seed=2), epochs=3, seed=5, threads=2).tokens
    one_thread = api.top_sets(personas.crossover(matrix, n, seed=2), epochs=3, seed=5, threads=1).tokens
    fewer = api.top_sets(personas.crossover(matrix, 70, seed=2), epochs=2, seed=5).tokens
    other = api.top_sets(personas.crossover(matrix, 70, seed=2), epochs=2, seed=6).tokens
    assert np.array_equal(all_of_them, one_thread)
    assert np.array_equal(all_of_them[:70, :2], fewer)
    assert not np.array_equal(fewer, other)


def test_the_two_extremes_fill_their_sets_without_padding():
    api = TopicsAPI(349)
    same = api.top_sets(personas.identical(2_000), epochs=5).tokens
    assert np.mean(np.sort(same, axis=2) == np.arange(5)) > 0.999
    rates = personas.distinct(2_000, seed=3)
    apart = np.sort(api.top_sets(rates, epochs=5).tokens, axis=2)
    truth = np.nonzero(rates.toarray())[1].reshape(-1, 1, 5)
    assert np.mean((apart == truth).all(axis=2)) > 0.999


def test_huge_and_empty_rates_work():
    tokens = simulated([1e6, 0, 1e3, 1e-12], top_k=2, n=50)[:, 0]
    assert (tokens == [0, 2]).all()


def test_bad_input_is_one_clear_line():
    with pytest.raises(DataError, match=r"top_sets needs Rates, not ndarray; give populations.real\(matrix\)"):
        TopicsAPI(5).top_sets(np.ones((2, 5)))
    with pytest.raises(DataError, match="the rates have 5 topics, but the API has 9"):
        TopicsAPI(9).top_sets(populations.real(np.ones((2, 5))))
    for epochs in (0, 1.5, True):
        with pytest.raises(OptionError, match="epochs must be a whole number"):
            TopicsAPI(5).top_sets(populations.real(np.ones((2, 5))), epochs=epochs)


ROWS = [[0.3, 0, 2.0, 5.0, 0.9], [0.05, 0.1, 0, 0, 0.2], [40, 29, 35, 31, 33], [0, 0, 0, 0, 0], [2, 2, 2, 2, 2]]


def ordered(tokens, n_topics):
    """Number of times each ordered set occurs."""
    codes = tokens @ n_topics ** np.arange(tokens.shape[1])
    return np.bincount(codes, minlength=n_topics ** tokens.shape[1])


@pytest.mark.parametrize("row", ROWS)
def test_the_kernel_draws_ordered_sets_with_the_distribution_of_its_twin(row):
    """Chi-square over all ordered sets of three, and a control: another rate, or one place less, is noticed."""

    def differs(other):
        both = np.stack([ordered(fast, 5), ordered(other, 5)])
        both = both[:, both.sum(axis=0) > 0]
        rare = both.sum(axis=0) < 20
        both = np.column_stack([both[:, ~rare], both[:, rare].sum(axis=1)])
        both = both[:, both.sum(axis=0) > 0]
        return stats.chi2_contingency(both).pvalue

    rates = np.tile(np.asarray(row, dtype=float), (N, 1))
    fast = simulated(row, 3)[:, 0].astype(np.int64)
    rng = np.random.default_rng(7)
    assert differs(top_sets_numpy(rng, rates, 3)) > 1e-4
    changed = rates.copy()
    changed[:, 0] = 1.3 * changed[:, 0] + 0.1
    assert differs(top_sets_numpy(rng, changed, 3)) < 1e-4


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.01, 0.4, 2.0, 29.9, 30.0, 55.0]), min_size=6, max_size=6), min_size=1,
             max_size=5),
    st.integers(1, 6), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_the_compiled_kernel_is_its_source_run_by_python(rows, k, seed):
    rates = sparse.csr_array(np.array(rows))
    out = np.empty((len(rows), 2, k), dtype=np.int16)
    visit_blocks(rates, [np.random.default_rng([seed, e]) for e in range(2)], out)
    slow = np.empty_like(out)
    for user, row in enumerate(rows):
        visited = np.flatnonzero(row)
        order = visited[np.argsort(-np.array(row)[visited], kind="stable")]
        rows[user] = [(int(t), row[t]) for t in order]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    topics = np.array([t for row in rows for t, _ in row], dtype=np.int64)
    lambdas = np.array([rate for row in rows for _, rate in row])
    never = np.exp(-lambdas)
    few = never * (1.0 + lambdas + lambdas**2 / 2)
    for epoch in range(2):
        rng = np.random.default_rng([seed, epoch])
        top_sets.py_func(rng, starts, topics, lambdas, never, few, 6, slow[:, epoch])
    assert np.array_equal(out, slow)


@pytest.mark.parametrize(
    ("text", "n_topics", "message"),
    [("0.5,-1,2\n", None, "row 1, column '2' holds -1"), ("0.5,0,2\n1,nan,0\n", None, "row 2, column '2' holds nan"),
     ("0.5,inf,2\n", None, "column '2' holds inf"), ("0.5,0,2\n", 9, "has 3 columns, not 9"),
     ("0.5,0,2\n1,2\n", None, "line 2 has 2 cells where the first line has 3"),
     ("0.5,0,2\n", None, "the rates have 3 topics, but the API has 9"),
     ("", None, "is empty")],
)  # fmt: skip
def test_bad_rates_stop_between_the_file_and_the_simulation_in_one_line(tmp_path, text, n_topics, message):
    file = tmp_path / "rates.csv"
    file.write_text(text)
    with pytest.raises(ReidRiskError, match=message) as caught:
        TopicsAPI(9).top_sets(populations.real(populations.read_rates(file, n_topics=n_topics)), epochs=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [-0.5, np.nan, np.inf])
@pytest.mark.parametrize(
    "model", [populations.real, lambda m: personas.iid(m, 5, 0), lambda m: personas.crossover(m, 5, 0)]
)
def test_bad_rates_in_an_array_are_named_by_every_population(model, bad):
    matrix = np.ones((3, 4))
    matrix[2, 1] = bad
    with pytest.raises(DataError, match=r"row 2, column 1 holds the rate"):
        model(matrix)


def test_the_former_name_works_for_one_version():
    rates = populations.real(np.ones((3, 5)))
    with pytest.warns(DeprecationWarning, match="now TopicsAPI.top_sets"):
        former = TopicsAPI(5).profiles(rates, epochs=2, seed=1)
    assert np.array_equal(former.tokens, TopicsAPI(5).top_sets(rates, epochs=2, seed=1).tokens)
