"""A dataset anyone may have: differentially private statistics of top sets, a model of them, synthetic users."""

from reidrisk.release.layout import read_published, read_statistics, write_statistics
from reidrisk.release.statement import PUBLISHED, PrivacyStatement
from reidrisk.release.statistics import Statistics, exact_statistics, statistics

__all__ = [
    "PUBLISHED",
    "PrivacyStatement",
    "Statistics",
    "exact_statistics",
    "read_published",
    "read_statistics",
    "statistics",
    "write_statistics",
]
