"""What a study found: rows, a chart, and the published figures beside ours, in one frozen result."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reidrisk.present import drawing
from reidrisk.present.drawing import Line, Point, Style
from reidrisk.present.scales import rate_scale
from reidrisk.present.words.frequencies import in_words, interval

__all__ = ["Comparison", "Row", "StudyResult", "line"]

_LINE = 90  # letters that fit beside each other on a picture

Row = Mapping[str, str | int | float]


@dataclass(frozen=True)
class Comparison:
    """One published figure beside ours, as text, and why the two differ."""

    quantity: str
    published: str
    ours: str
    why: str


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyResult:
    """What a study found.

    Attributes
    ----------
    name, title, reference : str
        Name of the study, what it shows, and where it was published; the decorator fills them in.
    users, seed : int
        What it was run with; the same two give the same rows.
    rows : tuple of mappings
        The numbers, all with the same columns.
    lines : tuple of Line
        What the chart draws of them, over the axis ``x_title``.
    comparisons : tuple of Comparison
        Published figures beside ours.
    assumptions : tuple of str
        What the numbers rest on, and what was left out.
    y_title, y_linear
        What the vertical axis shows, and whether it is linear even where rates lie far apart.
    x_log, x_ticks
        Whether the horizontal axis is logarithmic, and where its marks are: default: at every point.
    without : tuple of str
        What data of the study is not here, and what stands in for it; the picture says so.
    """

    name: str = ""
    title: str = ""
    reference: str = ""
    users: int
    seed: int
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]
    x_title: str
    comparisons: tuple[Comparison, ...]
    assumptions: tuple[str, ...]
    y_title: str = "people linked correctly"
    y_linear: bool = False
    x_log: bool = False
    x_ticks: tuple[float, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``rows``."""
        return tuple(self.rows[0])

    def command(self, out: str = ".") -> str:
        """Return the command that runs the study again and writes into the folder ``out``."""
        options = f"--users {self.users} --seed {self.seed} --out {shlex.quote(out)}"
        return f"reidrisk study run {self.name} {options}"

    def chart(self) -> Any:
        """Draw it, and write on it where data is missing; needs the extra ``report``."""
        chart = self._drawn()
        if not self.without:
            return chart
        title = chart.to_dict().get("title", "")
        parts = dict(title) if isinstance(title, dict) else {"text": title}
        lines = [part for line in self.without for part in textwrap.wrap(line, _LINE)]
        parts |= {"text": parts.get("text") or self.title, "subtitle": ["Made without all of its data:", *lines]}
        looks = {"anchor": "start", "subtitleColor": "#B00020", "subtitleFontSize": 13}
        return chart.properties(title=drawing.altair().TitleParams(**(looks | parts)))

    def _drawn(self) -> Any:
        alt = drawing.altair()
        points = [point for drawn in self.lines for point in drawn.points]
        counts = sorted({point.x for point in points})
        x = alt.X(
            "x:Q",
            title=self.x_title,
            scale=alt.Scale(type="log" if self.x_log else "linear", domain=[counts[0], counts[-1]], nice=False),
            axis=alt.Axis(values=list(self.x_ticks) or counts, format=",.6~f", grid=False, labelFlush=False),
        )
        rates = [rate for point in points for rate in (point.rate, point.high)]
        # Among rates that lie close together the scale is linear, from 0.
        scale = rate_scale([max(rates)] if self.y_linear else rates)
        return drawing.line_chart(self.lines, x, scale, self.y_title, self.x_title, narrow=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that ``json`` can write; the chart stays out."""
        return {
            "name": self.name,
            "title": self.title,
            "reference": self.reference,
            "users": self.users,
            "seed": self.seed,
            "rows": [dict(row) for row in self.rows],
            "comparisons": [vars(comparison) for comparison in self.comparisons],
            "assumptions": list(self.assumptions),
            "without": list(self.without),
        }


def line(
    name: str,
    style: Style,
    points: Mapping[int, tuple[float, float, float]] | Mapping[float, tuple[float, float, float]],
    short: str = "",
) -> Line:
    """Return a line for the chart: (rate, low, high) by number of epochs or another x, the last rate at its end."""
    drawn = tuple(Point(float(x), *rates, text=_text(*rates)) for x, rates in sorted(points.items()))
    return Line(name, short or name, in_words(drawn[-1].rate), style, drawn)


def _text(rate: float, low: float, high: float) -> str:
    about = interval(rate, low, high)
    return in_words(rate) + (f" ({about})" if about else "")
