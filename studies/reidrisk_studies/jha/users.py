"""Jha et al., Figure 2: how many topics people visit, how popular topics are, and how often they are visited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from reidrisk.base.intervals import mean_interval
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.streams import stream
from reidrisk.present import drawing
from reidrisk_studies.jha.people import People, find_people
from reidrisk_studies.repeated import REPETITIONS, seeds_of
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_2"]

RANKS = (1, 2, 5, 10, 20, 50, 75, 100, 150, 200, 250)


@study(
    "jha-fig2",
    title="Topics API: what people visit",
    reference="jha, Figure 2",
    users=268,
    seconds=(2.0, 0.0),
    data=("jha-rates",),
)
def figure_2(users: int, seed: int, progress: Progress) -> StudyResult:
    """Characterise the users that all populations are made of (jha, Section 4.2, Figure 2).

    Panel a: share of users with at most x topics. Panel b: share of users who visit the topic of rank x. Panel c: mean
    weekly visits of those who visit it, ranked anew. Weeks are simulated, ten times.

    Parameters
    ----------
    users : int
        Number of the given users to take, of 268 of them.
    seed : int
        Of the simulated weeks.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 2.0)
    steps.begin("read the users", 1.0)
    everyone = find_people()
    people = replace(everyone, matrix=everyone.matrix[:users])
    visits = people.matrix > 0
    n, per_user, visitors = len(visits), visits.sum(axis=1), visits.sum(axis=0)
    rows: list[Row] = []
    for count in sorted({*per_user.tolist()}):
        rows.append(_share("a: topics of a user, at most", count, per_user <= count))
    popular = np.argsort(-visitors, kind="stable")[: int((visitors > 0).sum())]
    for rank, topic in enumerate(popular, start=1):
        rows.append(_share("b: users who visit the topic of rank", rank, visits[:, topic]))
    mean_rate = np.sort(people.matrix[:, popular].sum(axis=0) / visitors[popular])[::-1]
    for rank, rate in enumerate(mean_rate, start=1):
        rows.append(_row("c: weekly visits to the topic of rank", rank, (float(rate),) * 3, n))
    steps.begin("simulate weeks", 1.0)
    weeks = [stream(each, "weeks of figure 2").poisson(people.matrix) for each in seeds_of(seed)]
    points = {rank: _interval(visits[:, popular[rank - 1]]) for rank in RANKS if rank <= len(popular)}
    return StudyResult(
        users=n,
        seed=seed,
        rows=tuple(rows),
        lines=(line("Share of users", drawing.ATTACKS[0], points),),
        x_title="rank of the topic by number of visitors",
        x_ticks=tuple(rank for rank in (1, 20, 50, 100, 150, 200, 250) if rank <= len(popular)),
        y_linear=True,
        y_title="people who visit the topic at all",
        comparisons=tuple(replace(c, why=people.why(c.why)) for c in _compared(people, per_user, visitors, weeks)),
        assumptions=(
            people.note,
            "Counts are exact for these users; intervals are for users like these.",
            f"The week in question is simulated: Poisson visits at these rates, {REPETITIONS} weeks of each user.",
        ),
    )


def _interval(values: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    return (float(values.mean()), *mean_interval(values))


def _share(panel: str, x: int, values: npt.NDArray[np.bool_]) -> Row:
    return _row(panel, x, _interval(values), len(values))


def _row(panel: str, x: int, rate: tuple[float, float, float], users: int) -> Row:
    return {"panel": panel, "x": int(x), "rate": rate[0], "low": rate[1], "high": rate[2], "users": users}


def _compared(
    people: People,
    per_user: npt.NDArray[np.int64],
    visitors: npt.NDArray[np.int64],
    weeks: list[npt.NDArray[np.int64]],
) -> tuple[Comparison, ...]:
    n = len(per_user)
    share = np.sort(visitors)[::-1] / n
    a_week = np.array([(week > 0).sum(axis=1) for week in weeks])
    total = people.matrix.sum(axis=1)
    rare = float((a_week < 5).any(axis=0).mean())
    released = "The released rates are not quite those of the text: they are of 268 users, not 267."
    few = (
        "The released rates add up to a tenth of the printed visits. They are nearer to the number of different "
        "websites that the median user visits (30, Section 4.2); what they count is not said."
    )
    at = [f"{100 * share[rank - 1]:.3g} %" if rank <= len(share) else "none" for rank in (100, 200)]
    return (
        Comparison("users", "267 (268 in Section 5)", f"{n}", "The text gives both numbers."),
        Comparison("topics visited by anybody", "250", f"{int((visitors > 0).sum())}", released),
        Comparison("topics of the median user", "36", f"{np.median(per_user):g}", released),
        Comparison("topics of the most diverse user", "more than 150", f"{per_user.max()}", released),
        Comparison("users with less than 5 topics", "a handful", f"{int((per_user < 5).sum())}", "Agrees."),
        Comparison("users who visit the most popular topic", "99.3 %", f"{100 * share[0]:.3g} %", "Agrees."),
        Comparison(
            "users who visit the topic of rank 100 (200)", "at least 10 % (1 %)", f"{at[0]} ({at[1]})", "Agrees."
        ),
        Comparison(
            "topics of the median user in a week (most of all)",
            "17 (about 70)",
            f"{np.median(a_week):g} ({a_week.max()})",
            few + " Ours is simulated.",
        ),
        Comparison(
            "users who visit less than 5 topics in some weeks",
            "less than 10 %",
            f"{100 * rare:.2g} % in one of {len(weeks)} simulated weeks",
            few + " The paper's users were also active in another number of weeks each.",
        ),
        Comparison(
            "pages of the median user in a week",
            "222; 26.1 % of users less than 50, 14 % more than 1,000",
            f"{np.median(total):.3g}; {100 * np.mean(total < 50):.3g} %, {100 * np.mean(total > 1000):.3g} %",
            few,
        ),
    )
