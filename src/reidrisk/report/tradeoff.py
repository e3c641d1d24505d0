"""The page of a trade-off: what sharing behaviour costs and gives away, as one offline HTML file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from reidrisk import __version__
from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.base.results import Risk
from reidrisk.base.wording import percent
from reidrisk.present.html.offline import drawn_specs, filled, save
from reidrisk.report.tables import Table
from reidrisk.report.tradeoff_chart import amount_text, risk_of, strategy_label, tradeoff_chart

__all__ = ["caution", "point_table", "render_tradeoff", "write_tradeoff"]

_TITLES = {
    "scoreboard": "Against the attack of the paper",
    "likelihood": "Against an attacker who knows how the records were changed",
}


def write_tradeoff(surface: Tradeoff, path: str | Path, command: str = "", attack: str = "scoreboard") -> None:
    """Write a trade-off as one HTML file; an interrupted run leaves the old file or none.

    Parameters
    ----------
    surface : Tradeoff
        From :func:`reidrisk.bandits.tradeoff`.
    path : str or path
        The file.
    command : str
        How to run it again.
    attack : {"scoreboard", "likelihood"}
        Whose success the front is by.
    """
    save(render_tradeoff(surface, command, attack), path)


def render_tradeoff(surface: Tradeoff, command: str = "", attack: str = "scoreboard") -> str:
    """Return a trade-off as the text of one HTML file that fetches nothing and holds no single person's record."""
    both = all(point.likelihood is not None for point in surface.points)
    attacks = ["scoreboard", "likelihood"] if both else ["scoreboard"]
    if attack in attacks:
        attacks.sort(key=lambda name: name != attack)  # the one asked for comes first
    figures = [_figure(surface, name) for name in attacks]
    return filled(
        "tradeoff.html",
        {figure["name"]: figure.pop("specs") for figure in figures},
        version=__version__,
        surface=surface,
        mood="",
        verdict=surface.reading,
        assumptions=surface.assumptions,
        figures=figures,
        attack=attack,
        front=point_table(surface.front(attack)),
        points=point_table(surface.points),
        command=command,
        caution=caution(surface, attack),
        level=percent(surface.points[0].regret.level),
    )


def caution(surface: Tradeoff, attack: str = "scoreboard") -> str:
    """Say where the scoreboard makes a choice on the front look safer than it is; empty where it does not.

    A front by the stronger attack needs no such word: it shows that attack's success itself.
    """
    if attack == "likelihood":
        return ""
    worse = [
        (p.likelihood.rate - p.risk.rate, p)
        for p in surface.front()
        if p.likelihood is not None and p.likelihood.low > p.risk.high
    ]
    if not worse:
        return ""
    point = max(worse, key=lambda each: each[0])[1]
    assert point.likelihood is not None
    return (
        f"Careful: of {strategy_label(point.strategy)} with {amount_text(point)}, where the scoreboard finds "
        f"{percent(point.risk.rate)}, an attacker who knows how the records were changed finds "
        f"{percent(point.likelihood.rate)}."
    )


def point_table(points: tuple[TradeoffPoint, ...]) -> Table:
    """Return choices as text: strategy, noise, regret, who finds whom how often, ADS."""
    rows = tuple(
        (
            strategy_label(p.strategy),
            amount_text(p),
            f"{p.regret.mean:,.0f} ({p.regret.low:,.0f} to {p.regret.high:,.0f})",
            _found(p.risk),
            _found(p.likelihood) if p.likelihood is not None else "not measured",
            f"{p.ads:.2f}",
        )
        for p in points
    )
    columns = ("each receives", "on top", "regret", "found by the scoreboard", "found, mechanism known", "ADS")
    return Table(columns, rows, (2, 3, 4, 5))


def _found(risk: Risk) -> str:
    return f"{percent(risk.rate)} ({percent(risk.low)} to {percent(risk.high)})"


def _figure(surface: Tradeoff, attack: str) -> dict[str, Any]:
    specs, still = drawn_specs(partial(tradeoff_chart, surface, attack))
    best = surface.front(attack)
    cheapest = min(best, key=lambda p: p.regret.mean)
    safest = min(best, key=lambda p: risk_of(p, attack).rate)
    alt = (
        f"Regret against de-anonymisation of {len(surface.points)} choices; {len(best)} are not beaten in both, from "
        f"{strategy_label(safest.strategy)} with {amount_text(safest)} to {strategy_label(cheapest.strategy)} with "
        f"{amount_text(cheapest)}."
    )
    return {"name": attack, "title": _TITLES[attack], "alt": alt, "still": still, "specs": specs}
