"""How charts are drawn: lines with labels at their ends, rows of points, one look for all.

Lines differ in dash and marker as well as in colour (the palette of Okabe and Ito), for colour-blind readers and grey
prints; labels stand at their ends instead of a legend.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reidrisk.base import OptionError, require
from reidrisk.io import write_atomically
from reidrisk.present.scales import RateScale, spread
from reidrisk.present.words.frequencies import with_interval

INK, GREY, _GRID, _AXIS = "#1f2933", "#52606d", "#e3e7eb", "#9aa5b1"
_FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
_HEIGHT = 330
_ROW = 52


@dataclass(frozen=True)
class Style:
    """What tells a line from the others."""

    color: str
    dash: tuple[int, ...] = (1, 0)
    shape: str = "circle"
    filled: bool = True
    markers: bool = True
    band: bool = False


ATTACKS = (
    Style("#0072B2", band=True),
    Style("#C04F00", dash=(7, 4), shape="square", band=True),
    Style("#00795A", dash=(3, 3), shape="triangle-up", band=True),
    Style("#8A4F7D", dash=(10, 3, 2, 3), shape="diamond", band=True),
)
GUESSING = Style(GREY, dash=(1, 5), shape="diamond", markers=False)
BOUND = Style("#000000", dash=(12, 3, 2, 3), shape="triangle-down")
PUBLISHED = Style("#C04F00", shape="square", filled=False)
PUBLISHED_BELOW = Style("#C04F00", shape="triangle-left", filled=False)


@dataclass(frozen=True)
class Point:
    """A rate with its interval; ``text`` is how it reads."""

    x: float
    rate: float
    low: float
    high: float
    text: str


def rated(x: float, rate: float, low: float | None = None, high: float | None = None) -> Point:
    """Return a point whose text is a natural frequency, with its interval where there is one."""
    ends = (rate if low is None else low, rate if high is None else high)
    return Point(x, rate, *ends, with_interval(rate, *ends))


@dataclass(frozen=True)
class Line:
    """Points of one kind, with the label at the end: a name and a short form of it for phones, and the last value."""

    name: str
    short: str
    value: str
    style: Style
    points: tuple[Point, ...]
    notes: Mapping[float, str] = field(default_factory=dict)


def altair() -> Any:
    """Return the chart library."""
    return require("altair", "report", "the HTML report")


def line_chart(
    drawn: Sequence[Line], x: Any, scale: RateScale, title: str, unit: str, narrow: bool, one: str = ""
) -> Any:
    """Lay lines, bands and markers over each other, the first on top, with a label at the end of each line.

    ``x`` is the horizontal axis, from :func:`across`; ``title`` says what the vertical one shows, ``unit`` what ``x``
    counts; ``one`` is the word for a single one.
    """
    alt = altair()
    y = upwards(scale)
    parts: list[Any] = []
    for line in reversed(drawn):
        style = line.style
        base = alt.Chart(alt.Data(values=[_row(line, point, scale) for point in line.points])).encode(x=x)
        if style.band:
            area = base.mark_area(color=style.color, opacity=0.2)
            parts.append(area.encode(y=alt.Y("low:Q", scale=_scale(scale)), y2=alt.Y2("high:Q")))
        parts.append(base.mark_line(color=style.color, strokeDash=list(style.dash), strokeWidth=2.5).encode(y=y))
        if style.markers:
            titles = {"name:N": "line", "x:Q": unit, "text:N": "rate"}
            tips = [alt.Tooltip(field, title=title) for field, title in titles.items()]
            marks = base.mark_point(color=style.color, shape=style.shape, filled=True, size=70, opacity=1)
            parts.append(marks.encode(y=y, tooltip=tips))
    parts += _end_labels(drawn, x, scale, (one or unit, unit), narrow)
    return finished(alt.layer(*parts, title=heading(title)), _HEIGHT)


def row_chart(drawn: Sequence[Line], scale: RateScale, title: str, narrow: bool) -> Any:
    """Draw one row per line, its label above it: for rates that do not depend on anything."""
    alt = altair()
    ticks = scale.ticks[-1::-2][::-1] if narrow and len(scale.ticks) > 4 else scale.ticks
    y = alt.Y("row:O", axis=None, scale=alt.Scale(padding=0))
    x = alt.X("rate:Q", title=title, scale=_scale(scale), axis=_axis(scale, ticks))
    low = alt.X("low:Q", scale=_scale(scale))
    parts: list[Any] = []
    for number, line in enumerate(drawn):
        style, point = line.style, line.points[0]
        name = line.short if narrow else line.name
        row = _row(line, point, scale) | {"row": number, "label": f"{name}: {point.text}"}
        base = alt.Chart(alt.Data(values=[row])).encode(y=y)
        tips = [alt.Tooltip("name:N", title="what"), alt.Tooltip("text:N", title="rate")]
        fill = style.color if style.filled else "white"
        dot = base.mark_point(stroke=style.color, fill=fill, shape=style.shape, size=130, strokeWidth=2.5, opacity=1)
        # The halo keeps grid lines away from the letters.
        halo = base.mark_text(align="left", baseline="bottom", dy=-11, stroke="white", strokeWidth=5)
        text = base.mark_text(align="left", baseline="bottom", dy=-11, color=INK)
        parts += [
            base.mark_rule(color=_GRID, strokeWidth=2).encode(x=alt.XValue(0), x2=alt.X2Value("width")),
            base.mark_rule(color=style.color, opacity=0.45, strokeWidth=6).encode(x=low, x2=alt.X2("high:Q")),
            dot.encode(x=x, tooltip=tips),
            halo.encode(x=alt.XValue(0), text=alt.Text("label:N")),
            text.encode(x=alt.XValue(0), text=alt.Text("label:N")),
        ]
    return finished(alt.layer(*parts), _ROW * len(drawn))


def heading(text: str, *below: str) -> Any:
    """Return what a chart shows, above it, and a smaller line below that."""
    look = {"anchor": "start", "frame": "group", "fontWeight": "normal", "color": GREY, "subtitleColor": GREY}
    return altair().TitleParams(text, subtitle=list(below), fontSize=14, subtitleFontSize=13, offset=12, **look)


def save(chart: Any, path: str | Path, width: int = 720) -> None:
    """Write a chart as a picture; the ending of ``path``, ``.png`` or ``.svg``, says which kind."""
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


def finished(chart: Any, height: int) -> Any:
    """Give a new chart its size and its looks, in place; labels beyond the axes are part of the width."""
    alt = altair()
    padding = {"left": 2, "right": 6, "top": 8, "bottom": 4}
    axis = {"labelFontSize": 14, "titleFontSize": 14, "titleFontWeight": "normal", "titlePadding": 8, "labelPadding": 5}
    axis |= {"labelColor": INK, "titleColor": GREY, "gridColor": _GRID, "domainColor": _AXIS, "tickColor": _AXIS}
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    view, text = {"stroke": None}, {"fontSize": 14}
    looks = alt.Config(font=_FONT, background="white", autosize=fit, view=view, axis=axis, text=text)
    # Its own way, chart.properties(), copies all data and marks first.
    chart.width, chart.height, chart.padding, chart.config = "container", height, padding, looks
    return chart


def _row(line: Line, point: Point, scale: RateScale) -> dict[str, Any]:
    rates = {name: scale.drawn(getattr(point, name)) for name in ("rate", "low", "high")}
    return rates | {"x": point.x, "text": point.text, "name": line.notes.get(point.x, line.name)}


def across(
    title: str,
    domain: Sequence[float],
    ticks: Sequence[float],
    log: bool = False,
    format: str = "",
    names: Mapping[float, str] | None = None,
) -> Any:
    """Return a horizontal axis of the field ``x``, with a label at each of the ticks: a number, or its name."""
    alt = altair()
    look: dict[str, Any] = {"labelOverlap": "greedy", "labelSeparation": 6} | ({"format": format} if format else {})
    if names:
        named = " : ".join(f"datum.value == {tick!r} ? '{name}'" for tick, name in names.items())
        look["labelExpr"] = f"{named} : datum.label"
    return alt.X(
        "x:Q",
        title=title,
        scale=alt.Scale(type="log" if log else "linear", domain=list(domain), nice=False),
        axis=alt.Axis(values=list(ticks), grid=False, labelFlush=False, **look),
    )


def upwards(scale: RateScale) -> Any:
    """Return a vertical axis of the field ``rate``."""
    return altair().Y("rate:Q", title=None, scale=_scale(scale), axis=_axis(scale, scale.ticks))


def _scale(scale: RateScale) -> Any:
    return altair().Scale(type="log" if scale.log else "linear", domain=[scale.bottom, scale.top], nice=False)


def _axis(scale: RateScale, ticks: Sequence[float]) -> Any:
    return altair().Axis(values=list(ticks), labelExpr=scale.label_expression)


def _end_labels(drawn: Sequence[Line], x: Any, scale: RateScale, units: tuple[str, str], narrow: bool) -> list[Any]:
    """Write the name and the last rate of each line beside the plot, moved apart where they would overlap.

    A line that ends earlier is labelled there too, shortly and with its place: within the plot its label would lie over
    the others.
    """
    alt = altair()
    end = max(line.points[-1].x for line in drawn)
    places = spread([scale.position(line.points[-1].rate, _HEIGHT) for line in drawn], 40.0, _HEIGHT)
    labels: list[Any] = []
    for line, above in zip(drawn, places, strict=True):
        last = line.points[-1].x
        label = [line.short if narrow else line.name, line.value]
        if last < end:
            at = units[last != 1]
            label = [line.short, f"{line.value} at {last:g}" + ("" if narrow else f" {at}")]
        place = {"align": "left", "baseline": "middle", "dx": 10, "dy": -8}
        look = {"lineHeight": 17, "color": line.style.color, "fontWeight": 600}
        mark = alt.Chart(alt.Data(values=[{"x": end}])).mark_text(text=label, **place, **look)
        labels.append(mark.encode(x=x, y=alt.YValue(_HEIGHT - above)))
    return labels
