"""galozy, Section 6.2: how noise is spread over cells, by the formula, by the words, and evenly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from reidrisk import bandits
from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.bandits.sharing.weights import WEIGHTS
from reidrisk.base.progress import Progress
from reidrisk.base.results import Risk
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.galozy import charts
from reidrisk_studies.galozy.charts import DrawnResult, Series
from reidrisk_studies.galozy.choices import by_stronger, mixture
from reidrisk_studies.galozy.people import HOMES, SPORTSPEOPLE, WEARERS, People, Size, casas, endomondo, fitbit
from reidrisk_studies.galozy.two_sizes import two_sizes
from reidrisk_studies.results import Comparison, Row, StudyResult

__all__ = ["weights_compared"]

Surfaces = dict[str, Tradeoff]

_MOST = 3.0
"""Largest variance: where the paper's range ends."""
_AT_MOST = (0.1, 0.3)
"""Probabilities of de-anonymisation at which the cheapest amounts of noise are compared."""


@two_sizes(
    "weights",
    title="Weights of the noise: the formula, the words, and the same everywhere",
    reference="galozy, Section 6.2",
    users=SPORTSPEOPLE,
    seconds=(45.0, 400.0),
    data=("casas", "endomondo", "fitbit"),
)
def weights_compared(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Compare the three ways to weigh noise on one's own record, by the attacker who knows the mechanism."""
    everyone = (casas(HOMES, seed), endomondo(users, seed), fitbit(WEARERS, seed))
    found: dict[str, Surfaces] = {}
    for people in everyone:
        found[people.name] = {}
        for weights in WEIGHTS:
            done = len(found) - 1 + len(found[people.name]) / len(WEIGHTS)
            progress(f"{people.name}, {weights}", done / len(everyone))
            found[people.name][weights] = _surface(people, weights, size, seed)
    rows = [
        _row(people, weights, point, known.risk)
        for people in everyone
        for weights, surface in found[people.name].items()
        for point, known in zip(surface.points, by_stronger(surface.points), strict=True)
    ]
    compared = [c for people in everyone for c in (_bare(people, found[people.name]), *_priced(people, found))]
    return DrawnResult(
        users=users,
        seed=seed,
        rows=tuple(rows),
        lines=(),
        x_title="regret",
        comparisons=tuple(compared),
        assumptions=(
            *(people.note for people in everyone),
            f"One's own record with Laplace noise on probabilities; {size.runs} runs of {size.steps:,} steps, hard "
            "rewards. Noise is drawn five times at each point. Intervals are 95 %: of regret over runs, of "
            "de-anonymisation over users attacked among these records; differences are paired.",
            "The attacker knows the mechanism, so also which cells have no noise, and the paper's number of cells.",
        ),
        draw=partial(_draw, found),
    )


def _surface(people: People, weights: str, size: Size, seed: int) -> Tradeoff:
    amounts = sorted({0.0, *size.finer_amounts(people.finer[0], _MOST)})
    spec = bandits.TradeoffSpec(
        strategies=("own",),
        amounts=tuple(amounts),
        n_aux=people.n_aux,
        weights=weights,
        runs=size.runs,
        steps=size.steps,
        seed=seed,
    )
    return bandits.tradeoff(people.behaviour, spec)


def _row(people: People, weights: str, point: TradeoffPoint, known: Risk) -> Row:
    return {
        "data": people.name,
        "weights": weights,
        "amount": point.amount,
        "regret": point.regret.mean,
        "regret_low": point.regret.low,
        "regret_high": point.regret.high,
        "scoreboard": point.risk.rate,
        "rate": known.rate,
        "low": known.low,
        "high": known.high,
        "baseline": known.baseline,
    }


def _bare(people: People, found: Surfaces) -> Comparison:
    """Say how many cells 1/H leaves without noise, and what that gives away under the most noise."""
    cells = bandits.cell_weights(people.behaviour.records)
    bare = int((cells == 0).sum())
    last = {weights: by_stronger(surface.points)[-1] for weights, surface in found.items()}
    texts = [
        f"{weights} {percent(p.risk.rate)} ({percent(p.risk.low)} to {percent(p.risk.high)})"
        for weights, p in last.items()
    ]
    ours = f"{bare:,} of {cells.size:,} cells get none; found at variance {_MOST:g}: {', '.join(texts)}"
    holds = last[WEIGHTS[0]].risk.low > last["uniform"].risk.high
    return Comparison(
        f"{people.name}: cells that 1/H leaves without noise",
        "the more unique the value of a cell, the more noise",
        ours,
        people.why(
            "H is 0 where all values of a cell round to one multiple of alpha, mostly 0. The values still differ below "
            "that, and without noise they stay what they were but for the sum of their row: zeros stay zeros, and "
            "two such cells of a row keep their ratio under any noise beside them."
            if holds
            else "Few cells or none are left bare here, so the weights decide only how the noise is spread."
        ),
    )


def _priced(people: People, found: dict[str, Surfaces]) -> list[Comparison]:
    """Compare what the weights cost at the same risk, run by run."""
    points = {weights: by_stronger(surface.points) for weights, surface in found[people.name].items()}
    return [_price(people, points, at_most) for at_most in _AT_MOST]


def _price(people: People, points: dict[str, list[TradeoffPoint]], at_most: float) -> Comparison:
    costs = {weights: mixture(mine, at_most) for weights, mine in points.items()}
    paper, texts = costs[WEIGHTS[0]], []
    for weights, cost in costs.items():
        if cost is None:
            texts.append(f"{weights}: no amount is that safe (least {percent(_least(points[weights]))})")
        elif cost is paper or paper is None:
            texts.append(f"{weights}: {cost.mean:,.0f}")
        else:
            low, high = cost.minus(paper)
            texts.append(f"{weights}: {cost.mean:,.0f} ({low:+,.0f} to {high:+,.0f})")
    return Comparison(
        f"{people.name}: regret at most {percent(at_most)} found, mechanism known",
        "1/H, not compared with others",
        "; ".join(texts),
        people.why("Cheapest amount, or coin between two; in brackets the paired difference to the paper's formula."),
    )


def _least(points: Sequence[TradeoffPoint]) -> float:
    return min(p.risk.rate for p in points)


def _draw(found: dict[str, Surfaces]) -> Any:
    panels = []
    for name, surfaces in found.items():
        series = [
            Series(weights, tuple((p.regret.mean, p.risk.rate) for p in by_stronger(surface.points)))
            for weights, surface in surfaces.items()
        ]
        panels.append(charts.curves(series, name, "regret", "found, mechanism known"))
    return charts.stacked(panels, 240)
