import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces, Vocabulary, attacks
from reidrisk.attacks.hamming import match_weights
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mechanisms import token_probabilities
from reidrisk.search import GRID

probability = st.floats(0, 1)


def test_hamming_on_a_table_small_enough_to_check_by_hand():
    targets = Traces([[1, 2, 3], [1, 2, 4], [5, 6, -1]], n_tokens=9)
    queries = Traces([[1, 2, 3], [1, 2, 8], [-1, 6, -1], [8, 8, 8]], n_tokens=9)
    links = attacks.Hamming().fit(targets).link(queries)
    assert links.score.tolist() == [3, 2, 1, 0]
    assert links.n_ties.tolist() == [1, 2, 1, 3]
    assert links.target.tolist() == [0, 0, 2, 0]
    assert links.probability is None


def test_missing_never_equals_missing():
    traces = Traces([[-1, 1], [0, 2]], n_tokens=3)
    assert attacks.Hamming().fit(traces).score(traces, np.array([0, 1])).tolist() == [1, 2]


@given(probability, st.integers(1, 8), st.floats(0, 0.99), st.integers(8, 500))
def test_a_match_never_counts_less_than_a_mismatch(p, top_k, noise, n_tokens):
    q_in, q_out = token_probabilities(n_tokens, top_k, noise)
    match, mismatch = match_weights(np.array([p]), q_in, q_out, top_k)
    assert np.isfinite([match, mismatch]).all()
    assert match[0] >= mismatch[0] - 1e-9


def test_weights_are_theorem_1_divided_by_the_probability_of_the_token():
    p, q_in, q_out, k = np.array([0.02, 0.3]), 0.19, 0.0001, 5
    d = q_in - q_out
    match, mismatch = match_weights(p, q_in, q_out, k)
    theorem_match = q_out + d * q_in * p / (q_out + d * p)
    theorem_mismatch = q_out + d * (4 * p / (5 - p))
    assert np.allclose(np.exp(match) * (q_out + d * p), theorem_match)
    assert np.allclose(np.exp(mismatch) * (q_out + d * p), theorem_mismatch)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_weights_are_likelihood_ratios_when_the_model_is_exactly_true(noise):
    """Sets of two out of N equally popular topics: enumerate them all and compare likelihood ratios."""
    n_tokens, k = 5, 2
    q_in, q_out = token_probabilities(n_tokens, k, noise)
    sets = list(itertools.combinations(range(n_tokens), k))

    def joint(a, b):
        chance = [(q_in if a in s else q_out) * (q_in if b in s else q_out) for s in sets]
        return sum(chance) / len(sets)

    match, mismatch = match_weights(np.array([k / n_tokens]), q_in, q_out, k)
    alone = sum(joint(0, b) for b in range(n_tokens))
    assert np.exp(match[0]) == pytest.approx(joint(0, 0) / alone**2)
    exact = joint(0, 1) / alone**2
    # Lemma 11 conditions on the target's token being in the set; where it was noise instead, that is too low.
    assert np.exp(mismatch[0]) == pytest.approx(exact) if noise == 0.0 else np.exp(mismatch[0]) < exact


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_match_on_a_rare_token_wins_over_a_common_one(noise):
    tokens = np.zeros((200, 2), dtype=np.int64)
    tokens[0] = [0, 3]  # agrees with the query on the rare token
    tokens[1] = [2, 1]  # agrees on a less rare one
    tokens[2:10, 0] = 2
    tokens[2:, 1] = 1
    links = attacks.WeightedHamming(top_k=5, noise=noise).fit(Traces(tokens, 900)).link(Traces([[2, 3]], 900))
    assert links.target.tolist() == [0]


def test_weights_on_every_edge_are_finite_and_ordered():
    for top_k, noise, p in itertools.product([1, 2, 5], [0.0, 0.05], [0.0, 1e-9, 0.5, 1.0]):
        q_in, q_out = token_probabilities(10, top_k, noise)
        match, mismatch = match_weights(np.array([p]), q_in, q_out, top_k)
        assert np.isfinite([match[0], mismatch[0]]).all()
        assert match[0] >= mismatch[0] - 1e-12
    # Sets of one, no noise: a mismatch cannot happen to the same user.
    assert match_weights(np.array([0.5]), *token_probabilities(10, 1, 0.0), 1)[1][0] == -50.0


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**20))
def test_score_and_link_agree_and_missing_adds_nothing(seed):
    rng = np.random.default_rng(seed)
    targets, queries = (Traces(rng.integers(-1, 6, (n, 3)), 6) for n in (30, 8))
    attack = attacks.WeightedHamming(top_k=2, noise=0.1).fit(targets)
    links = attack.link(queries, probability=True)
    assert np.array_equal(attack.score(queries, links.target), links.score)
    rows, scores = attack.candidates(queries, 5)
    assert np.array_equal(rows[:, 0], links.target)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert ((links.probability > 0) & (links.probability <= 1 / links.n_ties + 1e-9)).all()
    blank = attack.score(Traces(np.full((8, 3), -1), 6), links.target)
    assert (blank == 0).all()


def test_per_epoch_popularity_changes_the_weights():
    targets = Traces([[0, 1], [0, 2], [0, 1], [1, 0]], n_tokens=3)
    pooled = attacks.WeightedHamming(top_k=1, noise=0.1).fit(targets).weights_
    apart = attacks.WeightedHamming(top_k=1, noise=0.1, per_epoch=True).fit(targets).weights_
    assert pooled.match.shape == (1, 3)
    assert apart.match.shape == (2, 3)
    assert apart.match[0, 0] < pooled.match[0, 0]  # token 0 is commoner in the first epoch than overall


def test_weights_are_whole_numbers_on_the_grid():
    weights = attacks.WeightedHamming(top_k=2, noise=0.1).fit(Traces([[0], [1], [1]], n_tokens=3)).weights_
    assert weights.match.dtype == np.int64
    assert abs(weights.match[0, 1] / GRID - np.log(np.exp(weights.match[0, 1] / GRID))) < 1e-12


@pytest.mark.parametrize(
    ("queries", "kind", "message"),
    [
        (Traces([[0, 1]], 5), DataError, "targets have 1 epochs, queries have 2"),
        (Traces([[0]], 6), DataError, "targets have 5 tokens in the vocabulary, queries have 6"),
        (Bags([[1, 0]]), DataError, "compares traces, not Bags"),
        (Traces([[0]], 5, vocabulary=Vocabulary("vwxyz")), DataError, "different vocabularies"),
    ],
)
def test_tables_that_do_not_fit_are_refused(queries, kind, message):
    attack = attacks.Hamming().fit(Traces([[0], [1]], 5, vocabulary=Vocabulary("abcde")))
    with pytest.raises(kind, match=message):
        attack.link(queries)


def test_an_attack_that_saw_nothing_and_bad_options_are_refused():
    with pytest.raises(OptionError, match=r"call fit\(targets\) first"):
        attacks.Hamming().link(Traces([[0]], 2))
    with pytest.raises(OptionError, match="noise must lie in"):
        attacks.WeightedHamming(top_k=1, noise=1.0).fit(Traces([[0]], 2))
    with pytest.raises(OptionError, match="top_k must be a whole number from 1 to the 2 tokens"):
        attacks.WeightedHamming(top_k=5, noise=0.1).fit(Traces([[0]], 2))
    with pytest.raises(OptionError, match="there is one outside"):
        attacks.Hamming().fit(Traces([[0]], 2)).score(Traces([[0]], 2), np.array([1]))
