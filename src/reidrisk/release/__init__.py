"""A dataset anyone may have: differentially private statistics of top sets, a model of them, synthetic users."""

from reidrisk.populations.type_mixture import FitReport, MixtureStatistics, TypeMixture
from reidrisk.privacy import PUBLISHED, PrivacyStatement
from reidrisk.release.counts.layout import read_published, read_statistics, write_statistics
from reidrisk.release.counts.statistics import Statistics, exact_statistics, statistics
from reidrisk.release.model.fit import fit_mixture
from reidrisk.release.model.parameters import read_parameters, write_parameters
from reidrisk.release.model.sample import read_users, write_users
from reidrisk.release.validate.canary import CanaryTest, canary
from reidrisk.release.validate.internal import InternalValidation, internal_validation, refitted
from reidrisk.release.validate.noise import NoiseBudget, NoiseFit, noise_budget, noise_fit
from reidrisk.release.validate.public import PublicValidation, public_validation
from reidrisk.release.validate.rates import RateComparison, compare_rates
from reidrisk.release.validate.run import Validation

__all__ = [
    "PUBLISHED",
    "CanaryTest",
    "FitReport",
    "InternalValidation",
    "MixtureStatistics",
    "NoiseBudget",
    "NoiseFit",
    "PrivacyStatement",
    "PublicValidation",
    "RateComparison",
    "Statistics",
    "TypeMixture",
    "Validation",
    "canary",
    "compare_rates",
    "exact_statistics",
    "fit_mixture",
    "internal_validation",
    "noise_budget",
    "noise_fit",
    "public_validation",
    "read_parameters",
    "read_published",
    "read_statistics",
    "read_users",
    "refitted",
    "statistics",
    "write_parameters",
    "write_statistics",
    "write_users",
]
