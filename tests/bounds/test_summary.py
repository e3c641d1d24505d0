import math

import numpy as np
import pytest
from channel_strategies import channels, quick
from hypothesis import given, settings
from scipy import sparse

from reidrisk import Bound, Measurement, bounds
from reidrisk.bounds import Tightest


def named(results, name, kind=Bound):
    return next(r for r in results if r.name == name and isinstance(r, kind))


@given(channels())
@settings(quick, max_examples=60)
def test_every_bound_holds_and_everything_round_trips(P):
    results = bounds.summary(P)
    optimum = bounds.random_user(P)
    for result in results:
        assert type(result).from_json(result.to_json()) == result
        assert result.reference.startswith("carey, ")
        if isinstance(result, Bound):
            assert result.baseline == 1 / len(P)
            assert result.value >= optimum - 1e-12  # random user, and the harder matching bound too (Lemma 5)
    assert bounds.tightest(results, "random user").value <= max(optimum, 1.0) + 1e-12


@given(channels())
@settings(quick, max_examples=30)
def test_dense_and_sparse_agree(P):
    for a, b in zip(bounds.summary(P), bounds.summary(sparse.csr_array(P)), strict=True):
        assert (a.name, b.value) == (b.name, pytest.approx(a.value, abs=1e-9))


def test_lemma_8_is_saved_by_delta():
    n = 1001
    second = np.arange(n) / (n - 1)
    results = bounds.summary(np.column_stack([1 - second, second]))
    assert named(results, "local differential privacy").value == math.inf
    approximate = named(results, "approximate local differential privacy")
    assert approximate.value == pytest.approx(3 / n)
    assert approximate.inputs == {"epsilon": 0.0, "delta": 1.0}
    assert named(results, "delta", Measurement).value == 1.0
    found = bounds.tightest(results, "random user")
    assert (found.name, found.value) == ("optimal attacker", pytest.approx(2 / n))
    assert found.silent == ("local differential privacy", "k-anonymity")


def test_where_epsilon_says_something_no_delta_is_needed():
    results = bounds.summary(np.full((10, 3), 1 / 3))
    assert [r.name for r in results].count("approximate local differential privacy") == 0
    assert named(results, "local differential privacy").value == pytest.approx(0.1)


def test_a_channel_that_hides_nothing():
    results = bounds.summary(np.eye(4))
    found = bounds.tightest(results, "random user")
    assert (found.name, found.value) == ("", 1.0)
    assert len(found.silent) == 5
    assert Tightest.from_json(found.to_json()) == found


def test_a_million_users_are_never_densified():
    rng = np.random.default_rng(0)
    n, m, d = 200_000, 1000, 5
    indices = np.sort(np.argsort(rng.random((n, 40)), axis=1)[:, :d] * 25 + rng.integers(25, size=(n, d)), axis=1)
    P = sparse.csr_array((np.full(n * d, 1 / d), indices.ravel(), np.arange(0, n * d + 1, d)), shape=(n, m))
    results = bounds.summary(P)
    assert named(results, "optimal attacker").value == pytest.approx(m / d / n)
    assert named(results, "min-entropy leakage", Measurement).value == pytest.approx(math.log2(m / d))
