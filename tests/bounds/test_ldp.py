import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from channel_strategies import FORMS, as_given, channels, quick
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reidrisk import Channel, bounds
from reidrisk.base.errors import OptionError
from reidrisk.bounds.row_pairs import RowPairs, crossing

EPSILONS = (0.0, 0.1, 0.7, 2.0, 10.0, 800.0, math.inf)


def by_definition(P, epsilon):
    """Largest P(E | i) - e^epsilon P(E | j) over all pairs and all sets E of outputs."""
    m = P.shape[1]
    factor = math.exp(epsilon) if epsilon < 700 else math.inf
    worst = 0.0
    for size in range(m + 1):
        for outputs in itertools.combinations(range(m), size):
            mass = P[:, outputs].sum(axis=1)
            scaled = np.where(mass > 0, mass * factor if factor < math.inf else math.inf, 0.0)
            worst = max(worst, float((mass[:, None] - scaled[None, :]).max()))
    return min(worst, 1.0)


def all_pairs(P, epsilon):
    """The NumPy twin of the compiled search."""
    return float(np.maximum(P[:, None, :] - math.exp(epsilon) * P[None, :, :], 0.0).sum(axis=2).max())


@given(channels(max_users=4, max_outputs=5), st.sampled_from(EPSILONS))
@settings(quick, max_examples=60)
def test_delta_is_the_worst_set_of_outputs(P, epsilon):
    assert bounds.ldp_delta(P, epsilon) == pytest.approx(by_definition(P, epsilon), abs=1e-12)


@given(channels(max_users=30, max_outputs=8), st.floats(0.0, 3.0), st.sampled_from(FORMS))
@quick
def test_the_search_agrees_with_all_pairs(P, epsilon, form):
    low, high = bounds.ldp_delta_interval(as_given(P, form), epsilon)
    assert low == pytest.approx(all_pairs(P, epsilon), abs=1e-12)
    assert high == pytest.approx(low, abs=1e-12)


@given(channels(max_users=30, max_outputs=8), st.floats(0.0, 3.0), st.floats(1e-6, 0.9))
@quick
def test_with_little_work_the_interval_still_holds_the_truth(P, epsilon, delta):
    low, high = bounds.ldp_delta_interval(P, epsilon, work=1)
    assert low - 1e-12 <= all_pairs(P, epsilon) <= high + 1e-12
    low, high = bounds.ldp_epsilon_interval(P, delta, work=1)
    exact = bounds.ldp_epsilon(P, delta)
    assert low <= exact * (1 + 1e-12) + 1e-12
    assert exact <= high * (1 + 1e-12) + 1e-12


@given(channels())
@quick
def test_epsilon_without_delta_is_the_largest_ratio(P):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(P.max(axis=0) > 0, P.max(axis=0) / P.min(axis=0), 1.0).max()
    assert bounds.ldp_epsilon(P) == pytest.approx(math.log(ratio), abs=1e-12)
    assert bounds.ldp_epsilon(sparse.csr_array(P)) == bounds.ldp_epsilon(P)
    if len(P) == 1:
        assert bounds.ldp_epsilon(P) == 0.0


@given(channels(max_users=10), st.floats(1e-9, 1.0))
@quick
def test_epsilon_and_delta_are_inverse(P, delta):
    epsilon = bounds.ldp_epsilon(P, delta)
    if epsilon == math.inf:  # none is large enough
        assert bounds.ldp_delta(P, math.inf) > delta
        return
    assert bounds.ldp_delta(P, epsilon) <= delta * (1 + 1e-9) + 1e-12
    if epsilon > 0.0:  # and no smaller one will do
        assert bounds.ldp_delta(P, epsilon * (1 - 1e-6)) > delta * (1 - 1e-9)


@given(channels(), st.sampled_from(EPSILONS))
@quick
def test_lemma_3(P, epsilon):
    n, m = P.shape
    assert bounds.random_user(P) <= bounds.from_ldp(n, m, epsilon, bounds.ldp_delta(P, epsilon)) + 1e-12
    assert bounds.random_user(P) <= bounds.from_ldp(n, m, bounds.ldp_epsilon(P)) + 1e-12


def test_lemma_3_is_reached_by_the_uniform_channel_and_by_the_identity():
    assert bounds.from_ldp(5, 4, bounds.ldp_epsilon(np.full((5, 4), 0.25))) == bounds.random_user(np.full((5, 4), 0.25))
    # Randomised response with n outputs: the optimum is e^eps / (e^eps + n - 1), the bound e^eps / n.
    n, epsilon = 6, 0.4
    P = (np.ones((n, n)) + (math.exp(epsilon) - 1) * np.eye(n)) / (math.exp(epsilon) + n - 1)
    assert bounds.ldp_epsilon(P) == pytest.approx(epsilon)
    assert bounds.random_user(P) == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + n - 1))


def test_lemma_8():
    for n in (2, 5, 101):
        second = np.arange(n) / (n - 1)
        P = np.column_stack([1 - second, second])
        assert bounds.random_user(P) == pytest.approx(2 / n)
        assert bounds.k_anonymity(P) == (1 if n == 2 else 0)
        assert bounds.ldp_epsilon(P) == math.inf
        assert bounds.ldp_delta(P, 50.0) == bounds.ldp_delta(P, math.inf) == 1.0
        assert bounds.ldp_epsilon(P, delta=0.999) == math.inf
        assert bounds.ldp_epsilon(P, delta=1.0) == 0.0


def test_identical_rows_are_compared_once():
    rng = np.random.default_rng(0)
    kinds = rng.dirichlet(np.ones(50), size=3)
    which = rng.integers(3, size=20_000)
    pairs = RowPairs(Channel(sparse.csr_array(kinds[which])))
    assert pairs.n_rows == 3
    low, high = pairs.delta(math.exp(0.3))
    assert low == pytest.approx(all_pairs(kinds, 0.3), abs=1e-12)
    assert low <= high <= math.nextafter(low, 1.0)


def test_rows_with_equal_numbers_in_other_places_are_different():
    P = sparse.csr_array(np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]))
    assert RowPairs(Channel(P)).n_rows == 3


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.floats(0.0, 0.9))
@quick
def test_crossing_solves_the_pair(m, seed, delta):
    p, q = np.random.default_rng(seed).dirichlet(np.ones(m), size=2)
    x = crossing(p, q, delta)

    def excess(x):
        return np.maximum(p - x * q, 0.0).sum()

    assert excess(x) <= delta + 1e-12
    if x > 1.0:
        assert excess(x * (1 - 1e-6)) > delta - 1e-15


def test_extreme_values():
    assert bounds.from_ldp(10, 10, 1000.0) == math.inf
    assert bounds.from_ldp(1, 10, 1000.0, 0.5) == 1.0
    assert bounds.ldp_epsilon([[1.0, 0.0]]) == 0.0
    assert bounds.ldp_epsilon([[1.0], [1.0]]) == 0.0
    assert bounds.ldp_delta([[1.0], [1.0]], 0.0) == 0.0
    assert bounds.ldp_epsilon([[1.0, 1e-320], [1e-320, 1.0]]) == pytest.approx(-math.log(1e-320))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.from_ldp(0, 2, 1.0), "n must be a whole number of at least 1, not 0"),
        (lambda: bounds.from_ldp(2, 2.5, 1.0), "m must be a whole number of at least 1, not 2.5"),
        (lambda: bounds.from_ldp(2, 2, -1.0), "epsilon must be a number of at least 0, not -1.0"),
        (lambda: bounds.from_ldp(2, 2, math.nan), "epsilon must be a number of at least 0, not nan"),
        (lambda: bounds.ldp_delta([[1.0]], -0.1), "epsilon must be"),
        (lambda: bounds.ldp_epsilon([[1.0]], delta=1.5), "delta is a probability from 0 to 1, not 1.5"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(OptionError, match=message):
        call()


def test_a_fraction_is_taken_as_it_is():
    """A tenth is no float: 0.1 is larger, so the epsilon of a tenth is not that of 0.1, and ends hold for both."""
    P = [[0.6, 0.4], [0.5, 0.5]]
    assert bounds.ldp_epsilon(P, Fraction(1, 10)) >= bounds.ldp_epsilon(P, 0.1)
    assert bounds.ldp_epsilon_interval(P, Fraction(1, 4)) == bounds.ldp_epsilon_interval(P, 0.25)
    low, high = bounds.ldp_delta_interval(P, Fraction(1, 10))
    assert low <= bounds.ldp_delta(P, 0.1) <= high <= low + 1e-14
    assert bounds.ldp_delta(P, Fraction(10**400)) == 0.0
    assert bounds.from_ldp(10, 5, Fraction(0), Fraction(1, 2)) == bounds.from_ldp(10, 5, 0.0, 0.5)
    with pytest.raises(OptionError, match="delta is a probability"):
        bounds.ldp_epsilon(P, Fraction(3, 2))
