"""The page of an audit of cohorts, for people inside; the blocklist alone is for publication."""

from reidrisk.cohorts import AssignmentSummary, CohortAudit
from reidrisk.present.model import Page, Section, Sentence, Table, Tile
from reidrisk.present.sections import cohorts as sections
from reidrisk.present.terms import Terms
from reidrisk.present.words import percent, reading
from reidrisk.present.words.cohorts import known

SECTIONS = (
    sections.counts,
    sections.gaps,
    sections.blocking,
    sections.worst,
    sections.blocked,
    sections.statement,
    sections.assumptions,
)
WARNING = (
    "Not for publication: this says which cohort stands for which category, and published it would be the leak it "
    "warns of. What may be published is the blocklist alone."
)


def page(audit: CohortAudit, subject: str = "Cohorts", command: str = "", terms: Terms | None = None) -> Page:
    """Return the page of a grouping of users; ``subject`` is its heading, ``command`` runs it again."""
    terms, found = terms or Terms(), audit.summary
    return Page(
        kind="Sensitivity of cohorts",
        subject=subject,
        verdict=Sentence(reading(found, terms)),
        sections=tuple(filter(None, [*(make(audit, terms) for make in SECTIONS), sections.methods(audit, command)])),
        facts=(
            f"users: {known(found, 'n_users')}",
            f"cohorts: {found.n_cohorts:,}",
            f"users without a cohort: {known(found, 'n_without')}",
            f"sensitive categories: {found.n_categories:,}",
            f"smallest cohort: {known(found, 'k')}",
        ),
        tiles=_tiles(audit),
        warning=WARNING,
        mood="plain" if found.sensitive else "calm",
        footer="This file holds counts by cohort and category: no user id and no history of a single person.",
    )


def assignment_page(found: AssignmentSummary, subject: str = "Cohorts") -> Page:
    """Return what an assignment of cohorts looks like, for a terminal."""
    weekly = len(found.weeks) > 1
    names = ("week", "users", "without a cohort", "cohorts with users", "smallest", "largest")
    rows = [tuple(f"{value:,}" for value in week.to_dict().values()) for week in found.weeks]
    first = 0 if weekly else 1  # without weeks there is nothing to number
    dropped = f"{found.dropped_visits:,} visits have no registrable domain and were left out."
    table = Table(names[first:], tuple(row[first:] for row in rows), tuple(range(len(names) - first)))
    return Page(
        kind="Cohorts",
        subject=subject,
        verdict=Sentence(found.reading),
        news=(dropped,) if found.dropped_visits else (),
        sections=(Section("", table=table, console=True),),
    )


def _tiles(audit: CohortAudit) -> tuple[Tile, ...]:
    found = audit.summary
    baseline = f"of {found.n_cohorts:,}"
    if found.by_chance is not None:
        baseline = f"{found.by_chance:,.0f} if people were grouped at random"
    return (
        Tile("Sensitive", f"{found.sensitive:,}", baseline, "wrong"),
        Tile("Significant", f"{found.beyond_chance:,}", f"false discovery rate {percent(found.fdr)}", "correct"),
        Tile("After Bonferroni", f"{found.beyond_doubt:,}", f"all of them right, {percent(found.level)} sure"),
    )
