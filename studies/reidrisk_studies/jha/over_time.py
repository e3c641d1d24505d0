"""Jha et al., Re-identification attacks against the Topics API: risk over time, Figures 3, 4, 6, 7, 11 and 12.

Figure 2 is in :mod:`reidrisk_studies.jha.users`, Figures 5, 8, 9 and 10 in :mod:`reidrisk_studies.jha.parameters`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reidrisk import attacks
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.records import Traces
from reidrisk_studies.jha.combined import Both, Either
from reidrisk_studies.jha.compared import (
    compared_3,
    compared_4,
    compared_6,
    compared_7,
    compared_11,
    compared_12,
)
from reidrisk_studies.jha.people import NOISE, TOP_K, USERS, People, find_people
from reidrisk_studies.jha.released import released_loose, released_strict
from reidrisk_studies.jha.results import INCORRECT, Found, Key, curves, result
from reidrisk_studies.repeated import REPETITIONS, Outcome, once, outcome, repeat, seeds_of
from reidrisk_studies.results import StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_3", "figure_4", "figure_6", "figure_7", "figure_11", "figure_12"]

EPOCHS = tuple(range(1, 41))
DRAWN = (2, 5, 10, 15, 20, 25, 30, 35, 40)
"""Numbers of epochs that a chart marks; the rows have all of them."""

Attacker = Callable[[Traces, Traces], Outcome]

AXIS = ("epochs", "number of epochs observed (one topic each)")


def attack_run(make: Callable[[], Any]) -> Attacker:
    """Return the run of a fresh attack: fitted on what site 1 saw, asked about what site 2 saw."""
    return lambda one, two: outcome(make(), one, two)


STRICT = {"StrictSets": attack_run(attacks.StrictSets)}
LOOSE = {"LooseSets": attack_run(attacks.LooseSets)}
WEIGHTED = {"WeightedHamming": attack_run(lambda: attacks.WeightedHamming(TOP_K, NOISE))}
COMPARED: Mapping[str, Attacker] = {
    **STRICT,
    **LOOSE,
    "LooseSets, unique": attack_run(lambda: attacks.LooseSets(require_unique=True)),
    **WEIGHTED,
    "Hamming": attack_run(attacks.Hamming),
    "StrictSets, as released": released_strict,
    "LooseSets, as released": released_loose,
}
THRESHOLDS: Mapping[str, Attacker] = {
    "f = 1": attack_run(lambda: attacks.LooseSets(1)),
    "f = 2": attack_run(lambda: attacks.LooseSets(2)),
    "f = 3": attack_run(lambda: attacks.LooseSets(3)),
    "f = 2 AND 3": attack_run(lambda: Both(attacks.LooseSets(2), attacks.LooseSets(3))),
    "f = 2 OR 3": attack_run(lambda: Either(attacks.LooseSets(2), attacks.LooseSets(3))),
}


@study(
    "jha-fig3",
    title="Topics API: attacks over time, right links",
    reference="jha, Figure 3",
    users=USERS,
    seconds=(5.0, 30_000.0),
    data=("jha-rates",),
)
def figure_3(users: int, seed: int, progress: Progress) -> StudyResult:
    """Correct links over time: strict, loose and weighted Hamming (jha, Figure 3).

    Parameters
    ----------
    users : int
        Size of each population of personas; of the given users there are at most 268.
    seed : int
        Ten repetitions take their seeds from it.
    progress : callable
        Called with what is done.
    """
    people, found = _compare_attacks(users, seed, progress)
    series = ("StrictSets", "LooseSets", "WeightedHamming")
    style = replace(drawing.PUBLISHED, color=drawing.ATTACKS[3].color)
    printed = [line("Published: loose", style, {30: (0.25,) * 3, 40: (0.28,) * 3})]
    if users != USERS or people.given != "real":
        printed = []
    return result(
        (users, seed, people, found),
        AXIS,
        curves(found, [("iid", name, name) for name in series], DRAWN) + printed,
        compared_3(people, found),
    )


@study(
    "jha-fig4",
    title="Topics API: attacks over time, wrong links",
    reference="jha, Figure 4",
    users=USERS,
    seconds=(5.0, 30_000.0),
    data=("jha-rates",),
)
def figure_4(users: int, seed: int, progress: Progress) -> StudyResult:
    """Incorrect links over time of the strict and the loose attack (jha, Figure 4); see :func:`figure_3`."""
    people, found = _compare_attacks(users, seed, progress)
    shown = [("iid", "StrictSets", "Strict, I.I.D."), ("iid", "LooseSets", "Loose, I.I.D.")]
    shown += [("crossover", "StrictSets", "Strict, crossover"), ("crossover", "LooseSets", "Loose, crossover")]
    return result(
        (users, seed, people, found),
        AXIS,
        curves(found, shown, DRAWN, incorrect=True),
        compared_4(people, found),
        y_title=INCORRECT,
    )


@once
def _compare_attacks(users: int, seed: int, progress: Progress) -> tuple[People, Found]:
    people = find_people()
    steps = Steps(progress, 8.0)
    found = over_epochs(people, people.models, users, seed, COMPARED, steps, cost=2.5)
    # Personas as the released code draws them, for the numbers that its counting explains.
    released = {name: COMPARED[name] for name in ("LooseSets", "LooseSets, as released")}
    return people, found | over_epochs(people, ("iid, ten bins",), users, seed, released, steps, cost=0.5)


@study(
    "jha-fig6",
    title="Topics API: thresholds of the loose attack, right links",
    reference="jha, Figure 6",
    users=USERS,
    seconds=(3.0, 15_000.0),
    data=("jha-rates",),
)
def figure_6(users: int, seed: int, progress: Progress) -> StudyResult:
    """Correct links of the loose attack with thresholds f = 1, 2, 3, both and either (jha, Figure 6)."""
    people, found = _compare_thresholds(users, seed, progress)
    series = ("f = 2", "f = 3", "f = 2 AND 3", "f = 2 OR 3")
    return result(
        (users, seed, people, found),
        AXIS,
        curves(found, [("crossover", name, name) for name in series], DRAWN),
        compared_6(people, found),
    )


@study(
    "jha-fig7",
    title="Topics API: thresholds of the loose attack, wrong links",
    reference="jha, Figure 7",
    users=USERS,
    seconds=(3.0, 15_000.0),
    data=("jha-rates",),
)
def figure_7(users: int, seed: int, progress: Progress) -> StudyResult:
    """Incorrect links of the loose attack with thresholds f = 1, 2, 3, both and either (jha, Figure 7)."""
    people, found = _compare_thresholds(users, seed, progress)
    series = ("f = 2", "f = 3", "f = 2 AND 3", "f = 2 OR 3")
    return result(
        (users, seed, people, found),
        AXIS,
        curves(found, [("crossover", name, name) for name in series], DRAWN, incorrect=True),
        compared_7(people, found),
        y_title=INCORRECT,
    )


@once
def _compare_thresholds(users: int, seed: int, progress: Progress) -> tuple[People, Found]:
    people = find_people()
    return people, over_epochs(people, people.models, users, seed, THRESHOLDS, Steps(progress, 3.0))


@study(
    "jha-fig11",
    title="Topics API: the attacker's best and worst case, right links",
    reference="jha, Figure 11",
    users=USERS,
    seconds=(2.0, 7_000.0),
    data=("jha-rates",),
)
def figure_11(users: int, seed: int, progress: Progress) -> StudyResult:
    """Correct links where all users are alike and where no two are (jha, Appendix A, Figure 11)."""
    people, found = _compare_extremes(users, seed, progress)
    models = ("distinct", "crossover", "iid", "identical")
    return result(
        (users, seed, people, found),
        AXIS,
        curves(found, [(model, "LooseSets", f"Loose, {model}") for model in models], DRAWN),
        compared_11(people, found),
    )


@study(
    "jha-fig12",
    title="Topics API: the attacker's best and worst case, wrong links",
    reference="jha, Figure 12",
    users=USERS,
    seconds=(2.0, 7_000.0),
    data=("jha-rates",),
)
def figure_12(users: int, seed: int, progress: Progress) -> StudyResult:
    """Incorrect links where all users are alike and where no two are (jha, Appendix A, Figure 12)."""
    people, found = _compare_extremes(users, seed, progress)
    models = ("distinct", "crossover", "iid", "identical")
    return result(
        (users, seed, people, found),
        AXIS,
        curves(found, [(model, "LooseSets", f"Loose, {model}") for model in models], DRAWN, incorrect=True),
        compared_12(people, found),
        y_title=INCORRECT,
    )


@once
def _compare_extremes(users: int, seed: int, progress: Progress) -> tuple[People, Found]:
    people = find_people()
    models = ("identical", "distinct", "iid", "crossover")
    return people, over_epochs(people, models, users, seed, LOOSE | WEIGHTED, Steps(progress, 4.0))


def over_epochs(
    people: People,
    models: Sequence[str],
    users: int,
    seed: int,
    runs: Mapping[str, Attacker],
    steps: Steps,
    cost: float = 1.0,
) -> Found:
    """Run attacks at each number of epochs, in each population, ten times; more epochs continue the same traces."""
    found: Found = {}
    for model in models:
        steps.begin(f"{model} users, {REPETITIONS} times", cost)

        def work(seed: int, model: str = model) -> dict[Key, Outcome]:
            one, two = people.sites(model, users, max(EPOCHS), seed)
            return {(model, name, n): run(one.epochs(n), two.epochs(n)) for n in EPOCHS for name, run in runs.items()}

        found |= repeat(work, seeds_of(seed), same_users=model == people.given)
    return found
