"""The worst cohorts, and the category each of them would give away."""

from __future__ import annotations

from reidrisk.cohorts import CohortAudit
from reidrisk.present.model import Section, Table
from reidrisk.present.terms import Terms
from reidrisk.present.words.cohorts import STATUS
from reidrisk.present.words.frequencies import percent


def section(audit: CohortAudit, terms: Terms) -> Section | None:
    """Return the cohorts with the largest gaps; None where none was asked for."""
    if not audit.worst:
        return None
    rows = tuple(
        (
            f"{row.cohort:,}",
            f"{row.users:,}",
            row.category,
            percent(row.cohort_freq),
            percent(row.population_freq),
            f"{100 * row.gap:.1f} ({100 * row.low:.1f} to {100 * row.high:.1f})",
            STATUS[row.status],
        )
        for row in audit.worst
    )
    names = ("cohort", "users", "category", "in it", "in the population", "gap, points (interval)", "status")
    return Section(
        "The worst cohorts",
        see="The cohorts with the largest gaps, and the category each of them would give away.",
        table=Table(names, rows, (0, 1, 3, 4, 5)),
        caution=(
            f"Intervals are at the level {percent(audit.summary.level)}, for one cohort at a time; their lower end "
            "allows for having looked at all categories."
        ),
        console=True,
        name="worst",
    )
