"""Noise in profiles, and crowds that share one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, topics
from reidrisk.base.errors import DataError, OptionError
from reidrisk_studies.jha import personas
from reidrisk_studies.jha.profiles import p_above, profile_anonymity


@settings(deadline=None)  # the first call loads scipy
@given(st.integers(1, 6), st.integers(1, 60), st.floats(1e-6, 1.0), st.integers(1, 600))
def test_p_above_is_the_binomial_tail(f, n, noise, n_tokens):
    q = noise / n_tokens
    tail = math.fsum(math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(f, n + 1))
    assert p_above(f, n, noise, n_tokens) == pytest.approx(tail, rel=1e-9, abs=1e-300)


def test_p_above_at_the_papers_parameters_is_not_what_it_prints():
    exact = 1 - sum(math.comb(30, k) * (0.05 / 349) ** k * (1 - 0.05 / 349) ** (30 - k) for k in range(2))
    assert p_above(2, 30) == pytest.approx(exact, rel=1e-6)
    assert p_above(2, 30) == pytest.approx(8.9e-6, rel=0.01)
    assert p_above(2, 30) > 400 * (0.05 / 349) ** 2, "the printed 1e-8 leaves out the pairs of epochs"


def test_p_above_is_what_the_simulator_does():
    # Everybody holds topics 0 and 1; any other topic kept is noise. Noise and few topics make it frequent.
    api = topics.TopicsAPI(12, top_k=2, noise=0.5)
    sets = api.top_sets(personas.identical(4000, n_topics=12, top_k=2), epochs=15, seed=0)
    tokens = api.expose(sets, seed=0).tokens
    kept = np.stack([(tokens == t).sum(axis=1) >= 2 for t in range(2, 12)])
    p = p_above(2, 15, noise=0.5, n_tokens=12)
    assert kept.mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / kept.size))


@settings(deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 5), st.integers(1, 3))
def test_anonymity_is_a_count_of_equal_sets(seed, k, f):
    tokens = np.random.default_rng(seed).integers(-1, 3, (12, 4))
    found = profile_anonymity(Traces(tokens, 3), threshold=f, k=k)
    sets = [frozenset(o for o in row if o >= 0 and row.count(o) >= f) for row in tokens.tolist()]
    assert found.rate == pytest.approx(sum(sets.count(s) >= k for s in sets) / 12)
    assert found.unique == pytest.approx(sum(sets.count(s) == 1 for s in sets) / 12)
    assert found.empty == pytest.approx(sum(not s for s in sets) / 12)
    assert found.low <= found.rate <= found.high


@pytest.mark.parametrize(("k", "kinds"), [(2, 60), (2, 4000), (5, 120), (10, 40)])
def test_the_interval_of_anonymity_covers(k, kinds):
    """Profiles are one of so many kinds; at the ends and in between, 95 % intervals hold the mean rate."""
    rng = np.random.default_rng(k * kinds)
    share = rng.dirichlet(np.full(kinds, 0.7))
    found = [
        profile_anonymity(Traces(rng.choice(kinds, (150, 1), p=share), kinds), threshold=1, k=k) for _ in range(400)
    ]
    mean = np.mean([one.rate for one in found])
    assert np.mean([one.low <= mean <= one.high for one in found]) > 0.93


def test_everyone_alike_and_nobody_alike():
    api = topics.TopicsAPI(349)
    alike, apart = (
        profile_anonymity(api.expose(api.top_sets(rates, 40, seed=0), seed=0), threshold=4, k=10)
        for rates in (personas.identical(300), personas.distinct(300, seed=1))
    )
    assert alike.rate > 0.95
    assert apart.unique > 0.8
    alone = profile_anonymity(Traces([[0], [1], [2]], 3), threshold=1)
    assert (alone.rate, alone.unique) == (0.0, 1.0)
    assert alone.reading.startswith("Nobody shares a profile with at least 1 other (")


def test_what_makes_no_sense_is_one_clear_line():
    a = Traces([[1, 2], [3, 4]], 9)
    for error, message, call in [
        (OptionError, "threshold must be a whole number", lambda: p_above(0, 30)),
        (OptionError, "noise is a probability", lambda: p_above(2, 30, noise=1.5)),
        (OptionError, "noise is a probability from 0 to 1, not '5 %'", lambda: p_above(2, 30, noise="5 %")),
        (OptionError, "k must be a whole number from 1 to the 2 users, not 3", lambda: profile_anonymity(a, k=3)),
        (OptionError, "level must lie", lambda: profile_anonymity(a, level=1.0)),
        (DataError, "profile_anonymity compares traces, not int", lambda: profile_anonymity(3)),
    ]:
        with pytest.raises(error, match=message):
            call()
