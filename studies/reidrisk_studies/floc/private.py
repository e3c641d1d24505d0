"""Sensitive cohorts without anyone's history: how many users it takes to decide as exact counts do."""

from __future__ import annotations

from dataclasses import replace

from reidrisk import cohorts
from reidrisk.base.progress import Progress, Steps
from reidrisk.cohorts.spec import Noise
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import percent
from reidrisk_studies.floc.people import all_browsing
from reidrisk_studies.floc.users_needed import UsersNeeded, users_needed
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["private"]

NUMBERS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000, 300_000_000, 1_000_000_000)
T = 0.1
SETTINGS = (
    ("Central, epsilon 1", Noise(epsilon=1.0, delta=1e-9)),
    ("Central, epsilon 0.1", Noise(epsilon=0.1, delta=1e-9)),
    ("Local, epsilon 2", Noise(epsilon=2.0, model="local")),
    ("Local, epsilon 0.5", Noise(epsilon=0.5, model="local")),
)


@study(
    "floc-private",
    title="FLoC: sensitive cohorts from noisy counts",
    reference="floc, Use of synced Chrome history",
    users=1_000_000,
    seconds=(8.0, 2.0),
    data=("msweb", "msnbc", "webtrackr", "chrome-topics"),
)
def private(users: int, seed: int, progress: Progress) -> StudyResult:
    """Decide which cohorts to block from noisy counts alone, for ever more users (floc, Use of synced Chrome history).

    Parameters
    ----------
    users : int
        Most people to take the frequencies from: visitors of msweb, or synthetic people.
    seed : int
        Of the noise, and of synthetic people.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 4.0 + len(SETTINGS))
    steps.begin("read what people visited", 2.0)
    browsing, _ = all_browsing(users, seed)
    people = next((each for each in browsing if each.name == "msweb"), browsing[0])
    counts = cohorts.count_visits(people.assignment(), people.visited(), categories=list(people.sensitive))
    found: list[tuple[str, UsersNeeded]] = []
    for name, noise in SETTINGS:
        steps.begin(name, 1.0)
        found.append((name, users_needed(counts, NUMBERS, noise, T, wanted=0.95, seed=seed)))
    steps.begin("decide beyond chance", 2.0)
    sure = [
        (name, users_needed(counts, NUMBERS, noise, T, wanted=0.95, runs=1, seed=seed, rule="chance"))
        for name, noise in SETTINGS[::2]
    ]
    drawn = [
        line(
            name,
            style,
            {
                n / 1e6: (rate, low, high)
                for n, rate, low, high in zip(one.users, one.agreement, one.low, one.high, strict=True)
            },
        )
        for (name, one), style in zip(found, drawing.ATTACKS, strict=True)
    ]
    base = found[0][1].baseline
    guess = line("Same for all", replace(drawing.GUESSING), dict.fromkeys((n / 1e6 for n in NUMBERS), (base,) * 3))
    exact = found[0][1]
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(row for name, one in [*found, *sure] for row in _rows(name, one)),
        lines=(*drawn, guess),
        x_title="users, millions",
        x_log=True,
        x_ticks=(0.1, 1, 10, 100, 1000),
        y_title="cohorts decided as by exact counts",
        y_linear=True,
        comparisons=(
            *(_plain(name, one) for name, one in found),
            *(_sure(name, one) for name, one in sure),
        ),
        assumptions=(
            people.assumption,
            f"{exact.n_cohorts} cohorts and {len(counts.categories)} categories, {exact.sensitive} cohorts sensitive "
            f"at t = {T:g}; frequencies stay as they are while users are multiplied.",
            "Central: discrete Gaussian noise on every size and count, (epsilon, 1e-9) for one user with all "
            "categories. Local: one random question a user, randomised response. Noise is simulated, five times each.",
            "Decisions are by the plain definition, the largest of many noisy gaps against t, unless they are called "
            "beyond chance (one run each).",
        ),
    )


def _plain(name: str, one: UsersNeeded) -> Comparison:
    return Comparison(
        f"users until 95 % of the decisions are those of exact counts: {name.lower()}",
        "not measured ('work to build alternative approaches')",
        f"{one.needed:,}" if one.needed else f"more than {NUMBERS[-1]:,}",
        _why(one),
    )


def _sure(name: str, one: UsersNeeded) -> Comparison:
    return Comparison(
        f"the same, blocking only what is beyond chance and noise: {name.lower()}",
        "not measured",
        f"{one.needed:,}" if one.needed else f"more than {NUMBERS[-1]:,}",
        f"{_why(one)} Errors go the other way: cohorts are missed until the noise is small.",
    )


def _why(one: UsersNeeded) -> str:
    return (
        f"With {one.users[0]:,} users {percent(one.agreement[0])} agree ({one.missed[0]:.0f} missed, "
        f"{one.needless[0]:.0f} needless); deciding the same for all cohorts agrees in {percent(one.baseline)}."
    )


def _rows(name: str, one: UsersNeeded) -> list[Row]:
    return [
        {
            "noise": name,
            "rule": one.rule,
            "model": one.model,
            "epsilon": one.epsilon,
            "delta": one.delta,
            "users": n,
            "agreement": rate,
            "low": low,
            "high": high,
            "missed": missed,
            "needless": needless,
            "sensitive": one.sensitive,
            "cohorts": one.n_cohorts,
        }
        for n, rate, low, high, missed, needless in zip(
            one.users, one.agreement, one.low, one.high, one.missed, one.needless, strict=True
        )
    ]
