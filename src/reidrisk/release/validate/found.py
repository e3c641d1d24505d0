"""Validation: everything that was found out about one release, what may be published apart from what may not."""

from __future__ import annotations

from dataclasses import dataclass

from reidrisk.base.results import Result
from reidrisk.release.validate.budget import NoiseBudget
from reidrisk.release.validate.canary import CanaryTest
from reidrisk.release.validate.internal import InternalValidation
from reidrisk.release.validate.noise import NoiseFit
from reidrisk.release.validate.public import PublicValidation


@dataclass(frozen=True, eq=False)
class Validation(Result):
    """What was found out about a release; what was not examined is None, and has not passed.

    Attributes
    ----------
    public : PublicValidation
        Model and samples against the released statistics.
    noise : NoiseFit or None
        Whether the counts have the stated noise.
    budget : NoiseBudget or None
        Whether the stated noise is enough for the stated budget.
    canary : CanaryTest or None
        The attack on noise of the stated size.
    internal : InternalValidation or None
        Model and samples against the real people; private, and on no public page.
    """

    public: PublicValidation
    noise: NoiseFit | None = None
    budget: NoiseBudget | None = None
    canary: CanaryTest | None = None
    internal: InternalValidation | None = None

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
