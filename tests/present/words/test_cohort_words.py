"""What is said about cohorts: each result in one sentence, each status in words of the field."""

import typing

import numpy as np
import pytest

from reidrisk import cohorts
from reidrisk.cohorts import Blocklist, audit
from reidrisk.present.words import cohorts as words

COHORT = np.repeat(np.arange(10), 200)
VISITED = np.zeros((2_000, 2), dtype=bool)
VISITED[:60, 0] = VISITED[::10, 1] = True
COUNTS = cohorts.count_visits(COHORT, VISITED)


def test_the_summary_says_how_many_and_how_sure():
    assert cohorts.sensitivity(COHORT, VISITED, t=0.1).summary.reading == (
        "Of 10 cohorts, 1 (10 %) has a category more than 10 points above the population (0 would if people were "
        "grouped at random); 1 is statistically significant, 1 after Bonferroni."
    )
    plain = cohorts.sensitivity(COHORT, VISITED, t=0.1, shuffles=0).summary
    assert "at random" not in plain.reading
    assert plain.assumptions[0].startswith("A user counts once per category")


def test_noise_as_large_as_the_cohorts_is_said():
    few = cohorts.sensitivity([0, 1], [[1], [0]], n_cohorts=2, noise={"epsilon": 0.1, "delta": 1e-9})
    assert few.summary.reading.endswith("The noise is as large as the cohorts: too noisy to tell.")
    assert words.known(few.summary, "k") == "too noisy to tell"


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (cohorts.threshold_curve(COUNTS), "A threshold of 0.005 blocks 10 % of 10 cohorts, one of 0.3 blocks 0 %."),
        (
            cohorts.frequency_histogram(COUNTS),
            "50 % of the categories were visited by fewer than 5 % of the users.",
        ),
        (
            cohorts.closeness(COUNTS),
            "Every cohort has at least 200 users, and no category is more or less frequent in a cohort than in the "
            "population by more than 27.0 points.",
        ),
        (
            cohorts.empty_cohort(COUNTS, Blocklist((0,), 0.1)),
            "The 200 users whose cohort is blocked or who have none are at most 27.0 points above the population in "
            "any category, which exceeds the threshold of 10 points.",
        ),
        (
            cohorts.empty_cohort(COUNTS, Blocklist(tuple(range(10)), 0.1)),
            "All cohorts are blocked, so nobody has a cohort to show: there is nothing to compare.",
        ),
        (
            cohorts.check_blocklist(Blocklist((1,), 0.1), COUNTS),
            "The list blocks 0 of the 1 cohorts that are sensitive among all users, misses 1, and blocks 1 that are "
            "not sensitive; 10 % of the users lose their cohort.",
        ),
        (
            cohorts.blocklist_changes([Blocklist((1, 2, 3), 0.1), Blocklist((2, 3, 4, 5), 0.1)]),
            "From one list to the next, 3.0 cohorts change sides on average.",
        ),
        (
            cohorts.assignment_summary(COHORT[:, None], 10),
            "Everyone who has a cohort shares it with at least 199 others of these users.",
        ),
        (cohorts.assignment_summary(np.full((3, 2), -1), 10), "Nobody has a cohort in some week: too few domains."),
    ],
)
def test_results_in_one_sentence(result, sentence):
    assert result.reading == sentence


def test_every_status_has_words():
    assert set(words.STATUS) == set(typing.get_args(audit.Status))


def test_how_far_the_categories_reach():
    found = cohorts.cohort_audit(cohorts.sensitivity([0, 1], [[1, 0], [0, 0]], categories=["x", "faith"]), 1, 0.5)
    assert words.coverage(found) == (
        "50 % of the visits are to a listed host.",
        "Nobody visited 1 of the 2 categories, so nothing is known of them: faith.",
    )
