"""What the results of a release say, case by case: numbers and codes in, one sentence out."""

import dataclasses

import numpy as np
import pytest

from reidrisk import TopSets, release
from reidrisk.base.notes import Note
from reidrisk.present import words
from reidrisk.present.terms import Terms
from reidrisk.privacy import PrivacyStatement
from reidrisk.release import CanaryTest, NoiseBudget, NoiseFit
from reidrisk.release.validate.deviations import ErrorSummary
from reidrisk.release.validate.internal import Distinct
from reidrisk.release.validate.rates import RateComparison

TERMS = Terms(person="visitor", item="topic", period="week")
FIT = NoiseFit(fits=True, error=1e-4, n_sums=38, ratio=1.02, low=0.8, high=1.3)
TEST = CanaryTest(
    *(1.0, 1e-6, 500, 0.24, 0.23, 0.1, 0.36, 0.564, 0.529, 0.6, 0.566, 1e-6),
    passed=True,
    simulation=True,
    seed=3,
    padding={"front": {"f12": 1.0}},
)
RATE = RateComparison("WeightedHamming", 3, 100, 50, 0.2, 0.1, 0.3, 0.01, 0.21, 0.1, 0.3, 0.01, 0.01, True, (0.2, 0.2))


def test_noise_that_fits():
    assert FIT.reading == (
        "The spread of the counts in the file fits the stated noise. Sums of counts that would be equal without noise "
        "differ by 1.02 (0.80 to 1.30) times as much as noise of the stated size makes them differ."
    )
    tables = {"f12": {"near": 200, "within": 0.65, "expected": 0.68}}
    near = dataclasses.replace(FIT, n_sums=0, n_near=200, tables=tables)
    assert near.reading.endswith("Of 200 near-empty counts, 65 % lie within one sigma of 0, where at most 68 % should.")
    alike = dataclasses.replace(FIT, n_sums=0, alike={"orders": {"ratio": 1.1}})
    assert "Counts of a pair in one order and in the other differ by 1.10 times the least" in alike.reading


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (Note("sums-agree-too-well", ratio=0.05, low=0.04, high=0.06), "differ by 0.05 (0.04 to 0.06) times"),
        (Note("sums-agree-too-well", ratio=0.0, low=0.0, high=0.0), "agree exactly. There is less noise than stated."),
        (Note("sums-differ-too-much", ratio=3.0, low=2.0, high=4.0), "The statement is not of these counts."),
        (
            Note("sums-agree-too-well", tables=["f11", "f12"], ratio=0.5, low=0.4, high=0.7),
            "Sums of counts in f11 and f12 that would be equal without noise differ by 0.50 (0.40 to 0.70) times as "
            "much as noise of the stated size makes them differ. There is less noise than stated.",
        ),
        (Note("alike-agree-too-well", what="pairs", ratio=0.1), "There is less noise than stated."),
        (Note("alike-agree-too-well", what="orders", ratio=0.1), "There is less noise than stated."),
        (
            Note("too-near-zero", tables=["f12", "f11"], share=0.9, n=50, within=2.0, expected=0.3),
            "In f12, 90 % of 50 near-empty counts lie within 2 of 0, where noise of the stated size puts at most 30 %. "
            "There is less noise than stated. The same holds in f11.",
        ),
        (Note("too-near-zero", tables=["f12"], share=0.9, n=50, within=0.0, expected=0.3), "are exactly 0"),
        (Note("counts-not-whole", table="f12", share=0.5), "In f12, 50 % of the counts are not whole"),
        (Note("counts-whole", table="f12", share=0.75), "In f12, 75 % of the counts are whole"),
        (Note("statistics-not-of-counts", kind="within"), "The statistics of pairs within a period do not follow"),
        (Note("users-not-of-counts"), "The number of people does not follow from the noisy counts."),
        (Note("counts-of-other-tables", tables=["f11"]), "f11"),
    ],
)
def test_noise_that_does_not_fit(note, said):
    reading = NoiseFit(False, 1e-4, troubles=(note,)).reading
    assert reading.startswith("The counts in the file do not fit the stated noise. ")
    assert said in reading


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (Note("counts-missing"), "the noisy counts (counts.npz) are missing."),
        (Note("no-counts"), "there are no noisy counts in it."),
        (Note("noise-not-stated"), "the statement does not say how much noise there is."),
        (Note("noise-below-one-count", sigma=0.2), "the stated noise is below one count (sigma 0.2)."),
        (
            Note("noise-does-not-show"),
            "too few counts are empty, and too few would be alike without noise, to show its size.",
        ),
        (
            Note("noise-does-not-show", tables=["f11", "f22"]),
            "too few counts are empty, and too few would be alike without noise, to show its size in f11 and f22.",
        ),
    ],
)
def test_noise_that_was_not_examined(note, said):
    assert NoiseFit(None, 1e-4, why=note).reading == f"The noise in the file was not examined: {said}"


def test_how_sure_the_look_at_the_noise_is():
    assert words.sentence(Note("noise-test-error", error=1e-4)).endswith("in at most 10 in 100,000 cases.")
    power = Note("noise-test-power", n=38, alike=False, finds_half=0.98)
    assert words.sentence(power).startswith("38 differences of sums would show noise of half the stated size")
    tables = Note("noise-table-power", tables=["f11", "f12"], powers=[0.9, 0.98])
    assert words.sentence(tables).endswith("alone would show with a probability of 90 % in f11 and 98 % in f12.")


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (
            NoiseBudget(True, 1.0, 1e-6, 0.24, 9e-7),
            "is enough for the stated epsilon and delta: at epsilon 1 its delta is 9e-07",
        ),
        (
            NoiseBudget(False, 0.5, 1e-6, 0.24, 0.0019),
            "is too small for the stated epsilon and delta: at epsilon 0.5 its delta is 0.0019, not 1e-06.",
        ),
        (NoiseBudget(False, 1.0, 1e-6, 0.24, 9e-7), "by the accounting of discrete noise."),
        (
            NoiseBudget(None, 1.0, 1e-6, why=Note("noise-not-stated")),
            "was not examined: the statement does not say how much noise there is.",
        ),
        (NoiseBudget(None, 1.0, 1e-6, why=Note("periods-not-stated")), "how many periods were measured."),
        (
            NoiseBudget(False, 1.0, 1e-6, why=Note("noise-of-other-tables", stated=["f12"], k=2, n_epochs=3)),
            "not that of a release: it is of f12, which is not what is measured over 3 periods of sets of 2.",
        ),
    ],
)
def test_the_budget(budget, said):
    assert said in budget.reading


def test_the_attack_on_the_noise():
    assert TEST.reading.startswith("Noise of the stated size keeps the promise. Shown one release with and one without")
    assert "56.4 of 100 tries (52.9 to 60.0; blind guessing: 50); the promised noise allows 56.6." in TEST.reading
    less = dataclasses.replace(TEST, passed=False)
    assert less.reading.startswith("There is less noise than promised.")
    small = dataclasses.replace(less, within_budget=False)
    assert small.reading.startswith("The stated noise is too small for the stated epsilon and delta.")
    padded = dataclasses.replace(less, padding={"front": {"f12": 1.0}, "end": {"f12": 3.456}})
    assert padded.reading.startswith("One more person with short sets moves the counts up to 3.46 times as far")


def test_the_public_validation():
    def validation(model, alone):
        summaries = [
            ErrorSummary(what, "all", 236, 0.085, 200, fifth, 0.05, 0.1)
            for what, fifth in (("model", model), ("popularity alone", alone))
        ]
        shape = {"n_types": 2, "n_epochs": 3, "k": 2, "n_tokens": 8, "objective": 1e-5, "noise": {}, "curves": ()}
        return release.PublicValidation(release.PUBLISHED, summaries=tuple(summaries), **shape)

    good = words.reading(validation(0.992, 0.4), TERMS)
    assert good == (
        "Of 236 statistics, 8.5 % are within 0.1 percentage points of the released ones; of the 200 that are at least "
        "0.01 %, 99.2 % are off by a fifth at most (40.0 % if only the popularity of each topic were known)."
    )
    assert validation(0.3, 0.4).reading.endswith("So the model is no better than popularity alone.")


def test_the_internal_validation():
    assert words.reading(RATE, TERMS) == (
        "Weighted Hamming finds 20 % of real and 21 % of synthetic visitors after 3 weeks, within one standard "
        "deviation of the trials; blind guessing finds 1 %."
    )
    apart = dataclasses.replace(RATE, attack="Hamming", agrees=False, real_each=(0.2,))
    assert ", not within the interval of the real rate;" in apart.reading
    distinct = Distinct((1.0,), (1.0,), 0.98, 0.9, 1.0, 0.01)
    found = release.InternalValidation(
        *(100, 3, 0, False, (), distinct, {}, {}, (RATE, apart)),
        notes=(Note("not-covered-by-the-privacy-statement"), Note("one-model-for-all-trials")),
    )
    assert found.warning.startswith("Not covered by the privacy statement")
    assert words.reading(found, TERMS) == (
        "The number of distinct topics per visitor correlates at 0.980 between real and synthetic visitors. Synthetic "
        "visitors are found as often as real ones by Weighted Hamming. They are not by Hamming."
    )


def test_every_assumption_of_a_release_can_be_said_in_the_words_of_the_reader():
    tokens = np.argsort(np.random.default_rng(0).random((500, 2, 6)), axis=2)[:, :, :2]
    sets = TopSets(tokens, n_tokens=6)
    stats = release.statistics(sets, 2.0, 1e-6, simulation=True, seed=0)
    model = release.TypeMixture(np.zeros((2, 2, 2, 6)), statement=stats.statement)
    found = (
        release.public_validation(model, stats, model.sample(100, seed=0)),
        release.internal_validation(sets, stats, model, trials=1, queries=50),
        release.noise_fit(stats),
        release.canary(stats.statement, 2, trials=50, seed=0),
    )
    said = [words.sentence(note, TERMS) for result in found for note in result.notes]
    assert len(said) == sum(len(result.assumptions) for result in found) > 12
    assert not [text for text in said if "token" in text or "epoch" in text]


def test_a_privacy_statement_adds_delta_and_does_not_call_it_a_chance():
    reading = PrivacyStatement("discrete Gaussian noise", 1.0986, 1e-15).reading
    assert reading.endswith("by a factor of at most e^1.1, plus at most 1e-15.")
    assert "chance" not in reading
    assert "protects nobody" in PrivacyStatement("", 1.0, 1e-9, simulation=True).reading
    assert "that they take part and their cohort are not hidden" in PrivacyStatement("", 1.0, 0.0).reading
