"""Gaps, sensitive cohorts and t-closeness follow the paper's definitions, exactly and for any population."""

from fractions import Fraction

import numpy as np
import pytest
from cohort_twins import counted_visits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import wasserstein_distance

from reidrisk import cohorts
from reidrisk.base.errors import DataError, OptionError
from reidrisk.cohorts.sensitivity.cohorts import SensitivitySummary
from reidrisk.cohorts.sensitivity.gaps import exceeding, gaps


def shares(*groups: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return cohorts 0, 1, ... of (users, visitors of the one category)."""
    assignment = np.repeat(np.arange(len(groups)), [size for size, _ in groups])
    visited = np.concatenate([np.arange(size) < visitors for size, visitors in groups])
    return assignment, visited[:, None]


@st.composite
def tables(draw):
    """Draw an assignment with users without cohort, and visits 0/1."""
    n, c = draw(st.integers(1, 25)), draw(st.integers(1, 4))
    assignment = draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n).filter(lambda a: max(a) >= 0))
    cells = draw(st.lists(st.integers(0, 1), min_size=n * c, max_size=n * c))
    return np.array(assignment), np.array(cells).reshape(n, c)


def by_definition(assignment, visited):
    """Compute Definitions 1 to 3 in fractions, one user after the other."""
    n, c = visited.shape
    population = [Fraction(int(visited[:, x].sum()), n) for x in range(c)]
    found = {}
    for cohort in sorted(set(assignment.tolist()) - {-1}):
        rows = visited[assignment == cohort]
        differences = [Fraction(int(rows[:, x].sum()), len(rows)) - population[x] for x in range(c)]
        found[cohort] = (differences.index(max(differences)), max(differences), max(map(abs, differences)))
    return found


@given(tables(), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.5]))
@settings(max_examples=200, deadline=None)
def test_gaps_categories_and_sensitive_cohorts_are_those_of_the_definitions(table, t):
    assignment, visited = table
    expected = by_definition(assignment, visited)
    found = cohorts.sensitivity(assignment, visited, t=t, shuffles=0)
    assert found.counts.cohorts.tolist() == list(expected)
    assert found.anomalous.tolist() == [category for category, _, _ in expected.values()]
    assert found.gap == pytest.approx([float(gap) for _, gap, _ in expected.values()], abs=1e-12)
    assert found.sensitive.tolist() == [gap > Fraction(str(t)) for _, gap, _ in expected.values()]
    assert found.k == min((assignment == cohort).sum() for cohort in expected)
    assert (found.low <= found.gap + 1e-12).all()
    assert (found.gap <= found.high + 1e-12).all()


def test_the_example_of_the_paper_strictly_above():
    """20 % of everyone; a cohort of 30 % is not sensitive at t = 0.1, one of 31 % is."""
    assignment, visited = shares((100, 30), (100, 31), (800, 139))
    found = cohorts.sensitivity(assignment, visited, t=0.1)
    assert found.counts.population_freq.tolist() == [0.2]
    assert found.counts.cohort_freq(1).tolist() == [0.31]
    assert found.sensitive.tolist() == [False, True, False]
    assert found.gap == pytest.approx([0.1, 0.11, 139 / 800 - 0.2])


def test_equality_is_decided_in_whole_numbers_where_floats_would_err():
    # 0.75 - 0.65 is 0.09999999999999998 in floats, and 0.8 - 0.7 is 0.10000000000000009.
    for top, rest in ((15, 50), (16, 54)):
        assignment, visited = shares((20, top), (80, rest))
        assert not cohorts.sensitivity(assignment, visited, t=0.1).sensitive.any()
        above = cohorts.sensitivity(np.append(assignment, 1), np.append(visited, [[False]], axis=0), t=0.1)
        assert above.sensitive.tolist() == [True, False]


@pytest.mark.parametrize("beyond", [-1, 1])
def test_a_gap_of_billions_is_compared_with_t_to_the_last_user(beyond):
    """Two numbers of users are coprime, so the gap can lie 5e-19 off t: less than a float resolves."""
    n, size = 1_999_999_991, 1_000_000_000
    target = n * size // 10 + beyond
    visits = target * pow(n, -1, size) % size
    population = (visits * n - target) // size
    assert 0 < visits <= population
    counts = cohorts.CohortCounts(
        cohorts=np.array([0, 1]),
        sizes=np.array([size, n - size]),
        visits=np.array([[visits], [population - visits]], dtype=np.int32),
        population=np.array([population]),
        n_users=n,
        categories=("x",),
    )
    assert exceeding(counts, gaps(counts), 0.1).tolist() == [beyond > 0, False]


@given(tables())
@settings(max_examples=60, deadline=None)
def test_any_form_of_the_visits_counts_the_same(table):
    assignment, visited = table
    expected_cohorts, expected = counted_visits(assignment, visited)
    n, c = visited.shape
    rows, columns = np.nonzero(visited)
    twice = sparse.coo_array(
        (np.ones(2 * rows.size, dtype=np.int8), (np.tile(rows, 2), np.tile(columns, 2))), shape=(n, c)
    )
    doubled = sparse.csr_array(visited)
    doubled = sparse.csr_array(
        (np.repeat(doubled.data, 2), np.repeat(doubled.indices, 2), 2 * doubled.indptr), shape=(n, c)
    )
    zeros = sparse.csr_array((visited.ravel(), np.tile(np.arange(c), n), np.arange(0, n * c + 1, c)), shape=(n, c))
    forms = [visited, visited.astype(bool), 3.0 * visited, sparse.csc_array(visited), twice, doubled, zeros]
    for form in forms:
        counts = cohorts.count_visits(assignment, form)
        assert np.array_equal(counts.cohorts, expected_cohorts)
        assert np.array_equal(counts.visits, expected)
        assert np.array_equal(counts.population, visited.sum(axis=0))
        assert counts.n_without == (assignment == -1).sum()


def test_a_dense_table_is_counted_in_blocks(monkeypatch):
    from reidrisk.cohorts.sensitivity import counts as module

    rng = np.random.default_rng(0)
    assignment, visited = rng.integers(-1, 5, 500), rng.random((500, 3)) < 0.3
    whole = cohorts.count_visits(assignment, visited)
    monkeypatch.setattr(module, "blocks", lambda n: [(0, 0, 137), (1, 137, 138), (2, 138, n)])
    assert np.array_equal(cohorts.count_visits(assignment, visited).visits, whole.visits)


@given(tables(), st.permutations(range(5)), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_renaming_cohorts_and_copying_the_population_change_nothing(table, names, times):
    assignment, visited = table
    plain = cohorts.sensitivity(assignment, visited, shuffles=0)
    renamed = np.where(assignment < 0, -1, np.array(names)[assignment])
    other = cohorts.sensitivity(renamed, visited, shuffles=0)
    order = other.counts.rows([names[cohort] for cohort in plain.counts.cohorts])
    for name in ("anomalous", "gap", "low", "high", "p_value", "sensitive", "beyond_chance", "beyond_doubt"):
        assert np.array_equal(getattr(other, name)[order], getattr(plain, name)), name
    copies = cohorts.sensitivity(np.tile(assignment, times), np.tile(visited, (times, 1)), shuffles=0)
    assert np.array_equal(copies.anomalous, plain.anomalous)
    assert copies.gap == pytest.approx(plain.gap, abs=1e-12)
    assert np.array_equal(copies.sensitive, plain.sensitive)
    assert np.array_equal(copies.counts.sizes, times * plain.counts.sizes)
    assert cohorts.closeness(copies.counts).worst == pytest.approx(cohorts.closeness(plain.counts).worst, abs=1e-12)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_t_closeness_is_the_earth_movers_distance_to_the_population(table):
    assignment, visited = table
    found = cohorts.closeness(cohorts.count_visits(assignment, visited))
    names = sorted(set(assignment.tolist()) - {-1})
    brute = [
        max(
            wasserstein_distance(visited[assignment == cohort, x], visited[:, x])  # two values, 0 and 1
            for x in range(visited.shape[1])
        )
        for cohort in names
    ]
    assert found.distance == pytest.approx(brute, abs=1e-12)
    assert found.worst == pytest.approx(max(brute), abs=1e-12)
    assert found.distance == pytest.approx([float(d) for _, _, d in by_definition(assignment, visited).values()])


def test_a_category_that_a_cohort_avoids_is_close_by_the_gap_and_not_by_the_distance():
    assignment, visited = shares((10, 0), (90, 50))
    counts = cohorts.count_visits(assignment, visited)
    assert not cohorts.sensitivity(assignment, visited, t=0.1).sensitive.any()
    found = cohorts.closeness(counts)
    assert found.worst == pytest.approx(0.5)
    assert not found.satisfied(k=10, t=0.1)
    assert found.satisfied(k=10, t=0.5)
    assert not found.satisfied(k=11, t=0.5)


def test_the_baseline_is_what_random_groups_of_the_same_sizes_give():
    """Cohorts of 20 at 30 %: P(Bin(20, 0.3) >= 9) = 0.1133, up to the finite population."""
    rng = np.random.default_rng(5)
    assignment, visited = rng.permutation(np.repeat(np.arange(500), 20)), np.arange(10_000)[:, None] < 3_000
    found = cohorts.sensitivity(assignment, visited, t=0.1, shuffles=20, seed=1)
    assert found.by_chance == pytest.approx(500 * 0.1133, rel=0.1)
    assert found.sensitive.sum() == pytest.approx(500 * 0.1133, rel=0.4)
    assert not found.beyond_chance.any()
    assert found.by_chance == cohorts.sensitivity(assignment, visited, t=0.1, shuffles=20, seed=1).by_chance
    assert found.summary.by_chance == found.by_chance


def test_the_summary_survives_json_and_names_no_category():
    assignment, visited = shares((100, 30), (100, 31), (800, 139))
    found = cohorts.sensitivity(assignment, visited, t=0.1, categories=["rare disease"])
    summary = found.summary
    assert SensitivitySummary.from_json(summary.to_json()) == summary
    assert (summary.sensitive, summary.k, summary.n_cohorts, summary.users_blocked) == (1, 100, 3, 0.1)
    assert found.category(1) == "rare disease"
    assert "disease" not in summary.to_json() + found.blocklist().to_json()


@pytest.mark.parametrize(
    ("assignment", "visited", "words"),
    [
        ([0, -2], [[1], [0]], "the cohort -2 of user 1 is unknown"),
        ([0, 0.5], [[1], [0]], "the cohort of user 1 is 0.5"),
        ([0, np.nan], [[1], [0]], "the cohort of user 1 is nan"),
        (["a", "b"], [[1], [0]], "whole numbers"),
        ([0, None], [[1], [0]], "the cohort of user 1 is None"),
        ([-1, -1], [[1], [0]], "no user has a cohort"),
        ([], np.zeros((0, 1)), "one cohort for each user"),
        ([0, 0], [[1]], "a row for each of the 2 users"),
        ([0, 0], np.zeros((2, 0)), "at least one category"),
        ([0, 0], [[0], [-1]], "visited of user 1, category 0 is -1"),
        ([0, 0], [[0.0], [np.nan]], "visited of user 1, category 0 is nan"),
        ([0, 0], [["x"], ["y"]], "must hold numbers"),
    ],
)
def test_what_is_no_assignment_or_no_visit_is_refused(assignment, visited, words):
    with pytest.raises(DataError, match=words) as refused:
        cohorts.sensitivity(assignment, visited)
    assert "\n" not in str(refused.value)


def test_bad_options_are_refused():
    table = ([0, 1], [[1], [0]])
    with pytest.raises(DataError, match="the cohort 1 of user 1 is unknown; cohorts go from 0 to 0"):
        cohorts.sensitivity(*table, n_cohorts=1)
    with pytest.raises(DataError, match="2 distinct names for 1 columns"):
        cohorts.sensitivity(*table, categories=["a", "b"])
    for name, value in (("t", 0.0), ("t", 1.0), ("t", "x"), ("level", 1.0), ("fdr", 0), ("shuffles", -1), ("seed", -1)):
        with pytest.raises(OptionError, match=f"{name} must"):
            cohorts.sensitivity(*table, **{name: value})
    found = cohorts.sensitivity(*table)
    with pytest.raises(DataError, match="cohort 5 is unknown"):
        found.category(5)
    with pytest.raises(OptionError, match="rule"):
        found.blocklist("all")
    with pytest.raises(OptionError, match="n_cohorts"):
        cohorts.sensitivity(*table, n_cohorts=0)
    assert cohorts.k_anonymity([4, 4, -1]) == 2
    with pytest.raises(DataError, match="no user has a cohort"):
        cohorts.k_anonymity([-1])


@pytest.mark.parametrize(
    ("indices", "indptr", "message"),
    [
        ([0, 10**9, 2], [0, 1, 2, 3], "row 1 names column 1000000000 of 3"),
        ([0, -5, 2], [0, 1, 2, 3], "row 1 names column -5 of 3"),
        ([0, 1, 2], [0, 2, 1, 3], "falls after row 1"),
        ([0, 1, 2], [0, 1, 2, 9], "indptr goes from 0 to 9"),
    ],
)
def test_a_sparse_matrix_that_points_outside_itself_is_refused(indices, indptr, message):
    broken = sparse.csr_array((np.ones(3), [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3))
    broken.indices, broken.indptr = np.array(indices), np.array(indptr)
    with pytest.raises(DataError, match=message):
        cohorts.count_visits([0, 0, 0], broken)
    with pytest.raises(DataError, match=message):
        cohorts.sensitivity([0, 0, 0], broken, n_cohorts=1, noise=cohorts.Noise(epsilon=1.0, model="local"))
