"""A whole validation: model and samples, the noise, the attack on it and, for its owner, the real people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reidrisk.base import Progress, Result, seed_or_fresh, silent
from reidrisk.populations.type_mixture import TypeMixture
from reidrisk.privacy import PrivacyStatement
from reidrisk.records import TopSets
from reidrisk.release.counts.statistics import Statistics
from reidrisk.release.validate.canary import CanaryTest
from reidrisk.release.validate.canary import canary as attack
from reidrisk.release.validate.internal import InternalValidation, internal_validation, refitted
from reidrisk.release.validate.noise import NoiseBudget, NoiseFit, noise_budget, noise_fit
from reidrisk.release.validate.public import PublicValidation, public_validation

if TYPE_CHECKING:
    from reidrisk.release.spec import ValidationSpec


@dataclass(frozen=True, eq=False)
class Validation(Result):
    """What was found out about a release; what was not examined is None, and has not passed."""

    public: PublicValidation
    noise: NoiseFit | None = None
    budget: NoiseBudget | None = None
    canary: CanaryTest | None = None
    internal: InternalValidation | None = None  # private, and on no public page

    @property
    def failed(self) -> bool:
        """Whether something about the noise is wrong."""
        wrong = self.canary is not None and not self.canary.passed
        wrong = wrong or (self.budget is not None and self.budget.enough is False)
        return wrong or (self.noise is not None and self.noise.fits is False)

    @property
    def undecided(self) -> bool:
        """Whether something about the noise was not examined."""
        return self.noise is None or self.noise.fits is None or (self.budget is not None and self.budget.enough is None)


def validate(
    statistics: Statistics,
    model: TypeMixture,
    spec: ValidationSpec,
    users: tuple[TopSets, PrivacyStatement] | None = None,
    real: TopSets | None = None,
    progress: Progress = silent,
) -> Validation:
    """Examine a release and, where the real people are given, compare with them; that part is private.

    ``users`` are drawn from the model, as :func:`reidrisk.release.read_users` reads them.
    """
    seed = seed_or_fresh(spec.seed)
    progress("comparing-statistics", 0.0)
    public = public_validation(model, statistics, *(users or (None, None)))
    progress("looking-at-noise", 0.1)
    fit, budget = noise_fit(statistics), noise_budget(statistics)
    attacked, statement = None, statistics.statement
    # Without a size of the noise, or with that of other tables, there is nothing to draw.
    if spec.canary and budget.promised and statement is not None and statistics.n_epochs is not None:
        seeded = seed if statement.simulation else None
        attacked = attack(statement, statistics.k, statistics.n_epochs, spec.canary, seeded)
    compared = None
    if real is not None:
        compared = internal_validation(
            real,
            statistics,
            model,
            **spec.model_dump(include={"noise", "trials", "queries"}),
            models=None if spec.no_refit or spec.trials < 2 else refitted(model, statistics, spec.device),
            seed=seed,
            progress=lambda stage, share: progress(stage, 0.2 + 0.8 * share),
        )
    return Validation(public, fit, budget, attacked, compared)
