"""Whether the noise is there: as stated, in the counts of the file, enough for the budget, and against the best attack.

A terminal shows a section only where it passed: whatever did not is in the verdict above it.
"""

from functools import partial

from reidrisk.present import Section, Table, Terms
from reidrisk.present.sections.basis import statement
from reidrisk.present.sections.release import charts
from reidrisk.present.sections.written import written
from reidrisk.present.words import percent, reading
from reidrisk.release import Validation


def stated(result: Validation, terms: Terms) -> Section:
    """Return the privacy statement of the release."""
    return statement(result.public.statement, believed=not result.failed)


def counts(result: Validation, terms: Terms) -> Section | None:
    """Return whether the counts have the stated noise, and how near 0 the near-empty ones are."""
    fit = result.noise
    if fit is None:
        return None
    columns = ("table of counts", "stated sigma", "near-empty counts", "within one sigma", "at most", "p-value")
    rows = tuple(
        (
            name,
            f"{table['sigma']:.4g}",
            f"{table['near']:,}",
            percent(table["within"]) if table["near"] else "",
            percent(table["expected"]),
            f"{table['p']:.2g}" if table["p"] >= 1e-6 else "below 0.000001",
        )
        for name, table in fit.tables.items()
    )
    table = Table(columns, rows, (1, 2, 3, 4, 5), "Near-empty counts: those within three sigma of 0") if rows else None
    return written("release.noise", terms, {"reading": reading(fit, terms)}, table=table, console=fit.fits is True)


def budget(result: Validation, terms: Terms) -> Section | None:
    """Return whether the stated noise is enough for the stated budget."""
    if result.budget is None:
        return None
    said = {"reading": reading(result.budget, terms)}
    return written("release.budget", terms, said, console=result.budget.enough is True)


def canary(result: Validation, terms: Terms) -> Section | None:
    """Return how well the best attacker tells a release with one more person from one without."""
    test = result.canary
    if test is None:
        return None
    found = {**test.blocks, "all tables": test.to_dict()}
    rows = tuple(
        (name, f"{one['promised']:.3f}", f"{one['found']:.3f}", f"{one['low']:.3f} to {one['high']:.3f}")
        for name, one in found.items()
    )
    columns = ("table of counts", "promised at most", "measured", "95 % interval")
    caption = "How well a canary is told from none: distance in standard deviations"
    table = Table(columns, rows, (1, 2, 3), caption)
    said = {"reading": reading(test, terms), "trials": test.trials}
    draw = partial(charts.canary, test)
    return written("release.canary", terms, said, draw=draw, table=table, console=test.passed)
