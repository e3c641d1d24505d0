"""The charts of an audit of cohorts: how large the gaps are, and what each threshold would block."""

from __future__ import annotations

from typing import Any

from reidrisk.base.wording import percent
from reidrisk.cohorts import CohortAudit
from reidrisk.present import drawing
from reidrisk.present.drawing import Line, Point
from reidrisk.present.scales import RateScale, rate_scale

__all__ = ["gap_histogram", "threshold_chart"]

_SAFE, _SENSITIVE = drawing.ATTACKS[0].color, drawing.ATTACKS[1].color
_HEIGHT = 260


class _Shares(RateScale):
    """An axis of shares, written as percentages: cohorts are not people."""

    @property
    def label_expression(self) -> str:
        """How a tick is written."""
        return "format(100 * datum.value, '.3~r') + ' %'"


def gap_histogram(audit: CohortAudit, narrow: bool = False) -> Any:
    """Draw how many cohorts have which sensitivity gap, those above the threshold in another colour."""
    alt = drawing.altair()
    t = audit.summary.t
    rows = [
        {
            "low": 100 * low,
            "high": 100 * high,
            "cohorts": count,
            "none": 0,
            "side": "above" if low >= t - 1e-9 else "within",
            "text": f"{100 * low:g} to {100 * high:g} points",
        }
        for low, high, count in zip(audit.edges, audit.edges[1:], audit.gap_counts, strict=False)
    ]
    most = max(audit.gap_counts)
    # The threshold is in the picture even where every gap lies on one side of it.
    domain = [min(100 * audit.edges[0], 80 * t), max(100 * audit.edges[-1], 120 * t)]
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
            x2="high:Q",
            y=y,
            y2="none:Q",
            color=alt.Color(
                "side:N", legend=None, scale=alt.Scale(domain=["within", "above"], range=[_SAFE, _SENSITIVE])
            ),
            tooltip=[alt.Tooltip("text:N", title="gap"), alt.Tooltip("cohorts:Q", title="cohorts", format=",d")],
        )
    )
    mark = alt.Chart(alt.Data(values=[{"low": 100 * t}])).encode(x=x)
    rule = mark.mark_rule(color=drawing.INK, strokeDash=[5, 4], strokeWidth=2)
    label = mark.mark_text(
        text=f"threshold {100 * t:g}", align="left", dx=6, baseline="top", color=drawing.INK, fontWeight=600
    ).encode(y=alt.value(0))
    heading = alt.TitleParams(
        "number of cohorts", anchor="start", frame="group", fontSize=14, fontWeight="normal", color="#52606d"
    )
    return drawing.finished(alt.layer(bars, rule, label).properties(title=heading), _HEIGHT)


def threshold_chart(audit: CohortAudit, narrow: bool = False) -> Any:
    """Draw the share of cohorts and of users that each threshold would block (floc, Utility vs privacy)."""
    alt = drawing.altair()
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
    x = alt.X(
        "x:Q",
        title="threshold t",
        scale=alt.Scale(domain=[0, curve.t[-1]], nice=False),
        axis=alt.Axis(values=[0, 0.1, 0.2, 0.3] if narrow else [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3], grid=False),
    )
    # From 0 to the most that is blocked: a logarithm would hide what the paper's figure shows, the bend.
    found = rate_scale([max(max(curve.possible), max(curve.users), 0.01)])
    scale = _Shares(found.log, found.bottom, found.top, found.ticks, found.zero)
    return drawing.line_chart(drawn, x, scale, "share that is blocked", "threshold", narrow)


def _text(share: float, low: float, high: float) -> str:
    return percent(share) + (f" ({percent(low)} to {percent(high)})" if low < high else "")
