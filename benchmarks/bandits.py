"""Latent bandits: seconds of one regret setting beside a NumPy loop, and of a whole trade-off (--full)."""

from __future__ import annotations

import argparse
import time

import numpy as np

from reidrisk import bandits
from reidrisk_studies.galozy.clustered import clustered_users


def straightforward(
    transitions: np.ndarray, means: np.ndarray, sigma: float, runs: int, steps: int, rng: np.random.Generator
) -> float:
    """Mean regret of model-based Thompson sampling: algorithm 1 as it is printed, one run and one step at a time."""
    n, d = transitions.shape[:2]
    total = 0.0
    for _ in range(runs):
        phi = transitions[rng.integers(n)]
        state, belief = rng.integers(d), np.full(d, 1.0 / d)
        for _ in range(steps):
            arm = means[:, rng.choice(d, p=belief)].argmax()
            reward = rng.normal(means[arm, state], sigma)
            total += means[:, state].max() - means[arm, state]
            belief = (belief * np.exp(-0.5 * ((reward - means[arm]) / sigma) ** 2)) @ phi
            belief /= belief.sum()
            state = rng.choice(d, p=phi[state])
    return total / runs


def careful(
    transitions: np.ndarray, means: np.ndarray, sigma: float, runs: int, steps: int, rng: np.random.Generator
) -> float:
    """Return the same, with what can be looked up worked out before, and without the checks of ``choice``."""
    n, d = transitions.shape[:2]
    best, top = means.argmax(axis=0), means.max(axis=0)
    cumulative = transitions.cumsum(axis=2)
    total = 0.0
    for _ in range(runs):
        user = rng.integers(n)
        state, belief = rng.integers(d), np.full(d, 1.0 / d)
        for _ in range(steps):
            arm = best[min(np.searchsorted(belief.cumsum(), rng.random()), d - 1)]
            reward = means[arm, state] + sigma * rng.standard_normal()
            total += top[state] - means[arm, state]
            belief = (belief * np.exp(-0.5 * ((reward - means[arm]) / sigma) ** 2)) @ transitions[user]
            belief /= belief.sum()
            state = min(np.searchsorted(cumulative[user, state], rng.random()), d - 1)
    return total / runs


def seconds(call: object) -> tuple[np.ndarray, object]:
    """Return wall and processor seconds of a call, and what it returned."""
    wall, processor = time.perf_counter(), time.process_time()
    result = call()  # type: ignore[operator]
    return np.array([time.perf_counter() - wall, time.process_time() - processor]), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=30)
    parser.add_argument("--states", type=int, default=41)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--loop-runs", type=int, default=4, help="runs of the NumPy loop, scaled up")
    parser.add_argument("--full", action="store_true", help="also 50 amounts of noise x 8 strategies")
    options = parser.parse_args()
    users = clustered_users(options.users, options.states, min(7, options.users))
    env = bandits.LatentBandit(users.records, bandits.hard_rewards(options.states), 2.0)
    bandits.regret(env, runs=1, steps=1)  # compiles
    times, loops = [], {straightforward: [], careful: []}
    for _ in range(3):  # by turns, so that all meet the same conditions
        took, found = seconds(lambda: bandits.regret(env, runs=options.runs, steps=options.steps))
        times.append(took)
        for loop, collected in loops.items():
            rng = np.random.default_rng(len(collected))
            given = (users.records, env.means, 2.0, options.loop_runs, options.steps, rng)
            took, _ = seconds(lambda loop=loop, given=given: loop(*given))
            collected.append(took * options.runs / options.loop_runs)
    ours = np.median(times, axis=0)
    print(f"one setting: {options.states} states, {options.runs} runs x {options.steps:,} steps, hard rewards")
    print(f"  bandits.regret         {ours[0]:7.2f} s, {ours[1]:7.2f} s of processor, regret {found.mean:,.0f}")
    for loop, collected in loops.items():
        slow = np.median(collected, axis=0)
        ratio = slow / ours
        print(
            f"  NumPy, {loop.__name__:15s} {slow[0]:7.2f} s, {slow[1]:7.2f} s of processor "
            f"(from {options.loop_runs} runs): x {ratio[0]:,.0f} by the clock, x {ratio[1]:,.0f} by processor time"
        )
    if options.full:
        strategies = [*bandits.paper_strategies(7), "microaggregation:4"]
        amounts = np.linspace(0, 3, 50, endpoint=False)
        spec = bandits.TradeoffSpec(strategies=strategies, amounts=amounts, n_aux=91, seed=0)
        took, surface = seconds(lambda: bandits.tradeoff(users, spec))
        print(f"whole trade-off: {len(strategies)} strategies x 50 amounts, two attacks")
        print(f"  {took[0]:,.0f} s, {took[1]:,.0f} s of processor")
        print(f"  {surface.reading}")


if __name__ == "__main__":
    main()
