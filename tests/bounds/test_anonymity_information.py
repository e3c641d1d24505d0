import math
from collections import Counter

import numpy as np
import pytest
from channel_strategies import FORMS, as_given, channels, quick
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import bounds
from reidrisk.base.errors import DataError, OptionError


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.sampled_from(FORMS))
@quick
def test_k_is_the_smallest_crowd(outputs, form):
    P = np.eye(6)[outputs]
    k = bounds.k_anonymity(as_given(P, form))
    assert k == min(Counter(outputs).values())
    assert bounds.random_user(P) <= bounds.from_k_anonymity(k) + 1e-12  # carey, Lemma 7


@given(channels(), st.sampled_from(FORMS))
@quick
def test_lemma_7_holds_for_any_channel(P, form):
    k = bounds.k_anonymity(as_given(P, form))
    assert (k == 0) == bool(((P > 0).sum(axis=1) != 1).any())
    assert bounds.random_user(P) <= bounds.from_k_anonymity(k) + 1e-12


def test_lemma_7_is_reached_by_crowds_of_equal_size():
    P = np.repeat(np.eye(4), 3, axis=0)
    assert bounds.k_anonymity(P) == 3
    assert bounds.random_user(P) == bounds.from_k_anonymity(3)


def entropy(p):
    p = np.asarray(p)[np.asarray(p) > 0]
    return float(-(p * np.log2(p)).sum())


def random_prior(n, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(n))


@given(channels(), st.integers(0, 2**32 - 1), st.sampled_from(FORMS))
@quick
def test_mutual_information_is_a_difference_of_entropies(P, seed, form):
    prior = random_prior(len(P), seed)
    expected = entropy(prior @ P) - sum(w * entropy(row) for w, row in zip(prior, P, strict=True))
    assert bounds.mutual_information(as_given(P, form), prior) == pytest.approx(expected, abs=1e-11)
    uniform = np.full(len(P), 1 / len(P))
    assert bounds.mutual_information(as_given(P, form)) == pytest.approx(
        bounds.mutual_information(P, uniform), abs=1e-12
    )


@given(channels())
@quick
def test_lemma_9(P):
    n = len(P)
    bits = bounds.mutual_information(P)
    assert 0.0 <= bits <= math.log2(min(P.shape)) + 1e-12
    assert bounds.random_user(P) <= bounds.from_mutual_information(bits, n) + 1e-12


@given(channels())
@quick
def test_nothing_and_everything_leaks(P):
    """Min-entropy leakage and mutual information are both 0 for identical rows, both log2(n) for the identity."""
    if (P[0] == P).all():
        assert bounds.mutual_information(P) == pytest.approx(0.0, abs=1e-12)
        assert bounds.min_entropy_leakage(P) == pytest.approx(0.0, abs=1e-12)
    n = len(P)
    assert bounds.mutual_information(np.eye(n)) == pytest.approx(math.log2(n))
    assert bounds.min_entropy_leakage(np.eye(n)) == pytest.approx(math.log2(n))


@given(channels(), st.integers(0, 2**32 - 1), st.sampled_from(FORMS))
@quick
def test_vulnerability_is_the_definition(P, seed, form):
    rng = np.random.default_rng(seed)
    n, m = P.shape
    prior, gain = random_prior(n, seed), rng.normal(size=(rng.integers(1, 5), n))
    expected = sum(max(sum(prior[i] * P[i, o] * g[i] for i in range(n)) for g in gain) for o in range(m))
    given_as = as_given(P, form)
    assert bounds.vulnerability(given_as, gain, prior) == pytest.approx(expected, abs=1e-12)
    assert bounds.vulnerability(given_as, sparse.csr_array(gain), prior) == pytest.approx(expected, abs=1e-12)
    assert bounds.vulnerability(given_as, np.eye(n), prior) == pytest.approx(
        bounds.vulnerability(given_as, prior=prior), abs=1e-12
    )


@given(channels())
@quick
def test_bayes_vulnerability_is_the_random_user_optimum(P):
    n, m = P.shape
    assert bounds.vulnerability(P) == bounds.random_user(P)
    assert bounds.vulnerability(P, gain=sparse.eye_array(n).tocsr()) == pytest.approx(bounds.random_user(P), abs=1e-12)
    assert bounds.min_entropy_leakage(P) <= math.log2(min(n, m)) + 1e-12


@given(channels(), st.integers(0, 2**32 - 1))
@quick
def test_leakage_with_a_prior(P, seed):
    prior = random_prior(len(P), seed)
    assume(prior.max() > 0)
    expected = math.log2((prior[:, None] * P).max(axis=0).sum() / prior.max())
    assert bounds.min_entropy_leakage(P, prior) == pytest.approx(expected, abs=1e-12)


def test_tiny_probabilities_and_sure_users_give_finite_answers():
    P = [[1.0, 0.0], [5e-324, 1.0]]
    assert bounds.mutual_information(P) == pytest.approx(1.0)
    assert bounds.mutual_information(P, prior=[1.0, 0.0]) == 0.0
    assert bounds.min_entropy_leakage(P, prior=[1.0, 0.0]) == 0.0


def test_one_user():
    assert bounds.from_mutual_information(0.0, 1) == bounds.random_user([[0.3, 0.7]]) == 1.0
    assert bounds.from_mutual_information(0.0, 2) == 1.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bounds.from_k_anonymity(-1), OptionError, "k must be a whole number of at least 0, not -1"),
        (lambda: bounds.from_k_anonymity(2.0), OptionError, "not 2.0"),
        (lambda: bounds.from_mutual_information(-0.1, 5), OptionError, "at least 0 bits, not -0.1"),
        (lambda: bounds.from_mutual_information(math.nan, 5), OptionError, "not nan"),
        (lambda: bounds.from_mutual_information(1.0, 0), OptionError, "n must be"),
        (lambda: bounds.mutual_information([[1.0], [1.0]], prior=[0.5]), DataError, r"the prior has shape \(1,\)"),
        (lambda: bounds.mutual_information([[1.0], [1.0]], prior=[0.5, 0.6]), DataError, "the prior adds up to 1.1"),
        (lambda: bounds.vulnerability([[1.0], [1.0]], prior=[1.5, -0.5]), DataError, "the prior of user 1 is -0.5"),
        (lambda: bounds.vulnerability([[1.0], [1.0]], gain=[[1.0]]), DataError, r"give \(actions, 2\)"),
        (lambda: bounds.vulnerability([[1.0]], gain=[[math.inf]]), DataError, "not finite"),
    ],
)
def test_bad_options(call, error, message):
    with pytest.raises(error, match=message):
        call()
