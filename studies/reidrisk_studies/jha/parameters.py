"""Jha et al.: what the attacker's and the API's parameters change, Figures 5, 8, 9 and 10."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from reidrisk import attacks
from reidrisk.base.progress import Progress, Steps
from reidrisk.records import Traces
from reidrisk_studies.jha.near import NearHamming
from reidrisk_studies.jha.people import NOISE, TOP_K, USERS, People, find_people
from reidrisk_studies.jha.results import Found, Key, both_personas, curves, result, shown_rate
from reidrisk_studies.repeated import Outcome, outcome, repeat, seeds_of
from reidrisk_studies.results import Comparison, StudyResult
from reidrisk_studies.study import study

__all__ = ["figure_5", "figure_8", "figure_9", "figure_10"]

EPOCHS = 30
DISTANCES = (*range(50, 111, 3), *range(115, 201, 5))
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
SAMPLE = 10_000
"""Queries that the loose attack is scored on, out of the larger audiences."""
TOPICS = tuple(range(1, 11))
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)

PERSONAS = ("iid", "crossover")
_SWEPT = [
    (model, series, f"{name}, {model}")
    for series, name in (("LooseSets", "Loose"), ("WeightedHamming", "Weighted"))
    for model in PERSONAS
]
_EPOCHS_NOTE = f"{EPOCHS} epochs and threshold f = 2 throughout."


@study(
    "jha-fig5",
    title="Topics API: weighted Hamming that may abstain",
    reference="jha, Figure 5",
    users=USERS,
    seconds=(2.0, 3_000.0),
    data=("jha-rates",),
)
def figure_5(users: int, seed: int, progress: Progress) -> StudyResult:
    """Weighted Hamming with no answer beyond a distance, at 30 epochs (jha, Figure 5)."""
    people = find_people()
    steps = Steps(progress, 3.0)
    found: Found = {}
    nearest = {}
    for model in people.models:
        steps.begin(f"{model} users", 1.0)
        least: list[float] = []

        def work(seed: int, model: str = model, least: list[float] = least) -> dict[Key, Outcome]:
            one, two = people.sites(model, users, EPOCHS, seed)
            attack = NearHamming(TOP_K, NOISE).fit(one)
            links = attack.link(two)
            distance = attack.distance(two, links.target)
            least.append(float(distance.min()))
            every = outcome(attack, one, two, links=links)
            return {
                (model, "WeightedHamming", float(d)): Outcome(
                    np.where(distance <= d, every.correct, 0.0),
                    np.where(distance <= d, every.wrong, 0.0),
                    every.baseline,
                )
                for d in DISTANCES
            }

        found |= repeat(work, seeds_of(seed), same_users=model == people.given)
        nearest[model] = min(least)
    rates = [found["iid", "WeightedHamming", float(d)] for d in DISTANCES]
    ahead = [d for d, each in zip(DISTANCES, rates, strict=True) if each.incorrect > each.rate]
    compared = (
        Comparison(
            "least distance with an answer",
            "63",
            f"{nearest['iid']:.3g} (I.I.D.), {nearest['crossover']:.3g} (crossover), in nats",
            "The smallest of all users and repetitions: the more are run, the smaller. The paper's weights are not "
            "quite those of the theorem: the released code estimates popularity without subtracting the noise.",
        ),
        Comparison(
            "which links grow quicker with the distance",
            "incorrect ones",
            f"more incorrect than correct links from {ahead[0] if ahead else 'no distance'} on (I.I.D.); without limit "
            f"{shown_rate(rates[-1])} correct",
            "At small distances the correct ones come first: the distance does tell, but little.",
        ),
    )
    shown = [(model, "WeightedHamming", f"{kind}, {model}") for model in PERSONAS for kind in ("Right", "Wrong")]
    return result(
        (users, seed, people, found),
        ("distance", "largest distance D_max at which it answers, in nats"),
        curves(found, shown, DISTANCES, incorrect=(False, True, False, True)),
        compared,
        y_title="people linked correctly, or to somebody else",
        x_ticks=(50, 75, 100, 125, 150, 175, 200),
        notes=(_EPOCHS_NOTE,),
    )


@study(
    "jha-fig8",
    title="Topics API: number of users",
    reference="jha, Figure 8",
    users=SIZES[-1],
    seconds=(5.0, 900.0),
    data=("jha-rates",),
)
def figure_8(users: int, seed: int, progress: Progress) -> StudyResult:
    """Loose and strict attack at 30 epochs among more and more users (jha, Figure 8).

    ``users`` is the largest audience. The strict attack is scored on everyone, the loose one on everyone up to 10,000
    users and on a sample of 10,000 beyond; both see everyone.
    """
    people = find_people()
    sizes = [size for size in SIZES if size < users] + [users]
    steps = Steps(progress, 2.0 * sum(sizes))
    found: Found = {}
    for model in PERSONAS:
        for size in sizes:
            steps.begin(f"{model}, {size:,} users", size)

            def work(seed: int, model: str = model, size: int = size) -> dict[Key, Outcome]:
                one, two = people.sites(model, size, EPOCHS, seed)
                return {
                    (model, "StrictSets", size): outcome(attacks.StrictSets(), one, two),
                    (model, "LooseSets", size): _loose_of_sample(one, two),
                }

            # Large audiences one after the other: each already uses all cores, and a lot of memory.
            found |= repeat(work, seeds_of(seed), threads=1 if size > SAMPLE else None)
    falls = all(
        found[model, "LooseSets", a].rate > found[model, "LooseSets", b].rate
        for model in PERSONAS
        for a, b in pairwise(sizes)
        if a >= USERS
    )
    compared = (
        Comparison(
            f"loose attack among {users:,} users",
            "not negligible at 100,000",
            both_personas(found, "LooseSets", users),
            "Agrees; the paper prints no value.",
        ),
        Comparison(
            "shape",
            "slows down; a logarithmic decrease",
            f"falls from {USERS:,} users on: {'yes' if falls else 'not at every step'}; "
            + ", ".join(f"{size:,}: {100 * found['iid', 'LooseSets', size].rate:.3g} %" for size in sizes)
            + " (I.I.D.)",
            "A tenfold audience costs the attacker about 5 points of I.I.D. personas, and half of the crossover ones: "
            "268 parents make personas alike.",
        ),
    )
    shown = [
        (model, series, f"{name}, {model}")
        for model in PERSONAS
        for series, name in (("LooseSets", "Loose"), ("StrictSets", "Strict"))
    ]
    sampled = (
        f"Beyond {SAMPLE:,} users the loose attack is scored on the first {SAMPLE:,} of them (personas come in no "
        "order); it still sees everyone."
    )
    return result(
        (users, seed, people, found),
        ("users", "users of both sites"),
        curves(found, shown, sizes),
        compared,
        x_log=True,
        x_ticks=tuple(size for size in (100, 1_000, 10_000, 100_000, 1_000_000) if size <= users),
        notes=(_EPOCHS_NOTE, sampled),
    )


def _loose_of_sample(one: Traces, two: Traces) -> Outcome:
    return outcome(attacks.LooseSets(), one, two.take(slice(0, SAMPLE)))


@study(
    "jha-fig9",
    title="Topics API: number z of topics held",
    reference="jha, Figure 9",
    users=USERS,
    seconds=(5.0, 10_000.0),
    data=("jha-rates",),
)
def figure_9(users: int, seed: int, progress: Progress) -> StudyResult:
    """Loose attack at 30 epochs with z topics held (jha, Figure 9)."""
    people, found = _sweep(users, seed, progress, [(z, NOISE, float(z)) for z in TOPICS])
    best = {model: max(TOPICS, key=lambda z: found[model, "LooseSets", float(z)].rate) for model in PERSONAS}
    compared = (
        Comparison(
            "z with most correct links, loose attack",
            "3 or 4, by population",
            f"{best['iid']} (I.I.D.), {best['crossover']} (crossover)",
            "Neighbouring z differ little at the top.",
        ),
        Comparison(
            "towards z = 10",
            "goes towards zero",
            f"{both_personas(found, 'LooseSets', 10)}; weighted Hamming {both_personas(found, 'WeightedHamming', 10)}",
            "The set attacks starve with larger z: thirty topics of ten held repeat rarely. Not every attack does.",
        ),
    )
    return result(
        (users, seed, people, found),
        ("z", "topics held for a user in an epoch, z"),
        curves(found, _SWEPT, TOPICS),
        compared,
        notes=(_EPOCHS_NOTE,),
    )


@study(
    "jha-fig10",
    title="Topics API: probability p of a random topic",
    reference="jha, Figure 10",
    users=USERS,
    seconds=(5.0, 10_000.0),
    data=("jha-rates",),
)
def figure_10(users: int, seed: int, progress: Progress) -> StudyResult:
    """Loose attack at 30 epochs with noise p (jha, Figure 10)."""
    people, found = _sweep(users, seed, progress, [(TOP_K, p, p) for p in NOISES])

    def drop(model: str, series: str) -> str:
        none, tenth = (found[model, series, p] for p in (0.0, 0.1))
        return f"{100 * (none.rate - tenth.rate):.2g} points, from {shown_rate(none)} to {shown_rate(tenth)}"

    compared = (
        Comparison(
            "fall of the loose attack from p = 0 to p = 0.1",
            "less than 5 %",
            f"{drop('iid', 'LooseSets')} (I.I.D.); {drop('crossover', 'LooseSets')} (crossover)",
            "Taken as percentage points. "
            + "Noise also makes incorrect links rarer, so that it does not only protect.",
        ),
        Comparison(
            "the same for weighted Hamming",
            "not printed",
            f"{drop('iid', 'WeightedHamming')} (I.I.D.); {drop('crossover', 'WeightedHamming')} (crossover)",
            "A topic shown as noise never agrees: about one agreement in five is lost at p = 0.1.",
        ),
    )
    return result(
        (users, seed, people, found),
        ("noise", "probability of a random topic, p"),
        curves(found, _SWEPT, NOISES),
        compared,
        notes=(_EPOCHS_NOTE,),
    )


def _sweep(
    users: int, seed: int, progress: Progress, settings: Sequence[tuple[int, float, float]]
) -> tuple[People, Found]:
    """Run the attacks at every (z, p) of ``settings``; the third number is what it is called."""
    people = find_people()
    steps = Steps(progress, 3.0 * len(settings))
    found: Found = {}
    for model in people.models:
        for z, noise, x in settings:
            steps.begin(f"{model} users, z = {z}, p = {noise:g}", 1.0)

            def work(
                seed: int, model: str = model, z: int = z, noise: float = noise, x: float = x
            ) -> dict[Key, Outcome]:
                one, two = people.sites(model, users, EPOCHS, seed, top_k=z, noise=noise)
                return {
                    (model, "StrictSets", x): outcome(attacks.StrictSets(), one, two),
                    (model, "LooseSets", x): outcome(attacks.LooseSets(), one, two),
                    (model, "LooseSets, unique", x): outcome(attacks.LooseSets(require_unique=True), one, two),
                    (model, "WeightedHamming", x): outcome(attacks.WeightedHamming(z, noise), one, two),
                }

            found |= repeat(work, seeds_of(seed), same_users=model == people.given)
    return people, found
