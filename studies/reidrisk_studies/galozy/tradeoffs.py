"""galozy, figures 8 to 10: regret against de-anonymisation, data set by data set."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from reidrisk.bandits import Tradeoff
from reidrisk.base.progress import Progress
from reidrisk_studies.galozy.charts import DrawnResult, surfaces_chart
from reidrisk_studies.galozy.claims import claims
from reidrisk_studies.galozy.people import (
    FULL,
    HOMES,
    SMALL,
    SPORTSPEOPLE,
    WEARERS,
    People,
    Size,
    casas,
    endomondo,
    fitbit,
)
from reidrisk_studies.galozy.surfaces import surfaces
from reidrisk_studies.galozy.two_sizes import two_sizes
from reidrisk_studies.results import Row, StudyResult

__all__ = ["figure_8", "figure_9", "figure_10", "tradeoffs"]

_RUNS_OF_FEW_STATES = 300  # with four states runs are quick


@two_sizes(
    "fig8",
    title="CASAS stand-in: de-anonymisation against regret",
    reference="galozy, Figure 8",
    users=HOMES,
    seconds=(50.0, 900.0),
    data=("casas",),
)
def figure_8(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 8: people at home."""
    return tradeoffs(casas(users, seed), size, users, seed, progress)


@two_sizes(
    "fig9",
    title="Endomondo stand-in: de-anonymisation against regret",
    reference="galozy, Figure 9",
    users=SPORTSPEOPLE,
    seconds=(80.0, 1100.0),
    data=("endomondo",),
)
def figure_9(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 9: people who do sports."""
    return tradeoffs(endomondo(users, seed), size, users, seed, progress)


@two_sizes(
    "fig10",
    title="Fitbit: de-anonymisation against regret",
    reference="galozy, Figure 10",
    users=WEARERS,
    seconds=(25.0, 180.0),
    data=("fitbit",),
)
def figure_10(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run figure 10: people who wear a Fitbit."""
    return tradeoffs(fitbit(users, seed), size, users, seed, progress)


def tradeoffs(people: People, size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    """Run one of figures 8 to 10, with the people of its data set."""
    if len(people.behaviour.states) == 4 and size is SMALL:
        size = replace(size, runs=_RUNS_OF_FEW_STATES)
    found = surfaces(people, size, seed, progress)
    return DrawnResult(
        users=users,
        seed=seed,
        rows=tuple(row for noise, surface in found.items() for row in _rows(people, noise, surface)),
        lines=(),
        x_title="regret",
        comparisons=claims(people, found),
        assumptions=(people.note, *_assumptions(size, found["laplace"])),
        draw=partial(surfaces_chart, found, people.name),
    )


def _rows(people: People, noise: str, surface: Tradeoff) -> list[Row]:
    return [
        {
            "data": people.name,
            "noise": noise,
            "strategy": p.strategy,
            "amount": p.amount,
            "regret": p.regret.mean,
            "regret_low": p.regret.low,
            "regret_high": p.regret.high,
            "rate": p.risk.rate,
            "low": p.risk.low,
            "high": p.risk.high,
            "mechanism_known": p.likelihood.rate if p.likelihood is not None else "",
            "ads": p.ads,
            "on_front": int(p.on_front),
            "baseline": surface.guess,
            "blind_regret": surface.blind_regret,
        }
        for p in surface.points
    ]


def _assumptions(size: Size, surface: Tradeoff) -> tuple[str, ...]:
    smaller = (
        "as published"
        if size is FULL
        else f"the paper has 500 runs and 50 amounts of noise, of which {size.printed} are run here; '-full' after the "
        "name runs all"
    )
    return (
        f"{size.runs} runs of {size.steps:,} steps ({smaller}), and amounts of our own between them.",
        f"The attacker knows {surface.n_aux} cells, alpha is {surface.alpha:g}; every user is attacked, where the "
        "paper draws 100 times. Weights are the paper's formula 1/H; hard rewards.",
        "Intervals are 95 %: of regret over runs, of de-anonymisation over users attacked among these records. "
        "Differences are paired: same users, states and reward noise. Noise is drawn five times at each point, on "
        "counts once.",
        "All noise is simulated, and must not protect real people's records.",
    )
