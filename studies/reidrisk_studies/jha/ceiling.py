"""The populations of jha at 30 epochs: every attack, one that learnt from other people, and what nobody can exceed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from reidrisk import attacks
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.sequence import Schedule
from reidrisk.sequence.pairs import PairSchedule, PairSizes
from reidrisk_studies.jha.known_rates import KnownRates
from reidrisk_studies.jha.people import NOISE, TOP_K, USERS, People, find_people
from reidrisk_studies.jha.results import Found, Key, result, shown_rate
from reidrisk_studies.repeated import Outcome, outcome, repeat, seeds_of
from reidrisk_studies.results import Comparison, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["FULL", "MODELS", "SMALL", "Size", "at_30", "at_30_full", "learnt"]

EPOCHS, AT = (10, 20, 30), 30
MODELS = ("drawn", "iid", "crossover")
BEST, KNOWN = "best possible", "rates known"
_APART = 1 << 40  # between the seeds of people to train on and of those to attack


@dataclass(frozen=True)
class Size:
    """How many other people the neural attack learns from and how long, and how often everything is repeated."""

    training: int
    passes: int
    steps: int
    batch: int
    repetitions: int


SMALL = Size(training=4_000, passes=2, steps=200, batch=96, repetitions=2)
FULL = Size(training=200_000, passes=6, steps=4_000, batch=512, repetitions=10)


def learnt(people: People, model: str, size: Size, seed: int, progress: Progress | None = None) -> attacks.Neural:
    """Train the neural attack on other people of a population.

    Parameters
    ----------
    people : People
        Whom the population is made of.
    model : str
        Which population, one of :data:`MODELS`.
    size : Size
        How many people to train on, and how long.
    seed : int
        Of the people, who are none of those attacked, and of the training.
    progress : callable, optional
        Called with what is done.
    """
    one, two = people.sites(model, size.training, AT, _APART + seed)
    pairs = PairSchedule(batch=size.batch, steps=size.steps, look_every=max(10, size.steps // 10), patience=10)
    schedule = Schedule(batch=min(512, size.training // 20), passes=size.passes)
    attack = attacks.Neural("small", PairSizes(tower=512, dropout=0.0), pairs, schedule, seed=seed)
    return attack.train(one, two, progress=progress)


@study(
    "jha-ceiling",
    title="Topics API: attacks after 30 epochs beside the best one possible",
    reference="jha, Figure 3 at N = 30, with carey, Lemma 2",
    users=USERS,
    seconds=(240.0, 20_000.0),
    data=("jha-rates",),
)
def at_30(users: int, seed: int, progress: Progress) -> StudyResult:
    """Measure attacks on people of three known laws beside the best that anybody could do (carey, Lemma 2).

    People drawn from the authors' rows of rates, again and again, have a law that can be computed: the exact posterior
    is the ceiling there. For personas the law is known, too, but not its posterior; whoever is told the rates of all
    targets knows more than any two tables, and is an upper limit.

    Parameters
    ----------
    users : int
        Size of each population.
    seed : int
        Of people, training and repetitions.
    progress : callable
        Called with what is done.
    """
    return _measured(SMALL, users, seed, progress)


@study(
    "jha-ceiling-full",
    title="Topics API: attacks after 30 epochs beside the best one possible, trained on a GPU",
    reference="jha, Figure 3 at N = 30, with carey, Lemma 2",
    users=USERS,
    seconds=(14_400.0, 20_000.0),
    data=("jha-rates",),
)
def at_30_full(users: int, seed: int, progress: Progress) -> StudyResult:
    """Do the same with fifty times as many people to learn from, ten times: minutes on a GPU.

    Parameters
    ----------
    users, seed, progress
        As for :func:`at_30`.
    """
    return _measured(FULL, users, seed, progress)


def _measured(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    people = find_people()
    steps = Steps(progress, 4.0 * len(MODELS))
    found: Found = {}
    for model in MODELS:
        neural = learnt(people, model, size, seed, steps.within(f"{model}: train on other people", 3.0))
        law = KnownRates(people.matrix, TOP_K, NOISE) if model == "drawn" else None
        steps.begin(f"{model}: attack", 1.0)
        work = partial(_outcomes, people, model, users, neural, law)
        found |= repeat(work, seeds_of(seed, size.repetitions))
    return result(
        (users, seed, people, found),
        ("epochs", "number of epochs observed (one topic each), people drawn from the given ones"),
        _lines(found),
        _compared(found),
        notes=(
            f"{size.repetitions} repetitions. The neural attack learnt from {size.training:,} other people of the same "
            f"population, in {size.steps:,} steps, at {AT} epochs.",
            "'drawn': people drawn from the rows of rates, each row any number of times. There the exact posterior of "
            "an attacker who knows the rows, 'best possible', is the ceiling of everybody with the same two tables.",
            "'rates known': the exact posterior of an attacker who is told the rates of every target, which no table "
            "holds: nobody with the two tables alone exceeds it, and the best of them may well stay below.",
        ),
    )


def _outcomes(
    people: People, model: str, users: int, neural: attacks.Neural, law: KnownRates | None, seed: int
) -> dict[Key, Outcome]:
    one, two = people.sites(model, users, AT, seed)
    rates = people.personas(model, users, seed).toarray()
    told = KnownRates(rates, TOP_K, NOISE, whose=np.arange(users))
    makers: dict[str, Callable[[], attacks.Attack[Any]]] = {
        "LooseSets": attacks.LooseSets,
        "WeightedHamming": lambda: attacks.WeightedHamming(TOP_K, NOISE),
        "ProfileBayes": lambda: attacks.ProfileBayes(TOP_K, NOISE),
        KNOWN: lambda: copy.copy(told),
    }
    if law is not None:
        makers[BEST] = lambda: copy.copy(law)
    runs: dict[Key, Outcome] = {
        (model, name, n): outcome(make(), one.epochs(n), two.epochs(n)) for name, make in makers.items() for n in EPOCHS
    }
    runs[model, "Neural", AT] = outcome(copy.copy(neural), one, two)
    return runs


def _lines(found: Found) -> list[drawing.Line]:
    drawn = []
    for name, style in zip((BEST, "ProfileBayes", "WeightedHamming", "Neural"), drawing.ATTACKS, strict=False):
        each = {n: found["drawn", name, n] for n in EPOCHS if ("drawn", name, n) in found}
        drawn.append(line(name, style, {float(n): (one.rate, one.low, one.high) for n, one in each.items()}))
    return drawn


def _compared(found: Found) -> tuple[Comparison, ...]:
    def ours(name: str) -> str:
        there = [model for model in MODELS if (model, name, AT) in found]
        return ", ".join(f"{shown_rate(found[model, name, AT])} {model}" for model in there)

    printed = {
        "LooseSets": "around 25 % (I.I.D.)",
        "WeightedHamming": "above 40 % (I.I.D.) and 50 % (crossover), at N = 40",
    }
    why = {
        BEST: "The exact posterior, on people drawn from the given rates.",
        KNOWN: "An upper limit: rates of all targets are told.",
        "Neural": "It learnt from other people of the same population.",
    }
    names = ("LooseSets", "WeightedHamming", "ProfileBayes", "Neural", BEST, KNOWN)
    return tuple(
        Comparison(
            f"{name}: correct links, N = {AT}",
            printed.get(name, "not measured"),
            ours(name),
            why.get(name, "Beside what is possible, below."),
        )
        for name in names
    )
