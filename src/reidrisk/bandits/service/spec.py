"""Everything that defines a service, as options, file and JSON in one."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from reidrisk.bandits.sharing.strategies import (
    Average,
    Clusters,
    Laplace,
    Microaggregation,
    PrivateClusters,
    Step,
    as_steps,
)
from reidrisk.base.errors import OptionError
from reidrisk.base.specs import Spec, named

MINIMUM_GROUP = 5  # members behind every matrix that is handed out, by default

_AGGREGATES = (Average, Clusters, Microaggregation, PrivateClusters)


def _count(least: int) -> BeforeValidator:
    def check(value: Any) -> Any:
        if isinstance(value, bool) or (isinstance(value, int) and value < least):
            raise ValueError(f"must be a whole number of at least {least}")
        return value

    return BeforeValidator(check)


def _share(value: Any) -> Any:
    if isinstance(value, int | float) and not 0.0 < value <= 1.0:
        raise ValueError("must be a probability above 0 and at most 1")
    return value


def _seconds(value: Any) -> Any:
    if isinstance(value, int | float) and not 0.0 < value <= 1e7:
        raise ValueError("must be a number of seconds above 0")
    return value


Limit = Annotated[int, _count(0)]


class ServiceSpec(Spec):
    """What the service hands out, to whom, and when it refuses; a limit of 0 is none.

    >>> ServiceSpec(strategy="clusters:7+laplace:0.001").minimum_group
    5
    >>> ServiceSpec(strategy="own")
    Traceback (most recent call last):
    reidrisk.base.errors.OptionError: own hands out records of single members, fewer than minimum_group 5; choose
    average, clusters:7 or microaggregation:5, or set minimum_group to 1
    """

    strategy: Annotated[str, BeforeValidator(lambda given: given if isinstance(given, str) else str(given))] = Field(
        default="microaggregation:5", description="What everyone receives, such as 'microaggregation:5' or 'average'."
    )
    minimum_group: Annotated[int, _count(1)] = Field(
        default=MINIMUM_GROUP, description="Fewest members behind any matrix that is handed out."
    )
    max_risk: Annotated[float | None, BeforeValidator(_share)] = Field(
        default=None, description="Refuse to serve where the measured risk exceeds this; default: no limit."
    )
    rebuild_every: Annotated[float, BeforeValidator(_seconds)] = Field(
        default=60.0, description="Seconds between two rebuilds of what is handed out."
    )
    requests_per_minute: Limit = Field(default=120, description="Requests of an agent per minute; 0: no limit.")
    profiles_per_day: Limit = Field(default=3, description="Different metadata of an agent per day; 0: no limit.")
    updates_per_day: Limit = Field(default=24, description="Matrices that an agent shares per day; 0: no limit.")
    largest_body: Annotated[int, _count(1_000)] = Field(default=1_000_000, description="Largest request, in bytes.")
    states: Annotated[int | None, _count(2)] = Field(
        default=None, description="States of every matrix; default: as the first one that is shared."
    )
    numbers: Annotated[int | None, _count(1)] = Field(
        default=None, description="Numbers in every profile; default: as the first one that is shared."
    )
    known_cells: Annotated[int | None, _count(1)] = Field(
        default=None, description="Cells that the measured attacker knows; default: 91, or all but 2."
    )
    publications: Annotated[int, _count(1)] = Field(
        default=12, description="Rebuilds over which private clusters spread their budget; there are no more."
    )

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        first, *rest = self.steps()
        if any(step.aggregates for step in rest):
            raise OptionError(f"{first} before the aggregation would be drawn anew in every rebuild; put it after")
        if not isinstance(first, _AGGREGATES) and self.minimum_group > 1:
            single = f"{first} hands out records of single members, fewer than"
            choose = "choose average, clusters:7 or microaggregation:5, or set"
            name = named("minimum_group")
            raise OptionError(f"{single} {name} {self.minimum_group}; {choose} {name} to 1")
        return self

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the strategy, the one that says whose records are put together first."""
        return as_steps(self.strategy)

    @property
    def aggregates(self) -> bool:
        """Whether records of several members are put together."""
        return isinstance(self.steps()[0], _AGGREGATES)

    @property
    def is_noisy(self) -> bool:
        """Whether noise is drawn, for which a vetted library is needed."""
        noise = (isinstance(s, PrivateClusters) or (isinstance(s, Laplace) and s.variance > 0) for s in self.steps())
        return any(noise)

    @property
    def batch_size(self) -> int:
        """Members that are put together for good, at least."""
        first = self.steps()[0]
        return max(self.minimum_group, first.k) if isinstance(first, Microaggregation) else self.minimum_group
