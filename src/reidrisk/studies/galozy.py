"""galozy: the list of its studies, and figures 8 to 10, regret against de-anonymisation, data set by data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from reidrisk.bandits import Tradeoff
from reidrisk.base.errors import OptionError
from reidrisk.studies.galozy_ads import figure_11
from reidrisk.studies.galozy_charts import DrawnResult, surfaces_chart
from reidrisk.studies.galozy_claims import claims
from reidrisk.studies.galozy_figures import figure_1, figure_6, figure_7
from reidrisk.studies.galozy_people import FULL, HOMES, SMALL, SPORTSPEOPLE, WEARERS, People, Size
from reidrisk.studies.galozy_people import casas as _casas
from reidrisk.studies.galozy_people import endomondo as _endomondo
from reidrisk.studies.galozy_people import fitbit as _fitbit
from reidrisk.studies.galozy_surfaces import surfaces
from reidrisk.studies.galozy_weights import weights_compared
from reidrisk.studies.study import Progress, Row, Study, StudyResult

__all__ = ["ALL", "tradeoffs"]

LEAST = 24
"""Fewest users: three times eight clusters must fit."""

_RUNS_OF_FEW_STATES = 300  # with four states runs are quick


@dataclass(frozen=True)
class SharingStudy(Study):
    """A study of few users: the paper's data sets have some thirty."""

    def size(self, users: int | None) -> int:
        """Return how many users it is run with: as many as published when missing."""
        n = self.users if users is None else users
        if n < LEAST:
            raise OptionError(f"this study needs at least {LEAST} users, not {n}: it makes up to 24 clusters")
        return n


def tradeoffs(
    figure: int, draw: Callable[[int, int], People], size: Size, users: int, seed: int, progress: Progress
) -> StudyResult:
    """Run one of figures 8 to 10.

    Parameters
    ----------
    figure : int
        8 for CASAS, 9 for Endomondo, 10 for Fitbit.
    draw : callable
        Returns the people, given how many and a seed.
    size : Size
        How much is run.
    users, seed, progress
        As in every study.
    """
    people = draw(users, seed)
    if len(people.behaviour.states) == 4 and size is SMALL:
        size = replace(size, runs=_RUNS_OF_FEW_STATES)
    found = surfaces(people, size, seed, progress)
    return DrawnResult(
        name=f"galozy-fig{figure}{'-full' * (size is FULL)}",
        title=f"{people.name}: de-anonymisation against regret",
        reference=f"galozy, Figure {figure}",
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


_TRADEOFF = "de-anonymisation against regret"
_DATA = {
    "fig1": ("casas",),
    "fig6": ("casas",),
    "fig8": ("casas",),
    "fig9": ("endomondo",),
    "fig10": ("fitbit",),
}
_ALL_DATA = ("casas", "endomondo", "fitbit")
_KINDS: tuple[tuple[str, str, Callable[..., StudyResult], int, str, float, float], ...] = (
    ("fig1", "Figure 1", figure_1, HOMES, "Hard and easy rewards: regret over time", 10.0, 40.0),
    ("fig6", "Figure 6", figure_6, HOMES, "Transitions of one user", 2.0, 0.0),
    ("fig7", "Figure 7", figure_7, SPORTSPEOPLE, "Clusters of users, and scores of their number", 15.0, 0.0),
    ("fig8", "Figure 8", partial(tradeoffs, 8, _casas), HOMES, f"CASAS stand-in: {_TRADEOFF}", 50.0, 900.0),
    (
        "fig9",
        "Figure 9",
        partial(tradeoffs, 9, _endomondo),
        SPORTSPEOPLE,
        f"Endomondo stand-in: {_TRADEOFF}",
        80.0,
        1100.0,
    ),
    ("fig10", "Figure 10", partial(tradeoffs, 10, _fitbit), WEARERS, f"Fitbit: {_TRADEOFF}", 25.0, 180.0),
    ("fig11", "Figure 11", figure_11, SPORTSPEOPLE, "ADS and de-anonymisation against noise", 10.0, 100.0),
    ("weights", "Section 6.2", weights_compared, SPORTSPEOPLE, "Weights of the noise", 45.0, 400.0),
)
"""Name, place in the paper, function, users, title, and seconds on two cores: small, and at the published size."""


def _studies() -> tuple[Study, ...]:
    return tuple(
        SharingStudy(
            f"galozy-{name}{'-full' * (size is FULL)}",
            title + ", published size" * (size is FULL),
            f"galozy, {reference}",
            users,
            (seconds, 0.0),
            partial(run, size),
            needs=_DATA.get(name, _ALL_DATA),
        )
        for name, reference, run, users, title, short, long in _KINDS
        for size, seconds in ((SMALL, short), (FULL, long))
        if seconds
    )


ALL = _studies()
"""The studies of this paper, the published sizes among them."""
