"""How many users it takes until noisy counts lead to the decisions of the exact ones."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from reidrisk import cohorts
from reidrisk.base.errors import ReidRiskError
from reidrisk.cohorts.private.counts import LocalCounts, central_noise, with_every_cohort
from reidrisk.cohorts.private.sensitivity import ask_users
from reidrisk.cohorts.sensitivity.counts import count_visits
from reidrisk.cohorts.spec import Noise
from reidrisk_studies.floc.users_needed import UsersNeeded, simulated_answers, users_needed

NOISE = {"central": Noise(epsilon=1.0, delta=1e-6), "local": Noise(epsilon=2.0, model="local")}
USUAL = Noise(epsilon=1.0, delta=1e-9)


def population(rng, sizes, chance, without=0):
    """Draw users: cohort i has sizes[i] users, who visit with chance[i]; the last row is for users without one."""
    assignment = np.repeat([*range(len(sizes)), -1], [*sizes, without])
    return assignment, rng.random((assignment.size, chance.shape[1])) < chance[assignment]


def test_the_share_of_right_decisions_follows_the_normal_law_of_the_noise():
    size, frequency, rest = 100, 0.4, 0.1
    counts = count_visits(
        np.repeat([0, 1], [size, 9_900]), (np.arange(10_000) % 10 < np.repeat([4, 1], [size, 9_900]))[:, None]
    )
    gap = 0.99 * (frequency - rest)
    sigma = central_noise(1, 1.0, 1e-9)[1]
    t = gap - 0.15
    found = users_needed(counts, [10_000], USUAL, t=t, runs=2_000, seed=1)
    wrong = norm.cdf(-0.15 * size / (sigma * math.sqrt(1 + frequency**2)))
    assert found.missed[0] == pytest.approx(wrong, abs=4 * math.sqrt(wrong / 2_000))


@pytest.mark.parametrize("model", ["central", "local"])
def test_more_users_bring_the_decisions_of_the_exact_counts(model):
    rng = np.random.default_rng(6)
    chance = np.full((31, 8), 0.05)
    chance[[2, 9], [1, 4]] = 0.4
    counts = count_visits(*population(rng, [100] * 30, chance, without=300))
    found = users_needed(counts, [3_300, 100_000, 10_000_000], NOISE[model], t=0.2)
    assert found.agreement[0] < found.agreement[-1] == 1.0
    assert found.needed in found.users
    assert found.sensitive == 2
    assert UsersNeeded.from_json(found.to_json()) == found


def test_runs_of_one_cohort_do_not_narrow_the_interval():
    """Cohorts are what is new in another system; more runs of the same ones say nothing about others."""
    cohort = np.repeat(np.arange(20), 50)
    counts = count_visits(cohort, np.arange(1_000)[:, None] % 50 < np.where(cohort == 3, 20, 5)[:, None])
    one, many = (users_needed(counts, [10**7], USUAL, runs=runs) for runs in (1, 50))
    assert one.agreement == many.agreement == (1.0,)
    # Clopper-Pearson of 20 of 20.
    assert many.low[0] == one.low[0] == pytest.approx(0.025 ** (1 / 20))
    # One cohort next to t, wrong in about half of its runs: the other 19 are still only 19.
    near = counts.visits.copy()
    near[5] = 10
    edge = cohorts.CohortCounts(counts.cohorts, counts.sizes, near, near.sum(axis=0), 1_000, counts.categories)
    t = float(0.95 * (10 / 50 - (near.sum() - 10) / 950)) + 1e-9
    found = users_needed(edge, [10**6], USUAL, t=t, runs=50)
    assert 0.9 < found.agreement[0] < 1.0
    assert found.low[0] < 0.9


def test_beyond_chance_blocks_hardly_anything_needlessly():
    rng = np.random.default_rng(8)
    chance = np.full((41, 20), 0.03)
    chance[:4, 0] = 0.5
    counts = count_visits(*population(rng, [200] * 40, chance, without=200))
    noise, numbers = Noise(epsilon=0.5, delta=1e-9), [8_200, 80_000, 800_000]
    plain, sure = (users_needed(counts, numbers, noise, runs=4, rule=rule) for rule in ("plain", "chance"))
    assert plain.needless[0] > 20
    assert max(sure.needless) < 0.5
    assert sure.agreement[0] >= sure.baseline - 0.02
    assert sure.missed[-1] == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda counts: users_needed(counts, [10**10], NOISE["local"]), "too many to draw"),
        (lambda counts: users_needed(counts, [10**30], NOISE["central"]), "at most"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, message):
    with pytest.raises(ReidRiskError, match=message) as caught:
        call(count_visits([0, 0, 1, 1], [[1], [1], [0], [0]]))
    assert "\n" not in str(caught.value)


def test_answers_drawn_from_counts_are_those_of_asked_users():
    rng = np.random.default_rng(3)
    assignment, visited = population(rng, [4_000, 6_000], np.array([[0.5, 0.1], [0.2, 0.3], [0.9, 0.0]]), without=2_000)
    asked = [ask_users(assignment, visited, 2, 1.0, seed) for seed in range(30)]
    sizes, visits = with_every_cohort(count_visits(assignment, visited), 2)
    drawn = [simulated_answers(sizes, visits, 1.0, np.random.default_rng(seed)) for seed in range(30)]

    def rates(found: list[LocalCounts]):
        return np.array([f.yes / f.asked for f in found])

    one, two = rates(asked), rates(drawn)
    spread = np.sqrt((one.var(axis=0) + two.var(axis=0)) / 30)
    assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) < 4 * spread).all()
    assert np.allclose(one.std(axis=0), two.std(axis=0), rtol=0.6)
