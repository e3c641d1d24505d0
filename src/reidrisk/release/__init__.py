"""A dataset anyone may have: differentially private statistics of top sets, a model of them, synthetic users."""

from reidrisk.privacy import PUBLISHED, PrivacyStatement
from reidrisk.release.canary import CanaryTest, canary
from reidrisk.release.fit import FitReport
from reidrisk.release.layout import read_published, read_statistics, write_statistics
from reidrisk.release.mixture import MixtureStatistics, TypeMixture
from reidrisk.release.parameters import read_parameters, write_parameters
from reidrisk.release.sample import read_users, write_users
from reidrisk.release.statistics import Statistics, exact_statistics, statistics
from reidrisk.release.validate import PublicValidation, public_validation
from reidrisk.release.validate_budget import NoiseBudget, noise_budget
from reidrisk.release.validate_internal import InternalValidation, internal_validation, refitted
from reidrisk.release.validate_noise import NoiseFit, noise_fit
from reidrisk.release.validate_rates import RateComparison, compare_rates

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
    "canary",
    "compare_rates",
    "exact_statistics",
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
