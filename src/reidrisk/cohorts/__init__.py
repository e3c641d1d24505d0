"""Cohorts: FLoC as Chrome computed it, and which cohorts give a sensitive interest away."""

from reidrisk.base.hosts import registrable
from reidrisk.base.moved import moved
from reidrisk.cohorts import audit, tables
from reidrisk.cohorts.audit import *
from reidrisk.cohorts.floc import weekly
from reidrisk.cohorts.floc.simhash import cityhash64, simhash
from reidrisk.cohorts.floc.sorting_lsh import SortingLSH
from reidrisk.cohorts.floc.weekly import *
from reidrisk.cohorts.private.sensitivity import PrivateSensitivity
from reidrisk.cohorts.sensitivity import blocklist
from reidrisk.cohorts.sensitivity.blocklist import *
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary, sensitivity_of_counts
from reidrisk.cohorts.sensitivity.counts import CohortCounts, count_visits, k_anonymity
from reidrisk.cohorts.sensitivity.gaps import Closeness, closeness
from reidrisk.cohorts.spec import CohortSpec, CohortTables, Noise
from reidrisk.cohorts.tables import *

__all__ = ["PrivateSensitivity", "SortingLSH", "cityhash64", "registrable", "simhash"]
__all__ += ["CohortSpec", "CohortTables", "Noise", "Sensitivity", "SensitivitySummary", "sensitivity_of_counts"]
__all__ += ["Closeness", "CohortCounts", "closeness", "count_visits", "k_anonymity"]
__all__ += audit.__all__
__all__ += weekly.__all__
__all__ += blocklist.__all__
__all__ += tables.__all__

__getattr__ = moved(__name__)
