"""What protection costs: a chart for each attacker, the choices in numbers, and the method."""

from collections.abc import Iterable
from functools import partial

from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.base.results import Risk
from reidrisk.present.model import Cell, Figure, Section, Table
from reidrisk.present.sections.tradeoff.chart import tradeoff_chart
from reidrisk.present.words.bandits import amount_text, choice_text, strategy_label
from reidrisk.present.words.frequencies import percent, two_digits

_TITLES = {
    "scoreboard": "Against an attacker who compares cells",
    "likelihood": "Against an attacker who knows how the records were changed",
}


def curves(result: Tradeoff) -> Section:
    """Return the charts, the one of the attack that choices are judged by first."""
    return Section(
        title="What protection costs",
        see="Each line is a way to put records together; along it, more noise. Low is safe, left is cheap. The choices "
        "on the yellow line are Pareto-optimal: no other has both less regret and fewer people found.",
        parts=tuple(_part(result, attack) for attack in result.attacks),
    )


def _part(result: Tradeoff, attack: str) -> Section:
    best = result.front(attack)
    alt = (
        f"Regret against de-anonymisation of {len(result.points)} choices; {len(best)} are Pareto-optimal, from "
        f"{choice_text(best[0])} to {choice_text(best[-1])}."
    )
    return Section(
        title=_TITLES[attack],
        figure=Figure(partial(tradeoff_chart, result, attack), alt),
        caution="These are measured values: choices within each other's intervals may change places.",
        name=attack,
    )


def choices(result: Tradeoff) -> Section:
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
    return Section(
        title="Methods",
        see=(
            "Regret is what a recommender by Thompson sampling loses against one that sees the state. The scoreboard "
            "links known cells to the record that agrees with most of them, weighted; the attacker who knows the "
            "mechanism links by likelihood. ADS is the share of people with a shared record nearer than anyone else's.",
            "After Galozy et al., Beyond random noise: insights on anonymization strategies from a latent bandit study "
            f"(Sections 3 to 6). {result.rewards.capitalize()} rewards, weights by {result.weights}, tolerance "
            f"{result.alpha:g}, {result.releases} draws of noise, seed {result.seed}.",
        ),
    )
