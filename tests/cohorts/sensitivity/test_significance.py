"""Intervals hold the true gap as often as they say; significant cohorts keep their error rates."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from reidrisk import cohorts
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.significance import discoveries, gap_intervals, p_values


def drawn(rng: np.random.Generator, sizes: np.ndarray, truth: np.ndarray) -> CohortCounts:
    """Draw visits of cohorts of these sizes, with probabilities (m, c)."""
    visits = rng.binomial(sizes[:, None], truth).astype(np.int32)
    population = visits.sum(axis=0).astype(np.int64)
    names = tuple(map(str, range(truth.shape[1])))
    return CohortCounts(np.arange(sizes.size), sizes, visits, population, int(sizes.sum()), names)


def true_gaps(sizes: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (truth - sizes @ truth / sizes.sum()).max(axis=1)


@pytest.mark.parametrize("c", [1, 15])
@pytest.mark.parametrize("sizes", [[20] * 12, [5, 30, 30, 400, 1_000], [25, 25]])
def test_intervals_hold_the_true_gap(c, sizes):
    rng = np.random.default_rng(c + len(sizes))
    sizes = np.array(sizes)
    inside = []
    for _ in range(400):
        truth = rng.beta(0.5, 4, (sizes.size, c))
        low, high = gap_intervals(drawn(rng, sizes, truth))
        gap = true_gaps(sizes, truth)
        inside += ((low <= gap + 1e-12) & (gap <= high + 1e-12)).tolist()
    # Three standard errors below the level; the intervals are meant to be too wide rather than too narrow.
    assert np.mean(inside) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(inside))


def test_the_largest_of_many_gaps_is_no_evidence_by_itself():
    """With the same truth everywhere the true gap is 0; the plain gap is far above, the lower end is not."""
    rng = np.random.default_rng(0)
    sizes, truth = np.full(200, 40), np.full((200, 100), 0.1)
    counts = drawn(rng, sizes, truth)
    found = cohorts.sensitivity_of_counts(counts, t=0.1)
    assert found.gap.mean() > 0.1
    assert (found.low <= 0).mean() >= 0.97
    assert not found.beyond_doubt.any()


def test_intervals_shrink_with_the_cohort_and_vanish_with_the_rest():
    small = cohorts.count_visits(np.repeat([0, 1], [20, 2_000]), np.arange(2_020)[:, None] % 4 == 0)
    large = cohorts.count_visits(np.repeat([0, 1], [2_000, 2_000]), np.arange(4_000)[:, None] % 4 == 0)
    width = [high[0] - low[0] for low, high in (gap_intervals(small), gap_intervals(large))]
    assert width[0] > 5 * width[1]
    low, high = gap_intervals(cohorts.count_visits([0, 0, 0], [[1], [0], [1]]))
    assert (low[0], high[0]) == (0.0, 0.0)  # the cohort is the population


@pytest.mark.parametrize("sizes", [[30] + [50] * 4, [200, 20_000]])
def test_p_values_are_small_no_more_often_than_they_say_at_the_edge(sizes):
    """The true gap of cohort 0 is exactly t: the hardest case that is not sensitive."""
    rng = np.random.default_rng(len(sizes))
    sizes, t, rest = np.array(sizes), 0.1, 0.15
    truth = np.full((sizes.size, 1), rest)
    truth[0] = rest + t * sizes.sum() / sizes[1:].sum()
    assert true_gaps(sizes, truth)[0] == pytest.approx(t)
    p = np.array([p_values(drawn(rng, sizes, truth), t)[0] for _ in range(3_000)])
    for alpha in (0.01, 0.05, 0.2):
        assert (p <= alpha).mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / p.size)


def test_p_values_take_the_number_of_categories_into_account():
    """Forty categories, all at the edge: the smallest of forty p-values would be small far too often."""
    rng = np.random.default_rng(3)
    sizes, t = np.array([200, 400_000]), 0.1
    truth = np.full((2, 40), 0.15)
    truth[0] += t * sizes.sum() / sizes[1]
    p = np.array([p_values(drawn(rng, sizes, truth), t)[0] for _ in range(400)])
    assert (p <= 0.1).mean() <= 0.1 + 3 * np.sqrt(0.09 / p.size)


def test_a_cohort_that_is_half_of_everyone_is_compared_with_the_other_half():
    """A gap of 0.1001 from the population is one of 0.2002 from the rest, and no evidence that the gap exceeds 0.1."""
    sizes = np.array([1_000_000, 1_000_000])
    visits = np.array([[500_200], [300_000]], dtype=np.int32)
    counts = CohortCounts(np.arange(2), sizes, visits, visits.sum(axis=0).astype(np.int64), 2_000_000, ("x",))
    assert cohorts.sensitivity_of_counts(counts, 0.1).sensitive.tolist() == [True, False]
    assert p_values(counts, 0.1)[0] > 0.3


def test_p_values_approach_the_binomial_tail_for_a_large_population():
    assignment = np.repeat([0, 1], [50, 2_000_000])
    visited = np.zeros((2_000_050, 1), dtype=bool)
    visited[:20] = True
    counts = cohorts.count_visits(assignment, visited)
    gamma = 0.05 / (100 * counts.visits.size)
    assert p_values(counts, 0.25)[0] == pytest.approx(binom.sf(19, 50, 0.25 + 20 / 2_000_050) + gamma, rel=0.01)


def test_chance_on_twenty_people_is_not_doubt_free_on_twenty_thousand():
    for size, sure in ((20, False), (20_000, True)):
        assignment = np.repeat([0, 1], [size, 30 * size])
        visited = (np.arange(31 * size) % 20 < 2)[:, None]
        visited[:size] = (np.arange(size) % 20 < 5)[:, None]
        found = cohorts.sensitivity(assignment, visited, t=0.1)
        assert found.sensitive.tolist() == [True, False]
        assert found.beyond_chance.tolist() == found.beyond_doubt.tolist() == [sure, False]


def test_the_three_counts_are_nested_and_keep_their_rates():
    """600 cohorts at the edge of t, 60 truly above: discoveries contain few of the 600, doubt-free ones none."""
    rng = np.random.default_rng(7)
    sizes, t = np.full(10_660, 300), 0.1
    wrong, found_true, any_wrong = [], [], []
    for _ in range(10):
        truth = np.full((sizes.size, 2), 0.05)
        truth[:600, 0] = 0.05 + t
        truth[600:660, 1] = 0.35
        found = cohorts.sensitivity_of_counts(drawn(rng, sizes, truth), t)
        assert not (found.beyond_doubt & ~found.beyond_chance).any()
        assert not (found.beyond_chance & ~found.sensitive).any()
        edge = true_gaps(sizes, truth) <= t
        wrong.append((found.beyond_chance & edge).sum() / max(found.beyond_chance.sum(), 1))
        found_true.append(found.beyond_chance[600:660].mean())
        any_wrong.append((found.beyond_doubt & edge).any())
    assert np.mean(wrong) <= 0.05
    assert np.mean(found_true) >= 0.9
    assert sum(any_wrong) <= 2


def test_discoveries_follow_benjamini_and_hochberg_by_hand():
    p = np.array([0.6, 0.001, 0.03, 0.025])  # limits 0.0125, 0.025, 0.0375, 0.05 for the sorted values
    assert discoveries(p, 0.05).tolist() == [False, True, True, True]


def test_the_bound_on_the_rest_costs_a_hundredth_of_the_risk_and_no_more_caution_than_that():
    # 60 of 200 against 200 of 4,000 at t = 0.15: the rest is known to within some points, not to 1e-10.
    assignment = np.repeat([0, 1, -1], [200, 2_000, 2_000])
    visited = np.zeros((4_200, 1), dtype=bool)
    visited[:60] = visited[200:400] = True
    counts = cohorts.count_visits(assignment, visited)
    few, t = p_values(counts, 0.15)[0], 0.15
    gamma = 0.05 / (100 * 2 * 1)
    limit = beta.isf(gamma, 201, 3_800) + t * 4_200 / 4_000
    assert few == pytest.approx(binom.sf(59, 200, limit) + gamma)
    strict = beta.isf(1e-10, 201, 3_800) + t * 4_200 / 4_000
    assert few < 0.5 * binom.sf(59, 200, strict)
    # A level that leaves less risk gets a smaller share of it: what is significant stays within reach.
    sure = cohorts.sensitivity_of_counts(counts, t=0.01, level=0.999999)
    assert sure.beyond_doubt[0]
