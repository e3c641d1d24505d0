"""The agent believes what exact filtering says, the kernel plays as its twin does, and runs are paired."""

import itertools

import bandit_twins as twins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.bandits import easy_rewards, hard_rewards
from reidrisk.bandits.agent.thompson import AGENTS, FLOOR, lookup_of, play


def random_matrix(rng: np.random.Generator, d: int, zeros: bool = False) -> np.ndarray:
    matrix = rng.dirichlet(np.full(d, 0.7), size=d)
    if zeros:
        matrix[rng.random((d, d)) < 0.3] = 0.0
        matrix[np.arange(d), np.arange(d)] += 0.1
        matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("zeros", [False, True])
def test_the_belief_is_the_posterior_summed_over_all_paths(seed, zeros):
    rng = np.random.default_rng(seed)
    d, steps, sigma = 3, 6, 0.7
    phi, means = random_matrix(rng, d, zeros), rng.normal(size=(4, d))
    arms, rewards = rng.integers(4, size=steps), rng.normal(size=steps)
    posterior = np.zeros(d)
    for path in itertools.product(range(d), repeat=steps + 1):
        weight = 1.0 / d
        for t in range(steps):
            weight *= np.exp(-0.5 * ((rewards[t] - means[arms[t], path[t]]) / sigma) ** 2) * phi[path[t], path[t + 1]]
        posterior[path[-1]] += weight
    belief = twins.filtered(phi, lookup_of(means, sigma), arms, rewards)[-1]
    assert belief == pytest.approx(posterior / posterior.sum(), rel=1e-12, abs=1e-240)


@given(
    st.integers(0, 10_000),
    st.integers(2, 9),
    st.sampled_from(sorted(AGENTS)),
    st.booleans(),
    st.sampled_from([0.01, 0.5, 2.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_kernel_plays_as_its_twin(seed, d, agent, zeros, sigma):
    rng = np.random.default_rng(seed)
    true, assumed = random_matrix(rng, d, zeros), random_matrix(rng, d, zeros)
    means = [hard_rewards(d), easy_rewards(d), rng.normal(size=(3, d))][seed % 3]
    stops = np.array([7, 40])
    fast = play(
        *(np.random.default_rng([seed, i]) for i in (0, 1)), true, assumed, lookup_of(means, sigma), agent, stops
    )
    slow = twins.played(*(np.random.default_rng([seed, i]) for i in (0, 1)), true, assumed, means, sigma, agent, stops)
    assert fast == pytest.approx(slow, rel=1e-9, abs=1e-9)


def test_a_million_steps_lose_no_state():
    """An assumed matrix under which nothing ever changes: the belief must come back when the state has changed."""
    steps, means = 1_000_000, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rng = np.random.default_rng(0)
    state = np.where(np.arange(steps) < steps - 2_000, 0, 1)
    arms = rng.integers(3, size=steps)
    rewards = means[arms, state] + 0.5 * rng.standard_normal(steps)
    belief = twins.filtered(np.eye(3), lookup_of(means, 0.5), arms, rewards)
    assert np.isfinite(belief).all()
    assert belief.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    assert belief.min() >= FLOOR / 2
    assert belief[steps - 2_001].argmax() == 0
    assert belief[-1].argmax() == 1


def test_an_impossible_reward_leaves_a_belief():
    """The assumed matrix rules out the only state that explains the rewards."""
    assumed = np.array([[0.5, 0.5, 0.0]] * 3)
    means = np.array([[0.0, 0.1, 1.0]])
    belief = twins.filtered(assumed, lookup_of(means, 1e-3), np.zeros(5, dtype=int), np.full(5, 1.0))
    assert np.isfinite(belief).all()
    assert belief.sum(axis=1) == pytest.approx(1.0)
    assert (belief[:, 2] == 0.0).all()


def test_the_world_is_the_same_for_every_agent():
    rng = np.random.default_rng(3)
    true = random_matrix(rng, 5)
    tables = lookup_of(rng.normal(size=(5, 5)), 1.0)
    stops = np.array([10, 200])
    blind = [
        play(np.random.default_rng(1), np.random.default_rng(2), true, assumed, tables, agent, stops)[1]
        for agent, assumed in [
            ("thompson", true),
            ("thompson", np.full((5, 5), 0.2)),
            ("oracle", true),
            ("uniform", true),
        ]
    ]
    assert all(np.array_equal(blind[0], other) for other in blind[1:])
