"""Figure 2 of carey beside the best attack possible: on people of a fitted mixture, and on those it was fitted to."""

from __future__ import annotations

from typing import Any

from reidrisk import attacks, measure, populations, release, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.results import Risk
from reidrisk.measure import Ceiling
from reidrisk.present import drawing
from reidrisk.records import TopSets
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["best_possible"]

EPOCHS = (1, 2, 4, 8)
NOISE, TOP_K = 0.05, 5
TYPES, STEPS = 100, 400
"""Of the mixture, and of its fit: more of either takes long without a GPU."""

SAMPLE = 1_000
MIXTURE, PUBLISHED = "people of the mixture", "published population"


@study(
    "carey-ceiling",
    title="Topics API: attacks beside the best one possible",
    reference="carey, Figure 2 and Lemma 2",
    users=100_000,
    seconds=(300.0, 9_000.0),
    least=500,
)
def best_possible(users: int, seed: int, progress: Progress) -> StudyResult:
    """Risk against the number of epochs, of attacks and of the exact posterior under a fitted mixture of types.

    On people drawn from the mixture nobody with the same records beats the exact posterior; on the published
    population, whose statistics it was fitted to, it is one more attacker.

    Parameters
    ----------
    users : int
        Size of each population.
    seed : int
        Of the populations, the fit, the two sites and the sample.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 100.0 + 2.0 * sum(EPOCHS))
    steps.begin("fit a mixture of types", 100.0)
    stats = release.exact_statistics(populations.published(max(users, 20_000), 2, seed=seed))
    model = release.fit_mixture(stats, TYPES, EPOCHS[-1], seed, steps=STEPS)
    found: dict[tuple[str, int], Ceiling] = {}
    for name, sets in (
        (MIXTURE, populations.mixture(model, users, seed=seed + 1)),
        (PUBLISHED, populations.published(users, EPOCHS[-1], seed=seed + 1)),
    ):
        for r in EPOCHS:
            steps.begin(f"{name}, {r} epochs", float(r))
            found[name, r] = _ceiling(model, sets.epochs(r), seed)
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(row for (name, r), one in found.items() for row in _rows(name, r, one)),
        lines=tuple(_lines({r: one for (name, r), one in found.items() if name == MIXTURE})),
        x_title="number of epochs observed",
        comparisons=_compared(found),
        assumptions=(
            f"A mixture of {TYPES} types was fitted in {STEPS} steps to exact statistics of the published population.",
            "Two sites see one topic per epoch each, of five held, and a uniformly random one with probability 0.05.",
            f"Every attack was measured on the same {min(users, SAMPLE):,} people drawn at random, among all of them.",
            "The paper names no ceiling for attackers who see records alone; its Lemma 2 says what the best one does.",
        ),
    )


def _ceiling(model: populations.TypeMixture, sets: TopSets, seed: int) -> Ceiling:
    api = topics.TopicsAPI(sets.n_tokens, top_k=TOP_K, noise=NOISE)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    others: list[attacks.Attack[Any]] = [
        attacks.Hamming(),
        attacks.WeightedHamming(TOP_K, NOISE),
        attacks.ProfileBayes(top_k=TOP_K, noise=NOISE),
    ]
    return measure.ceiling(model, one, two, others, NOISE, sample=min(len(sets), SAMPLE), seed=seed)


def _rows(population: str, r: int, found: Ceiling) -> list[Row]:
    def row(risk: Risk, share: float, low: float, high: float | None) -> Row:
        return {
            "population": population,
            "series": risk.attack,
            "epochs": r,
            "rate": risk.rate,
            "low": risk.low,
            "high": risk.high,
            "share": share,
            "share_low": low,
            "share_high": "" if high is None else high,
            "targets": risk.n_targets,
            "queries": risk.n_queries,
        }

    return [row(found.best, 1.0, 1.0, 1.0)] + [row(one.risk, one.share, one.low, one.high) for one in found.others]


def _lines(found: dict[int, Ceiling]) -> list[drawing.Line]:
    series: dict[str, dict[int, tuple[float, float, float]]] = {}
    for r, one in found.items():
        for risk in (one.best, *(other.risk for other in one.others)):
            series.setdefault(risk.attack, {})[r] = (risk.rate, risk.low, risk.high)
    return [line(name, style, points) for (name, points), style in zip(series.items(), drawing.ATTACKS, strict=False)]


def _compared(found: dict[tuple[str, int], Ceiling]) -> tuple[Comparison, ...]:
    last = found[MIXTURE, EPOCHS[-1]]
    share = max(last.others, key=lambda one: one.share)
    ours = f"{share.risk.attack} gets {share.share:.2f} of it"
    why = "On people of the mixture its exact posterior is the ceiling; the paper bounds it and does not compute it."
    return (Comparison(f"share of the ceiling at {EPOCHS[-1]} epochs", "not computed", ours, why),)
