"""Regret: what a recommender loses against one that sees the state (galozy, equation 2), with its interval."""

from dataclasses import dataclass, field

import numpy as np

from reidrisk.bandits.agent.environment import LatentBandit, as_matrices
from reidrisk.base import DataError, Note, Spoken, checked_seed, each, one_of, sizes, stream, whole
from reidrisk.base.arrays import ArrayLike, Floats, Ints
from reidrisk.base.intervals import difference_interval, mean_interval
from reidrisk.base.plain import MEMORY

_POINTS = 25  # of the curve
_SHARD = 10  # runs played between two looks at the work list


@dataclass(frozen=True, eq=False)
class Regret(Spoken):
    """Bayes regret of an agent after all steps of a run, with its interval."""

    mean: float
    low: float
    high: float
    baseline: float  # of choosing blindly on the same runs
    runs: int
    steps: int
    n_users: int
    agent: str = "thompson"
    level: float = 0.95
    seed: int = 0
    worst: float = 0.0  # the most that a run can lose
    notes: tuple[Note, ...] = ()
    # The same after the steps in `at` (points,), with ends where they were asked for.
    at: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    curve: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    curve_low: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    curve_high: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    per_run: Floats | None = field(default=None, repr=False, metadata=MEMORY)


@dataclass(frozen=True, eq=False)
class RegretDifference(Spoken):
    """A paired difference of regrets on the same users, states and reward noise, with its interval."""

    difference: float
    low: float
    high: float
    level: float
    runs: int


def regret(
    env: LatentBandit,
    assumed: ArrayLike | None = None,
    runs: int = 500,
    steps: int = 2500,
    seed: int = 0,
    level: float = 0.95,
    agent: str = "thompson",
    threads: int | None = None,
    bands: bool = False,
) -> Regret:
    """Measure the Bayes regret of an agent (galozy, equation 2).

    BR(n) = E[ sum_{t=1..n} mu(A*_t, S_t) - mu(A_t, S_t) ], over users, state sequences, rewards and the agent's lots.
    Runs of one seed draw the same users, states and reward noise whatever the agent assumes (:func:`compare`).
    ``assumed`` (d, d) or (n_users, d, d) is what the agent believes in, default: the true matrices. The agent
    ``"thompson"`` is model-based Thompson sampling, ``"oracle"`` sees the state, ``"uniform"`` chooses blindly.
    ``bands`` adds intervals along the curve, which take longer than the runs.

    >>> from reidrisk.bandits import LatentBandit, hard_rewards
    >>> env = LatentBandit([[0.99, 0.01], [0.01, 0.99]], hard_rewards(2), sigma=2.0)
    >>> result = regret(env, runs=50, steps=200)
    >>> bool(result.low <= result.mean <= result.high < result.baseline)
    True
    """
    totals = simulate(env, assumed, 0, count_of(runs, "runs"), count_of(steps, "steps"), seed, agent, threads)
    return regret_of(env, totals, steps, seed, level, agent, bands)


def compare(a: Regret, b: Regret, level: float = 0.95) -> RegretDifference:
    """Return the regret of ``a`` minus that of ``b``, run by run."""
    if a.per_run is None or b.per_run is None:
        raise DataError("regrets read from JSON have no single runs left; compare them where they were measured")
    if (a.runs, a.steps, a.seed, a.worst, a.n_users) != (b.runs, b.steps, b.seed, b.worst, b.n_users):
        raise DataError("only regrets of the same environment, runs, steps and seed can be compared run by run")
    gap = float(np.mean(a.per_run - b.per_run))
    low, high = (a.worst * end for end in difference_interval(a.per_run / a.worst, b.per_run / a.worst, level))
    return RegretDifference(gap, low, high, level, a.runs)


def simulate(
    env: LatentBandit,
    assumed: ArrayLike | None,
    first: int,
    count: int,
    steps: int,
    seed: int,
    agent: str = "thompson",
    threads: int | None = None,
) -> Floats:
    """Play ``count`` runs from ``first`` on; return (count, 2, points): regret and blind regret along each run."""
    from reidrisk.bandits.agent.thompson import AGENTS, lookup_of, play

    one_of("agent", agent, AGENTS)
    checked_seed(seed)
    true = matrices = env.transitions / env.transitions.sum(axis=2, keepdims=True)
    if assumed is not None:
        given = as_matrices(assumed)
        if len(given) not in (1, env.n_users) or given.shape[1] != env.n_states:
            wanted = f"one of {env.n_states} states for everyone, or one for each of the {env.n_users} users"
            raise DataError(f"assumed matrices have shape {given.shape}; give {wanted}")
        matrices = given / given.sum(axis=2, keepdims=True)
    tables, stops = lookup_of(env.means, env.sigma), stops_of(steps)

    def played(shard: range) -> list[Floats]:
        out = []
        for run in shard:
            world, mind = stream(seed, "bandit environment", run), stream(seed, "bandit agent", run)
            user = int(world.integers(env.n_users))
            out.append(play(world, mind, true[user], matrices[user % len(matrices)], tables, agent, stops))
        return out

    shards = [range(first + i, first + min(i + _SHARD, count)) for i in range(0, count, _SHARD)]
    return np.array([run for shard in each(played, shards, threads) for run in shard])


def regret_of(
    env: LatentBandit, totals: Floats, steps: int, seed: int, level: float, agent: str, bands: bool = False
) -> Regret:
    """Turn what :func:`simulate` returned into a result; divided by the worst, regrets are values in [0, 1]."""
    worst = float(env.gaps.max()) * steps
    if worst == 0.0:
        raise DataError("every arm is equally good in every state, so there is nothing to regret; check the means")
    along, per_run = totals[:, 0], totals[:, 0, -1]
    noted = along.T if bands else along.T[-1:]
    ends = np.array([[worst * end for end in mean_interval(np.clip(c / worst, 0, 1), level)] for c in noted])
    mean = float(per_run.mean())
    return Regret(
        mean=mean,
        low=min(float(ends[-1, 0]), mean),
        high=max(float(ends[-1, 1]), mean),
        baseline=float(totals[:, 1, -1].mean()),
        runs=len(totals),
        steps=steps,
        n_users=env.n_users,
        agent=agent,
        level=level,
        seed=int(seed),
        worst=worst,
        notes=(Note("states-move"), Note("agent-knows"), Note("runs-cover", runs=len(totals))),
        at=stops_of(steps),
        curve=along.mean(axis=0),
        curve_low=ends[:, 0] if bands else np.zeros(0),
        curve_high=ends[:, 1] if bands else np.zeros(0),
        per_run=per_run,
    )


def stops_of(steps: int) -> Ints:
    """Return the steps at which the curve is noted: evenly spaced, the last one included."""
    points = min(steps, _POINTS)
    return np.arange(1, points + 1, dtype=np.int64) * steps // points


def count_of(value: int, name: str) -> int:
    """Return a number of runs or steps, or say that it is none."""
    number = whole(name, value)
    (sizes.STEPS if name == "steps" else sizes.RUNS).check(number, name, "take fewer")
    return number
