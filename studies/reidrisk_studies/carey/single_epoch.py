"""Carey et al., Measuring re-identification risk: the information of one epoch, Appendix F.1.4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reidrisk import bounds, populations, topics
from reidrisk.base.progress import Progress, Steps
from reidrisk.present import drawing
from reidrisk.present.words.frequencies import percent, two_digits
from reidrisk_studies.carey.information import EpochInformation, epoch_information
from reidrisk_studies.carey.topics import NOISE, POPULATION, PUBLISHED_USERS, SITES, TOP_K
from reidrisk_studies.results import Comparison, Row, StudyResult, line
from reidrisk_studies.study import study

__all__ = ["single_epoch"]

# carey, Appendix F.1.4, in bits: entropy, conditional entropy, mutual information; and the last an epoch, of eight.
ENTROPY, CONDITIONAL, MUTUAL, MUTUAL_OF_EIGHT = 7.59, 6.66, 0.93, 1.09


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
            POPULATION,
            SITES,
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
