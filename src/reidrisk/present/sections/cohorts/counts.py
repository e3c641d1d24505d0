"""How many cohorts give something away: by the plain definition, and how sure that is."""

from __future__ import annotations

from reidrisk.cohorts import CohortAudit
from reidrisk.present.model import Section, Table
from reidrisk.present.terms import Terms
from reidrisk.present.words.cohorts import coverage, known, points, rare
from reidrisk.present.words.frequencies import percent


def section(audit: CohortAudit, terms: Terms) -> Section:
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
