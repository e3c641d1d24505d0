"""Noisy cohort counts: how much noise, whether intervals hold through it, and what it takes to decide as without it."""

import math

import numpy as np
import pytest
from scipy import sparse

from reidrisk import cohorts
from reidrisk.base.errors import DataError, OptionError
from reidrisk.cohorts.private.counts import CentralCounts, central_counts, central_noise, with_every_cohort
from reidrisk.cohorts.private.sensitivity import ask_users, bounded_visits, lie_probability, sparse_visits
from reidrisk.cohorts.sensitivity.counts import count_visits
from reidrisk.privacy import zcdp_delta

BUDGET = {"central": {"epsilon": 1.0, "delta": 1e-6}, "local": {"epsilon": 2.0}}


def private(assignment, visited, n_cohorts, t=0.1, seed=0, **noise):
    """Measure through noise."""
    return cohorts.sensitivity(assignment, visited, n_cohorts=n_cohorts, t=t, seed=seed, noise=cohorts.Noise(**noise))


def population(rng, sizes, chance, without=0):
    """Draw users: cohort i has sizes[i] users, who visit with chance[i]; the last row is for users without one."""
    assignment = np.repeat([*range(len(sizes)), -1], [*sizes, without])
    return assignment, rng.random((assignment.size, chance.shape[1])) < chance[assignment]


def test_one_user_changes_the_table_by_at_most_its_sensitivity():
    rng = np.random.default_rng(0)
    assignment, visited = population(rng, [5, 6], np.full((3, 4), 0.5), without=4)
    visited[2] = True
    whole = np.concatenate([part.reshape(3, -1) for part in with_every_cohort(count_visits(assignment, visited), 2)], 1)
    largest = 0.0
    for left_out in range(len(assignment)):
        kept = np.arange(len(assignment)) != left_out
        parts = with_every_cohort(count_visits(assignment[kept], visited[kept]), 2)
        rest = np.concatenate([part.reshape(3, -1) for part in parts], 1)
        largest = max(largest, float(np.linalg.norm(whole - rest)))
    assert largest == pytest.approx(central_noise(4, 1.0, 1e-6)[0])


def test_the_noise_spends_the_budget_and_no_more():
    sensitivity, sigma = central_noise(30, 0.7, 1e-8, most=5)
    delta = zcdp_delta(sensitivity**2 / (2 * sigma**2), 0.7)
    assert 0.99e-8 < delta <= 1e-8
    assert sensitivity == pytest.approx(math.sqrt(6))
    lie = lie_probability(0.7)
    assert (1 - lie) / lie == pytest.approx(math.exp(0.7))


@pytest.mark.parametrize("model", ["central", "local"])
def test_without_noise_the_answer_is_the_exact_one(model):
    rng = np.random.default_rng(1)
    chance = np.array([[0.1], [0.5], [0.1], [0.2]])
    assignment, visited = population(rng, [400, 300, 500], chance, without=100)
    exact = cohorts.sensitivity(assignment, visited, t=0.1, shuffles=0)
    budget = {"epsilon": 300.0} | ({"delta": 1e-6} if model == "central" else {})
    found = private(assignment, visited, 3, model=model, simulation=True, seed=0, **budget)
    assert np.allclose(found.gap, exact.gap, atol=2e-3)
    assert np.allclose(found.low, exact.low, atol=5e-3)
    assert np.allclose(found.high, exact.high, atol=5e-3)
    assert found.blocklist().cohorts == exact.blocklist().cohorts == (1,)
    assert found.blocklist("doubt") == exact.blocklist("doubt")


@pytest.mark.parametrize("model", ["central", "local"])
@pytest.mark.parametrize(("size", "common"), [(60, 0.02), (400, 0.3), (3000, 0.05)])
def test_intervals_hold_the_true_gap_through_the_noise(model, size, common):
    rng = np.random.default_rng(size)
    m, c, runs = 8, 5, 40
    below = above = 0
    for run in range(runs):
        chance = np.full((m + 1, c), common)
        chance[0, 0], chance[1, 1] = common + 0.3, common + 0.12
        assignment, visited = population(rng, [size] * m, chance, without=size)
        n = assignment.size
        true = chance[:m] - (chance[:m] * size).sum(axis=0) / n - chance[m] * size / n
        found = private(assignment, visited, m, model=model, simulation=True, seed=run, **BUDGET[model])
        below += int((found.high < true.max(axis=1)).sum())
        above += int((found.low > true.max(axis=1)).sum())
    # 2.5 % each are allowed; 320 intervals give that a spread of 0.9 points.
    assert below / (runs * m) < 0.045
    assert above / (runs * m) < 0.045


@pytest.mark.parametrize("model", ["central", "local"])
def test_p_values_at_the_edge_of_t_are_rarely_small(model):
    rng = np.random.default_rng(5)
    size, m, t = 2_000, 10, 0.1
    chance = np.full((m + 1, 1), 0.2)
    chance[0] = 0.2 + t * m / (m - 1)  # the true gap is exactly t
    small = 0
    for run in range(200):
        assignment, visited = population(rng, [size] * m, chance)
        found = private(assignment, visited, m, model=model, t=t, simulation=True, seed=run, **BUDGET[model])
        small += bool(found.p_value[0] < 0.05)
    assert small / 200 < 0.095


def test_tails_agree_with_drawn_noise():
    rng = np.random.default_rng(2)
    size, t, sigma = 300, 0.1, 25.0
    measured = CentralCounts(np.array([size, 40_000]), np.array([[95], [6_000]]), sigma)
    # The bound on the rest is generous by design: compare at the same limit.
    p = float(measured.tails(slice(0, 1), t, 1e-10)[0, 0])
    margin = 6.3613 * sigma
    from scipy.special import betainccinv

    rest, others = 40_000 - margin, 6_000 + margin
    limit = betainccinv(others + 1, rest - others, 1e-10) + t * 40_300 / 40_000
    draws = rng.binomial(size, limit, 400_000) + sigma * math.sqrt(1 + limit**2) * rng.standard_normal(400_000)
    drawn = float((draws >= 95).mean())
    assert drawn <= p <= drawn * 1.2


def test_a_cohort_smaller_than_the_noise_is_not_known_at_all():
    measured = CentralCounts(np.array([10, 100_000]), np.array([[10], [1_000]]), 30.0)
    low, high, *_ = measured.ends(slice(0, 1), 0.025)
    assert (low[0, 0], high[0, 0]) == (0.0, 1.0)


def test_bounded_visits_are_some_of_the_visits():
    rng = np.random.default_rng(4)
    visited = rng.random((200, 12)) < 0.4
    kept = bounded_visits(visited, 3, seed=0).toarray()
    assert (kept <= visited).all()
    assert (kept.sum(axis=1) == np.minimum(visited.sum(axis=1), 3)).all()
    # Drawn at random, not the first ones.
    assert kept.sum(axis=0).max() < 2.5 * kept.sum(axis=0).min()


@pytest.mark.parametrize("epsilon", [700, 710, 800, 1e6, 1e9])
@pytest.mark.parametrize("model", ["central", "local"])
def test_a_huge_epsilon_is_measured(model, epsilon):
    assignment, visited = np.repeat([0, 1], 500), np.zeros((1_000, 1), dtype=bool)
    visited[:200] = True
    budget = {"epsilon": epsilon} | ({"delta": 1e-6} if model == "central" else {})
    found = private(assignment, visited, n_cohorts=2, model=model, **budget)
    assert found.statement.epsilon == epsilon
    assert found.gap[0] == pytest.approx(0.2, abs=0.01)


def moved_by_one_user(assign, hashes, visited):
    """Return how far the table of counts moves, at most, when one user leaves and cohorts are assigned anew."""
    m = 1 + int(assign(hashes).max())
    largest = 0.0

    def table(kept):
        cohort = assign(hashes[kept])
        sizes, visits = with_every_cohort(count_visits(cohort, visited[kept]), max(m, 1 + int(cohort.max())))
        return np.concatenate([sizes[:, None], visits], axis=1)[:-1]

    everyone = table(np.ones(len(hashes), dtype=bool))
    for left_out in range(len(hashes)):
        other = table(np.arange(len(hashes)) != left_out)
        rows = max(len(everyone), len(other))
        both = [np.pad(part, ((0, rows - len(part)), (0, 0))) for part in (everyone, other)]
        largest = max(largest, float(np.linalg.norm(both[0] - both[1])))
    return largest


def test_the_noise_is_made_for_cohorts_that_were_not_fitted_to_these_users():
    rng = np.random.default_rng(0)
    hashes, visited = rng.integers(2**20, size=300), rng.random((300, 5)) < 0.3
    bound = central_noise(5, 1.0, 1e-9)[0]
    public = cohorts.SortingLSH([16] * 16, bits=20)
    assert moved_by_one_user(public.assign, hashes, visited) <= bound + 1e-9
    # Fitted anew to those who are left, it moves far beyond; no noise is made for that, and the statement says so.
    fitted = moved_by_one_user(lambda left: cohorts.SortingLSH.fit(left, 12, bits=20).assign(left), hashes, visited)
    assert fitted > 10 * bound
    for model in ("central", "local"):
        found = private(public.assign(hashes), visited, 16, model=model, public_rule="16 equal parts", **BUDGET[model])
        assert "the rule that assigns cohorts (16 equal parts), not fitted to these users" in (
            found.statement.taken_as_public
        )


def test_real_noise_differs_from_run_to_run_and_says_what_it_protects():
    rng = np.random.default_rng(7)
    assignment, visited = population(rng, [200, 200], np.full((3, 2), 0.3))
    budget = {"epsilon": 0.5, "delta": 1e-6}
    one, two = (private(assignment, visited, 2, **budget) for _ in range(2))
    assert not np.array_equal(one.counts.visits, two.counts.visits)
    assert one.seed is one.summary.seed is None
    assert (one.statement.epsilon, one.statement.simulation) == (0.5, False)
    assert one.statement.sensitivity["counts"] == pytest.approx(math.sqrt(3))
    assert one.summary.notes[-1].code == "cohorts-noise"
    assert private(assignment, visited, 2, model="local", epsilon=0.5).statement.delta == 0.0
    tried = private(assignment, visited, 2, simulation=True, seed=4, **budget)
    assert tried.statement.simulation
    assert tried.summary.seed == 4


def test_the_former_calls_give_the_same_and_warn():
    rng = np.random.default_rng(7)
    assignment, visited = population(rng, [200, 200], np.full((3, 2), 0.3))
    tried = private(assignment, visited, 2, epsilon=0.5, delta=1e-6, simulation=True, seed=4)
    former = {"epsilon": 0.5, "delta": 1e-6, "simulation": True, "seed": 4}
    with pytest.warns(DeprecationWarning, match="in a spec"):
        one = cohorts.sensitivity(assignment, visited, private=True, n_cohorts=2, **former)
    with pytest.warns(DeprecationWarning, match="in a spec"):
        two = cohorts.private_sensitivity(assignment, visited, 2, **former)
    with pytest.warns(DeprecationWarning, match="by name"):
        assert cohorts.sensitivity(assignment, visited, 0.2).t == 0.2
    assert np.array_equal(one.gap, tried.gap)
    assert np.array_equal(two.gap, tried.gap)
    assert one.spec == two.spec == tried.spec


def test_empty_cohorts_are_measured_too():
    found = private([1] * 50, np.zeros((50, 1)), n_cohorts=4, epsilon=1.0, delta=1e-6)
    assert found.counts.cohorts.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_cohorts": None}, "n_cohorts"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"delta": None}, "delta"),
        ({"model": "both"}, "model must be one of central, local"),
        ({"model": "local"}, "leave them out"),
        ({"n_cohorts": 1}, "cohort 1 of user"),
        ({"most_categories": 0}, "most_categories"),
    ],
)
def test_bad_options_are_named(change, message):
    arguments = {"n_cohorts": 2, "epsilon": 1.0, "delta": 1e-6} | change
    n_cohorts = arguments.pop("n_cohorts")
    with pytest.raises((OptionError, DataError), match=message):
        cohorts.sensitivity([0, 1], [[1], [0]], n_cohorts=n_cohorts, noise=arguments)


def test_noise_options_are_refused_where_nothing_is_noisy():
    with pytest.warns(DeprecationWarning, match="in a spec"), pytest.raises(OptionError, match="private=True"):
        cohorts.sensitivity([0, 1], [[1], [0]], epsilon=1.0)
    with pytest.raises(OptionError, match="never seeded"):
        cohorts.private_sensitivity([0, 1], [[1], [0]], 2, 1.0, 1e-6, seed=3)


def test_sparse_visits_count_a_cell_once_and_leave_the_callers_matrix_alone():
    twice = sparse.csr_array((np.array([128, 128, 0], dtype=np.uint8), [0, 0, 1], [0, 3]), shape=(1, 2))
    assert sparse_visits(twice).toarray().tolist() == [[1, 0]]
    assert twice.data.tolist() == [128, 128, 0]
    assert twice.indices.tolist() == [0, 0, 1]


def test_a_seeded_table_is_the_same_again():
    table = np.array([[3], [4]])
    one, two = (central_counts(np.array([10, 20]), table, 3.0, seed=5) for _ in range(2))
    assert (one.visits == two.visits).all()


# What protects people is the real noise, which has no seed: these tests see whether it is there.


def test_without_a_seed_users_lie_as_often_as_the_budget_says():
    n, epsilon = 100_000, 1.0
    found = ask_users(np.zeros(n, dtype=np.int64), np.ones((n, 1)), 1, epsilon)
    truly = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert found.yes[0, 0] / n == pytest.approx(truly, abs=6 * math.sqrt(truly * (1 - truly) / n))
    none = ask_users(np.zeros(n, dtype=np.int64), np.zeros((n, 1)), 1, epsilon)
    assert none.yes[0, 0] / n == pytest.approx(1 - truly, abs=6 * math.sqrt(truly * (1 - truly) / n))


def test_without_a_seed_every_size_and_count_has_the_noise_of_the_budget():
    m, sigma = 4_000, 5.0
    found = central_counts(np.zeros(m, dtype=np.int64), np.zeros((m, 1), dtype=np.int64), sigma)
    for noise in (found.sizes, found.visits[:, 0]):
        # The variance of m normal draws spreads by sigma^2 sqrt(2 / m).
        assert noise.var() == pytest.approx(sigma**2, abs=6 * sigma**2 * math.sqrt(2 / m))
        assert abs(noise.mean()) < 6 * sigma / math.sqrt(m)
    # The whole way, not only this step: nobody visited anything, yet most of the released numbers are not 0.
    seen = private([0] * 500 + [1] * 500, np.zeros((1_000, 50)), 2, epsilon=1.0, delta=1e-6)
    assert (seen.counts.visits > 0).mean() > 0.3


def test_the_ends_of_the_rest_hold_it_through_the_noise():
    sigma, m, rest = 400.0, 30, 30_000
    inside = 0
    for seed in range(300):
        sizes, visits = np.full(m + 1, rest // m), np.full((m + 1, 1), rest // m // 5)
        found = central_counts(sizes, visits, sigma, seed)
        *_, low, high = found.ends(slice(0, 1), 0.025)
        inside += bool(low[0, 0] <= 0.2 <= high[0, 0])
    # Chance alone would give ends half a point away; the noise has a deviation of seven points.
    assert inside / 300 > 0.92


def test_tails_allow_for_noise_in_the_rest():
    sizes, visits = np.array([5_000, *[200] * 100]), np.array([[1_000], *[[20]] * 100])
    quiet = CentralCounts(sizes, visits, 1e-9).tails(slice(0, 1), 0.05, 1e-8)[0, 0]
    assert quiet < 1e-4
    # Noise of 20 in each of 100 cohorts can hide some 4 to 6 points of the rest: 20 % in the cohort may then be chance,
    # though the noise of its own count (20 of 1,000) changes next to nothing.
    assert CentralCounts(sizes, visits, 20.0).tails(slice(0, 1), 0.05, 1e-8)[0, 0] > 0.5


def test_beyond_doubt_pays_for_every_cohort():
    rng = np.random.default_rng(9)
    m, size = 300, 400
    chance = np.full((m + 1, 1), 0.1)
    chance[: m // 2] = 0.3
    assignment, visited = population(rng, [size] * m, chance)
    found = private(assignment, visited, m, epsilon=2.0, delta=1e-6, t=0.05, simulation=True, seed=0)
    between = found.sensitive & (found.p_value <= 0.05) & (found.p_value * m > 0.05)
    assert between.any(), "the case must tell the two apart"
    assert not found.beyond_doubt[between].any()
    assert (found.beyond_doubt == (found.sensitive & (found.p_value * m <= 0.05))).all()


def test_counts_that_the_noise_could_make_are_said_to_be_too_noisy_to_tell():
    rng = np.random.default_rng(10)
    assignment = rng.integers(-1, 3_000, 300)
    noise = {"epsilon": 0.1, "delta": 1e-9, "simulation": True, "seed": 1}
    found = private(assignment, rng.random((300, 5)) < 0.1, 3_000, **noise)
    summary = found.summary
    assert set(summary.too_noisy) == {"n_users", "n_without", "k"}
    assert summary.n_without >= 0
    assert found.counts.n_without >= 0
    assert summary.hidden
    assert cohorts.SensitivitySummary.from_json(summary.to_json()) == summary
    audit = cohorts.cohort_audit(found, worst=3_000)
    hidden = [row.status == "too noisy to tell" for row in audit.worst]
    assert sum(hidden) > 2_500
    # Where there are enough users nothing is hidden, and those without a cohort are about as many as there are.
    assignment = rng.integers(-1, 3, 400_000)
    clear = private(assignment, rng.random((400_000, 1)) < 0.1, 3, **noise)
    assert clear.summary.too_noisy == ()
    assert clear.summary.n_without == pytest.approx((assignment < 0).sum(), abs=6 * clear.size_noise)
    assert not clear.summary.hidden
