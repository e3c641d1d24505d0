import itertools
import math

import numpy as np
import pytest
from channel_strategies import FORMS, as_given, channels, quick
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import bounds
from reidrisk.base.errors import OptionError


def slow_optimum(P):
    """The best matching rule, one output vector and one permutation at a time."""
    n, m = P.shape
    total = 0.0
    for outputs in itertools.product(range(m), repeat=n):
        weight = np.zeros((n, n))
        for order in itertools.permutations(range(n)):
            joint = math.prod(P[user, o] for user, o in zip(order, outputs, strict=True)) / math.factorial(n)
            for position, user in enumerate(order):
                weight[position, user] += joint
        total += weight.max(axis=1).sum() / n
    return total


@given(channels(max_users=3, max_outputs=3))
@settings(quick, max_examples=40)
def test_the_enumeration_agrees_with_a_slow_one(P):
    assert bounds.matching_optimum(P) == pytest.approx(slow_optimum(P), abs=1e-12)


@given(channels(max_users=5, max_outputs=4))
@settings(quick, max_examples=60)
def test_the_optimum_lies_between_the_random_user_optimum_and_the_bound(P):
    exact = bounds.matching_optimum(P)
    assert bounds.random_user(P) - 1e-12 <= exact <= bounds.matching(P) + 1e-12


@given(channels())
@quick
def test_the_bound_is_the_formula(P):
    n, m = P.shape
    assert bounds.matching(P) == pytest.approx(m / n - np.prod(1 - P, axis=0).sum() / n, abs=1e-12)


@given(channels(), st.sampled_from(FORMS))
@quick
def test_every_form_of_the_matrix_gives_the_same(P, form):
    assert bounds.matching(as_given(P, form)) == pytest.approx(bounds.matching(P), abs=1e-14)


def test_one_hot_rows_count_the_outputs_in_use():
    P = np.eye(7)[[0, 0, 3, 3, 5]]
    assert bounds.matching(P) == bounds.random_user(P) == bounds.matching(sparse.csr_array(P)) == 3 / 5


@pytest.mark.parametrize("pairs", [1, 2])
def test_lemma_6(pairs):
    P = np.zeros((2 * pairs, 3 * pairs))
    for i in range(2 * pairs):
        P[i, i] = P[i, 2 * pairs + i // 2] = 0.5
    assert bounds.random_user(P) == 3 / 4
    assert bounds.matching_optimum(P) == bounds.matching(P) == 7 / 8


def test_products_over_ten_million_users_keep_their_digits():
    n = 10_000_000
    indices = np.zeros(n, dtype=np.int32)
    indices[:2] = 1  # two users have the second output, surely; all others the first
    P = sparse.csr_array((np.ones(n), indices, np.arange(n + 1)), shape=(n, 3))
    assert bounds.matching(P) == 2 / n
    rare = 1e-9
    data = np.tile([rare, 1 - rare], n)
    P = sparse.csr_array((data, np.tile(np.array([0, 1], dtype=np.int32), n), 2 * np.arange(n + 1)), shape=(n, 2))
    expected = (-math.expm1(n * math.log1p(-rare)) + 1.0) / n
    assert bounds.matching(P) == pytest.approx(expected, rel=1e-9)


def test_a_certain_output_is_no_warning():
    with np.errstate(all="raise"):
        assert bounds.matching([[1.0, 0.0], [1.0, 0.0]]) == 0.5


def test_too_many_users_to_enumerate():
    with pytest.raises(OptionError, match="9 users with 2 outputs are too many to enumerate"):
        bounds.matching_optimum(np.full((9, 2), 0.5))
