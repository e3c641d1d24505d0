"""The trade-off: regret against de-anonymisation for many strategies and amounts of noise (galozy, Section 6.3)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.bandits.agent.environment import SIGMA, LatentBandit, easy_rewards, hard_rewards
from reidrisk.bandits.agent.regret import Regret, regret, regret_of, simulate
from reidrisk.bandits.linkage.measure import ATTACKS, Auxiliary, ads, auxiliary, credits, link_notes, risk_of_credits
from reidrisk.bandits.sharing.anonymise import Shared, applied, finished, started
from reidrisk.bandits.sharing.strategies import Laplace, PrivateClusters, Step, Strategy, as_steps
from reidrisk.bandits.sharing.weights import WEIGHTS, cell_weights
from reidrisk.bandits.spec import TradeoffSpec
from reidrisk.bandits.transitions import Behaviour, checked_profiles, checked_records
from reidrisk.base import DataError, Floats, Note, Progress, Result, Risk, Spoken, one_of, seed_or_fresh, silent

_REWARDS = {"hard": hard_rewards, "easy": easy_rewards}
_QUERIES = 1_000  # attacks at a point, where there are few users


@dataclass(frozen=True, eq=False)
class TradeoffPoint(Result):
    """One strategy at one amount of noise: what it costs, and how often both attackers succeed."""

    strategy: str
    noise: str
    amount: float  # the variance of the noise, or a rank
    regret: Regret
    risk: Risk  # of the scoreboard
    likelihood: Risk | None  # of the attacker who knows the mechanism
    ads: float
    on_front: bool = False  # Pareto-optimal by the attack asked for


@dataclass(frozen=True, eq=False)
class Tradeoff(Spoken):
    """The whole surface, strategy by strategy and amount by amount; the same behaviour and ``spec`` give the same."""

    points: tuple[TradeoffPoint, ...]
    least_regret: float  # with everyone's true matrix: shared without protection
    blind_regret: float  # of choosing blindly
    guess: float  # probability of finding the right user by guessing
    n_users: int
    n_states: int
    n_aux: int
    alpha: float
    runs: int
    steps: int
    releases: int
    seed: int
    rewards: str = "hard"
    weights: str = WEIGHTS[0]
    origin: Note | str = ""
    notes: tuple[Note, ...] = ()
    spec: TradeoffSpec | None = None

    @property
    def attack(self) -> str:
        """By whose success points are marked as Pareto-optimal."""
        return ATTACKS[0] if self.spec is None else self.spec.attack

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that were measured, the one that points are marked by first."""
        measured = ATTACKS if all(p.likelihood is not None for p in self.points) else ATTACKS[:1]
        return tuple(sorted(measured, key=lambda name: name != self.attack))

    def judged_by(self, attack: str) -> Tradeoff:
        """Return the same with points marked as Pareto-optimal by the success of another attack."""
        marks = zip(self.points, on_front(self.points, attack), strict=True)
        spec = (self.spec or TradeoffSpec()).model_copy(update={"attack": attack})
        return replace(self, points=tuple(replace(p, on_front=on) for p, on in marks), spec=spec)

    def front(self, attack: str = "scoreboard") -> tuple[TradeoffPoint, ...]:
        """Return the points that are Pareto-optimal by the risk of the given attack, safest first."""
        best = (p for p, on in zip(self.points, on_front(self.points, attack), strict=True) if on)
        return tuple(sorted(best, key=lambda p: risk_of(p, attack).rate))


def tradeoff(
    behaviour: Behaviour,
    spec: TradeoffSpec | Sequence[Strategy] | None = None,
    *old: Any,
    progress: Progress | None = None,
    **options: Any,
) -> Tradeoff:
    """Measure regret and de-anonymisation for every strategy with every amount of noise on top.

    All points share their runs (users, states, reward noise) and the cells that the attacker knows, so that differences
    between points are differences between strategies. Without a seed in the ``spec``, one is drawn.

    >>> records = np.random.default_rng(0).dirichlet(np.ones(4), (8, 4))
    >>> users = Behaviour(records, records[:, 0], tuple("abcdefgh"), tuple("wxyz"), "made up")
    >>> spec = TradeoffSpec(strategies=["own", "average"], amounts=[0.0, 0.1], n_aux=6, runs=20, steps=50, seed=0)
    >>> result = tradeoff(users, spec)
    >>> [(p.strategy, p.amount, round(p.risk.rate, 2)) for p in result.points][::2]
    [('own', 0.0, 1.0), ('average', 0.0, 0.12)]
    """
    if spec is None and not options:
        spec = TradeoffSpec()
    if not isinstance(spec, TradeoffSpec):
        spec, progress = _as_before(spec, old, options, progress)
    records = checked_records(behaviour.records, least=2)
    n, d = records.shape[:2]
    spec = spec.filled(n, d)
    seed = seed_or_fresh(spec.seed)
    spec = spec.model_copy(update={"seed": seed})
    strategies, amounts, n_aux = spec.strategies or (), spec.amounts or (), spec.n_aux or 0
    alpha = behaviour.tolerance if spec.alpha is None else spec.alpha
    env = LatentBandit(records, _REWARDS[spec.rewards](d), SIGMA)
    known = auxiliary(records, n_aux, seed, spec.releases * max(1, -(-_QUERIES // (n * spec.releases))))
    setting = _Setting(behaviour, spec, seed, env, known, cell_weights(records, spec.weights, alpha), alpha)
    bases = [_base(setting, strategy) for strategy in strategies]
    say, points = progress or silent, []
    for base in bases:
        for step, amount in zip(spec.topping(), amounts, strict=True):
            points.append(TradeoffPoint(base[0].name, spec.noise, amount, *_measured(setting, base, step)))
            say("playing", len(points) / (len(bases) * len(amounts)))
    least = regret(env, None, spec.runs, spec.steps, seed, spec.level)
    found = Tradeoff(
        points=tuple(points),
        least_regret=least.mean,
        blind_regret=least.baseline,
        guess=1.0 / n,
        n_users=n,
        n_states=d,
        n_aux=n_aux,
        alpha=alpha,
        seed=seed,
        **spec.model_dump(include={"runs", "steps", "releases", "rewards", "weights"}),
        origin=behaviour.origin,
        notes=(*_notes(setting), *points[0].regret.notes, *link_notes(known, ATTACKS[0]), Note("noise-simulated")),
        spec=spec,
    )
    return found.judged_by(spec.attack)


def _as_before(
    strategies: Any, old: tuple[Any, ...], options: dict[str, Any], progress: Any
) -> tuple[TradeoffSpec, Progress | None]:
    """Return the spec of a call with options, as it was before there were specs; its progress took the share alone."""
    names = ("amounts", "n_aux", "noise", "alpha", "weights", "rewards", "runs", "steps", "releases", "likelihood")
    given = dict(zip(names, old, strict=False)) | options
    advice = "tradeoff(users, strategies, amounts, …) is deprecated; give tradeoff(users, TradeoffSpec(…))"
    warnings.warn(advice, DeprecationWarning, stacklevel=3)
    spec = TradeoffSpec(**{"seed": 0, **({} if strategies is None else {"strategies": strategies}), **given})
    return spec, None if progress is None else lambda _, share: progress(share)


@dataclass(frozen=True)
class _Setting:
    """What is the same at all points."""

    behaviour: Behaviour
    spec: TradeoffSpec
    seed: int
    env: LatentBandit
    known: Auxiliary
    cells: Floats
    alpha: float


def _notes(setting: _Setting) -> Iterator[Note]:
    """Note where the users come from, and what the noise leaves as it is."""
    yield setting.behaviour.note
    # Where users have equal profiles their order decides.
    _, times = np.unique(setting.behaviour.profiles, axis=0, return_counts=True)
    alike, bare = int(times[times > 1].sum()), int((setting.cells == 0).sum())
    if alike:
        yield Note("profiles-alike", users=alike)
    # An attacker who knows that a cell has no noise reads it.
    if bare and setting.spec.noise == "laplace":
        yield Note("cells-without-noise", cells=bare, of=setting.cells.size, weights=setting.spec.weights)
    yield Note("noise-drawn", times=setting.spec.releases)


def _base(setting: _Setting, strategy: Strategy) -> list[Shared]:
    """Return what is shared before noise comes on top: one for each release where it is random, else one for all."""
    records = setting.env.transitions
    profiles = checked_profiles(setting.behaviour.profiles, len(records))
    steps = as_steps(strategy)
    random = any(isinstance(step, Laplace | PrivateClusters) for step in steps)
    found = []
    for release in range(setting.spec.releases if random else 1):
        shared = started(records, setting.seed, release)
        for step in steps:
            shared = applied(shared, step, records, profiles, setting.alpha)
        found.append(shared)
    return found


def _measured(setting: _Setting, base: list[Shared], step: Step) -> tuple[Regret, Risk, Risk | None, float]:
    spec, seed, alpha, cells = setting.spec, setting.seed, setting.alpha, setting.cells
    random = len(base) > 1 or (isinstance(step, Laplace) and step.variance > 0)
    releases = spec.releases if random else 1
    records, known = setting.env.transitions, setting.known
    found: dict[str, list[Floats]] = {name: [] for name in ATTACKS[: 1 + spec.likelihood]}
    totals, near, ties = [], [], dict.fromkeys(found, 0.0)
    ends = np.arange(releases + 1) * spec.runs // releases
    asked = len(known.user) // releases  # a multiple of the users: each is attacked as often in every release
    for release in range(releases):
        start = replace(base[release % len(base)], release=release)
        shared = finished(applied(start, step, records, None, alpha, cells))
        first, last = int(ends[release]), int(ends[release + 1])
        totals.append(simulate(setting.env, shared.records, first, last - first, spec.steps, seed))
        part = known.chosen(slice(release * asked, (release + 1) * asked))
        for name, collected in found.items():
            credit, tied = credits(records, shared, part, alpha, cells, name)
            collected.append(credit)
            ties[name] += tied / releases
        near.append(ads(records, shared, cells, alpha))
    cost = regret_of(setting.env, np.concatenate(totals), spec.steps, seed, spec.level, "thompson")
    risks = [
        risk_of_credits(np.concatenate(c), known, len(records), ties[name], seed, spec.level, name)
        for name, c in found.items()
    ]
    return cost, risks[0], risks[1] if spec.likelihood else None, float(np.mean(near))


def risk_of(point: TradeoffPoint, attack: str) -> Risk:
    """Return the risk of a point by the named attack; the scoreboard's where the other was not measured."""
    return point.likelihood if attack == "likelihood" and point.likelihood is not None else point.risk


def on_front(points: Sequence[TradeoffPoint], attack: str) -> list[bool]:
    """Say of each point whether no other has less of one, regret or risk, and no more of the other.

    A rate below that of a guess counts as that of a guess: any attacker can guess, so no choice is safer.
    """
    one_of("attack", attack, ATTACKS)
    if attack == "likelihood" and any(p.likelihood is None for p in points):
        raise DataError("the attacker who knows the mechanism was not measured here; ask for likelihood=True")
    cost = np.array([p.regret.mean for p in points])
    risk = np.array([max(risk_of(p, attack).rate, risk_of(p, attack).baseline) for p in points])
    no_worse = (cost[:, None] <= cost) & (risk[:, None] <= risk)
    better = no_worse & ((cost[:, None] < cost) | (risk[:, None] < risk))
    return [not beaten for beaten in np.asarray(better.any(axis=0)).tolist()]
