"""The choices in numbers: those that are Pareto-optimal beside each strategy with the least noise, then all."""

from __future__ import annotations

from collections.abc import Iterable

from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.base.results import Risk
from reidrisk.present.model import Cell, Section, Table
from reidrisk.present.terms import Terms
from reidrisk.present.words.bandits import amount_text, strategy_label
from reidrisk.present.words.frequencies import percent, two_digits


def section(result: Tradeoff, terms: Terms) -> Section:
    """Return the choices between which to decide."""
    front = result.front(result.attack)
    least = {p.strategy: p for p in reversed(result.points)}
    shown = [p for p in result.points if p in front or p is least[p.strategy]]
    rest = len(result.points) - len(shown)
    level = percent(result.points[0].regret.level)
    return Section(
        title="The choices",
        see=(
            f"Pareto-optimal choices (by the attack '{result.attack}'), and each strategy with the least noise; "
            f"intervals at {level}." + (f" {rest} further choices were measured." if rest else ""),
            f"Regret is {result.least_regret:,.0f} with everyone's true matrix and {result.blind_regret:,.0f} by blind "
            f"choice. A guess finds {percent(result.guess)}.",
        ),
        table=_table(result, shown, front),
        parts=(Section("All choices that were measured", table=_table(result, result.points, front), folded=True),),
        console=True,
        name="choices",
    )


def _table(result: Tradeoff, points: Iterable[TradeoffPoint], front: tuple[TradeoffPoint, ...]) -> Table:
    stronger = len(result.attacks) > 1
    rows = []
    for p in points:
        regret = Cell(f"{p.regret.mean:,.0f}", small=f"{p.regret.low:,.0f} to {p.regret.high:,.0f}")
        risks = [p.risk, p.likelihood] if stronger else [p.risk]
        rows.append(
            (
                strategy_label(p.strategy),
                amount_text(p),
                regret,
                *(_found(risk) for risk in risks),
                f"{p.ads:.2f}",
                "Pareto-optimal" if p in front else "",
            )
        )
    found = ("found", "mechanism known") if stronger else ("found",)
    columns = ("each receives", "on top", "regret", *found, "ADS", "status")
    return Table(columns, tuple(rows), tuple(range(2, len(columns) - 1)))


def _found(risk: Risk | None) -> str | Cell:
    return (
        "not measured"
        if risk is None
        else Cell(percent(risk.rate), small=f"{two_digits(100 * risk.low)} to {two_digits(100 * risk.high)}")
    )
