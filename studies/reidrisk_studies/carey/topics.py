"""Carey et al., Measuring re-identification risk: the Topics API, Figure 2.

The information of one epoch, Appendix F.1.4, is in :mod:`reidrisk_studies.carey.single_epoch`, the experiment on songs,
Figure 4, in :mod:`reidrisk_studies.carey.songs`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from reidrisk import attacks, bounds, measure, populations, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.results import Bound, Difference, Risk
from reidrisk.present import drawing
from reidrisk.records import TopSets, Traces
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_2"]

EPOCHS = (1, 2, 4, 6, 8)
PUBLISHED_USERS = 10_000_000
NOISE, TOP_K = 0.05, 5

POPULATION = (
    "Users are drawn from the published population: rates of topics, of pairs within a week and across two weeks, and "
    "the information of one epoch are those printed in the papers; everything else about people is our choice."
)
SITES = "Two sites see one topic per epoch each, of five held, and a uniformly random one with probability 0.05."

Rates = dict[int, tuple[float, float, float]]


@study(
    "carey-fig2",
    title="Topics API: risk against the number of epochs",
    reference="carey, Figure 2",
    users=PUBLISHED_USERS,
    seconds=(5.0, 75.0),
)
def figure_2(users: int, seed: int, progress: Progress) -> StudyResult:
    """Risk against the number of epochs: plain, weighted, and with every user's top sets known (carey, Figure 2).

    Both Hamming attacks link every user among all; the attacker who knows the top sets is measured on a sample, and
    estimated a second time from its own probabilities (:func:`reidrisk.bounds.topics_optimum`).

    Parameters
    ----------
    users : int
        Size of the population; 10 million in the paper.
    seed : int
        Of the population, the two sites and the samples.
    progress : callable
        Called with what is done.
    """
    steps = Steps(progress, 12.0 + sum(4.0 + 3.0 * r + 0.06 * 2**r for r in EPOCHS))
    steps.begin(f"draw {users:,} users", 12.0)
    sets = populations.published(users, EPOCHS[-1], seed=seed)
    api = topics.TopicsAPI(sets.n_tokens, top_k=TOP_K, noise=NOISE)
    one, two = (api.expose(sets, seed=seed, site=site) for site in ("site 1", "site 2"))
    risks: list[Risk] = []
    limits: list[Bound] = []
    gaps: list[Difference] = []
    for r in EPOCHS:
        steps.begin(f"{r} epochs: everyone among everyone", 4.0 + 0.06 * 2**r)
        pair = [
            measure.random_user(attack, one.epochs(r), two.epochs(r))
            for attack in (attacks.WeightedHamming(TOP_K, NOISE), attacks.Hamming())
        ]
        gaps.append(measure.difference(pair[0], pair[1]))
        risks += [replace(risk, per_user=None) for risk in pair]
        del pair
        steps.begin(f"{r} epochs: top sets known", 3.0 * r)
        risks.append(_top_sets_known(sets, one.epochs(r), two.epochs(r), seed))
        limits.append(bounds.topics_optimum(sets.epochs(r), NOISE, samples=_size(1e9, 500, 2_000, users), seed=seed))
        limits += bounds.topics_full_information(sets.epochs(r), NOISE, queries=two.epochs(r))
    return StudyResult(
        users=users,
        seed=seed,
        rows=(*map(_risk_row, risks), *map(_bound_row, limits)),
        lines=_lines(risks, limits, users),
        x_title="number of epochs observed",
        comparisons=_compared(risks, gaps, users),
        assumptions=(
            POPULATION,
            SITES,
            "Hamming and weighted Hamming were measured on all users, ties counted exactly: those rates are exact for "
            f"these users, and the intervals are for {_whom(risks)}.",
            f"The attacker who knows all top sets was measured on {risks[-1].n_queries:,} users drawn at random; "
            "no attacker does better in this closed world.",
            "The neural attack of the paper, which learns from other people, is in the study carey-ceiling.",
        ),
    )


def _top_sets_known(sets: TopSets, one: Traces, two: Traces, seed: int) -> Risk:
    attack = attacks.FullInformation(sets, noise=NOISE)
    sample = _size(5e9, 2_000, 10_000, len(one))
    return replace(measure.random_user(attack, one, two, sample=sample, seed=seed), per_user=None)


def _size(work: float, least: int, most: int, users: int) -> int:
    """Return how many queries to sample, so that the work stays about the same at any number of users."""
    return max(least, min(most, int(work / users)))


def _whom(risks: list[Risk]) -> str:
    everyone = all(risk.covers == "people" for risk in risks if risk.everyone)
    return "users like these" if everyone else "other queries among the same targets"


def _risk_row(risk: Risk) -> Row:
    return {
        "series": risk.attack,
        "kind": "measured",
        "setting": risk.setting,
        "epochs": risk.n_epochs,
        "rate": risk.rate,
        "low": risk.low,
        "high": risk.high,
        "baseline": risk.baseline,
        "targets": risk.n_targets,
        "queries": risk.n_queries,
        "reference": "",
    }


def _bound_row(bound: Bound) -> Row:
    n = round(1.0 / bound.baseline)
    return {
        "series": f"{bound.name}, sampled" if "samples" in bound.inputs else bound.name,
        "kind": "bound",
        "setting": bound.setting,
        "epochs": bound.n_epochs or 0,
        "rate": bound.value,
        "low": bound.low,
        "high": bound.high,
        "baseline": bound.baseline,
        "targets": n,
        "queries": int(bound.inputs.get("samples", n)),
        "reference": bound.reference,
    }


def _lines(risks: list[Risk], limits: list[Bound], users: int) -> tuple[drawing.Line, ...]:
    names = {
        "WeightedHamming": "Weighted Hamming",
        "Hamming": "Hamming",
        "FullInformation": "Top sets known",
    }
    drawn = []
    for (attack, name), style in zip(names.items(), drawing.ATTACKS, strict=False):
        points = {risk.n_epochs: (risk.rate, risk.low, risk.high) for risk in risks if risk.attack == attack}
        drawn.append(line(name, style, points))
    proven: Rates = {}
    for bound in limits:
        estimated = "samples" in bound.inputs
        if bound.setting == "random user" and bound.says_something and not estimated and bound.n_epochs:
            least = min(bound.value, proven.get(bound.n_epochs, (1.0,))[0])
            proven[bound.n_epochs] = (least, least, least)
    if proven:
        drawn.append(line("Bound of the lemmas", drawing.BOUND, proven, "Bound"))
    if users == PUBLISHED_USERS:
        published = {4: (0.01, 0.01, 0.01), 8: (0.03, 0.03, 0.03)}
        style = replace(drawing.PUBLISHED_BELOW, color=drawing.ATTACKS[3].color)
        drawn.append(line("Published: below", style, published))
    guess = 1.0 / users
    drawn.append(line("Blind guessing", drawing.GUESSING, dict.fromkeys(EPOCHS, (guess, guess, guess))))
    return tuple(drawn)


def _compared(risks: list[Risk], gaps: list[Difference], users: int) -> tuple[Comparison, ...]:
    found = {(risk.attack, risk.n_epochs): risk for risk in risks}
    size = (
        f"With {users:,} instead of 10,000,000 users there are fewer to be confused with, so rates are higher. "
        if users < PUBLISHED_USERS
        else ""
    )
    people = (
        size + "Our users share the printed rates with the real ones, not their habits: which unlisted interests go "
        "together, and how long they last, is our choice."
    )

    def both(r: int) -> str:
        weighted, plain = found["WeightedHamming", r], found["Hamming", r]
        return f"{_exact(weighted)} weighted, {_exact(plain)} plain"

    grows = all(a.difference <= b.difference for a, b in pairwise(gaps))
    ahead = [gap.n_epochs for gap in gaps if gap.low > 0.0]
    known = found["FullInformation", 8]
    return (
        Comparison("rate at 4 epochs, both Hamming attacks (dick, 6.1.3)", "below 1 %", both(4), people),
        Comparison("rate at 8 epochs, every attack", "below 3 %", both(8), people),
        Comparison(
            "order of the attacks",
            "neural above weighted above plain, the gap growing with the epochs",
            f"weighted above plain beyond chance at {', '.join(map(str, ahead)) or 'no number of'} epochs; "
            f"the gap {'grows' if grows else 'does not always grow'} with the epochs",
            "The neural attack is in the study carey-ceiling. At 1 epoch the two attacks must tie: every match counts "
            "the same for one query.",
        ),
        Comparison(
            "what no attacker exceeds who knows all top sets, 8 epochs",
            "not measured",
            f"{_exact(known)} ({100 * known.low:.3g} to {100 * known.high:.3g} %)",
            "The attackers above know what one site saw, not the sets behind it: showing one topic of five is what "
            "keeps their rates low.",
        ),
    )


def _exact(risk: Risk) -> str:
    return f"{100 * risk.rate:.3g} %"
