"""Cohorts in tables: how many give something away, which are the worst, and who is blocked."""

from reidrisk.cohorts import CohortAudit, CohortRow, EmptyProfile
from reidrisk.present.model import Section, Table
from reidrisk.present.terms import Terms
from reidrisk.present.words.cohorts import STATUS, coverage, empty_cohort, known, points, rare
from reidrisk.present.words.frequencies import percent


def counts(audit: CohortAudit, terms: Terms) -> Section:
    """Return the three counts with what they mean, the sizes, and how far the categories reach."""
    found = audit.summary
    rows = (
        ("sensitive", f"{found.sensitive:,}", f"a category is more than {points(found.t)} points above the population"),
        (
            "statistically significant",
            f"{found.beyond_chance:,}",
            f"the true gap exceeds {points(found.t)} points, at a false discovery rate of {percent(found.fdr)}",
        ),
        (
            "significant after Bonferroni",
            f"{found.beyond_doubt:,}",
            f"with a probability of {percent(found.level)} not one of these is wrong",
        ),
    )
    sizes = (
        f"Users: {known(found, 'n_users')}; without a cohort: {known(found, 'n_without')}; in the smallest cohort: "
        f"{known(found, 'k')}."
    )
    return Section(
        "How many cohorts are sensitive",
        see=(sizes, *coverage(audit), rare(audit.below_five_percent)),
        table=Table(("cohorts that are", "number", "meaning"), rows, (1,)),
        console=True,
        name="counts",
    )


def worst(audit: CohortAudit, terms: Terms) -> Section | None:
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
            _points(row),
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


def blocked(audit: CohortAudit, terms: Terms) -> Section:
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
    return name, f"{group.n_users:,}", _points(group), f"{group.off_by_two_points:,}"


def _points(found: CohortRow | EmptyProfile) -> str:
    return f"{100 * found.gap:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"
