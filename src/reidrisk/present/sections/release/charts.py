"""The charts of the pages of a release."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from reidrisk.present import Terms, drawing
from reidrisk.present.drawing import Line, Point
from reidrisk.present.scales import ShareScale, rate_scale
from reidrisk.present.words.frequencies import attack_label
from reidrisk.present.words.release import share
from reidrisk.release.validate.canary import CanaryTest
from reidrisk.release.validate.deviations import ABSOLUTE, RELATIVE, RELATIVE_BINS
from reidrisk.release.validate.internal import Distinct
from reidrisk.release.validate.public import PublicValidation
from reidrisk.release.validate.rates import RateComparison

_PLAIN = ",.6~f"
_STYLES = {
    "model": replace(drawing.ATTACKS[0], band=False, markers=False),
    "sample": replace(drawing.ATTACKS[1], band=False, markers=False),
    "popularity alone": drawing.GUESSING,
}


def absolute_errors(result: PublicValidation, narrow: bool = False) -> Any:
    """Draw which share of the statistics is off by at most each number of percentage points (dick, Figure 3a)."""
    drawn = [_line(c.what, ABSOLUTE[1:], c.absolute[1:]) for c in result.curves]
    # On a phone the labels of neighbouring powers would run into each other.
    ticks = [10.0**e for e in range(-5, 2, 3 if narrow else 1)]
    x = drawing.across("off by at most, percentage points", [1e-5, 10.0], ticks, log=True, format=_PLAIN)
    return drawing.line_chart(drawn, x, ShareScale.up_to(1.0), "share of statistics", "percentage points", narrow)


def relative_errors(result: PublicValidation, narrow: bool = False) -> Any:
    """Draw which share of the statistics of at least 0.01 % is off by at most each share (dick, Figure 3b)."""
    drawn = [_line(c.what, RELATIVE, c.relative) for c in result.curves]
    ticks = [0, 50, 100] if narrow else [0, 20, 40, 60, 80, 100]
    x = drawing.across("off by at most, % of the statistic", [0, 100], ticks, format=_PLAIN)
    return drawing.line_chart(drawn, x, ShareScale.up_to(1.0), "share of statistics of at least 0.01 %", "%", narrow)


def error_density(result: PublicValidation, narrow: bool = False) -> Any:
    """Draw how relative errors spread around 0 (dick, Figure 4b)."""
    middle = [(a + b) / 2 for a, b in pairwise(RELATIVE_BINS)]
    drawn = [replace(_line(c.what, middle, c.relative_density), value="") for c in result.curves]
    top = max(point.rate for line in drawn for point in line.points)
    x = drawing.across("too low or too high by, % of the statistic", [-50, 50], [-50, -25, 0, 25, 50], format=_PLAIN)
    width = 100 * (RELATIVE_BINS[1] - RELATIVE_BINS[0])
    return drawing.line_chart(drawn, x, ShareScale.up_to(top), f"share of statistics in each {width:g} %", "%", narrow)


def canary(test: CanaryTest, narrow: bool = False) -> Any:
    """Draw how often the canary is found at each rate of false alarms, beside what the noise promises."""
    curves = (
        ("Measured", _STYLES["model"], test.detections, test.area),
        ("Promised at most", replace(drawing.BOUND, markers=False), test.promised_detections, test.area_promised),
        ("Blind guessing", drawing.GUESSING, test.false_alarms, 0.5),
    )
    drawn = [
        Line(name, name, f"area {area:.3f}", style, _points([100 * a for a in test.false_alarms], each))
        for name, style, each, area in curves
    ]
    x = drawing.across("false alarms, %", [0, 100], [0, 25, 50, 75, 100], format=_PLAIN)
    return drawing.line_chart(drawn, x, ShareScale.up_to(1.0), "canaries found", "% false alarms", narrow)


def distinct(found: Distinct, terms: Terms, narrow: bool = False) -> Any:
    """Draw which share of people has each number of distinct tokens, real and synthetic (dick, Figure 5)."""
    drawn = []
    for name, style, shares in (("Real", "sample", found.real), ("Synthetic", "model", found.synthetic)):
        mean = sum(count * share for count, share in enumerate(shares, 1))
        points = _points(range(1, len(shares) + 1), shares)
        drawn.append(Line(name, name, f"mean {mean:.1f}", replace(_STYLES[style], markers=True), points))
    most = len(found.real)
    top = max(*found.real, *found.synthetic)
    ticks = list(range(0, most + 1, 5)) if most >= 10 else list(range(1, most + 1))
    x = drawing.across(f"distinct {terms.items} over all {terms.periods}", [1, most], ticks, format=_PLAIN)
    scale = ShareScale.up_to(top)
    return drawing.line_chart(drawn, x, scale, f"share of {terms.people}", f"distinct {terms.items}", narrow)


def rates(found: Sequence[RateComparison], terms: Terms, narrow: bool = False) -> Any:
    """Draw the rate of each attack on real and synthetic users, one standard deviation either way (dick, Figure 6)."""
    drawn = []
    for rate in found:
        for kind, style in (("real", drawing.ATTACKS[1]), ("synthetic", drawing.ATTACKS[0])):
            mean, deviation = getattr(rate, kind), getattr(rate, f"{kind}_deviation")
            text = f"{100 * mean:.3g} % ± {100 * deviation:.2g}"
            short = f"{attack_label(rate.attack)}, {kind}"
            name = f"{short}, {terms.many('period', rate.n_epochs)} among {rate.n_targets:,}"
            point = Point(0.0, mean, max(0.0, mean - deviation), mean + deviation, text)
            drawn.append(Line(name, short, text, style, (point,)))
    scale = rate_scale([value for line in drawn for value in (line.points[0].rate, line.points[0].high)])
    return drawing.row_chart(drawn, scale, f"{terms.people} linked correctly", narrow)


def _line(what: str, errors: Sequence[float], shares: Sequence[float]) -> Line:
    points = _points([100 * error for error in errors], shares)
    return Line(what.capitalize(), what.capitalize(), points[-1].text, _STYLES[what], points)


def _points(xs: Sequence[float], shares: Sequence[float]) -> tuple[Point, ...]:
    return tuple(Point(float(x), y, y, y, share(y)) for x, y in zip(xs, map(float, shares), strict=True))
