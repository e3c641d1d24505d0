"""Sections about cohorts: how many give something away, how large the gaps are, what blocking costs and to whom."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from reidrisk.cohorts import CohortAudit, CohortRow, EmptyProfile
from reidrisk.present import Section, Table, Terms, drawing
from reidrisk.present.drawing import Line, Point
from reidrisk.present.scales import ShareScale
from reidrisk.present.sections import basis
from reidrisk.present.sections.written import text, written
from reidrisk.present.words.cohorts import STATUS, closeness, coverage, empty_cohort, known, points, rare, with_cohort
from reidrisk.present.words.frequencies import percent

_SAFE, _SENSITIVE = drawing.ATTACKS[0].color, drawing.ATTACKS[1].color
_SHOWN = (0.025, 0.05, 0.1, 0.15, 0.2)  # thresholds in the table; the first three are the paper's


def counts(audit: CohortAudit, terms: Terms) -> Section:
    """Return the three counts with what they mean, the sizes, and how far the categories reach."""
    found = audit.summary
    rows = text("cohorts.meaning.rows", terms, {"found": found, "t": points(found.t)})
    sizes = {"users": known(found, "n_users"), "without": known(found, "n_without"), "k": known(found, "k")}
    said = text("cohorts.counts.see", terms, sizes)
    see = (*said, *coverage(audit), rare(audit.below_five_percent))
    table = Table(("cohorts that are", "number", "meaning"), rows, (1,))
    return written("cohorts.counts", terms, sizes, see=see, table=table, console=True)


def gaps(audit: CohortAudit, terms: Terms) -> Section:
    """Return the histogram of gaps, with what is chance in it."""
    found, t = audit.summary, points(audit.summary.t)
    rows = tuple(
        (f"{points(low)} to {points(high)}", f"{count:,}")
        for low, high, count in zip(audit.gaps.edges, audit.gaps.edges[1:], audit.gaps.cohorts, strict=False)
        if count
    )
    said = {"found": found, "t": t, "k": known(found, "k"), "closeness": closeness(audit)}
    numbers = Table(("gap, points", "cohorts"), rows, (1,))
    return written("cohorts.gaps", terms, said, partial(gap_chart, audit), numbers)


def gap_chart(audit: CohortAudit, narrow: bool = False) -> Any:
    """Draw how many cohorts have which sensitivity gap, those above the threshold in another colour."""
    alt = drawing.altair()
    t, found = audit.summary.t, audit.gaps
    rows = [
        {
            "low": 100 * low,
            "high": 100 * high,
            "cohorts": count,
            "none": 0,
            "side": "above" if low >= t - 1e-9 else "within",
            "text": f"{100 * low:g} to {100 * high:g} points",
        }
        for low, high, count in zip(found.edges, found.edges[1:], found.cohorts, strict=False)
    ]
    most = max(found.cohorts)
    # The threshold is in the picture even where every gap lies on one side of it.
    domain = [min(100 * found.edges[0], 80 * t), max(100 * found.edges[-1], 120 * t)]
    x = alt.X(
        "low:Q",
        title="sensitivity gap, in percentage points",
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(grid=False, tickCount=5 if narrow else 10),
    )
    # There are no half cohorts: a few have a tick each.
    ticks: dict[str, Any] = {"values": list(range(most + 1))} if most <= 4 else {"tickCount": 4}
    heights = alt.Scale(domain=[0, most * 1.1])
    sides = alt.Scale(domain=["within", "above"], range=[_SAFE, _SENSITIVE])
    y = alt.Y("cohorts:Q", title=None, axis=alt.Axis(format=",d", **ticks), scale=heights)
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=x,
            x2=alt.X2("high:Q"),
            y=y,
            y2=alt.Y2("none:Q"),
            color=alt.Color("side:N", legend=None, scale=sides),
            tooltip=[alt.Tooltip("text:N", title="gap"), alt.Tooltip("cohorts:Q", title="cohorts", format=",d")],
        )
    )
    mark = alt.Chart(alt.Data(values=[{"low": 100 * t}])).encode(x=x)
    rule = mark.mark_rule(color=drawing.INK, strokeDash=[5, 4], strokeWidth=2)
    label = mark.mark_text(
        text=f"threshold {100 * t:g}", align="left", dx=6, baseline="top", color=drawing.INK, fontWeight=600
    ).encode(y=alt.YValue(0))
    return drawing.finished(alt.layer(bars, rule, label, title=drawing.heading("number of cohorts")), 260)


def blocking(audit: CohortAudit, terms: Terms) -> Section:
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
    said, table = {"users": with_cohort(audit.summary), "reading": curve.reading}, Table(columns, rows, (0, 1, 2, 3))
    return written("cohorts.curve", terms, said, partial(blocking_chart, audit), table=table, console=True)


def blocking_chart(audit: CohortAudit, narrow: bool = False) -> Any:
    """Draw the share of cohorts and of users that each threshold would block (floc, Utility vs privacy)."""
    curve = audit.curve
    cohorts = tuple(
        Point(t, share, low, max(high, share), _text(share, low, high))
        for t, share, low, high in zip(curve.t, curve.cohorts, curve.certain, curve.possible, strict=True)
    )
    users = tuple(Point(t, share, share, share, percent(share)) for t, share in zip(curve.t, curve.users, strict=True))
    plain = drawing.Style(_SAFE, markers=False, band=True)
    other = drawing.Style(_SENSITIVE, dash=(7, 4), markers=False)
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
    table = Table(names, rows, (0, 1, 3, 4, 5))
    return written("cohorts.worst", terms, {"level": audit.summary.level}, table=table, console=True)


def blocked(audit: CohortAudit, terms: Terms) -> Section:
    """Return how users without a cohort to show differ from the population."""
    found, rows = audit.empty_cohort, []
    if found is not None:
        rows.append(_row("users of blocked cohorts", found.blocked))
        if found.n_shown:
            rows.append(_row("these and everyone who never had a cohort", found.everyone_without))
    columns = ("group", "users", "largest gap, points (interval)", "categories off by more than 2 points")
    table = Table(columns, tuple(rows), (1, 2, 3))
    return written("cohorts.blocked", terms, {"empty": empty_cohort(audit)}, table=table, console=True)


def _row(name: str, group: EmptyProfile) -> tuple[str, ...]:
    return name, f"{group.n_users:,}", _points(group), f"{group.off_by_two_points:,}"


def _points(found: CohortRow | EmptyProfile) -> str:
    return f"{100 * found.gap:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def statement(audit: CohortAudit, terms: Terms) -> Section | None:
    """Return what protects the people; None where nothing is noisy."""
    return None if audit.statement is None else basis.statement(audit.statement)


def assumptions(audit: CohortAudit, terms: Terms) -> Section | None:
    """Return what the numbers rest on, each with what follows where it does not hold."""
    section, seed = basis.assumed(audit.summary.notes, terms), audit.summary.seed
    private = "" if audit.statement is None else audit.statement.reading
    return section and replace(section, see=(private, "" if seed is None else f"Seed {seed}."))


def methods(audit: CohortAudit, command: str) -> Section:
    """Return where the definitions come from, and how to run it again."""
    spec = {name: value for name, value in audit.spec.items() if value is not None}
    parts = (Section("The spec as JSON", code=json.dumps(spec, indent=2), folded=True),) if spec else ()
    return written("cohorts.methods", Terms(), code=command, parts=parts)
