"""Cohorts: FLoC as Chrome computed it, and which cohorts give a sensitive interest away."""

from reidrisk.base.hosts import registrable
from reidrisk.base.moved import moved
from reidrisk.cohorts.audit import (
    CohortAudit,
    CohortRow,
    GapHistogram,
    audit_tables,
    cohort_audit,
    private_sensitivity,
    sensitivity,
)
from reidrisk.cohorts.floc.simhash import cityhash64, simhash
from reidrisk.cohorts.floc.sorting_lsh import SortingLSH
from reidrisk.cohorts.floc.weekly import (
    AssignmentSummary,
    CohortSizes,
    WeeklyCohorts,
    assignment_summary,
    weekly_cohorts,
)
from reidrisk.cohorts.private.sensitivity import PrivateSensitivity
from reidrisk.cohorts.sensitivity.blocklist import (
    Blocklist,
    BlocklistChanges,
    BlocklistCheck,
    EmptyCohort,
    EmptyProfile,
    FrequencyHistogram,
    ThresholdCurve,
    blocklist_changes,
    check_blocklist,
    empty_cohort,
    frequency_histogram,
    threshold_curve,
)
from reidrisk.cohorts.sensitivity.cohorts import Sensitivity, SensitivitySummary, sensitivity_of_counts
from reidrisk.cohorts.sensitivity.counts import CohortCounts, count_visits, k_anonymity
from reidrisk.cohorts.sensitivity.gaps import Closeness, closeness
from reidrisk.cohorts.spec import CohortSpec, CohortTables, Noise
from reidrisk.cohorts.tables import (
    CategoryVisits,
    category_visits,
    fitted_to_users,
    read_assignment,
    read_categories,
    read_visits,
    write_assignment,
)

__all__ = ["registrable"]
__all__ += ["CohortAudit", "CohortRow", "GapHistogram", "audit_tables", "cohort_audit", "private_sensitivity"]
__all__ += ["SortingLSH", "cityhash64", "sensitivity", "simhash"]
__all__ += ["AssignmentSummary", "CohortSizes", "WeeklyCohorts", "assignment_summary", "weekly_cohorts"]
__all__ += ["PrivateSensitivity"]
__all__ += ["Blocklist", "BlocklistChanges", "BlocklistCheck", "EmptyCohort", "EmptyProfile", "FrequencyHistogram"]
__all__ += ["ThresholdCurve", "blocklist_changes", "check_blocklist", "empty_cohort", "frequency_histogram"]
__all__ += ["Sensitivity", "SensitivitySummary", "sensitivity_of_counts", "threshold_curve"]
__all__ += ["Closeness", "CohortCounts", "closeness", "count_visits", "k_anonymity"]
__all__ += ["CohortSpec", "CohortTables", "Noise"]
__all__ += ["CategoryVisits", "category_visits", "fitted_to_users", "read_assignment", "read_categories"]
__all__ += ["read_visits", "write_assignment"]

__getattr__ = moved(__name__)
