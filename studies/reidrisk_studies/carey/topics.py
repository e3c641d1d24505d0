"""Carey et al., Measuring re-identification risk: the Topics API, Figure 2 and Appendix F.1.4.

The experiment on songs, Figure 4, is in :mod:`reidrisk_studies.carey.songs`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from reidrisk import attacks, bounds, measure, populations, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.base.results import Bound, Difference, Risk
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import percent, two_digits
from reidrisk.records import TopSets, Traces
from reidrisk_studies.carey.information import EpochInformation, epoch_information
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["figure_2", "single_epoch"]

EPOCHS = (1, 2, 4, 6, 8)
PUBLISHED_USERS = 10_000_000
NOISE, TOP_K = 0.05, 5

# carey, Appendix F.1.4, in bits: entropy, conditional entropy, mutual information; and the last an epoch, of eight.
ENTROPY, CONDITIONAL, MUTUAL, MUTUAL_OF_EIGHT = 7.59, 6.66, 0.93, 1.09

_POPULATION = (
    "Users are drawn from the published population: rates of topics, of pairs within a week and across two weeks, and "
    "the information of one epoch are those printed in the papers; everything else about people is our choice."
)
_SITES = "Two sites see one topic per epoch each, of five held, and a uniformly random one with probability 0.05."

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
            _POPULATION,
            _SITES,
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


@study(
    "carey-information",
    title="Topics API: information of a single epoch, and the bound it gives",
    reference="carey, Appendix F.1.4 and Lemma 9",
    users=1_000_000,
    seconds=(1.0, 4.0),
)
def single_epoch(users: int, seed: int, progress: Progress) -> StudyResult:
    """Entropy and mutual information of one epoch in closed form, and the bound they give (carey, F.1.4, Lemma 9).

    Rates of topics and of pairs are counted on ``users`` users; the bits follow without sampling or training. An
    attacker who knows what site 1 saw of everyone learns at most I(A; B) bits about whose record on site 2 is: with
    W what site 1 saw, MI(I; O | W) = H(O | W) - H(O | I, W) <= H(B) - H(B | A) for users drawn alike and apart.
    """
    steps = Steps(progress, 3.0)
    steps.begin(f"draw {users:,} users", 2.0)
    sets = populations.published(users, 1, seed=seed)
    steps.begin("count pairs of topics", 1.0)
    pairs = topics.pairs_from_sets(sets)
    found = epoch_information(np.diag(pairs), pairs, NOISE, TOP_K)
    about = {
        "two sites": (found.mutual, "what site 1 saw is known, epochs independent"),
        "top sets known": (found.about_set, "top sets are known, epochs independent given them"),
        "two sites, published": (MUTUAL_OF_EIGHT, "bits per epoch as printed for eight epochs"),
    }
    bits: list[Row] = [
        {"quantity": name, "epochs": 1, "value": value, "unit": "bits", "note": "one epoch, closed form"}
        for name, value in found.to_dict().items()
    ]
    limit = {
        name: {r: bounds.from_mutual_information(r * each, PUBLISHED_USERS) for r in range(1, 9)}
        for name, (each, _) in about.items()
    }
    bits += [
        {"quantity": f"Lemma 9: {name}", "epochs": r, "value": value, "unit": "rate", "note": about[name][1]}
        for name, values in limit.items()
        for r, value in values.items()
    ]
    telling = {
        name: {r: (value, value, value) for r, value in values.items() if value < 1.0} for name, values in limit.items()
    }
    names = ("Site 1 seen", "Top sets known", "Site 1 seen, printed bits")
    ours, known, printed = (
        line(label, replace(style, band=False), points)
        for label, style, points in zip(names, drawing.ATTACKS, telling.values(), strict=False)
    )
    return StudyResult(
        users=users,
        seed=seed,
        rows=tuple(bits),
        lines=(ours, printed, known),
        x_title="number of epochs observed",
        y_title=f"bound of Lemma 9 on people linked correctly, of {PUBLISHED_USERS:,}; epochs independent",
        comparisons=_compared_bits(found, limit["two sites"][1]),
        assumptions=(
            _POPULATION,
            _SITES,
            f"Rates of topics and pairs were counted on {users:,} users; given the rates, the bits are exact.",
            "Over several epochs, bits are added up. For known top sets that is always an upper bound; for what "
            "two sites saw it holds where epochs are independent, and the paper measured 17 % more (1.09 for 0.93).",
        ),
    )


def _compared_bits(found: EpochInformation, limit: float) -> tuple[Comparison, ...]:
    calibrated = (
        "The population was calibrated to entropy and mutual information. Counted on few users, pairs that met by "
        "chance look like habits, so that mutual information comes out high. The paper's figure is the cross-entropy "
        "of a trained model."
    )
    difference = "The difference of the two others. " + calibrated
    published = bounds.from_mutual_information(MUTUAL, PUBLISHED_USERS)
    return (
        Comparison("entropy of one epoch, bits", f"{ENTROPY}", f"{found.entropy:.3f}", calibrated),
        Comparison("conditional entropy, bits", f"{CONDITIONAL}", f"{found.conditional:.3f}", difference),
        Comparison("mutual information of two sites, bits", f"{MUTUAL}", f"{found.mutual:.3f}", calibrated),
        Comparison(
            f"Lemma 9 for one epoch and {PUBLISHED_USERS:,} users",
            f"{percent(published)} (from the printed bits)",
            percent(limit),
            "Follows from the bits above; the paper prints no number for it.",
        ),
        Comparison(
            "information of the shown topic about the top set, bits",
            "not printed",
            two_digits(found.about_set),
            "What an attacker learns who knows every top set: more than two sites have in common.",
        ),
    )
