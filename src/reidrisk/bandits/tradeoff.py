"""The trade-off: regret against de-anonymisation for many strategies and amounts of noise (galozy, Section 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reidrisk.bandits.agent.environment import SIGMA, LatentBandit, easy_rewards, hard_rewards
from reidrisk.bandits.agent.regret import Regret, count_of, simulate, summarise
from reidrisk.bandits.linkage.ads import ads
from reidrisk.bandits.linkage.measure import ATTACKS, Auxiliary, auxiliary, credits, risk_of_credits
from reidrisk.bandits.sharing.anonymise import Shared, applied, finished, started
from reidrisk.bandits.sharing.strategies import (
    Laplace,
    PrivateClusters,
    Step,
    Strategy,
    TruncatedSVD,
    as_steps,
    check_private,
)
from reidrisk.bandits.sharing.weights import WEIGHTS, cell_weights
from reidrisk.bandits.surface import Tradeoff, TradeoffPoint, on_front, reading_of
from reidrisk.bandits.transitions import Behaviour, checked_profiles, checked_records
from reidrisk.base.errors import OptionError
from reidrisk.base.progress import Progress
from reidrisk.base.results import Risk

__all__ = ["paper_strategies", "tradeoff"]

Floats = npt.NDArray[np.float64]

_REWARDS = {"hard": hard_rewards, "easy": easy_rewards}
_QUERIES = 1_000  # attacks at a point, where there are few users


def paper_strategies(n_clusters: int) -> tuple[str, ...]:
    """Return the paper's aggregations for this number of clusters.

    Examples
    --------
    >>> paper_strategies(7)
    ('own', 'average', 'neighbour:1', 'neighbour:2', 'clusters:7', 'clusters:14', 'clusters:21')
    """
    sized = (f"clusters:{times * n_clusters}" for times in (1, 2, 3))
    return ("own", "average", "neighbour:1", "neighbour:2", *sized)


def tradeoff(
    behaviour: Behaviour,
    strategies: Sequence[Strategy],
    amounts: Sequence[float],
    n_aux: int,
    noise: str = "laplace",
    alpha: float | None = None,
    weights: str = WEIGHTS[0],
    rewards: str = "hard",
    runs: int = 500,
    steps: int = 2500,
    releases: int = 5,
    likelihood: bool = True,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress | None = None,
    attack: str = ATTACKS[0],
) -> Tradeoff:
    """Measure regret and de-anonymisation for every strategy with every amount of noise on top.

    All points share their runs (users, states, reward noise) and the cells that the attacker knows, so that differences
    between points are differences between strategies.

    Parameters
    ----------
    behaviour : Behaviour
        Users.
    strategies : sequence of strategies
        Aggregations, see :func:`paper_strategies`; noise is put on top of each.
    amounts : sequence of float
        Variances of Laplace noise, or ranks.
    n_aux : int
        Cells that the attacker knows: 91 for CASAS and Endomondo, 14 for Fitbit in the paper.
    noise : {"laplace", "svd"}
        What the amounts are of.
    alpha : float, optional
        Tolerance of the scoreboard, and rounding step of the entropy; default: that of the behaviour.
    weights : str
        Weights of noise, scoreboard and ADS alike (galozy, Section 6.2).
    rewards : {"hard", "easy"}
        Rewards of the bandit, with the paper's sigma of 2.
    runs, steps : int
        Of the regret.
    releases : int
        Draws of the noise at each point, over which runs and attacks are spread evenly.
    likelihood : bool
        Whether the attacker who knows the mechanism is measured, too.
    seed, level
        Seed of everything, level of the intervals.
    progress : callable, optional
        Is told the share that is done, from 0 to 1.
    attack : {"scoreboard", "likelihood"}
        Whose success decides which points are on the front, and is told in the reading.

    Examples
    --------
    >>> from reidrisk.bandits import clustered_users
    >>> users = clustered_users(8, n_states=4, n_clusters=2)
    >>> result = tradeoff(users, ["own", "average"], [0.0, 0.1], n_aux=6, runs=20, steps=50)
    >>> [(p.strategy, p.amount, round(p.risk.rate, 2)) for p in result.points][::2]
    [('own', 0.0, 0.82), ('average', 0.0, 0.12)]
    """
    if noise not in ("laplace", "svd"):
        raise OptionError(f"noise must be laplace or svd, not {noise!r}")
    if rewards not in _REWARDS:
        raise OptionError(f"rewards must be one of {', '.join(_REWARDS)}, not {rewards!r}")
    if attack not in ATTACKS:
        raise OptionError(f"attack must be one of {', '.join(ATTACKS)}, not {attack!r}")
    if attack == "likelihood" and not likelihood:
        raise OptionError("the attack 'likelihood' is left out by likelihood=False; leave out one of the two")
    if not strategies or not len(amounts):
        raise OptionError("give at least one strategy and one amount of noise")
    runs, steps = count_of(runs, "runs"), count_of(steps, "steps")
    if not 1 <= releases <= runs:
        raise OptionError(f"releases must lie between 1 and the {runs} runs, not {releases!r}")
    records = checked_records(behaviour.records, least=2)
    alpha = behaviour.tolerance if alpha is None else alpha
    n, d = records.shape[:2]
    env = LatentBandit(records, _REWARDS[rewards](d), SIGMA)
    known = auxiliary(records, n_aux, seed, releases * max(1, -(-_QUERIES // (n * releases))))
    cells = cell_weights(records, weights, alpha)
    setting = _Setting(behaviour, env, known, cells, alpha, n_aux, runs, steps, releases, seed, level, likelihood)
    topping = _topping(noise, amounts, weights)
    for strategy in strategies:
        given = as_steps(strategy)
        if isinstance(given[0], PrivateClusters):
            check_private(given[0], (), topping)
    bases = [_base(setting, strategy) for strategy in strategies]
    points, todo = [], len(bases) * len(topping)
    for base in bases:
        for step, amount in zip(topping, amounts, strict=True):
            regret, risk, stronger, identifiable = _measured(setting, base, step)
            points.append(TradeoffPoint(base[0].name, noise, float(amount), regret, risk, stronger, identifiable))
            if progress is not None:
                progress("playing and attacking", len(points) / todo)
    marked = tuple(replace(p, on_front=on) for p, on in zip(points, on_front(points, attack), strict=True))
    least = summarise(env, simulate(env, None, 0, runs, steps, seed), steps, seed, level, "thompson")
    return Tradeoff(
        points=marked,
        least_regret=least.mean,
        blind_regret=least.baseline,
        guess=1.0 / n,
        n_users=n,
        n_states=d,
        n_aux=n_aux,
        alpha=alpha,
        runs=runs,
        steps=steps,
        releases=releases,
        seed=int(seed),
        rewards=rewards,
        weights=weights,
        origin=behaviour.origin,
        assumptions=(
            behaviour.origin,
            *_equals(behaviour),
            *(_bare(cells, weights) if noise == "laplace" else ()),
            f"Noise is drawn {releases} time{'s' * (releases > 1)} at each point; intervals take the draws as given.",
            *marked[0].regret.assumptions,
            *marked[0].risk.assumptions,
        ),
        reading=reading_of(marked, 1.0 / n, attack),
    )


def _equals(behaviour: Behaviour) -> tuple[str, ...]:
    """Say how many users have a profile that others have, too: their order then decides."""
    _, times = np.unique(behaviour.profiles, axis=0, return_counts=True)
    alike = int(times[times > 1].sum())
    if not alike:
        return ()
    return (f"{alike:,} users share their profile with others: who is grouped with whom follows their order.",)


def _bare(cells: Floats, weights: str) -> tuple[str, ...]:
    """Say how many cells the weights leave without noise: an attacker who knows that reads them."""
    bare = int((cells == 0).sum())
    if not bare:
        return ()
    return (
        f"{bare:,} of {cells.size:,} cells get no noise, whatever its amount: their values round to one number, so the "
        f"weights '{weights}' are 0 there. The attacker who knows the mechanism reads them; weights 'uniform' leave "
        "none.",
    )


def _topping(noise: str, amounts: Sequence[float], weights: str) -> list[Step]:
    if noise == "laplace":
        return [Laplace(float(amount), weights) for amount in amounts]
    for amount in amounts:
        if not float(amount).is_integer():
            raise OptionError(f"amounts of svd are ranks, whole numbers such as 10, not {amount!r}")
    return [TruncatedSVD(int(amount)) for amount in amounts]


@dataclass(frozen=True)
class _Setting:
    """What is the same at all points."""

    behaviour: Behaviour
    env: LatentBandit
    known: Auxiliary
    cells: Floats
    alpha: float
    n_aux: int
    runs: int
    steps: int
    releases: int
    seed: int
    level: float
    likelihood: bool


def _base(setting: _Setting, strategy: Strategy) -> list[Shared]:
    """Return what is shared before noise comes on top: one for each release where it is random, else one for all."""
    records = setting.env.transitions
    profiles = checked_profiles(setting.behaviour.profiles, len(records))
    steps = as_steps(strategy)
    random = any(isinstance(step, Laplace | PrivateClusters) for step in steps)
    found = []
    for release in range(setting.releases if random else 1):
        shared = started(records, setting.seed, release)
        for step in steps:
            shared = applied(shared, step, records, profiles, setting.alpha)
        found.append(shared)
    return found


def _measured(setting: _Setting, base: list[Shared], step: Step) -> tuple[Regret, Risk, Risk | None, float]:
    random = len(base) > 1 or (isinstance(step, Laplace) and step.variance > 0)
    releases = setting.releases if random else 1
    records, known, n = setting.env.transitions, setting.known, len(setting.env.transitions)
    found: dict[str, list[Floats]] = {name: [] for name in ATTACKS[: 1 + setting.likelihood]}
    totals, near, ties = [], [], dict.fromkeys(found, 0.0)
    ends = np.arange(releases + 1) * setting.runs // releases
    asked = len(known.user) // releases  # a multiple of the users: each is attacked as often in every release
    for release in range(releases):
        start = replace(base[release % len(base)], release=release)
        shared = finished(applied(start, step, records, None, setting.alpha, setting.cells))
        first, last = int(ends[release]), int(ends[release + 1])
        totals.append(simulate(setting.env, shared.records, first, last - first, setting.steps, setting.seed))
        part = known.chosen(slice(release * asked, (release + 1) * asked))
        for name, collected in found.items():
            credit, tied = credits(records, shared, part, setting.alpha, setting.cells, name)
            collected.append(credit)
            ties[name] += tied / releases
        near.append(ads(records, shared, setting.cells, setting.alpha))
    regret = summarise(setting.env, np.concatenate(totals), setting.steps, setting.seed, setting.level, "thompson")
    risks = [
        risk_of_credits(np.concatenate(c), known, n, setting.n_aux, ties[name], setting.seed, setting.level, name)
        for name, c in found.items()
    ]
    return regret, risks[0], risks[1] if setting.likelihood else None, float(np.mean(near))
