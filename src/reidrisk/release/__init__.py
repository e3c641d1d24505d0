"""A dataset anyone may have: differentially private statistics of top sets, a model of them, synthetic users."""

from reidrisk.release.fit import FitReport
from reidrisk.release.layout import read_published, read_statistics, write_statistics
from reidrisk.release.mixture import MixtureStatistics, TypeMixture
from reidrisk.release.parameters import read_parameters, write_parameters
from reidrisk.release.sample import read_users, write_users
from reidrisk.release.statement import PUBLISHED, PrivacyStatement
from reidrisk.release.statistics import Statistics, exact_statistics, statistics

__all__ = [
    "PUBLISHED",
    "FitReport",
    "MixtureStatistics",
    "PrivacyStatement",
    "Statistics",
    "TypeMixture",
    "exact_statistics",
    "read_parameters",
    "read_published",
    "read_statistics",
    "read_users",
    "statistics",
    "write_parameters",
    "write_statistics",
    "write_users",
]
