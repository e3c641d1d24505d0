"""Those who are blocked: what they have in common, since being without a cohort is an answer too."""

from __future__ import annotations

from reidrisk.cohorts import CohortAudit, EmptyProfile
from reidrisk.present.model import Section, Table
from reidrisk.present.terms import Terms
from reidrisk.present.words.cohorts import empty_cohort


def section(audit: CohortAudit, terms: Terms) -> Section:
    """Return how users without a cohort to show differ from the population."""
    found, rows = audit.empty_cohort, []
    if found is not None:
        rows.append(_row("users of blocked cohorts", found.blocked))
        if found.n_shown:
            rows.append(_row("these and everyone who never had a cohort", found.everyone_without))
    columns = ("group", "users", "largest gap, points (interval)", "categories off by more than 2 points")
    return Section(
        "Those who are blocked",
        see=(
            "Being without a cohort is an answer too: if all blocked cohorts shared a category, being blocked would "
            "give it away.",
            empty_cohort(audit),
        ),
        table=Table(columns, tuple(rows), (1, 2, 3)),
        console=True,
        name="blocked",
    )


def _row(name: str, group: EmptyProfile) -> tuple[str, ...]:
    gap = f"{100 * group.gap:.1f} ({100 * group.low:.1f} to {100 * group.high:.1f})"
    return name, f"{group.n_users:,}", gap, f"{group.off_by_two_points:,}"
