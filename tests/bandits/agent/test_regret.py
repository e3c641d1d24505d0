"""Regret has its two ends, its closed forms and its pairs; knowing the user's matrix pays on hard rewards."""

import numpy as np
import pytest

from reidrisk import bandits
from reidrisk.bandits.agent.regret import regret_of, simulate
from reidrisk.base.errors import DataError, OptionError

D = 6


def sticky(n: int = 4, stay: float = 0.97) -> np.ndarray:
    rng = np.random.default_rng(0)
    jumps = rng.dirichlet(np.full(D, 0.3), size=(n, D))
    matrix = stay * np.eye(D) + (1 - stay) * jumps
    return matrix / matrix.sum(axis=2, keepdims=True)


@pytest.fixture(scope="module")
def env():
    return bandits.LatentBandit(sticky(), bandits.hard_rewards(D), sigma=2.0)


def test_the_oracle_regrets_nothing_and_the_uniform_agent_what_blind_choice_expects(env):
    oracle = bandits.regret(env, runs=40, steps=100, agent="oracle")
    assert (oracle.mean, oracle.low) == (0.0, 0.0)
    blind = bandits.regret(env, runs=200, steps=200, agent="uniform")
    assert blind.baseline == pytest.approx(200 * 0.95 * (D - 1) / D)
    assert blind.low < blind.baseline < blind.high


def test_with_states_that_come_independently_regret_has_a_closed_form():
    """The belief stays uniform, so every step loses gap x (K - 1) / K on average."""
    uniform = np.full((D, D), 1.0 / D)
    env = bandits.LatentBandit(uniform, bandits.hard_rewards(D), sigma=2.0)
    result = bandits.regret(env, uniform, runs=400, steps=100)
    assert result.low < 100 * 0.95 * (D - 1) / D < result.high
    assert result.high - result.low < 4


def test_on_hard_rewards_the_true_matrix_beats_the_uniform_one(env):
    true = bandits.regret(env, runs=300, steps=400)
    uniform = bandits.regret(env, np.full((D, D), 1.0 / D), runs=300, steps=400)
    gap = bandits.compare(true, uniform)
    assert gap.high < 0.0
    assert gap.difference == pytest.approx(true.mean - uniform.mean)


def test_easy_rewards_tell_the_state_better_than_hard_ones(env):
    """Galozy, figure 1: with the same noise and matrix, a smaller share of what blind choice loses is lost."""
    easy = bandits.LatentBandit(env.transitions, bandits.easy_rewards(D), sigma=2.0)
    shares = [r.high / r.baseline for r in (bandits.regret(e, runs=200, steps=400) for e in (easy, env))]
    low = bandits.regret(env, runs=200, steps=400).low / bandits.regret(env, runs=200, steps=400).baseline
    assert shares[0] < low


def test_same_seed_same_answer_on_any_number_of_threads(env):
    one, two = (bandits.regret(env, runs=35, steps=50, seed=4, threads=t) for t in (1, 3))
    assert np.array_equal(one.per_run, two.per_run)
    more = bandits.regret(env, runs=60, steps=50, seed=4)
    assert np.array_equal(more.per_run[:35], one.per_run)
    assert not np.array_equal(bandits.regret(env, runs=35, steps=50, seed=5).per_run, one.per_run)


def test_the_curve_rises_to_the_mean_within_its_band(env):
    result = bandits.regret(env, runs=50, steps=130, bands=True)
    assert result.at[-1] == 130
    assert result.curve[-1] == pytest.approx(result.mean)
    assert (np.diff(result.curve) >= 0).all()
    assert (result.curve_low <= result.curve).all()
    assert (result.curve <= result.curve_high).all()
    again = bandits.Regret.from_json(result.to_json())
    assert again == result
    assert again.per_run is None
    assert "per_run" not in result.to_dict()


def test_the_interval_holds_the_mean_of_many_runs(env):
    totals = simulate(env, None, 0, 4_000, 60, seed=100)
    long = totals[:, 0, -1].mean()
    parts = [regret_of(env, part, 60, 100, 0.95, "thompson") for part in np.split(totals, 100)]
    assert np.mean([part.low <= long <= part.high for part in parts]) > 0.9


def test_easy_rewards_are_evenly_spaced_with_one_best_arm_a_state():
    means = bandits.easy_rewards(5)
    assert means.argmax(axis=0).tolist() == [0, 1, 2, 3, 4]
    for column in means.T:
        assert np.sort(column) == pytest.approx([0.0, 0.35, 0.7, 1.05, 2.0])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda e: bandits.LatentBandit([[0.5, 0.4], [0.5, 0.5]], bandits.hard_rewards(2)),
            DataError,
            "adds up to 0.9",
        ),
        (lambda e: bandits.LatentBandit([[1.5, -0.5], [0.5, 0.5]], bandits.hard_rewards(2)), DataError, "not negative"),
        (lambda e: bandits.LatentBandit(e.transitions, bandits.hard_rewards(2)), DataError, "means must have shape"),
        (lambda e: bandits.LatentBandit(e.transitions, e.means, 0.0), OptionError, "sigma"),
        (lambda e: bandits.hard_rewards(1), OptionError, "states, at least 2"),
        (lambda e: bandits.regret(e, np.full((2, 2), 0.5)), DataError, "assumed matrices have shape"),
        (lambda e: bandits.regret(e, e.transitions[:2]), DataError, "each of the 4 users"),
        (lambda e: bandits.regret(e, runs=0), OptionError, "runs"),
        (lambda e: bandits.regret(e, steps=-1), OptionError, "steps"),
        (lambda e: bandits.regret(e, agent="clever"), OptionError, "clever"),
        (lambda e: bandits.regret(e, seed=-1), OptionError, "seed"),
        (
            lambda e: bandits.regret(bandits.LatentBandit(e.transitions, np.ones((2, D)))),
            DataError,
            "nothing to regret",
        ),
        (
            lambda e: bandits.compare(bandits.regret(e, runs=5, steps=5), bandits.regret(e, runs=6, steps=5)),
            DataError,
            "same environment",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(env, call, error, words):
    with pytest.raises(error, match=words) as caught:
        call(env)
    assert "\n" not in str(caught.value)
