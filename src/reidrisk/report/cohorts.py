"""The page of an audit of cohorts: one offline HTML file for people inside; the blocklist alone is for publication."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from reidrisk import __version__
from reidrisk.base.wording import percent
from reidrisk.cohorts import CohortAudit
from reidrisk.cohorts.audit import known
from reidrisk.present.html.offline import filled, save
from reidrisk.report import cohort_charts
from reidrisk.report.figures import Figure, drawn
from reidrisk.report.sentences import Around
from reidrisk.report.tables import Table

__all__ = ["render_cohorts", "write_cohorts"]

_SHOWN = (0.025, 0.05, 0.1, 0.15, 0.2)
"""Thresholds in the table; the first three are the paper's."""


def write_cohorts(audit: CohortAudit, path: str | Path, subject: str = "Cohorts", command: str = "") -> None:
    """Write the audit of a grouping of users as one HTML file; an interrupted run leaves the old file or none.

    Parameters
    ----------
    audit : CohortAudit
        From :func:`reidrisk.cohorts.cohort_audit`.
    path : str or path
        The file.
    subject : str
        What was audited, for the heading.
    command : str
        How to run it again.
    """
    save(render_cohorts(audit, subject, command), path)


def render_cohorts(audit: CohortAudit, subject: str = "Cohorts", command: str = "") -> str:
    """Return the audit of a grouping of users as the text of one HTML file that fetches nothing."""
    summary = audit.summary
    figures = [_gaps(audit), _curve(audit)]
    return filled(
        "cohorts.html",
        {figure.name: figure.specs for figure in figures},
        version=__version__,
        subject=subject,
        command=command,
        facts=_facts(audit),
        mood="calm" if not summary.sensitive else "",
        verdict=summary.reading,
        news=audit.empty_reading,
        tiles=_tiles(audit),
        gaps=figures[0],
        curve=figures[1],
        worst=_worst(audit),
        empty=_empty(audit),
        closeness=_closeness(audit),
        rare=f"{percent(audit.below_five_percent)} of the categories were visited by fewer than 5 % of the users.",
        coverage=audit.coverage,
        statement=_statement(audit),
        assumptions=summary.assumptions,
        level=percent(summary.level),
        fdr=percent(summary.fdr),
        t=f"{100 * summary.t:g}",
        seed=summary.seed,
    )


def _facts(audit: CohortAudit) -> list[str]:
    summary = audit.summary
    about = "about " if audit.statement is not None else ""
    return [
        f"users: {known(summary, 'n_users', about)}",
        f"{summary.n_cohorts:,} cohort{'' if summary.n_cohorts == 1 else 's'}",
        f"users without a cohort: {known(summary, 'n_without', about)}",
        f"{summary.n_categories:,} sensitive categories",
        f"smallest cohort: {known(summary, 'k', about)}",
    ]


def _tiles(audit: CohortAudit) -> list[dict[str, str]]:
    summary = audit.summary
    m = summary.n_cohorts
    chance = "" if summary.by_chance is None else f"{summary.by_chance:,.0f} if people were grouped at random"
    return [
        {"title": "Sensitive", "value": f"{summary.sensitive:,}", "note": chance or f"of {m:,}", "kind": "wrong"},
        {
            "title": "Beyond chance",
            "value": f"{summary.beyond_chance:,}",
            "note": f"at most {percent(summary.fdr)} of these by chance",
            "kind": "correct",
        },
        {
            "title": "Beyond doubt",
            "value": f"{summary.beyond_doubt:,}",
            "note": f"all of them right, {percent(summary.level)} sure",
            "kind": "none",
        },
    ]


def _gaps(audit: CohortAudit) -> Figure:
    t, summary = audit.summary.t, audit.summary
    rows = tuple(
        (f"{100 * low:g} to {100 * high:g}", f"{count:,}")
        for low, high, count in zip(audit.edges, audit.edges[1:], audit.gap_counts, strict=False)
        if count
    )
    before = (
        "Each bar counts cohorts by their sensitivity gap: how many percentage points their most unusual category is "
        f"more frequent in them than in the population. Right of {100 * t:g} they are sensitive."
    )
    after = (
        f"Small cohorts scatter (users in the smallest: {known(summary, 'k')}), so part of the spread is chance. The "
        "counts beyond chance and beyond doubt take that into account, this chart does not."
    )
    alt = f"Histogram of gaps, one a cohort: {summary.sensitive:,} of {summary.n_cohorts:,} above {100 * t:g} points."
    table = Table(("gap, points", "cohorts"), rows, (1,))
    draw = partial(cohort_charts.gap_histogram, audit)
    return drawn("gaps", "Cohorts by sensitivity gap", Around(before, after, alt), draw, table)


def _curve(audit: CohortAudit) -> Figure:
    curve = audit.curve
    places = [curve.t.index(t) for t in _SHOWN if t in curve.t]
    rows = tuple(
        (
            f"{curve.t[i]:g}",
            percent(curve.cohorts[i]),
            f"{percent(curve.certain[i])} to {percent(curve.possible[i])}",
            percent(curve.users[i]),
        )
        for i in places
    )
    before = (
        "A lower threshold protects more and costs more: this is the share of cohorts, and of the users who have one "
        f"({_with_cohort(audit)}), that each threshold would block."
    )
    after = (
        "The band goes from the cohorts whose whole interval lies above the threshold to those whose interval reaches "
        "above it, each cohort by itself: among many, some are there by chance. "
        "In the paper, 7 % of Chrome's cohorts were blocked at 0.05 and 4 % at 0.1."
    )
    table = Table(
        ("threshold", "cohorts blocked", "by each cohort's own interval", "users blocked, of those with a cohort"),
        rows,
        (0, 1, 2, 3),
    )
    draw = partial(cohort_charts.threshold_chart, audit)
    return drawn("curve", "What each threshold blocks", Around(before, after, curve.reading), draw, table)


def _with_cohort(audit: CohortAudit) -> str:
    summary = audit.summary
    if {"n_users", "n_without"} & set(summary.too_noisy):
        return "how many these are, the noise hides"
    about = "about " if audit.statement is not None else ""
    return f"{about}{summary.n_users - summary.n_without:,} of {about}{summary.n_users:,} users"


def _worst(audit: CohortAudit) -> Table:
    rows = tuple(
        (
            f"{row.cohort:,}",
            f"{row.users:,}",
            row.category,
            percent(row.cohort_freq),
            percent(row.population_freq),
            f"{100 * row.gap:.1f} ({100 * row.low:.1f} to {100 * row.high:.1f})",
            row.status,
        )
        for row in audit.worst
    )
    names = ("cohort", "users", "category", "in it", "in the population", "gap, points (interval)", "which is")
    return Table(names, rows, (0, 1, 3, 4, 5))


def _empty(audit: CohortAudit) -> Table | None:
    if audit.empty is None:
        return None
    names = {"blocked": "users of blocked cohorts", "everyone_without": "these and everyone who never had a cohort"}
    rows = tuple(
        (
            names[name],
            f"{profile['n_users']:,}",
            f"{100 * profile['gap']:.1f} ({100 * profile['low']:.1f} to {100 * profile['high']:.1f})",
            f"{profile['off_by_two_points']:,}",
        )
        for name, profile in audit.empty.items()
    )
    return Table(("group", "users", "largest gap, points (interval)", "categories off by more than 2"), rows, (1, 2, 3))


def _closeness(audit: CohortAudit) -> str:
    if audit.closeness is None:
        return ""
    return (
        f"In either direction, no category is more or less frequent in a cohort than in the population by more than "
        f"{100 * audit.closeness:.1f} points: that is the t of t-closeness. The gap looks at excess alone."
    )


def _statement(audit: CohortAudit) -> list[tuple[str, str]]:
    stated = audit.statement
    if stated is None:
        return []
    return [
        ("In one sentence", stated.reading),
        ("Budget", f"epsilon {stated.epsilon:.3g}, delta {stated.delta:.2g}"),
        ("Mechanism", stated.mechanism),
        ("Protects", f"{stated.unit}; {stated.neighbours}"),
        ("Does not protect", "; ".join(stated.taken_as_public)),
    ]
