"""The charts of the report, built from aggregates alone; the same charts give PNG and SVG pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reidrisk.audit import AuditResult
from reidrisk.base.errors import OptionError
from reidrisk.base.extras import require
from reidrisk.bounds import tightest_by_epochs
from reidrisk.io import write_atomically
from reidrisk.measure import Choosiness, Exposure
from reidrisk.present import drawing
from reidrisk.present.drawing import Line, Point
from reidrisk.present.scales import RateScale, rate_scale
from reidrisk.report.findings import compared, lines
from reidrisk.report.phrases import attack_label, epochs, frequency, interval, share

Chart = Any
"""An Altair chart."""


def growth(result: AuditResult, narrow: bool = False) -> Chart:
    """Draw risk against the number of epochs: one line an attack, its interval, blind guessing, the tightest bound.

    Where only one number of epochs was measured there is no line to draw; each attack is a point then.

    Parameters
    ----------
    result : AuditResult
        With at least one risk or one bound that says something.
    narrow : bool
        Leave less room for labels, for a phone.
    """
    alt = drawing.altair()
    drawn, scale = _growth_lines(result), growth_scale(result)
    counts = sorted({point.x for line in drawn for point in line.points})
    if len(counts) == 1:
        return drawing.row_chart(drawn, scale, f"people linked correctly, {epochs(int(counts[0]))} observed", narrow)
    x = alt.X(
        "x:Q",
        title="number of epochs observed",
        scale=alt.Scale(domain=[counts[0], counts[-1]], nice=False),
        axis=alt.Axis(values=counts, format="d", grid=False, labelFlush=False),
    )
    return drawing.line_chart(drawn, x, scale, "people linked correctly", "epochs", narrow)


def growth_scale(result: AuditResult) -> RateScale:
    """Return the axis of rates that :func:`growth` uses."""
    points = [point for line in _growth_lines(result) for point in line.points]
    return rate_scale([rate for point in points for rate in (point.rate, point.high)])


def exposure(found: Exposure, narrow: bool = False) -> Chart:
    """Draw how many people have which risk, as bars."""
    alt = drawing.altair()
    names = risk_bins(found)
    rows = [
        {"risk": name, "share": part, "label": share(part)}
        for name, (_, _, part) in zip(names, found.histogram, strict=True)
    ]
    quarters = [0, 0.5, 1] if narrow else [0, 0.25, 0.5, 0.75, 1]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("risk:N", sort=names, title=None, axis=alt.Axis(domain=False, ticks=False)),
        x=alt.X(
            "share:Q",
            title="share of people",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(labelExpr="format(100 * datum.value, 'd') + ' %'", values=quarters),
        ),
    )
    tips = [alt.Tooltip("risk:N", title="risk of the person"), alt.Tooltip("label:N", title="share of people")]
    bars = base.mark_bar(color=drawing.ATTACKS[0].color, height={"band": 0.72}).encode(tooltip=tips)
    labels = base.mark_text(align="left", dx=6, color=drawing.INK).encode(text="label:N")
    heading = alt.TitleParams(
        "risk of the person", anchor="start", frame="group", fontSize=14, fontWeight="normal", color="#52606d"
    )
    chart = alt.layer(bars, labels).properties(title=heading)
    return drawing.finished(chart, 30 * len(rows))


def risk_bins(found: Exposure) -> list[str]:
    """Name the bins of per-user risk.

    Examples
    --------
    >>> risk_bins(Exposure(1, {}, ((0.0, 0.001, 1.0), (0.001, 0.5, 0.0), (0.5, 1.0, 0.0)), (), 20, 0))
    ['at most 0.1 %', '0.1 to 50 %', 'above 50 %']
    """
    names = [f"{100 * low:g} to {100 * high:g} %" for low, high, _ in found.histogram]
    if len(names) == 1:
        return ["any risk"]
    names[0] = f"at most {100 * found.histogram[0][1]:g} %"
    names[-1] = f"above {100 * found.histogram[-1][0]:g} %"
    return names


def choosiness(result: AuditResult, narrow: bool = False) -> Chart:
    """Draw right and wrong links, or answers where the truth is not known, as the attacker becomes choosier."""
    alt = drawing.altair()
    curve = result.choosiness
    kinds = [("correct", "Right links"), ("incorrect", "Wrong links")]
    told = [point for point in curve if point.correct is not None]
    # Where right and wrong answers are not told apart at some points, the answers are known at all of them.
    if len(told) < len(curve):
        between = any(0.0 < point.answered < 1.0 for point in told)
        kinds = [*(kinds if between else []), ("answered", "Answers")]
    drawn = []
    for style, (field, name) in zip(drawing.ATTACKS, kinds, strict=False):
        points = tuple(_choosy_point(point, field) for point in (curve if field == "answered" else told))
        drawn.append(Line(name, name, frequency(points[-1].rate), style, points))
    x = alt.X(
        "x:Q",
        title=f"how sure{'' if narrow else ' the attacker wants to be'} (chances in 100)",
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(values=[0, 20, 40, 60, 80, 99], grid=False, labelFlush=False),
    )
    scale = rate_scale([rate for line in drawn for point in line.points for rate in (point.rate, point.high)])
    return drawing.line_chart(drawn, x, scale, "share of all records", "chances in 100", narrow)


def perspective(result: AuditResult, narrow: bool = False) -> Chart:
    """Draw this data between a third-party cookie and blind guessing, beside published figures."""
    styles = {"known": drawing.GUESSING, "measured": drawing.ATTACKS[0], "published": drawing.PUBLISHED}
    drawn = []
    for row in compared(result):
        point = Point(0.0, row.rate, row.low, row.high, row.text)
        style = drawing.PUBLISHED_BELOW if row.below else styles[row.kind]
        drawn.append(Line(row.label, row.short, row.text, style, (point,)))
    scale = rate_scale([rate for line in drawn for rate in (line.points[0].rate, line.points[0].high)])
    return drawing.row_chart(drawn, scale, "people linked correctly", narrow)


def save_chart(chart: Chart, path: str | Path, width: int = 720) -> None:
    """Write a chart as a picture; the ending of ``path`` says which kind.

    Parameters
    ----------
    chart : Chart
        One of the charts of this module.
    path : str or path
        Ends in ``.png`` or ``.svg``.
    width : int
        Pixels; a PNG has twice as many.
    """
    kind = Path(path).suffix.lower()
    if kind not in (".png", ".svg"):
        raise OptionError(f"a chart is written as .png or .svg, not as {Path(path).name!r}")
    convert = require("vl_convert", "report", "a picture of a chart")
    spec = chart.to_dict() | {"width": width}
    with write_atomically(path) as temporary:
        if kind == ".svg":
            temporary.write_text(convert.vegalite_to_svg(spec), encoding="utf-8")
        else:
            temporary.write_bytes(convert.vegalite_to_png(spec, scale=2))


def _choosy_point(point: Choosiness, field: str) -> Point:
    rate = max(0.0, getattr(point, field))
    ends = {"correct": (point.low, point.high), "incorrect": (point.incorrect_low, point.incorrect_high)}
    low, high = (rate if end is None else end for end in ends.get(field, (rate, rate)))
    return Point(100 * point.threshold, rate, low, high, _text(rate, low, high))


def _growth_lines(result: AuditResult) -> list[Line]:
    drawn = []
    for number, (attack, risks) in enumerate(lines(result).items()):
        name = attack_label(attack)
        points = tuple(Point(r.n_epochs, r.rate, r.low, r.high, _text(r.rate, r.low, r.high)) for r in risks)
        style = drawing.ATTACKS[number % len(drawing.ATTACKS)]
        drawn.append(Line(name, name, frequency(points[-1].rate), style, points))
    bounds = tightest_by_epochs(result.bounds)
    if bounds:
        points = tuple(Point(r, b.value, b.low, b.high, _text(b.value, b.low, b.high)) for r, b in bounds.items())
        names = {float(r): f"Bound: {b.name}" for r, b in bounds.items()}
        last = bounds[max(bounds)]
        drawn.append(Line(f"Bound: {last.name}", "Bound", frequency(last.value), drawing.BOUND, points, names))
    guesses = {r.n_epochs: r.baseline for r in result.risks} or dict.fromkeys(bounds, 1.0 / result.n_targets)
    points = tuple(Point(r, rate, rate, rate, frequency(rate)) for r, rate in sorted(guesses.items()))
    drawn.append(Line("Blind guessing", "Blind guessing", points[-1].text, drawing.GUESSING, points))
    return drawn


def _text(rate: float, low: float, high: float) -> str:
    about = interval(rate, low, high)
    return frequency(rate) + (f" ({about})" if about else "")
