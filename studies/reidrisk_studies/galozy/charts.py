"""The charts of galozy's figures: several panels, each with its own axes, in one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.bandits import Tradeoff
from reidrisk.present import drawing
from reidrisk.present.sections.tradeoff import STYLES, tradeoff_layers
from reidrisk_studies.results import StudyResult

__all__ = ["DrawnResult", "Series", "curves", "graph", "scatter", "stacked", "surfaces_chart"]

_GREY = "#52606d"
_ORANGE = "#E08A00"


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnResult(StudyResult):
    """A result that brings its own chart."""

    draw: Callable[[], Any] | None = None

    def _drawn(self) -> Any:
        return super()._drawn() if self.draw is None else self.draw()


@dataclass(frozen=True)
class Series:
    """A named line: (x, y) points."""

    name: str
    points: tuple[tuple[float, float], ...]


def surfaces_chart(found: dict[str, Tradeoff], name: str) -> Any:
    """Draw the trade-offs of one data set, one below the other."""
    titles = {
        "laplace": "noise on probabilities",
        "laplace on counts": "noise on seconds and counts",
        "svd": "fewer singular values",
    }
    parts = [
        tradeoff_layers(
            surface, title=f"{name}, {titles[noise]}: people found by the scoreboard", beside=tuple(found.values())
        )
        for noise, surface in found.items()
    ]
    return stacked(parts, 300)


def stacked(parts: Sequence[Any], height: int, columns: int = 1) -> Any:
    """Put charts below (or beside) each other, each with its own axes, in the looks of all charts."""
    alt = drawing.altair()
    width = 500 if columns == 1 else 640 // columns
    sized = [part.properties(width=width, height=height) for part in parts]
    looks = drawing.finished(alt.Chart(alt.Data(values=[])).mark_point(), 1).config
    chart = alt.concat(*sized, columns=columns).resolve_scale(color="independent", shape="independent")
    looks.autosize = alt.Undefined  # panels have sizes of their own
    return chart.properties(config=looks, spacing=36, padding=12)


def curves(
    series: Sequence[Series],
    title: str,
    x_title: str,
    y_title: str,
    x_log: bool = False,
    black: Sequence[str] = (),
    legend: bool = True,
) -> Any:
    """Draw lines; 0 has a place of its own on a logarithmic axis. Those named in ``black`` are drawn black and dashed.

    Parameters
    ----------
    series : sequence of Series
        Lines.
    title, x_title, y_title : str
        Words.
    x_log : bool
        Whether the horizontal axis is logarithmic.
    black : sequence of str
        Names of lines that stand out.
    legend : bool
        Whether names are written beside the panel.
    """
    alt = drawing.altair()
    smallest = min((x for one in series for x, _ in one.points if x > 0), default=1.0)
    zero = smallest / 10 if x_log else 0.0
    names = [one.name for one in series]
    looks = [look for look in STYLES if not black or look.color != "#000000"]
    colors = ["#000000" if name in black else looks[i % len(looks)].color for i, name in enumerate(names)]
    shown = alt.Legend(title=None, labelFontSize=13, symbolSize=80, labelLimit=170) if legend else None
    rows = [{"x": x if x > 0 else zero, "y": y, "name": one.name} for one in series for x, y in one.points]
    label = f"datum.value < {zero * 2} ? '0' : format(datum.value, '.0e')" if x_log else "format(datum.value, ',')"
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(type="log" if x_log else "linear", nice=False),
        axis=alt.Axis(grid=False, labelExpr=label, tickCount=5, labelOverlap=True),
    )
    color = alt.Color("name:N", scale=alt.Scale(domain=names, range=colors), legend=shown)
    parts = []
    for i, name in enumerate(names):
        dash = [2, 3] if name in black else list(looks[i % len(looks)].dash)
        base = alt.Chart(alt.Data(values=[row for row in rows if row["name"] == name]))
        y = alt.Y("y:Q", title=None, axis=alt.Axis(tickCount=5))
        parts.append(base.mark_line(strokeDash=dash, strokeWidth=2.2).encode(x=x, y=y, color=color))
    heading = alt.TitleParams(
        title,
        subtitle=y_title,
        anchor="start",
        frame="group",
        fontSize=14,
        fontWeight=600,
        subtitleFontSize=13,
        color=_GREY,
        subtitleColor=_GREY,
    )
    return alt.layer(*parts).properties(title=heading)


def scatter(points: Any, groups: Any, title: str) -> Any:
    """Draw users in the plane, those of a cluster in one colour and with its number."""
    alt = drawing.altair()
    rows = [
        {"x": float(x), "y": float(y), "group": int(g), "color": STYLES[int(g) % len(STYLES)].color}
        for (x, y), g in zip(points, groups, strict=True)
    ]
    none = alt.Axis(labels=False, ticks=False, grid=False)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=None, axis=none, scale=alt.Scale(zero=False)),
        y=alt.Y("y:Q", title=None, axis=none, scale=alt.Scale(zero=False)),
        color=alt.Color("color:N", scale=None),
    )
    heading = alt.TitleParams(title, anchor="start", frame="group", fontSize=14, color=_GREY)
    return base.mark_text(fontSize=12, fontWeight=600).encode(text="group:N").properties(title=heading)


def graph(places: Any, edges: Sequence[tuple[int, int, float]], names: Sequence[str], common: Sequence[int]) -> Any:
    """Draw states on a circle and transitions between them, wider where more probable; common states in orange."""
    alt = drawing.altair()
    lines = [
        {
            "x": float(places[a][0]),
            "y": float(places[a][1]),
            "x2": float(places[b][0]),
            "y2": float(places[b][1]),
            "width": 0.4 + 5.0 * p,
        }
        for a, b, p in edges
    ]
    dots = [
        {"x": float(x), "y": float(y), "name": name, "color": _ORANGE if i in common else "#9aa5b1"}
        for i, ((x, y), name) in enumerate(zip(places, names, strict=True))
    ]
    none = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    x, y = alt.X("x:Q", title=None, axis=none), alt.Y("y:Q", title=None, axis=none)
    rules = alt.Chart(alt.Data(values=lines)).mark_rule(color="#0072B2", opacity=0.35)
    marks = alt.Chart(alt.Data(values=dots))
    parts = [
        rules.encode(x=x, y=y, x2="x2:Q", y2="y2:Q", strokeWidth=alt.StrokeWidth("width:Q", scale=None)),
        marks.mark_circle(size=420, opacity=1).encode(x=x, y=y, color=alt.Color("color:N", scale=None)),
        marks.mark_text(fontSize=11).encode(x=x, y=y, text="name:N"),
    ]
    heading = alt.TitleParams(
        "transitions of one made-up user; orange: the ten commonest states",
        anchor="start",
        frame="group",
        fontSize=14,
        color=_GREY,
    )
    return drawing.finished(alt.layer(*parts).properties(title=heading), 620)
