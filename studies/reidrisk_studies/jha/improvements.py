"""Jha et al., Section 9.2: proposed changes of the Topics API, each with its risk and what an advertiser loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk import attacks, populations, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.records import Traces
from reidrisk_studies.jha.audiences import visits
from reidrisk_studies.jha.drawn_profiles import drawn_sets
from reidrisk_studies.jha.people import NOISE, SITES, TOP_K, USERS, People, find_people
from reidrisk_studies.jha.results import Found, Key, both_personas, in_percent, result, shown_rate
from reidrisk_studies.repeated import Outcome, combine, each_seed, mean_of_repetitions, outcome, seeds_of
from reidrisk_studies.results import Comparison, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["Change", "improvements"]

EPOCHS = 30
PERSONAS = ("iid", "crossover")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """One way to run the API: what is changed, to which value, and everything else as proposed."""

    family: str
    value: float
    z: int = TOP_K
    noise: float = NOISE
    lifetime: int = EPOCHS
    profile: str = "top"
    window: int = 0
    """E: 0 = one token per epoch, as the paper's figures count; else N epochs of visits show N + E - 1 tokens."""
    every: float = 1.0

    def sites(self, rates: populations.Rates, seed: int) -> tuple[Traces, Traces]:
        """Simulate what the two sites see of these users."""
        top_k = 1 if self.profile == "each site" else self.z
        api = topics.TopicsAPI(rates.n_topics, top_k=top_k, noise=self.noise)
        epochs = EPOCHS + max(0, self.window - 1)
        seen = []
        sets = None
        for site in SITES:
            if self.profile == "each site":
                sets = drawn_sets(rates, epochs, top_k, seed, site)
            elif sets is None and self.profile == "drawn":
                sets = drawn_sets(rates, epochs, top_k, seed)
            elif sets is None:
                sets = api.top_sets(rates, epochs=epochs, seed=seed)
            if self.every == 1.0:
                seen.append(api.expose(sets, seed=seed, site=site))
                continue
            came = visits(len(rates), epochs, self.every, seed, site)
            # The first E - 1 epochs are before the observation began.
            came[:, : epochs - EPOCHS] = False
            seen.append(api.observe(sets, seed=seed, site=site, visits=came, shown=self.window))
        return seen[0], seen[1]

    def attackers(self) -> Mapping[str, attacks.Attack[Any]]:
        """Return fresh attackers who know how the API is set; drawn profiles they take for top ones."""
        return {
            "StrictSets": attacks.StrictSets(),
            "LooseSets": attacks.LooseSets(),
            "WeightedHamming": attacks.WeightedHamming(self.z, self.noise),
            "ProfileBayes": attacks.ProfileBayes(self.z, self.noise),
        }


PROPOSED = Change("as proposed", 0)
CHANGES = (
    PROPOSED,
    *(Change("cookie lifetime L", n, lifetime=n) for n in (5, 10, 15)),
    Change("profile drawn by visits", TOP_K, profile="drawn"),
    Change("topic drawn by visits", 1, profile="each site"),
    *(Change("topics held z", z, z=z) for z in (1, 3, 8)),
    *(Change("past epochs shown E", e, window=e) for e in (1, 3, 6)),
    *(Change("past epochs shown E, visits every 3rd week", e, window=e, every=3.0) for e in (1, 3, 6)),
    *(Change("noise p", p, noise=p) for p in (0.0, 0.2, 0.4)),
)


@dataclass(frozen=True, eq=False)
class _Utility:
    """What an advertiser on site 1 gets of each user: share of topics that are real, and that are a strongest one."""

    real: Floats
    strongest: Floats
    known: Floats


@study(
    "jha-improvements",
    title="Topics API: proposed changes, risk and loss",
    reference="jha, Section 9.2",
    users=USERS,
    seconds=(45.0, 50_000.0),
    data=("jha-rates",),
)
def improvements(users: int, seed: int, progress: Progress) -> StudyResult:
    """Measure the changes proposed in jha, Section 9.2: risk at 30 epochs beside the advertiser's loss.

    A *real* topic is one that the user visits at all (lambda > 0), a *strongest* one is among the user's five most
    visited. With cookies that live L epochs, each site sees stretches of L epochs under one pseudonym, and the rate is
    that of one stretch; ``once`` is the share of users linked correctly in at least one of them.

    Parameters
    ----------
    users : int
        Size of each population of personas.
    seed : int
        Ten repetitions take their seeds from it.
    progress : callable
        Called with what is done.
    """
    people = find_people()
    steps = Steps(progress, float(len(PERSONAS) * len(CHANGES)))
    found: Found = {}
    more: dict[Key, dict[str, float]] = {}
    for model in PERSONAS:
        for change in CHANGES:
            steps.begin(f"{model}, {change.family} {change.value:g}", 1.0)
            runs = each_seed(partial(_run, people, model, users, change), seeds_of(seed))
            useful = _columns([utility for _, _, utility in runs])
            for name in runs[0][0]:
                key = (model, f"{change.family}: {name}", change.value)
                found[key] = combine([each[name] for each, _, _ in runs])
                once = mean_of_repetitions([each[name] for _, each, _ in runs])
                more[key] = dict(zip(("once", "once_low", "once_high"), once, strict=True)) | useful
    lines = _lines(found, more)
    places = [point.x for each in lines for point in each.points]
    return result(
        (users, seed, people, found),
        ("value", "share of shown topics that are real interests, in percent"),
        lines,
        _compared(found, more),
        x_ticks=tuple(x for x in range(0, 101, 10) if min(places) <= x <= max(places)),
        notes=(
            f"{EPOCHS} epochs of observation, f = 2. The attackers know z and p, and take drawn profiles for top ones.",
            "Cookies of both sites expire together, and nobody links a site's old pseudonyms with its new ones; with "
            "E = 3, two topics shown under both would help to.",
            "A real topic is one that the user visits at all; padding and noise count as real where they hit one.",
        ),
        more=more,
    )


def _run(
    people: People, model: str, users: int, change: Change, seed: int
) -> tuple[dict[str, Outcome], dict[str, Floats], _Utility]:
    rates = people.personas(model, users, seed)
    one, two = change.sites(rates, seed)
    stretches = [(one, two)]
    if change.lifetime < EPOCHS:
        stretches = [
            (_stretch(one, start, change.lifetime), _stretch(two, start, change.lifetime))
            for start in range(0, EPOCHS, change.lifetime)
        ]
    per_stretch = [
        {name: outcome(attack, pair[0], pair[1]) for name, attack in change.attackers().items()} for pair in stretches
    ]
    rate, once = {}, {}
    for name, first in per_stretch[0].items():
        right = np.stack([each[name].correct for each in per_stretch])
        wrong = np.stack([each[name].wrong for each in per_stretch])
        rate[name] = Outcome(right.mean(axis=0), wrong.mean(axis=0), first.baseline)
        once[name] = 1.0 - np.prod(1.0 - right, axis=0)
    return rate, once, _utility(rates, [stretch[0] for stretch in stretches])


def _stretch(site: Traces, start: int, epochs: int) -> Traces:
    return Traces(site.tokens[:, start : start + epochs], site.n_tokens)


def _utility(rates: populations.Rates, pseudonyms: list[Traces]) -> _Utility:
    """Measure what one site learns under each pseudonym."""
    visits = rates.toarray()
    fifth = np.sort(visits, axis=1)[:, -TOP_K]
    tokens = np.concatenate([each.tokens for each in pseudonyms], axis=1)
    rows, seen = np.arange(len(tokens))[:, None], tokens >= 0
    rate = visits[rows, np.where(seen, tokens, 0)]
    real = seen & (rate > 0)
    strongest = real & (rate >= fifth[:, None])
    shown = np.maximum(seen.sum(axis=1), 1)
    known = np.zeros(len(tokens))
    for each in pseudonyms:
        held = np.zeros(visits.shape, dtype=bool)
        held[np.broadcast_to(rows, each.tokens.shape)[each.tokens >= 0], each.tokens[each.tokens >= 0]] = True
        known += (held & (visits > 0)).sum(axis=1) / len(pseudonyms)
    return _Utility(real.sum(axis=1) / shown, strongest.sum(axis=1) / shown, known)


def _columns(useful: list[_Utility]) -> dict[str, float]:
    columns: dict[str, float] = {}
    most = max(each.known.max() for each in useful) or 1.0
    for name in ("real", "strongest", "known"):
        scale = most if name == "known" else 1.0
        values = mean_of_repetitions([getattr(each, name) / scale for each in useful])
        columns |= {
            f"{name}{end}": float(scale * value) for end, value in zip(("", "_low", "_high"), values, strict=True)
        }
    return columns


def _lines(found: Found, more: Mapping[Key, Mapping[str, float]]) -> list[drawing.Line]:
    """Draw risk over the share of real topics, as noise and the number of topics change."""
    drawn = []
    families = [(family, name) for family in ("noise p", "topics held z") for name in ("ProfileBayes", "LooseSets")]
    for (family, name), style in zip(families, drawing.ATTACKS, strict=True):
        points = {}
        for model, series, x in found:
            if model == "crossover" and series in (f"{family}: {name}", f"{PROPOSED.family}: {name}"):
                each = found[model, series, x]
                points[round(100 * more[model, series, x]["real"], 1)] = (each.rate, each.low, each.high)
        drawn.append(line(f"{name}, {family}", style, points))
    return drawn


def _compared(found: Found, more: Mapping[Key, Mapping[str, float]]) -> tuple[Comparison, ...]:
    def share(model: str, family: str, x: float, column: str = "real") -> str:
        key = (model, f"{family}: LooseSets", x)
        return in_percent(*(more[key][f"{column}{end}"] for end in ("", "_low", "_high")))

    def bayes(model: str, family: str, x: float) -> str:
        return shown_rate(found[model, f"{family}: ProfileBayes", x])

    lifetime = "cookie lifetime L"
    key = ("crossover", f"{lifetime}: ProfileBayes", 10.0)
    drawn, each = "profile drawn by visits", "topic drawn by visits"
    return (
        Comparison(
            "cookies that live 10 epochs, loose attack",
            "below 5 % correct, incorrect similar: 'impractical'",
            f"{both_personas(found, f'{lifetime}: LooseSets', 10)}; incorrect "
            f"{both_personas(found, f'{lifetime}: LooseSets', 10, incorrect=True)}",
            "About so for this attack. A better one links, in each stretch, "
            f"{both_personas(found, f'{lifetime}: ProfileBayes', 10)}, and in 30 epochs "
            f"{in_percent(*(more[key][f'once{end}'] for end in ('', '_low', '_high')))} crossover at least once.",
        ),
        Comparison(
            "as proposed: z = 5, p = 0.05, 30 epochs",
            "not printed",
            f"ProfileBayes {bayes('iid', 'as proposed', 0)} I.I.D., {bayes('crossover', 'as proposed', 0)} crossover; "
            f"{share('crossover', 'as proposed', 0)} of the shown topics are real",
            "What is not real is noise and padding.",
        ),
        Comparison(
            "probabilistic profile",
            "proposed, not measured: better balance, privacy not affected",
            f"set drawn by visits: ProfileBayes {bayes('crossover', drawn, TOP_K)}, {share('crossover', drawn, TOP_K)} "
            f"real; each topic drawn by visits: {bayes('crossover', each, 1)}, {share('crossover', each, 1)} real",
            "Crossover personas. A topic drawn by visits needs no padding as long as there is a visit, and sites draw "
            f"apart. {share('crossover', each, 1, 'strongest')} of these are among the five strongest interests, for "
            f"{share('crossover', 'as proposed', 0, 'strongest')} as proposed.",
        ),
        Comparison(
            "noise p = 0.2 for 0.05",
            "open to review",
            f"ProfileBayes {bayes('crossover', 'noise p', 0.2)}, {share('crossover', 'noise p', 0.2)} real",
            "Crossover personas. The advertiser loses what the noise replaces; the attacker loses about as much.",
        ),
        Comparison(
            "topics held z = 3 and z = 8 for 5",
            "z has a significant impact",
            f"ProfileBayes {bayes('crossover', 'topics held z', 3)} and {bayes('crossover', 'topics held z', 8)}, "
            f"{share('crossover', 'topics held z', 3)} and {share('crossover', 'topics held z', 8)} real",
            "Crossover personas. More topics are more padding: the loss is the advertiser's as well.",
        ),
        Comparison(
            "past epochs shown E = 1 for 3, of users who come every third week",
            "open to review",
            f"ProfileBayes {bayes('crossover', 'past epochs shown E, visits every 3rd week', 1)} for "
            f"{bayes('crossover', 'past epochs shown E, visits every 3rd week', 3)}",
            "Crossover personas. Of users who come every week E only adds E - 1 topics: "
            f"{bayes('crossover', 'past epochs shown E', 1)} with E = 1, "
            f"{bayes('crossover', 'past epochs shown E', 6)} with E = 6.",
        ),
    )
