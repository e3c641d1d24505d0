"""Everything that defines a trade-off, as options, file and JSON in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from reidrisk.bandits.agent.regret import count_of
from reidrisk.bandits.sharing.strategies import Laplace, PrivateClusters, Step, TruncatedSVD, as_steps, check_private
from reidrisk.bandits.sharing.weights import WEIGHTS
from reidrisk.bandits.transitions import Behaviour
from reidrisk.base import OptionError, checked_seed
from reidrisk.base.moved import STUDIES
from reidrisk.base.specs import Spec, named

_VARIANCES = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_RANKS = 8  # at most, where none are given
_KNOWN = 91  # cells that the paper's attacker knows of a large matrix; all but two of a small one
_USERS_PER_CLUSTER = 5


def paper_strategies(n_clusters: int) -> tuple[str, ...]:
    """Return the paper's aggregations for this number of clusters.

    >>> paper_strategies(7)
    ('own', 'average', 'neighbour:1', 'neighbour:2', 'clusters:7', 'clusters:14', 'clusters:21')
    """
    sized = (f"clusters:{times * n_clusters}" for times in (1, 2, 3))
    return ("own", "average", "neighbour:1", "neighbour:2", *sized)


def _format(value: Any) -> Any:
    if value in ("fitbit", "casas", "endomondo"):
        what = f"read it with reidrisk_studies.galozy.{value}, and save records and profiles with numpy.savez"
        raise OptionError(f"{named('format')} {value} is now in {STUDIES}: {what}, for {named('format')} matrices")
    return value


def _seconds(value: Any) -> Any:
    if isinstance(value, int | float) and not value >= 0:
        raise ValueError("must be a number of seconds of at least 0")
    return value


def _text(given: Any) -> str:
    """Return a strategy as a text that can be read; steps are values that have one."""
    steps = as_steps(given)
    return given if isinstance(given, str) else "+".join(map(str, steps))


def _several(one: Callable[[Any], Any]) -> BeforeValidator:
    def check(given: Any) -> Any:
        if not isinstance(given, Iterable) or isinstance(given, str):
            return given
        found = tuple(one(each) for each in given)
        if not found:
            raise OptionError("give at least one strategy and one amount of noise")
        return found

    return BeforeValidator(check)


Count = Annotated[int, BeforeValidator(lambda value, info: count_of(value, info.field_name))]


class InMemory(Spec):
    """Behaviour that was handed over in memory; such a trade-off cannot be run again from its spec alone."""

    kind: Literal["memory"] = "memory"


class BehaviourFile(Spec):
    """A file, or a folder, of behaviour, and how to read it."""

    kind: Literal["file"] = "file"
    path: str
    format: Annotated[Literal["log", "matrices"], BeforeValidator(_format)] = Field(
        default="log", description="'log', or 'matrices' (NPZ)."
    )
    states: str | None = Field(default=None, description="File of all states: one per line, or a JSON list.")
    max_gap: Annotated[float | None, BeforeValidator(_seconds)] = Field(
        default=None, description="Count nothing over a longer silence, in seconds."
    )
    unit: str = Field(
        default="second",
        description="A stay of this length in a log counts as one transition: 'second', 'minute', … or seconds.",
    )

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        unlike = {"states": "has its own", "max_gap": "knows how long a state lasts", "unit": "has its own"}
        for name, what in unlike.items():
            if self.format != "log" and getattr(self, name) != type(self).model_fields[name].default:
                raise OptionError(f"{named(name)} is for logs; the format '{self.format}' {what}")
        return self

    def read(self) -> Behaviour:
        """Read it."""
        from reidrisk import bandits, io

        if self.format == "matrices":
            return bandits.read_matrices(self.path)
        names = None if self.states is None else list(io.read_vocabulary(self.states).labels)
        try:
            length: str | float = float(self.unit)
        except ValueError:
            length = self.unit
        return bandits.from_log(self.path, names, self.max_gap, unit=length)


class TradeoffSpec(Spec):
    """Everything that defines a trade-off.

    On top of each of the ``strategies`` (default: :func:`paper_strategies`) come ``amounts`` of noise: variances of
    ``"laplace"``, or ranks of ``"svd"``. ``alpha`` is the tolerance of the scoreboard, and the rounding step of the
    entropy; ``weights`` are those of noise, scoreboard and ADS alike (galozy, Section 6.2). Runs and attacks are spread
    evenly over the ``releases``. ``likelihood`` measures the attacker who knows the mechanism, too.

    >>> spec = TradeoffSpec(strategies=["own", "clusters:3"], runs=100, seed=1)
    >>> TradeoffSpec.from_dict(spec.to_dict()) == spec, spec.filled(n_users=20, n_states=4).n_aux
    (True, 14)
    """

    inputs: Annotated[BehaviourFile | InMemory, Field(discriminator="kind")] = InMemory()
    strategies: Annotated[tuple[str, ...] | None, _several(_text)] = None
    clusters: int | None = Field(
        default=None, description="Number of clusters, also twice and three times as many; default: one per 5 users."
    )
    noise: Literal["laplace", "svd"] = Field(default="laplace", description="'laplace' or 'svd', on each strategy.")
    amounts: Annotated[tuple[float, ...] | None, _several(float)] = None
    n_aux: int | None = Field(default=None, description="Cells the attacker knows; default: 91, or all but 2.")
    alpha: float | None = Field(default=None, description="Cells that differ by less agree; default: 0.001, or finer.")
    weights: str = Field(default=WEIGHTS[0], description="'inverse entropy' (as published), 'uniform' or 'entropy'.")
    rewards: Literal["hard", "easy"] = Field(
        default="hard", description="'hard' reveal little of the state, 'easy' much."
    )
    runs: Count = Field(default=500, description="Runs of the recommender for each choice.")
    steps: Count = Field(default=2500, description="Recommendations per run.")
    releases: int = Field(default=5, description="Draws of the noise for each choice.")
    likelihood: bool = True
    attack: Literal["scoreboard", "likelihood"] = Field(
        default="scoreboard", description="By whose success choices are judged: 'scoreboard' or 'likelihood'."
    )
    level: float = Field(default=0.95, description="Level of the intervals.")
    seed: Annotated[int | None, BeforeValidator(lambda seed: None if seed is None else checked_seed(seed))] = None

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.attack == "likelihood" and not self.likelihood:
            raise OptionError("the attack 'likelihood' is left out by likelihood=False; leave out one of the two")
        if self.clusters is not None and self.strategies is not None:
            raise OptionError(f"{named('clusters')} is for the paper's strategies; name clusters:{self.clusters}")
        if not 1 <= self.releases <= self.runs:
            raise OptionError(f"releases must lie between 1 and the {self.runs} runs, not {self.releases!r}")
        topping = self.topping()
        for strategy in self.strategies or ():
            first = as_steps(strategy)[0]
            if isinstance(first, PrivateClusters):
                check_private(first, (), topping)
        return self

    def topping(self) -> list[Step]:
        """Return what is put on top of each strategy, one step for each amount."""
        amounts = self.amounts or ()
        if self.noise == "laplace":
            return [Laplace(amount, self.weights) for amount in amounts]
        broken = next((amount for amount in amounts if not amount.is_integer()), None)
        if broken is not None:
            raise OptionError(f"ranks are whole numbers such as 10, not {broken!r}")
        return [TruncatedSVD(int(amount)) for amount in amounts]

    def filled(self, n_users: int, n_states: int) -> TradeoffSpec:
        """Return the spec with its defaults for this number of users and states filled in."""
        chosen = {
            "strategies": self.strategies or _usual_strategies(n_users, self.clusters),
            "clusters": None,
            "amounts": self.amounts or _usual_amounts(self.noise, n_states),
            "n_aux": min(_KNOWN, n_states**2 - 2) if self.n_aux is None else self.n_aux,
        }
        return TradeoffSpec(**{**dict(self), **chosen})


def _usual_strategies(n_users: int, clusters: int | None) -> tuple[str, ...]:
    """Return the paper's strategies; multiples of a number of clusters that nobody asked for must fit."""
    if clusters is not None and not 1 <= clusters <= n_users:
        raise OptionError(f"there are {n_users} users, so no {clusters} clusters; choose from 1 to {n_users}")
    count = max(2, n_users // _USERS_PER_CLUSTER) if clusters is None else clusters
    too_many = {f"clusters:{times * count}" for times in (1, 2, 3) if times * count > n_users}
    neighbours = {"neighbour:2"} if n_users < 3 else set()
    return tuple(name for name in paper_strategies(count) if name not in too_many | neighbours)


def _usual_amounts(noise: str, n_states: int) -> tuple[float, ...]:
    """Return a range of amounts, the least noise first."""
    if noise == "laplace":
        return _VARIANCES
    count = min(_RANKS, n_states)
    ranks = {round(1 + (n_states - 1) * i / (count - 1)) for i in range(count)}
    return tuple(float(rank) for rank in sorted(ranks, reverse=True))
