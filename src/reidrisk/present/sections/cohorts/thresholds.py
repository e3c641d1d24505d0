"""What blocking costs: the share of cohorts and of users that each threshold would block."""

from functools import partial
from typing import Any

from reidrisk.cohorts import CohortAudit
from reidrisk.present import drawing
from reidrisk.present.drawing import Line, Point
from reidrisk.present.model import Figure, Section, Table
from reidrisk.present.scales import ShareScale
from reidrisk.present.sections.cohorts.gaps import SAFE, SENSITIVE
from reidrisk.present.terms import Terms
from reidrisk.present.words.cohorts import with_cohort
from reidrisk.present.words.frequencies import percent

_SHOWN = (0.025, 0.05, 0.1, 0.15, 0.2)
"""Thresholds in the table; the first three are the paper's."""


def section(audit: CohortAudit, terms: Terms) -> Section:
    """Return what each threshold would block."""
    curve = audit.curve
    rows = tuple(
        (
            f"{curve.t[i]:g}",
            percent(curve.cohorts[i]),
            f"{percent(curve.certain[i])} to {percent(curve.possible[i])}",
            percent(curve.users[i]),
        )
        for i in (curve.t.index(t) for t in _SHOWN if t in curve.t)
    )
    columns = ("threshold", "cohorts blocked", "by each cohort's own interval", "users blocked, of those with a cohort")
    return Section(
        "What blocking costs",
        see=(
            "A lower threshold protects more and costs more: this is the share of cohorts, and of the users who have "
            f"one ({with_cohort(audit.summary)}), that each threshold would block."
        ),
        table=Table(columns, rows, (0, 1, 2, 3)),
        figure=Figure(partial(draw, audit), curve.reading),
        caution=(
            "The band goes from the cohorts whose whole interval lies above the threshold to those whose interval "
            "reaches above it, each cohort by itself: among many, some are there by chance. In the paper, 7 % of "
            "Chrome's cohorts were blocked at 0.05 and 4 % at 0.1."
        ),
        console=True,
        name="curve",
    )


def draw(audit: CohortAudit, narrow: bool = False) -> Any:
    """Draw the share of cohorts and of users that each threshold would block (floc, Utility vs privacy)."""
    curve = audit.curve
    cohorts = tuple(
        Point(t, share, low, max(high, share), _text(share, low, high))
        for t, share, low, high in zip(curve.t, curve.cohorts, curve.certain, curve.possible, strict=True)
    )
    users = tuple(Point(t, share, share, share, percent(share)) for t, share in zip(curve.t, curve.users, strict=True))
    plain = drawing.Style(SAFE, markers=False, band=True)
    other = drawing.Style(SENSITIVE, dash=(7, 4), markers=False)
    drawn = [
        Line("Cohorts blocked", "Cohorts", cohorts[-1].text.split(" (")[0], plain, cohorts),
        Line("Users blocked", "Users", users[-1].text, other, users),
    ]
    ticks = [0, 0.1, 0.2, 0.3] if narrow else [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
    x = drawing.across("threshold t", [0, curve.t[-1]], ticks)
    # From 0 to the most that is blocked: a logarithm would hide what the paper's figure shows, the bend.
    scale = ShareScale.up_to(max(*curve.possible, *curve.users, 0.01))
    return drawing.line_chart(drawn, x, scale, "share that is blocked", "threshold", narrow)


def _text(share: float, low: float, high: float) -> str:
    return percent(share) + (f" ({percent(low)} to {percent(high)})" if low < high else "")
