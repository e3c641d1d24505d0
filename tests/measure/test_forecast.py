"""Rates among subsets are exact, families have the closed forms they claim, and forecasts hold what they promise."""

import itertools

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.measure.extrapolation import WAYS
from reidrisk.measure.families import FAMILIES, exceedance, fitted, pitman_yor, plateau, saturating
from reidrisk.measure.subsets import Ranks, ranks, rates_among


def slow_rate(better, tied, others, size):
    """Twin: average over every subset of the other targets."""
    kinds = [1] * better + [0] * tied + [-1] * (others - better - tied)
    rates = [0.0 if 1 in chosen else 1.0 / (1 + chosen.count(0)) for chosen in itertools.combinations(kinds, size - 1)]
    return np.mean(rates)


@pytest.mark.parametrize(("better", "tied"), [(0, 0), (0, 3), (2, 0), (2, 3), (7, 0), (0, 7), (4, 3)])
def test_the_rate_among_subsets_is_the_mean_over_all_of_them(better, tied):
    found = Ranks(np.array([better]), np.array([tied]), 7)
    sizes = np.arange(1, 9)
    expected = [slow_rate(better, tied, 7, size) for size in sizes]
    assert rates_among(found, sizes)[0] == pytest.approx(expected, abs=1e-9)


def test_the_rate_among_all_is_the_measured_one():
    rng = np.random.default_rng(0)
    a, b = (Traces(rng.integers(5, size=(300, 4)), n_tokens=5) for _ in range(2))
    attack = attacks.Hamming()
    risk = measure.random_user(attack, a, b)
    found = ranks(attack.fit(a), b, np.arange(300), 300)
    assert rates_among(found, np.array([300])).mean() == pytest.approx(risk.rate)


def test_pitman_yor_counts_the_tables_of_its_restaurant():
    d, a, n = 0.4, 3.0, 200
    expected = 1.0  # E[K_n+1] = E[K_n] + (a + d E[K_n]) / (a + n)
    for i in range(1, n):
        expected += (a + d * expected) / (a + i)
    parameters = np.array([np.log(d / (1 - d)), np.log(a)])
    assert pitman_yor(np.array([float(n)]), parameters)[0] == pytest.approx(expected / n)


def test_exceedance_is_the_mean_over_beta_probabilities():
    f = np.random.default_rng(0).beta(0.4, 3.0, 200_000)
    sizes = np.array([2.0, 10.0, 100.0])
    assert exceedance(sizes, np.log([0.4, 3.0])) == pytest.approx(
        [np.mean((1 - f) ** (n - 1)) for n in sizes], rel=0.02
    )


def test_a_plateau_is_the_mean_over_people_some_of_whom_are_never_confused():
    rng = np.random.default_rng(0)
    f = np.where(rng.random(200_000) < 0.3, 0.0, rng.beta(0.4, 3.0, 200_000))
    sizes = np.array([2.0, 10.0, 100.0, 10_000.0])
    expected = [np.mean((1 - f) ** (n - 1)) for n in sizes]
    assert plateau(sizes, np.log([0.3 / 0.7, 0.4, 3.0])) == pytest.approx(expected, rel=0.02)


def test_saturating_ends_as_n0_over_n():
    assert saturating(np.array([1e9]), np.array([np.log(50.0), 0.0]))[0] == pytest.approx(50 / 1e9, rel=1e-3)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.name)
def test_a_family_finds_itself_again(family):
    sizes = np.geomspace(2, 10_000, 30)
    wanted = np.array({"pitman-yor": [0.3, 2.0], "plateau": [-0.5, 0.3, 2.0], "saturating": [4.0, -0.5]}[family.name])
    found = fitted(family, sizes, family.rate(sizes, wanted))
    assert family.rate(np.array([1e6]), found)[0] == pytest.approx(family.rate(np.array([1e6]), wanted)[0], rel=1e-3)


def people(n, seed):
    """Draw records of four tokens, each common or rare, and two noisy views of them."""
    rng = np.random.default_rng(seed)
    habit = np.minimum(rng.zipf(1.6, (n, 4)), 300) - 1
    views = [np.where(rng.random((n, 4)) < 0.15, rng.integers(300, size=(n, 4)), habit) for _ in range(2)]
    return [Traces(view, n_tokens=300) for view in views]


def test_forecasts_of_more_people_hold_in_most_simulations():
    held, widths = [], []
    for seed in range(6):
        a, b = people(20_000, seed)
        attack = attacks.WeightedHamming(top_k=1, noise=0.15)
        truth = measure.random_user(attack, a, b, sample=3_000, seed=seed).rate
        found = measure.forecast(attack, a.take(slice(0, 1_000)), b.take(slice(0, 1_000)), 20_000, seed=seed)
        one = found.predicted[0]
        held.append(one.low <= truth <= one.high)
        widths.append(one.high / one.low)
        assert one.low <= one.rate <= one.high
    assert sum(held) >= 5
    assert np.median(widths) < 3


def half_unique(n, seed):
    """Draw half of the people nearly unique and half of twenty types, and two noisy views of them."""
    rng = np.random.default_rng(seed)
    few = rng.integers(3_000, size=(20, 6))[rng.integers(20, size=n)]
    usual = np.where(rng.random((n, 1)) < 0.5, rng.integers(3_000, size=(n, 6)), few)
    views = [np.where(rng.random((n, 6)) < 0.15, rng.integers(3_000, size=(n, 6)), usual) for _ in range(2)]
    return [Traces(view, n_tokens=3_000) for view in views]


def test_forecasts_hold_where_some_are_never_confused():
    for seed in range(5):
        a, b = half_unique(20_000, seed)
        truth = measure.random_user(attacks.Hamming(), a, b, sample=3_000, seed=seed).rate
        first = slice(0, 1_000)
        one = measure.forecast(attacks.Hamming(), a.take(first), b.take(first), 20_000, seed=seed).predicted[0]
        assert one.low <= truth <= one.high
        assert one.rate == pytest.approx(truth, rel=0.15)
        assert one.high / one.low < 3


def test_the_ways_that_forecast_the_largest_sizes_best_count_most():
    a, b = half_unique(1_500, 0)
    one = measure.forecast(attacks.Hamming(), a, b, 50_000, seed=0).predicted[0]
    unweighted = np.exp(np.mean(np.log(list(one.families.values()))))
    assert abs(np.log(one.rate / one.families["plateau"])) < abs(np.log(unweighted / one.families["plateau"])) / 2


def test_a_forecast_is_decided_by_its_seed_and_falls_with_more_people():
    a, b = people(400, 0)
    one, same = (measure.forecast(attacks.Hamming(), a, b, [200, 4_000, 40_000], seed=3) for _ in range(2))
    assert one == same == measure.Forecast.from_json(one.to_json())
    rates = [predicted.rate for predicted in one.predicted]
    assert rates == sorted(rates, reverse=True)
    assert one.predicted[0].families == {}
    assert set(one.predicted[1].families) == {*(family.name for family in FAMILIES), *WAYS}


def test_a_power_law_is_continued_by_every_way():
    sizes = np.geomspace(10, 1_000, 25)
    for name, way in WAYS.items():
        assert way(sizes, 0.8 * sizes**-0.3, 1e5) == pytest.approx(0.8 * 1e5**-0.3, rel=0.05), name


def test_no_way_falls_faster_than_guessing_blindly_or_rises():
    sizes = np.geomspace(10, 1_000, 25)
    for rates in (np.exp(-sizes / 100), np.linspace(0.2, 0.9, 25), np.full(25, 0.4)):
        for way in WAYS.values():
            assert rates[-1] / 100 * 0.999 <= way(sizes, rates, 1e5) <= rates[-1]


def test_people_told_apart_run_out():
    sizes = np.geomspace(10, 1_000, 40)
    limited = 50 * (1 - np.exp(-sizes / 50)) / sizes  # fifty records that there are
    assert WAYS["accumulating"](sizes, limited, 1e5) == pytest.approx(50 / 1e5, rel=0.02)


def test_a_forecast_of_everybody_found_is_not_sure_of_it():
    table = Traces(np.arange(100)[:, None], n_tokens=100)
    one = measure.forecast(attacks.Hamming(), table, table, 10_000, seed=0).predicted[0]
    assert one.rate == pytest.approx(1.0, abs=0.02)
    assert one.low < 0.97


def test_a_forecast_of_nobody_found_is_no_promise():
    rng = np.random.default_rng(0)
    a = Traces(np.arange(100)[:, None], n_tokens=100)
    b = Traces((np.arange(100)[:, None] + rng.integers(1, 99, (100, 1))) % 100, n_tokens=100)
    one = measure.forecast(attacks.Hamming(), a, b, 1_000, seed=0).predicted[0]
    assert one.low <= one.rate <= 0.01
    assert one.high > 0.005


def test_what_cannot_be_forecast_is_refused_in_one_line():
    a, b = people(100, 0)
    with pytest.raises(OptionError, match="population is a number of people"):
        measure.forecast(attacks.Hamming(), a, b, 1)
    with pytest.raises(OptionError, match="does not score every target"):
        measure.forecast(attacks.StrictSets(), a, b, 1_000)
    with pytest.raises(DataError, match="too few to learn how the rate falls"):
        measure.forecast(attacks.Hamming(), a.take(slice(0, 20)), b.take(slice(0, 20)), 1_000)
