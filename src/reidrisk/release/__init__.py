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

__all__ = ["PUBLISHED", "FitReport", "MixtureStatistics", "PrivacyStatement", "TypeMixture"]
__all__ += ["Statistics", "exact_statistics", "read_published", "read_statistics", "statistics", "write_statistics"]
__all__ += ["fit_mixture", "read_parameters", "read_users", "write_parameters", "write_users"]
__all__ += ["CanaryTest", "InternalValidation", "canary", "internal_validation", "refitted"]
__all__ += ["NoiseBudget", "NoiseFit", "PublicValidation", "noise_budget", "noise_fit", "public_validation"]
__all__ += ["RateComparison", "Validation", "compare_rates"]
