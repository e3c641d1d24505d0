"""Figure 2 of carey beside the best attack possible: on people of a fitted mixture, and on those it was fitted to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reidrisk import attacks, measure, populations, release, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.results import Risk
from reidrisk.measure import Ceiling
from reidrisk.present import drawing
from reidrisk.records import TopSets, Traces
from reidrisk.sequence import Schedule, Sizes
from reidrisk.sequence.pairs import PairSchedule, PairSizes
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["FULL", "SMALL", "Size", "best_possible", "best_possible_full"]

EPOCHS = tuple(range(1, 9))
NOISE, TOP_K = 0.05, 5
MIXTURE, PUBLISHED = "people of the mixture", "published population"
_APART = 1 << 40  # between the seeds of people to train on and of those to attack


@dataclass(frozen=True)
class Size:
    """Types of the mixture and steps of its fit; people to train the neural attack on, and how long; queries."""

    types: int
    fit_steps: int
    training: int
    passes: int
    steps: int
    batch: int
    sample: int
    sizes: Sizes = Sizes()  # noqa: RUF009, frozen


SMALL = Size(types=50, fit_steps=250, training=20_000, passes=2, steps=600, batch=128, sample=1_000)
FULL = Size(types=500, fit_steps=1_500, training=1_000_000, passes=5, steps=6_000, batch=1_024, sample=4_000)


@study(
    "carey-ceiling",
    title="Topics API: attacks beside the best one possible",
    reference="carey, Figure 2 and Lemma 2",
    users=5_000,
    seconds=(350.0, 15_000.0),
    least=500,
)
def best_possible(users: int, seed: int, progress: Progress) -> StudyResult:
    """Figure 2 with the neural attack and the ceiling, small enough for two cores.

    On people drawn from a fitted mixture of types nobody with the same records beats the exact posterior; on the
    published population, whose statistics it was fitted to, it is one more attacker.

    Parameters
    ----------
    users : int
        Size of each population.
    seed : int
        Of the populations, the fit, the training, the two sites and the sample.
    progress : callable
        Called with what is done.
    """
    return _measured(SMALL, users, seed, progress)


@study(
    "carey-ceiling-full",
    title="Topics API: attacks beside the best one possible, trained on a GPU",
    reference="carey, Figure 2 and Lemma 2",
    users=100_000,
    seconds=(14_400.0, 100_000.0),
    least=500,
)
def best_possible_full(users: int, seed: int, progress: Progress) -> StudyResult:
    """Do the same with ten times as many types and fifty times as many people to learn from: minutes on a GPU.

    Parameters
    ----------
    users, seed, progress
        As for :func:`best_possible`.
    """
    return _measured(FULL, users, seed, progress)


def _measured(size: Size, users: int, seed: int, progress: Progress) -> StudyResult:
    steps = Steps(progress, 160.0 + 2.0 * sum(EPOCHS))
    steps.begin("fit a mixture of types", 60.0)
    stats = release.exact_statistics(populations.published(max(users, 20_000), 2, seed=seed))
    model = release.fit_mixture(stats, size.types, EPOCHS[-1], seed, steps=size.fit_steps)
    found: dict[tuple[str, int], Ceiling] = {}
    drawn: dict[str, Callable[[int, int], TopSets]] = {
        MIXTURE: lambda n, seed: populations.mixture(model, n, seed=seed),
        PUBLISHED: lambda n, seed: populations.published(n, EPOCHS[-1], seed=seed),
    }
    for name, draw in drawn.items():
        apart = _APART + seed
        train = steps.within(f"{name}, train on others", 50.0)
        neural = _learnt(size, _sites(draw(size.training, apart), apart), seed, train)
        one, two = _sites(draw(users, seed + 1), seed)
        for r in EPOCHS:
            steps.begin(f"{name}, {r} epochs", float(r))
            others: list[attacks.Attack[Any]] = [
                neural,
                attacks.ProfileBayes(top_k=TOP_K, noise=NOISE),
                attacks.WeightedHamming(TOP_K, NOISE),
                attacks.Hamming(),
            ]
            asked: dict[str, Any] = {"sample": min(users, size.sample), "seed": seed}
            found[name, r] = measure.ceiling(model, one.epochs(r), two.epochs(r), others, NOISE, **asked)
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(row for (name, r), one in found.items() for row in _rows(name, r, one)),
        lines=tuple(_lines({r: one for (name, r), one in found.items() if name == MIXTURE})),
        x_title="number of epochs observed",
        comparisons=_compared(found),
        assumptions=(
            f"A mixture of {size.types} types was fitted in {size.fit_steps:,} steps to exact statistics of the "
            "published population.",
            "Two sites see one topic per epoch each, of five held, and a uniformly random one with probability 0.05.",
            f"The neural attack learnt from {size.training:,} other people of each population in {size.steps:,} steps; "
            "one network links by any number of epochs.",
            f"Every attack was measured on the same {min(users, size.sample):,} people drawn at random, among all.",
            "The paper names no ceiling for attackers who see records alone; its Lemma 2 says what the best one does.",
        ),
    )


def _sites(sets: TopSets, seed: int) -> list[Traces]:
    api = topics.TopicsAPI(sets.n_tokens, top_k=TOP_K, noise=NOISE)
    return [api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2")]


def _learnt(size: Size, sites: list[Traces], seed: int, progress: Progress) -> attacks.Neural:
    """Train one network for all numbers of epochs."""
    pairs = PairSchedule(
        batch=size.batch, steps=size.steps, look_every=max(10, size.steps // 8), patience=8, shorter=0.75
    )
    schedule = Schedule(batch=min(4_096, size.training // 100), passes=size.passes)
    attack = attacks.Neural(size.sizes, PairSizes(tower=512, dropout=0.0), pairs, schedule, seed=seed)
    return attack.train(sites[0], sites[1], progress=progress)


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
    def of(name: str, r: int) -> str:
        one = found[name, r]
        rates = [f"{risk.attack} {100 * risk.rate:.2g} %" for risk in (one.best, *(other.risk for other in one.others))]
        return ", ".join(rates)

    last = EPOCHS[-1]
    share = max(found[MIXTURE, last].others, key=lambda one: one.share)
    return (
        Comparison(
            f"share of the ceiling at {last} epochs",
            "not computed",
            f"{share.risk.attack} gets {share.share:.2f} of it",
            "On people of the mixture the exact posterior is the ceiling; the paper bounds it and does not compute it.",
        ),
        Comparison(
            f"order of the attacks at {last} epochs, published population",
            "neural above weighted above plain",
            of(PUBLISHED, last),
            "Among fewer people than the paper's 10 million, so that all rates are higher. A network that learnt from "
            "few people finds few.",
        ),
    )
