"""How large the gaps are: a histogram of all cohorts, and t-closeness beside it."""

from functools import partial
from typing import Any

from reidrisk.cohorts import CohortAudit
from reidrisk.present import drawing
from reidrisk.present.model import Figure, Section, Table
from reidrisk.present.terms import Terms
from reidrisk.present.words.cohorts import closeness, known, points

SAFE, SENSITIVE = drawing.ATTACKS[0].color, drawing.ATTACKS[1].color


def section(audit: CohortAudit, terms: Terms) -> Section:
    """Return the histogram of gaps, with what is chance in it."""
    found, t = audit.summary, points(audit.summary.t)
    rows = tuple(
        (f"{points(low)} to {points(high)}", f"{count:,}")
        for low, high, count in zip(audit.gaps.edges, audit.gaps.edges[1:], audit.gaps.cohorts, strict=False)
        if count
    )
    alt = f"Histogram of gaps, one per cohort: {found.sensitive:,} of {found.n_cohorts:,} above {t} points."
    return Section(
        "How large the gaps are",
        see=(
            "Each bar counts cohorts by their sensitivity gap: how many percentage points their most unusual category "
            f"is more frequent in them than in the population. Right of {t} they are sensitive.",
            closeness(audit),
        ),
        figure=Figure(partial(draw, audit), alt, Table(("gap, points", "cohorts"), rows, (1,))),
        caution=(
            f"Small cohorts scatter (users in the smallest: {known(found, 'k')}), so part of the spread is chance. The "
            "numbers of significant cohorts take that into account, this chart does not."
        ),
        name="gaps",
    )


def draw(audit: CohortAudit, narrow: bool = False) -> Any:
    """Draw how many cohorts have which sensitivity gap, those above the threshold in another colour."""
    alt = drawing.altair()
    t, gaps = audit.summary.t, audit.gaps
    rows = [
        {
            "low": 100 * low,
            "high": 100 * high,
            "cohorts": count,
            "none": 0,
            "side": "above" if low >= t - 1e-9 else "within",
            "text": f"{100 * low:g} to {100 * high:g} points",
        }
        for low, high, count in zip(gaps.edges, gaps.edges[1:], gaps.cohorts, strict=False)
    ]
    most = max(gaps.cohorts)
    # The threshold is in the picture even where every gap lies on one side of it.
    domain = [min(100 * gaps.edges[0], 80 * t), max(100 * gaps.edges[-1], 120 * t)]
    x = alt.X(
        "low:Q",
        title="sensitivity gap, in percentage points",
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(grid=False, tickCount=5 if narrow else 10),
    )
    # There are no half cohorts: a few have a tick each.
    ticks: dict[str, Any] = {"values": list(range(most + 1))} if most <= 4 else {"tickCount": 4}
    heights = alt.Scale(domain=[0, most * 1.1])
    y = alt.Y("cohorts:Q", title=None, axis=alt.Axis(format=",d", **ticks), scale=heights)
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=x,
            x2=alt.X2("high:Q"),
            y=y,
            y2=alt.Y2("none:Q"),
            color=alt.Color(
                "side:N", legend=None, scale=alt.Scale(domain=["within", "above"], range=[SAFE, SENSITIVE])
            ),
            tooltip=[alt.Tooltip("text:N", title="gap"), alt.Tooltip("cohorts:Q", title="cohorts", format=",d")],
        )
    )
    mark = alt.Chart(alt.Data(values=[{"low": 100 * t}])).encode(x=x)
    rule = mark.mark_rule(color=drawing.INK, strokeDash=[5, 4], strokeWidth=2)
    label = mark.mark_text(
        text=f"threshold {100 * t:g}", align="left", dx=6, baseline="top", color=drawing.INK, fontWeight=600
    ).encode(y=alt.YValue(0))
    return drawing.finished(alt.layer(bars, rule, label, title=drawing.heading("number of cohorts")), 260)
