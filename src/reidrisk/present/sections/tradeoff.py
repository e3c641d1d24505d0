"""What protection costs: regret against de-anonymisation by each attacker, the choices in numbers, and the method."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.bandits.tradeoff import risk_of
from reidrisk.base.results import Risk
from reidrisk.present import Cell, Section, Table, Terms, drawing
from reidrisk.present.drawing import GREY, Style
from reidrisk.present.scales import RateScale, rate_scale
from reidrisk.present.sections.written import written
from reidrisk.present.words.bandits import amount_text, choice_text, strategy_label
from reidrisk.present.words.frequencies import in_words, percent, two_digits


def curves(result: Tradeoff) -> Section:
    """Return the charts, the one of the attack that choices are judged by first."""
    return written("tradeoff.curves", Terms(), parts=tuple(_part(result, attack) for attack in result.attacks))


def _part(result: Tradeoff, attack: str) -> Section:
    best = result.front(attack)
    said = {"n": len(result.points), "best": len(best), "first": choice_text(best[0]), "last": choice_text(best[-1])}
    return written(f"tradeoff.{attack}", Terms(), said, partial(tradeoff_chart, result, attack))


def choices(result: Tradeoff) -> Section:
    """Return the choices between which to decide."""
    front = result.front(result.attack)
    least = {p.strategy: p for p in reversed(result.points)}
    shown = [p for p in result.points if p in front or p is least[p.strategy]]
    rest = len(result.points) - len(shown)
    further = f" {rest} further choices were measured." if rest else ""
    said = {"result": result, "level": result.points[0].regret.level, "rest": further}
    every = Section("All choices that were measured", table=_table(result, result.points, front), folded=True)
    table = _table(result, shown, front)
    return written("tradeoff.choices", Terms(), said, table=table, parts=(every,), console=True)


def _table(result: Tradeoff, points: Iterable[TradeoffPoint], front: tuple[TradeoffPoint, ...]) -> Table:
    stronger = len(result.attacks) > 1
    rows = []
    for p in points:
        regret = Cell(f"{p.regret.mean:,.0f}", small=f"{p.regret.low:,.0f} to {p.regret.high:,.0f}")
        found = [_found(risk) for risk in ([p.risk, p.likelihood] if stronger else [p.risk])]
        status = "Pareto-optimal" if p in front else ""
        rows.append((strategy_label(p.strategy), amount_text(p), regret, *found, f"{p.ads:.2f}", status))
    attacks = ("found", "mechanism known") if stronger else ("found",)
    columns = ("each receives", "on top", "regret", *attacks, "ADS", "status")
    return Table(columns, tuple(rows), tuple(range(2, len(columns) - 1)))


def _found(risk: Risk | None) -> str | Cell:
    if risk is None:
        return "not measured"
    return Cell(percent(risk.rate), small=f"{two_digits(100 * risk.low)} to {two_digits(100 * risk.high)}")


def methods(result: Tradeoff) -> Section:
    """Return the method, its reference and its parameters."""
    return written("tradeoff.methods", Terms(), {"result": result})


_HEIGHT = 400

STYLES = (
    *drawing.ATTACKS,
    drawing.BOUND,
    Style("#3E9BD1", dash=(2, 2), shape="cross"),
    Style("#9A7B00", dash=(9, 2), shape="triangle-left"),
    Style("#7B7F86", dash=(5, 2, 1, 2), shape="triangle-right"),
)
"""Looks of up to eight strategies; a ninth one starts again."""


def tradeoff_chart(surface: Tradeoff, attack: str = "scoreboard", narrow: bool = False) -> Any:
    """Draw regret (across) against the success of an attack (up): low and left is good."""
    return drawing.finished(tradeoff_layers(surface, attack, narrow), _HEIGHT)


def tradeoff_layers(
    surface: Tradeoff,
    attack: str = "scoreboard",
    narrow: bool = False,
    title: str = "",
    beside: Sequence[Tradeoff] = (),
) -> Any:
    """Return the chart before it has its size and looks, on one scale with trade-offs that stand ``beside`` it."""
    alt = drawing.altair()
    shown = (surface, *beside)
    scale = rate_scale([risk_of(p, attack).rate for each in shown for p in each.points] + [surface.guess])
    x = _regret_axis(surface, narrow)
    y = drawing.upwards(scale)
    names = list(dict.fromkeys(p.strategy for p in surface.points))
    front = surface.front(attack)
    rows = [_row(p, i, attack, scale, p in front) for i, p in enumerate(surface.points)]
    looks = [STYLES[i % len(STYLES)] for i in range(len(names))]
    labels = [strategy_label(name) for name in names]
    place = {"orient": "bottom", "columns": 2} if narrow else {"orient": "right", "columns": 1}
    legend = alt.Legend(title=None, symbolSize=90, symbolStrokeWidth=2, labelFontSize=14, labelLimit=190, **place)
    color = alt.Color("strategy:N", scale=alt.Scale(domain=labels, range=[s.color for s in looks]), legend=legend)
    shape = alt.Shape("strategy:N", scale=alt.Scale(domain=labels, range=[s.shape for s in looks]), legend=legend)
    # One mark per strategy, so that each can have its dashes: an encoding of them would need a legend of its own.
    lines = [
        alt.Chart(alt.Data(values=[row for row in rows if row["strategy"] == label]))
        .mark_line(strokeWidth=2, opacity=0.75, strokeDash=list(look.dash))
        .encode(x=x, y=y, order=alt.Order("order:Q"), color=color)
        for label, look in zip(labels, looks, strict=True)
    ]
    tips = [alt.Tooltip(f"{name}:N") for name in ("strategy", "noise", "regret", "found")]
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=color, shape=shape, tooltip=tips)
    plain = base.transform_filter("!datum.front").mark_point(size=45, strokeWidth=1.5, opacity=0.9)
    best = base.transform_filter("datum.front").mark_point(size=150, filled=True, opacity=1)
    path = (
        alt.Chart(alt.Data(values=[row for row in rows if row["front"]]))
        .mark_line(color="#F2C230", strokeWidth=10, opacity=0.55, strokeCap="round", strokeJoin="round")
        .encode(x=x, y=y, order=alt.Order("rate:Q"))
    )
    heading = drawing.heading(title or "people found by the attacker", "yellow: Pareto-optimal choices")
    parts = [path, *lines, plain, best, *_ends(surface, x, y, scale)]
    return alt.layer(*parts).properties(title=heading)


def _row(point: TradeoffPoint, order: int, attack: str, scale: RateScale, front: bool) -> dict[str, Any]:
    risk, regret = risk_of(point, attack), point.regret
    return {
        "x": regret.mean,
        "rate": scale.drawn(risk.rate),
        "order": order,
        "front": front,
        "strategy": strategy_label(point.strategy),
        "noise": amount_text(point),
        "regret": f"{regret.mean:,.0f} ({regret.low:,.0f} to {regret.high:,.0f})",
        "found": f"{in_words(risk.rate)} ({in_words(risk.low)} to {in_words(risk.high)})",
    }


def _top(surface: Tradeoff) -> float:
    """Return where the axis of regret ends: at blind choice, or before it where no point comes near."""
    most = max(p.regret.mean for p in surface.points)
    return 1.15 * most if most < 0.6 * surface.blind_regret else 1.04 * max(surface.blind_regret, most)


def _regret_axis(surface: Tradeoff, narrow: bool) -> Any:
    alt = drawing.altair()
    beyond = f" (blind choice: {two_digits(surface.blind_regret)})" if _top(surface) < surface.blind_regret else ""
    return alt.X(
        "x:Q",
        title=f"regret in {surface.steps:,} recommendations{beyond}",
        scale=alt.Scale(domain=[0, _top(surface)], nice=False),
        axis=alt.Axis(tickCount=4 if narrow else 7, format=",.0f", grid=False),
    )


def _ends(surface: Tradeoff, x: Any, y: Any, scale: RateScale) -> list[Any]:
    """Draw what is known without noise or attack: the true matrices, blind choice, and a guess."""
    alt = drawing.altair()
    parts: list[Any] = []
    ends = ((surface.least_regret, "true matrices", "center"), (surface.blind_regret, "blind choice", "right"))
    for at, text, align in ends:
        if at <= _top(surface):
            base = alt.Chart(alt.Data(values=[{"x": at, "text": f"{text}: {two_digits(at)}"}])).encode(x=x)
            parts.append(base.mark_rule(color=GREY, strokeDash=[2, 4]))
            words = base.mark_text(align=align, baseline="bottom", fontSize=13, color=GREY)
            parts.append(words.encode(y=alt.YValue(-6), text=alt.Text("text:N")))
    guess = [{"x": 0, "rate": scale.drawn(surface.guess), "text": f"guess: {in_words(surface.guess)}"}]
    base = alt.Chart(alt.Data(values=guess)).encode(y=y)
    parts.append(base.mark_rule(color=GREY, strokeDash=[2, 4]))
    words = base.mark_text(align="left", dx=4, dy=-9, fontSize=13, color=GREY)
    parts.append(words.encode(x=x, text=alt.Text("text:N")))
    return parts
