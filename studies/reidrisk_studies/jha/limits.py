"""Limits that jha names and does not measure (Sections 3.1, 6.3, 9.1, 9.3): observers, overlap, groups, drift, gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reidrisk import attacks, measure, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.streams import stream
from reidrisk_studies.jha.audiences import audiences, seen, visits
from reidrisk_studies.jha.drift import drifting
from reidrisk_studies.jha.people import NOISE, SITES, TOP_K, USERS, People, find_people
from reidrisk_studies.jha.results import Found, Key, curves, result, shown_rate
from reidrisk_studies.repeated import Outcome, outcome, repeat, seeds_of
from reidrisk_studies.results import Comparison, StudyResult
from reidrisk_studies.study import study

__all__ = ["limits"]

EPOCHS = 30
PERSONAS = ("crossover",)
OBSERVERS = (1, 2, 4)
OVERLAPS = (1.0, 0.75, 0.5, 0.25)
GROUPS = (1, 4, 16, 64)
HALF_LIVES = (120.0, 60.0, 30.0, 15.0)
EVERY = (1.0, 2.0, 3.0, 5.0)

Runs = dict[str, Outcome]
_ATTACKERS: Mapping[str, Callable[[], attacks.Attack[Any]]] = {
    "LooseSets": attacks.LooseSets,
    "WeightedHamming": lambda: attacks.WeightedHamming(TOP_K, NOISE),
    "ProfileBayes": lambda: attacks.ProfileBayes(TOP_K, NOISE),
}


@study(
    "jha-limits",
    title="Topics API: what the paper assumes away",
    reference="jha, Section 9",
    users=USERS,
    seconds=(50.0, 60_000.0),
    data=("jha-rates",),
)
def limits(users: int, seed: int, progress: Progress) -> StudyResult:
    """Measure what the paper assumes away: each limit by itself, at 30 epochs, with the loose attack and better ones.

    Observers: sites that pool what they saw, against one other site. Overlap: share of each audience that visits
    both sites. Groups: the audience falls into groups by a fingerprint that both sites see. Drift: half-life
    of an interest, in epochs. Gaps: weeks from one visit of a site to the next, on average, with E = 3.

    Parameters
    ----------
    users : int
        Size of each site's audience.
    seed : int
        Ten repetitions take their seeds from it.
    progress : callable
        Called with what is done.
    """
    people = find_people()
    measured: list[tuple[str, float, Callable[[People, str, int, int, Any], Runs]]] = [
        *(("observers", x, _observers) for x in OBSERVERS),
        *(("overlap", x, _overlap) for x in OVERLAPS),
        *(("groups", x, _groups) for x in GROUPS),
        *(("half-life", x, _drift) for x in HALF_LIVES),
        *(("gaps", x, _gaps) for x in EVERY),
    ]
    steps = Steps(progress, float(len(PERSONAS) * len(measured)))
    found: Found = {}
    for model in PERSONAS:
        for limit, x, run in measured:
            steps.begin(f"{model}, {limit} {x:g}", 1.0)

            def work(
                seed: int, model: str = model, limit: str = limit, x: float = x, run: Callable[..., Runs] = run
            ) -> dict[Key, Outcome]:
                runs = run(people, model, users, seed, x)
                return {(model, f"{limit}: {name}", x): each for name, each in runs.items()}

            found |= repeat(work, seeds_of(seed))
    shown = [("crossover", f"gaps: {name}", name) for name in _ATTACKERS]
    return result(
        (users, seed, people, found),
        ("value", "weeks from one visit of a site to the next, on average (crossover)"),
        curves(found, shown, EVERY),
        _compared(found),
        notes=(
            f"Crossover personas, {EPOCHS} epochs, f = 2; one limit is changed at a time. A query whose user is not "
            "among the targets can only be linked wrongly; the attackers do not know how many there are.",
            "Groups are drawn evenly and both sites see the same one. Interests change in the rows 'half-life' only: "
            "drift replaces single interests by those of other users, so that how common a topic is stays the same.",
        ),
    )


def _run(targets: Any, queries: Any, truth: Any = None) -> Runs:
    return {name: outcome(make(), targets, queries, truth) for name, make in _ATTACKERS.items()}


def _observers(people: People, model: str, users: int, seed: int, count: int) -> Runs:
    sets = people.top_sets(model, users, EPOCHS, seed)
    api = topics.TopicsAPI(people.n_topics, TOP_K, NOISE)
    colluding = [api.expose(sets, seed=seed, site=SITES[0] if i == 0 else f"site 1.{i}") for i in range(count)]
    pooled = attacks.pool(colluding) if count > 1 else colluding[0]
    return _run(pooled, api.expose(sets, seed=seed, site=SITES[1]))


def _overlap(people: People, model: str, users: int, seed: int, overlap: float) -> Runs:
    everyone = round(users * (2.0 - overlap))
    one, two = people.sites(model, everyone, EPOCHS, seed)
    rows = audiences(everyone, overlap, seed)
    targets, queries = (seen(site, rows=mine) for site, mine in zip((one, two), rows, strict=True))
    return _run(targets, queries, measure.find_truth(targets, queries).target)


def _groups(people: People, model: str, users: int, seed: int, count: int) -> Runs:
    one, two = people.sites(model, users, EPOCHS, seed)
    group = stream(seed, "fingerprints").permutation(users) % count
    runs: Runs = {}
    for name, make in _ATTACKERS.items():
        whole = make().fit(one)
        correct, wrong = np.zeros(users), np.zeros(users)
        for number in range(count):
            members = np.flatnonzero(group == number)
            attack = whole.narrowed(members)
            part = two.take(members)
            each = outcome(attack, members, part, links=attack.link(part))
            correct[members], wrong[members] = each.correct, each.wrong
        runs[name] = Outcome(correct, wrong, count / users)
    return runs


def _drift(people: People, model: str, users: int, seed: int, half_life: float) -> Runs:
    rates = drifting(people.rates(model, users, seed), 1.0 - 0.5 ** (1.0 / half_life), seed)
    api = topics.TopicsAPI(people.n_topics, TOP_K, NOISE)
    sets = api.top_sets(rates, epochs=EPOCHS, seed=seed)
    return _run(*(api.expose(sets, seed=seed, site=site) for site in SITES))


def _gaps(people: People, model: str, users: int, seed: int, every: float) -> Runs:
    sets = people.top_sets(model, users, EPOCHS, seed)
    api = topics.TopicsAPI(people.n_topics, TOP_K, NOISE)
    seen = [api.observe(sets, seed=seed, site=site, visits=visits(users, EPOCHS, every, seed, site)) for site in SITES]
    return _run(*seen)


def _compared(found: Found) -> tuple[Comparison, ...]:
    def from_to(limit: str, first: float, last: float, incorrect: bool = False) -> str:
        parts = []
        for name in _ATTACKERS:
            a, b = (shown_rate(found["crossover", f"{limit}: {name}", x], incorrect) for x in (first, last))
            parts.append(f"{name} {a} to {b}")
        return "; ".join(parts)

    named = "named as a limit, not measured"
    return (
        Comparison(
            "1 to 4 sites that pool what they saw, against one other (Section 9.3)",
            named,
            from_to("observers", 1, OBSERVERS[-1]),
            "The loose attack counts topics over all sites at a fixed f = 2: noise then passes the threshold.",
        ),
        Comparison(
            "overlap of the audiences from 100 % to 25 % (Section 3.1)",
            "more effective with many users in common",
            f"{from_to('overlap', 1.0, OVERLAPS[-1])}; incorrect: {from_to('overlap', 1.0, OVERLAPS[-1], True)}",
            "Shares of all queries: at 25 % overlap no attacker can have more than 25 % correct. Attackers who always "
            "answer are wrong about all strangers.",
        ),
        Comparison(
            "the audience cut into 1 to 64 groups by a fingerprint (Section 6.3)",
            "would increase the attacker's chances",
            from_to("groups", 1, GROUPS[-1]),
            "Agrees; the larger the audience, the more it gains.",
        ),
        Comparison(
            "half-life of an interest from 120 to 15 epochs (Section 9.1)",
            named,
            from_to("half-life", HALF_LIVES[0], HALF_LIVES[-1]),
            "Both sites see the drift, so a comparison week by week even gains from it, and ProfileBayes, which "
            "compares weeks as well as totals, keeps its rate. Sets of topics over all weeks get larger and share "
            "less: the loose attack loses.",
        ),
        Comparison(
            "visits every week to every fifth week, E = 3 (Section 9.1)",
            "the time needed increases",
            from_to("gaps", EVERY[0], EVERY[-1]),
            "With E = 3, a visit every third week misses less than a third of the topics.",
        ),
    )
