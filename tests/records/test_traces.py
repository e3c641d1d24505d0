import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from reidrisk import Bags, TopSets, Traces, Vocabulary
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records.top_sets import filled, from_seed

tokens = hnp.arrays(np.int16, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-1, 4))


@given(tokens)
def test_traces_keep_what_they_are_given_and_nothing_can_change_it(array):
    traces = Traces(array, n_tokens=5)
    before = array.copy()
    array[0, 0] = 4 - array[0, 0]
    assert np.array_equal(traces.tokens, before)
    with pytest.raises(ValueError, match="read-only"):
        traces.tokens[0, 0] = 0


@given(tokens, st.data())
def test_epochs_and_take_commute_with_numpy(array, data):
    traces = Traces(array, n_tokens=5, users=np.arange(len(array)) * 7)
    r = data.draw(st.integers(1, array.shape[1]))
    rows = np.array(data.draw(st.lists(st.integers(0, len(array) - 1), unique=True)), dtype=np.int64)
    assert np.array_equal(traces.epochs(r).tokens, array[:, :r])
    assert np.array_equal(traces.take(rows).tokens, array[rows])
    assert np.array_equal(traces.take(rows).users, rows * 7)


def test_sample_is_without_replacement_and_by_seed():
    traces = Traces(np.arange(100).reshape(100, 1), n_tokens=100)
    one, two, three = (traces.sample(40, seed).tokens.ravel() for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, three)
    assert len(set(one.tolist())) == 40
    with pytest.raises(OptionError, match="cannot sample 101 of 100"):
        traces.sample(101, 0)


@pytest.mark.parametrize(
    ("array", "n_tokens", "message"),
    [
        ([[0, 1], [2, 5]], 5, "row 1, epoch 1 holds token 5"),
        ([[0, 1], [-2, 3]], 5, "row 1, epoch 0 holds token -2"),
        ([[0.5, 1.0]], 5, "row 0, epoch 0 holds 0.5"),
        ([[0.0, np.nan]], 5, "row 0, epoch 1 holds nan"),
        ([["a", "b"]], 5, "give signed integers"),
        ([0, 1], 5, "must have 2 dimensions"),
        (np.empty((0, 3), dtype=np.int64), 5, "the table is empty"),
        (np.empty((3, 0), dtype=np.int64), 5, "no epoch"),
        ([[0]], 0, "n_tokens must be a whole number of at least 1"),
        ([[0]], 2.5, "n_tokens must be a whole number"),
    ],
)
def test_bad_traces_are_named(array, n_tokens, message):
    with pytest.raises(DataError, match=message):
        Traces(array, n_tokens)


def test_vocabulary_must_fit():
    with pytest.raises(DataError, match="n_tokens is 3 but the vocabulary has 2 labels"):
        Traces([[0]], 3, vocabulary=Vocabulary(["a", "b"]))


def test_unsigned_tokens_are_widened():
    assert Traces(np.array([[255]], dtype=np.uint8), 300).tokens.tolist() == [[255]]


@given(st.integers(0, 2**20), st.integers(1, 4), st.integers(0, 3))
def test_padding_fills_with_new_tokens_and_keeps_the_old(seed, k, extra):
    rng = np.random.default_rng(seed)
    n_tokens = k + extra
    array = np.stack([rng.permutation(n_tokens)[:k] for _ in range(12)]).reshape(6, 2, k)
    short = np.where(rng.random(array.shape) < 0.5, -1, array)
    sets = TopSets(short, n_tokens)
    padded = sets.padded(seed)
    assert padded.is_padded
    assert np.array_equal(padded.tokens[short >= 0], short[short >= 0])
    TopSets(padded.tokens, n_tokens)  # still distinct
    assert np.array_equal(padded.tokens, sets.padded(seed).tokens)


def test_padding_is_uniform_over_what_is_left():
    sets = TopSets(np.tile([0, -1], (30_000, 1, 1)), n_tokens=4).padded(3)
    share = np.bincount(sets.tokens[:, 0, 1], minlength=4) / 30_000
    assert share[0] == 0
    assert np.allclose(share[1:], 1 / 3, atol=0.015)


def test_top_sets_with_a_repeated_token_are_refused():
    with pytest.raises(DataError, match="the set of row 1, epoch 0 holds token 2 twice"):
        TopSets([[[0, 1]], [[2, 2]]], n_tokens=5)
    with pytest.raises(DataError, match="a set of 3 distinct tokens cannot come from 2"):
        TopSets([[[0, 1, -1]]], n_tokens=2)


def test_bags_from_dense_and_sparse_agree_and_take_rows():
    counts = np.array([[2, 0, 1], [0, 0, 3]])
    bags = Bags(sparse.coo_array(counts), users=["a", "b"])
    assert (bags.counts.toarray() == Bags(counts).counts.toarray()).all()
    assert bags.take(np.array([1])).users.to_pylist() == ["b"]
    assert bags.n_tokens == 3


@pytest.mark.parametrize(
    ("counts", "message"),
    [([[1, -2]], "row 0 has the negative count -2"), ([[0.5, 1]], "whole numbers, but there is 0.5"),
     ([[np.nan, 1]], "whole numbers, but there is nan")],
)  # fmt: skip
def test_bad_bags_are_named(counts, message):
    with pytest.raises(DataError, match=message):
        Bags(counts)


def test_bags_leave_the_given_matrix_alone_and_take_their_own_counts():
    theirs = sparse.csr_array(np.array([[1, 0], [0, 2]]))
    bags = Bags(theirs)
    theirs.data[0] = 7
    assert bags.counts.toarray().tolist() == [[1, 0], [0, 2]]
    assert Bags(bags.counts, users=["a", "b"]).counts.toarray().tolist() == [[1, 0], [0, 2]]


def test_words_of_a_seed_depend_on_the_row_alone():
    words = from_seed(0, n=10, n_epochs=2)
    two, one = words(np.array([3, 7]), np.array([0, 1]), 5), words(np.array([7]), np.array([1]), 5)
    assert np.array_equal(two[1], one[0])


def test_the_largest_word_chooses_the_last_token_that_is_not_in_the_set():
    full = filled(np.array([[[2, -1]]]), 3, lambda rows, epochs, k: np.full((1, 2), 2**64 - 1, dtype=np.uint64))
    assert full.tolist() == [[[2, 1]]]
