"""Everything that defines a measurement of cohorts, as options, file and JSON in one."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from reidrisk.base import OptionError, between_0_and_1, checked_seed, whole
from reidrisk.base.specs import Spec, named

Model = Literal["central", "local"]
Rule = Literal["plain", "chance", "doubt"]


def _number(check: Any, **limits: Any) -> BeforeValidator:
    def checked(value: Any, info: ValidationInfo) -> Any:
        return value if value is None else check(named(str(info.field_name)), value, **limits)

    return BeforeValidator(checked)


Share = Annotated[float, _number(between_0_and_1)]
Count = Annotated[int, _number(whole, least=0)]
Some = Annotated[int | None, _number(whole)]


class CohortTables(Spec):
    """The files of an audit of cohorts: who is in which, visits, and the categories of what was visited."""

    assignment: str
    visits: str
    categories: str


class Noise(Spec):
    """How a private measurement protects people; :func:`reidrisk.cohorts.sensitivity` says what the models are."""

    epsilon: float = Field(description="With --private: the privacy budget.")
    delta: float | None = Field(default=None, description="With --private, central: its delta, such as 1e-9.")
    model: Model = Field(default="central", description="With --private: noise is 'central', or 'local' to each user.")
    most_categories: Some = Field(default=None, description="With --private, central: categories of a user that count.")
    simulation: bool = Field(default=False, description="With --private: seeded noise, which protects nobody.")
    public_rule: str = Field(
        default="", description="With --private: where the cohorts' rule comes from: not these users."
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.model == "central" and self.delta is None:
            raise OptionError(f"the central model needs {named('delta')}, well below 1/users, such as 1e-9")
        if self.model == "local" and (self.delta or self.most_categories is not None):
            central = f"{named('delta')} and {named('most_categories')} are for central noise"
            raise OptionError(f"{central}; leave them out with {named('model')} local")
        return self


class CohortSpec(Spec):
    """Everything that defines a measurement of cohorts; saved with its result, anyone can run it again.

    For the baseline, users are shuffled ``shuffles`` times; ``noise`` protects everyone, and there is no baseline.

    >>> spec = CohortSpec(t=0.05, n_cohorts=33_872, noise=Noise(epsilon=1.0, delta=1e-9))
    >>> CohortSpec.model_validate_json(spec.model_dump_json()) == spec
    True
    """

    t: Share = Field(default=0.1, description="A gap above it makes a cohort sensitive; 0.1 in Chrome.")
    level: Share = Field(default=0.95, description="Level of the intervals, and of significance after Bonferroni.")
    fdr: Share = Field(default=0.05, description="False discovery rate of what is called statistically significant.")
    n_cohorts: Some = Field(default=None, description="Cohorts of the system, needed with --private.")
    shuffles: Count = 1
    seed: Annotated[int, BeforeValidator(checked_seed)] = Field(
        default=0, description="Seed of the baseline, and of simulated noise; real noise has none."
    )
    noise: Noise | None = None
    worst: Count = Field(default=20, description="Cohorts to list, largest gaps first.")
    rule: Rule = Field(
        default="plain",
        description="Block what is sensitive ('plain'), significant ('chance'), or after Bonferroni ('doubt').",
    )
    tables: CohortTables | None = None

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.noise is not None and self.n_cohorts is None:
            raise OptionError("a private measurement needs n_cohorts: which cohorts exist is public")
        return self
