"""The attack on the noise: it passes what was promised, and fails what was not."""

import dataclasses
import math

import numpy as np
import pytest

from reidrisk import ReidRiskError, TopSets, release
from reidrisk.privacy import gaussian_delta
from reidrisk.release.counts.mechanism import add_noise
from reidrisk.release.counts.pairs import PairCounts
from reidrisk.release.validate.canary import tradeoff, tradeoff_area
from reidrisk.release.validate.noise import stated_plan

SETS = TopSets([[[0, 1, 2], [1, 2, 3], [1, 2, 3]]] * 2000, n_tokens=5)


def statement(epsilon=1.0, delta=1e-6, epochs=2, **named):
    named = {"simulation": True, "seed": 0} | named
    return release.statistics(SETS.epochs(epochs), epsilon, delta, **named).statement


def scaled(share, only=None):
    """Return a mechanism with ``share`` of the noise it should have, in one table or in all."""

    def mechanism(counts, plan, seed):
        sigma = [s * (share if only in (None, b.name) else 1.0) for b, s in zip(plan.blocks, plan.sigma, strict=True)]
        return add_noise(counts, dataclasses.replace(plan, sigma=tuple(sigma)), seed)

    return mechanism


@pytest.mark.parametrize("budget", ["joint", "split"])
@pytest.mark.parametrize("epochs", [2, 3])
def test_noise_as_promised_passes_and_half_of_it_fails(budget, epochs):
    stated = statement(budget=budget, epochs=epochs)
    for seed in range(5):
        assert release.canary(stated, 3, epochs, seed=seed).passed
        test = release.canary(stated, 3, epochs, seed=seed, mechanism=scaled(0.5))
        assert not test.passed
        assert test.low > test.promised
        assert test.within_budget


def test_the_published_budget_is_attacked_with_the_default_number_of_trials():
    sets = TopSets([[[0, 1, 2, 3, 4]] * 2] * 2000, n_tokens=6)
    stated = release.statistics(sets, math.log(3), 1e-15, simulation=True, seed=0).statement
    test = release.canary(stated, 5, seed=1)
    assert test.passed
    assert test.promised == pytest.approx(0.1464, abs=1e-4)
    assert not release.canary(stated, 5, seed=1, mechanism=scaled(0.5)).passed


def test_one_table_with_half_of_its_noise_is_found():
    stated = statement(epsilon=3.0)
    for name in ("f11", "f22", "f12"):
        test = release.canary(stated, 3, seed=0, mechanism=scaled(0.5, only=name))
        assert [block for block, found in test.blocks.items() if not found["passed"]] == [name]
        assert not test.passed


def test_the_discrete_noise_of_a_real_release():
    stated = statement(epsilon=3.0, simulation=False, seed=None)
    test = release.canary(stated, 3, trials=2000)
    assert test.passed
    assert not test.simulation
    assert test.delta_promised < test.delta

    def half(counts, plan, seed):
        noisy = add_noise(counts, plan, seed)
        exact = {name: counts.flat(name).reshape(2000, -1) for name in noisy.tables}
        tables = {name: exact[name] + (values - exact[name]) // 2 for name, values in noisy.tables.items()}
        return PairCounts(tables, counts.k, counts.n_tokens, counts.n_epochs)

    assert not release.canary(stated, 3, trials=2000, mechanism=half).passed


def test_a_statement_with_less_noise_than_its_budget_needs_fails():
    stated = statement()
    cheating = dataclasses.replace(stated, sigma={name: s / 2 for name, s in stated.sigma.items()})
    test = release.canary(cheating, 3, seed=0)
    assert not test.passed
    assert not test.within_budget
    for budget in ("joint", "split"):
        real = statement(simulation=False, seed=None, budget=budget)
        # A twentieth less is within the budget of continuous noise, but not by the accounting of the discrete.
        for share in (0.5, 0.95):
            less = dataclasses.replace(real, sigma={n: s * share for n, s in real.sigma.items()})
            test = release.canary(less, 3, trials=500)
            assert not test.passed
            assert not test.within_budget
            assert test.epsilon == real.epsilon
    with pytest.raises(ReidRiskError, match="more than the budget"):
        add_noise(None, stated_plan(less, 3, 2))


def test_the_measured_area_is_that_of_two_normal_distributions():
    test = release.canary(statement(epsilon=2.0), 3, trials=40_000, seed=3)
    assert test.area == pytest.approx(tradeoff_area(test.promised), abs=4 * 0.6 / math.sqrt(40_000))
    measured, promised = np.array(test.detections), np.array(test.promised_detections)
    assert np.abs(measured - promised).max() < 0.02
    assert test.false_alarms[0] == 0.0
    assert test.false_alarms[-1] == test.detections[-1] == 1.0


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_curve_and_delta_are_two_views_of_one_mechanism(mu, epsilon):
    """Delta at epsilon is the largest gap between detections and e^epsilon times false alarms (dick, Proposition 4)."""
    alarms = 10.0 ** np.linspace(-12, 0, 200_001)
    gap = float((tradeoff(alarms, mu) - math.exp(epsilon) * alarms).max())
    assert max(gap, 0.0) == pytest.approx(gaussian_delta(1 / mu, epsilon), rel=1e-3, abs=1e-9)


def test_the_same_seed_gives_the_same_test_and_it_round_trips():
    stated = statement()
    one, two = (release.canary(stated, 3, trials=500, seed=7) for _ in range(2))
    assert one == two
    assert one != release.canary(stated, 3, trials=500, seed=8)
    assert release.CanaryTest.from_json(one.to_json()) == one


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 3, "trials": 3}, "at least 50"),
        ({"k": 3, "n_epochs": 3}, "f11"),
        ({"k": 3, "n_epochs": 1}, "at least 2 epochs"),
        ({"k": 3, "seed": -1}, "seed"),
    ],
)
def test_bad_options_are_refused(options, told):
    with pytest.raises(ReidRiskError, match=told):
        release.canary(statement(), **options)


def test_what_cannot_be_attacked_is_refused():
    with pytest.raises(ReidRiskError, match="no table"):
        release.canary(release.PUBLISHED, 5)
    with pytest.raises(ReidRiskError, match="cannot be seeded"):
        release.canary(statement(simulation=False, seed=None), 3, seed=4)


def test_noise_too_small_for_its_budget_is_found_without_drawing_any():
    stats = release.statistics(SETS.epochs(2), 1.0, 1e-6, simulation=True, seed=0)
    assert release.noise_budget(stats).enough
    forged = dataclasses.replace(stats.statement, epsilon=0.5)
    found = release.noise_budget(dataclasses.replace(stats, statement=forged))
    assert found.enough is False
    assert found.delta_promised == pytest.approx(gaussian_delta(1 / found.promised, 0.5))
    assert found.delta_promised > 1_000 * found.delta
