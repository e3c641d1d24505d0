import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.intervals import design_effect, difference_interval, mean_interval

values = hnp.arrays(np.float64, st.integers(1, 60), elements=st.sampled_from([0.0, 0.001, 0.1, 1 / 3, 0.5, 1.0]))


@given(st.integers(1, 500), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_binary_values_give_clopper_pearson(n, data, level):
    ones = data.draw(st.integers(0, n))
    low, high = mean_interval([1.0] * ones + [0.0] * (n - ones), level)
    exact = stats.binomtest(ones, n).proportion_ci(level, method="exact")
    assert low == pytest.approx(exact.low, abs=1e-12)
    assert high == pytest.approx(exact.high, abs=1e-12)


@settings(deadline=None)
@given(values)
def test_the_mean_lies_inside_and_the_order_does_not_matter(x):
    low, high = mean_interval(x)
    assert 0.0 <= low <= x.mean() + 1e-12
    assert x.mean() - 1e-12 <= high <= 1.0
    assert mean_interval(x[::-1]) == (low, high)
    assert mean_interval(1.0 - x) == pytest.approx((1.0 - high, 1.0 - low), abs=1e-9)


@settings(deadline=None)
@given(values)
def test_a_higher_level_is_wider(x):
    narrow, wide = mean_interval(x, 0.8), mean_interval(x, 0.99)
    assert wide[0] <= narrow[0] + 1e-12
    assert narrow[1] <= wide[1] + 1e-12


@pytest.mark.parametrize(
    "x",
    [
        np.r_[np.zeros(50), 0.5],
        np.full(5, 0.3),
        1 / np.random.default_rng(1).integers(1, 50, 400),
        np.r_[np.zeros(900), 1 / np.random.default_rng(2).integers(1, 500, 100)],
    ],
)
def test_the_saddlepoint_agrees_with_random_weights(x):
    """The quantile behind the interval, by drawing the Dirichlet weights themselves."""
    points, counts = np.unique(np.append(x, 1.0), return_counts=True)
    drawn = np.random.default_rng(0).standard_gamma(counts, size=(200_000, len(points)))
    means = drawn @ points / drawn.sum(axis=1)
    for level in (0.8, 0.95, 0.99):
        assert np.mean(means > mean_interval(x, level)[1]) == pytest.approx((1.0 - level) / 2.0, rel=0.1)


def brute(x, level):
    """The upper end by bisection of the saddlepoint formula, each saddlepoint found by bisection of its own."""
    v, tail = np.append(x, 1.0), (1.0 - level) / 2.0

    def exceedance(m):
        low, high = 0.0, 1.0 / (1.0 - m)
        for _ in range(200):
            s = (low + high) / 2.0
            low, high = (s, high) if np.sum((v - m) / (1.0 - s * (v - m))) < 0.0 else (low, s)
        w = np.sqrt(2.0 * np.sum(np.log1p(-s * (v - m))))
        u = s * np.sqrt(np.sum(((v - m) / (1.0 - s * (v - m))) ** 2))
        return stats.norm.sf(w) + stats.norm.pdf(w) * (1.0 / u - 1.0 / w)

    low, high = v.mean(), 1.0
    for _ in range(60):
        m = (low + high) / 2.0
        low, high = (m, high) if exceedance(m) > tail else (low, m)
    return m


@pytest.mark.parametrize("level", [0.8, 0.9999])
@pytest.mark.parametrize(
    "x", [np.array([0.5]), np.r_[np.zeros(300), 0.001, 0.5], np.r_[np.ones(40), 0.9999], np.linspace(0.0, 1.0, 21) ** 9]
)
def test_the_end_is_the_quantile_of_the_formula(x, level):
    assert mean_interval(x, level)[1] == pytest.approx(brute(x, level), abs=1e-12)
    assert mean_interval(1.0 - x, level)[0] == pytest.approx(1.0 - brute(x, level), abs=1e-12)


@pytest.mark.parametrize("x", [np.r_[np.full(298, 1.0), 0.5, 0.5], 1 / np.random.default_rng(1).integers(1, 50, 400)])
def test_with_a_design_effect_every_value_counts_for_less(x):
    """Both ends, by drawing Dirichlet weights of 1 / 3 a value and 1 for the worst one more."""
    points, counts = np.unique(x, return_counts=True)
    rng, found = np.random.default_rng(0), mean_interval(x, design_effect=3.0)
    for end, worst, quantile in ((found[0], 0.0, 0.025), (found[1], 1.0, 0.975)):
        drawn = rng.standard_gamma(np.append(counts / 3.0, 1.0), size=(200_000, len(points) + 1))
        means = drawn @ np.append(points, worst) / drawn.sum(axis=1)
        assert np.mean(means <= end) == pytest.approx(quantile, abs=0.004)


@settings(deadline=None)
@given(values, st.floats(1.0, 50.0), st.floats(1.0, 4.0))
def test_a_larger_design_effect_is_wider(x, effect, more):
    narrow, wide = mean_interval(x, design_effect=effect), mean_interval(x, design_effect=effect * more)
    assert wide[0] <= narrow[0] + 1e-9
    assert narrow[1] <= wide[1] + 1e-9


def test_a_design_effect_is_at_least_that_of_independent_values():
    x = np.r_[np.ones(30), np.zeros(70)]
    assert design_effect(x, 0.0) == 1.0
    assert design_effect(x, 4.0 * 0.21 / 100) == pytest.approx(4.0, rel=0.02)
    assert design_effect(np.zeros(100), 1e-3) > 5.0  # values without spread: never divided by 0
    for wrong in (0.5, np.inf, np.nan):
        with pytest.raises(OptionError, match="design effect"):
            mean_interval(x, design_effect=wrong)


@pytest.mark.parametrize(
    ("name", "draw", "mean"),
    [
        ("rare whole credits", lambda rng, n: (rng.random(n) < 0.002).astype(float), 0.002),
        ("rare shared credits", lambda rng, n: (rng.random(n) < 0.01) / rng.integers(1, 5, n), 0.01 * 25 / 48),
        ("tiny even credits", lambda rng, n: rng.choice([0.001, 0.002], n), 0.0015),
        ("mostly tiny, few whole", lambda rng, n: np.where(rng.random(n) < 0.005, 1.0, 0.001), 0.005 + 0.995 * 0.001),
        ("common", lambda rng, n: rng.choice([0.0, 0.5, 1.0], n), 0.5),
    ],
)
def test_coverage_by_simulation_near_zero_too(name, draw, mean):
    rng = np.random.default_rng(3)
    trials = [mean_interval(draw(rng, 300)) for _ in range(400)]
    covered = np.mean([low <= mean <= high for low, high in trials])
    # 400 trials at 95 %: fewer than 92 % would be five standard deviations of bad luck in all.
    assert covered >= 0.92, name


def test_it_adapts_to_the_spread():
    even = mean_interval(np.full(1000, 0.01))
    rare = mean_interval(np.r_[np.ones(10), np.zeros(990)])
    assert even[1] - even[0] < 0.5 * (rare[1] - rare[0])


def test_paired_difference_is_tighter_than_two_intervals():
    rng = np.random.default_rng(4)
    a = (rng.random(2000) < 0.1).astype(float)
    b = np.where(rng.random(2000) < 0.02, 0.0, a)
    low, high = difference_interval(a, b)
    assert low <= a.mean() - b.mean() <= high
    assert high - low < 0.3 * sum(np.diff(mean_interval(x))[0] for x in (a, b))


@pytest.mark.parametrize(
    ("x", "level", "kind", "message"),
    [
        ([], 0.95, DataError, "no values"),
        ([1.5], 0.95, DataError, "must lie in"),
        ([np.nan], 0.95, DataError, "must lie in"),
        ([0.5], 1.0, OptionError, "strictly between"),
    ],
)
def test_bad_input(x, level, kind, message):
    with pytest.raises(kind, match=message):
        mean_interval(x, level)
