import itertools

import numpy as np
import pytest
from channel_strategies import FORMS, as_given, channels, quick
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import bounds
from reidrisk.base.errors import DataError


@given(channels(max_users=4, max_outputs=4))
@quick
def test_no_rule_beats_the_optimum_and_the_optimal_rule_reaches_it(P):
    n, m = P.shape
    every_rule = [bounds.accuracy(P, rule) for rule in itertools.product(range(n), repeat=m)]
    assert max(every_rule) == pytest.approx(bounds.random_user(P), abs=1e-12)
    assert bounds.accuracy(P, bounds.optimal_rule(P)) == pytest.approx(bounds.random_user(P), abs=1e-12)


@given(channels(), st.integers(0, 2**32 - 1))
@quick
def test_accuracy_of_a_random_rule_is_the_trace_and_below_the_optimum(P, seed):
    n, m = P.shape
    A = np.random.default_rng(seed).dirichlet(np.ones(n), size=m).T
    value = bounds.accuracy(P, A)
    assert value == pytest.approx(np.trace(P @ A.T) / n, abs=1e-12)
    assert value <= bounds.random_user(P) + 1e-12
    assert bounds.accuracy(sparse.csr_array(P), A) == pytest.approx(value, abs=1e-12)
    assert bounds.accuracy(sparse.csr_array(P), sparse.csc_array(A)) == pytest.approx(value, abs=1e-12)
    assert bounds.accuracy(P, sparse.csc_array(A)) == pytest.approx(value, abs=1e-12)


@given(channels(), st.integers(0, 2**32 - 1))
@quick
def test_a_rule_of_users_is_the_matrix_with_ones(P, seed):
    n, m = P.shape
    rule = np.random.default_rng(seed).integers(n, size=m)
    assert bounds.accuracy(P, rule) == pytest.approx(bounds.accuracy(P, np.eye(n)[:, rule]), abs=1e-12)


def test_accuracy_is_how_often_a_simulated_attacker_is_right():
    rng = np.random.default_rng(5)
    P = rng.dirichlet(np.full(6, 0.3), size=4)
    users = rng.integers(4, size=200_000)
    shown = (P[users].cumsum(axis=1) < rng.random(users.size)[:, None]).sum(axis=1)
    right = bounds.optimal_rule(P)[np.minimum(shown, 5)] == users
    assert right.mean() == pytest.approx(bounds.random_user(P), abs=0.005)


@given(channels())
@quick
def test_the_optimum_lies_between_guessing_and_certainty(P):
    n, m = P.shape
    assert 1 / n - 1e-12 <= bounds.random_user(P) <= min(1.0, m / n) + 1e-12


@given(channels(), st.sampled_from(FORMS))
@quick
def test_every_form_of_the_matrix_gives_the_same(P, form):
    given_as = as_given(P, form)
    assert bounds.random_user(given_as) == pytest.approx(bounds.random_user(P), abs=1e-15)
    assert bounds.optimal_rule(given_as).tolist() == bounds.optimal_rule(P).tolist()
    assert bounds.partial_information(given_as) == bounds.random_user(given_as)


def test_ties_and_unused_outputs_go_to_the_first_user():
    P = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    for form in FORMS:
        assert bounds.optimal_rule(as_given(P, form)).tolist() == [0, 0, 0]


P2 = [[0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ([0, 2], r"the rule names user 2 for output 1; users lie in \[0, 2\)"),
        ([-1, 0], r"the rule names user -1 for output 0"),
        ([0, 0, 0], r"the rule answers 3 outputs, but the channel has 2"),
        ([0.0, 1.0], r"a rule names users by their index, but its values are of type float64"),
        ([[1.0, 0.5], [0.0, 0.6]], r"column 1 of the rule adds up to 1.1"),
        ([[1.5, 0.5], [-0.5, 0.5]], r"no probabilities"),
        ([[1.0], [0.0]], r"the rule has shape \(2, 1\), but the channel has \(2, 2\)"),
        (np.zeros((2, 2, 2)), r"a rule is one user an output \(2,\) or a matrix \(2, 2\)"),
    ],
)
def test_a_bad_rule_is_refused(rule, message):
    with pytest.raises(DataError, match=message):
        bounds.accuracy(P2, rule)


def test_a_matrix_that_is_no_channel_is_refused_by_all():
    for function in (bounds.random_user, bounds.optimal_rule, bounds.matching, bounds.k_anonymity,
                     bounds.ldp_epsilon, bounds.mutual_information, bounds.vulnerability, bounds.summary):  # fmt: skip
        with pytest.raises(DataError, match=r"row 0 adds up to 0\.9"):
            function([[0.5, 0.4], [0.0, 1.0]])
