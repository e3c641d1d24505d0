"""The trade-off as a result: points of regret and risk, and which of them are Pareto-optimal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reidrisk.bandits.agent.regret import Regret
from reidrisk.bandits.linkage.measure import ATTACKS
from reidrisk.bandits.sharing.weights import WEIGHTS
from reidrisk.bandits.spec import TradeoffSpec
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.notes import Note
from reidrisk.base.results import Result, Risk, Spoken


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


def risk_of(point: TradeoffPoint, attack: str) -> Risk:
    """Return the risk of a point by the named attack; the scoreboard's where the other was not measured."""
    return point.likelihood if attack == "likelihood" and point.likelihood is not None else point.risk


def on_front(points: Sequence[TradeoffPoint], attack: str) -> list[bool]:
    """Say of each point whether no other has less of one, regret or risk, and no more of the other.

    A rate below that of a guess counts as that of a guess: any attacker can guess, so no choice is safer.
    """
    if attack not in ATTACKS:
        raise OptionError(f"attack must be one of {', '.join(ATTACKS)}, not {attack!r}")
    if attack == "likelihood" and any(p.likelihood is None for p in points):
        raise DataError("the attacker who knows the mechanism was not measured here; ask for likelihood=True")
    cost = np.array([p.regret.mean for p in points])
    risk = np.array([max(risk_of(p, attack).rate, risk_of(p, attack).baseline) for p in points])
    no_worse = (cost[:, None] <= cost) & (risk[:, None] <= risk)
    better = no_worse & ((cost[:, None] < cost) | (risk[:, None] < risk))
    return [not beaten for beaten in np.asarray(better.any(axis=0)).tolist()]
