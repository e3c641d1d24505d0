"""Blocklists, what they cost, what the blocked have in common, and the way from visits to categories."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import cohorts
from reidrisk.base.errors import DataError, OptionError
from reidrisk.cohorts import Blocklist


def population(seed: int, n: int = 4_000) -> tuple[np.ndarray, np.ndarray]:
    """Return 20 cohorts, the first four of which prefer a category of their own."""
    rng = np.random.default_rng(seed)
    assignment = rng.integers(-1, 20, n)
    chance = np.full((21, 6), 0.08)
    chance[np.arange(4), np.arange(4)] = [0.5, 0.4, 0.3, 0.21]
    return assignment, rng.random((n, 6)) < chance[assignment]


def test_the_published_list_is_cohorts_and_how_they_were_chosen():
    found = cohorts.sensitivity(*population(0), t=0.1)
    blocklist = found.blocklist()
    assert blocklist.cohorts == tuple(found.counts.cohorts[found.sensitive].tolist())
    assert set(json.loads(blocklist.to_json())) == {"cohorts", "t", "rule"}
    assert set(found.blocklist("doubt").cohorts) <= set(found.blocklist("chance").cohorts) <= set(blocklist.cohorts)
    shown = blocklist.apply(found.counts.cohorts)
    assert np.array_equal(shown == -1, found.sensitive)
    assert Blocklist((4, 1, 4), 0.1).cohorts == (1, 4)
    assert Blocklist((), 0.1).apply([0, -1]).tolist() == [0, -1]


def test_a_list_learnt_on_a_subset_is_judged_on_everyone():
    assignment, visited = population(1, n=20_000)
    synced = np.random.default_rng(2).random(20_000) < 0.3
    learnt = cohorts.sensitivity(assignment[synced], visited[synced], t=0.1).blocklist()
    everyone = cohorts.count_visits(assignment, visited)
    found = cohorts.check_blocklist(learnt, everyone)
    sensitive = set(cohorts.sensitivity_of_counts(everyone, t=0.1).blocklist().cohorts)
    assert sensitive == {0, 1, 2, 3}
    assert found.caught == len(sensitive & set(learnt.cohorts))
    assert found.missed == len(sensitive - set(learnt.cohorts))
    assert found.needless == len(set(learnt.cohorts) - sensitive)
    assert (found.sensitive, found.absent) == (4, 0)
    assert found.users_blocked == pytest.approx(np.isin(assignment[assignment >= 0], learnt.cohorts).mean())
    left = cohorts.sensitivity_of_counts(everyone, t=0.1)
    assert found.largest_left == left.gap[~np.isin(everyone.cohorts, learnt.cohorts)].max()


def test_a_refreshed_list_says_how_many_cohorts_change_sides():
    lists = [Blocklist(cohorts_, 0.1) for cohorts_ in ((1, 2, 3), (2, 3, 4, 5), ())]
    found = cohorts.blocklist_changes(lists)
    assert (found.blocked, found.added, found.removed, found.stayed) == ((3, 4, 0), (2, 0), (1, 4), (2, 0))


def test_the_empty_cohort_is_counted_from_its_users():
    assignment, visited = population(3)
    counts = cohorts.count_visits(assignment, visited)
    blocklist = cohorts.sensitivity_of_counts(counts, t=0.05).blocklist()
    found = cohorts.empty_cohort(counts, blocklist)
    blocked = np.isin(assignment, blocklist.cohorts)
    for profile, rows in ((found.blocked, blocked), (found.everyone_without, blocked | (assignment == -1))):
        difference = visited[rows].mean(axis=0) - visited.mean(axis=0)
        assert profile.n_users == rows.sum()
        assert profile.difference == pytest.approx(difference)
        assert profile.gap == pytest.approx(difference.max())
        assert profile.low < profile.gap < profile.high
        assert profile.off_by(0.02) == profile.off_by_two_points == (np.abs(difference) > 0.02).sum()
    assert found.everyone_without.gap < found.blocked.gap


def test_an_audit_survives_json_and_says_how_to_run_it_again():
    assignment, visited = population(6)
    spec = cohorts.CohortSpec(t=0.05, seed=3, worst=2)
    audit = cohorts.cohort_audit(cohorts.sensitivity(assignment, visited, spec), covered=0.5)
    assert cohorts.CohortAudit.from_json(audit.to_json()) == audit
    again = cohorts.CohortSpec.model_validate(audit.spec)
    assert again == spec
    assert cohorts.cohort_audit(cohorts.sensitivity(assignment, visited, again), covered=0.5) == audit


def test_former_names_of_an_audit_warn():
    audit = cohorts.cohort_audit(cohorts.sensitivity(*population(6)))
    with pytest.warns(DeprecationWarning, match=r"gap_counts is now gaps\.cohorts"):
        assert audit.gap_counts == audit.gaps.cohorts
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = audit.nothing


def test_the_curve_agrees_with_one_threshold_at_a_time():
    counts = cohorts.count_visits(*population(4))
    curve = cohorts.threshold_curve(counts, [0.01, 0.025, 0.05, 0.1, 0.3])
    for t, share, users in zip(curve.t, curve.cohorts, curve.users, strict=True):
        found = cohorts.sensitivity_of_counts(counts, t)
        assert share == found.sensitive.mean()
        assert users == pytest.approx(found.summary.users_blocked)
    for line in (curve.cohorts, curve.users, curve.certain, curve.possible):
        assert list(line) == sorted(line, reverse=True)
    assert all(a <= b <= c for a, b, c in zip(curve.certain, curve.cohorts, curve.possible, strict=True))
    assert type(curve).from_json(curve.to_json()) == curve


def test_the_histogram_counts_every_category_once():
    counts = cohorts.count_visits(*population(5))
    found = cohorts.frequency_histogram(counts)
    assert sum(found.categories) == 6
    assert found.share_below == (counts.population_freq < 0.05).mean()
    assert cohorts.frequency_histogram(counts, below=0.5).share_below == 1.0


def test_bad_lists_thresholds_and_edges_are_refused():
    counts = cohorts.count_visits([0, 1], [[1], [0]])
    with pytest.raises(DataError, match="-1 is no cohort"):
        Blocklist((-1,), 0.1)
    with pytest.raises(DataError, match="at least two blocklists"):
        cohorts.blocklist_changes([Blocklist((1,), 0.1)])
    with pytest.raises(DataError, match="no user is in a blocked cohort"):
        cohorts.empty_cohort(counts, Blocklist((7,), 0.1))
    for thresholds in ([], [0.2, 0.1]):
        with pytest.raises(OptionError, match="thresholds must ascend"):
            cohorts.threshold_curve(counts, thresholds)
    with pytest.raises(OptionError, match="edges must ascend"):
        cohorts.frequency_histogram(counts, [0.5])
    with pytest.raises(DataError, match="give edges that hold them all"):
        cohorts.frequency_histogram(counts, [0, 0.1])


HOSTS = [f"h{i}.org" for i in range(6)]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(HOSTS)), min_size=1, max_size=30),
    st.dictionaries(st.sampled_from(HOSTS), st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1),
)
@settings(max_examples=60, deadline=None)
def test_categories_of_visits_are_looked_up_one_by_one(visits, labels):
    frame = pl.DataFrame({"user": [u for u, _ in visits], "host": [h for _, h in visits]})
    table = pl.DataFrame(
        {"host": [h for h, given in labels.items() for _ in given], "category": [c for g in labels.values() for c in g]}
    )
    names = sorted({category for given in labels.values() for category in given})
    expected = np.zeros((5, len(names)), dtype=int)
    for user, host in visits:
        for category in labels.get(host, []):
            expected[user, names.index(category)] = 1
    for given_table in (labels, table, table.to_arrow()):
        found = cohorts.category_visits(frame, given_table, users=range(5), unmatched="keep")
        assert found.categories == tuple(names)
        assert np.array_equal(found.visited.toarray().astype(int), expected)
        assert found.covered == pytest.approx(np.mean([host in labels for _, host in visits]))
        assert found.unseen == tuple(name for name, seen in zip(names, expected.any(axis=0), strict=True) if not seen)
    alone = cohorts.category_visits(frame.to_arrow(), labels, unmatched="keep")
    assert alone.users.to_pylist() == sorted({user for user, _ in visits})
    assert np.array_equal(alone.visited.toarray(), expected[alone.users.to_pylist()] > 0)


def test_tokens_have_categories_too_and_unlisted_users_are_a_population():
    visits = pl.DataFrame({"user": ["a", "a", "b"], "token": [3, 3, 4]})
    labels = pl.DataFrame({"token": [3], "category": ["x"]})
    found = cohorts.category_visits(visits, labels, users=["b", "quiet", "a"])
    assert found.visited.toarray()[:, 0].tolist() == [False, False, True]
    counts = cohorts.count_visits([0, 0, -1], found.visited, categories=found.categories)
    assert (counts.population.tolist(), counts.visits.tolist(), counts.categories) == ([1], [[0]], ("x",))


@pytest.mark.parametrize(
    ("visits", "labels", "users", "words"),
    [
        ({"user": [1], "host": ["a"]}, {"host": ["a", None], "category": ["x", "y"]}, None, "category 'y' has no host"),
        ({"user": [1], "host": ["a"]}, {"host": ["a", ""], "category": ["x", "z"]}, None, "category 'z' has no host"),
        ({"user": [1], "host": ["a"]}, {"host": ["a"], "category": [None]}, None, "row 0 of the categories names no"),
        ({"user": [1, 2], "host": ["a", "a"]}, {"host": ["a"], "category": ["x"]}, [1], "user 2 has visits but"),
        ({"user": [1], "host": ["a"]}, {"host": ["a"], "category": ["x"]}, [1, 1], "user 1 is listed twice"),
        ({"user": [1, None], "host": ["a", "a"]}, {"host": ["a"], "category": ["x"]}, None, "row 1 of the visits"),
        ({"user": [1], "host": [None]}, {"host": ["a"], "category": ["x"]}, None, "row 0 of the visits has no host"),
        ({"who": [1], "host": ["a"]}, {"host": ["a"], "category": ["x"]}, None, "no column 'user'"),
        ({"user": [1], "site": ["a"]}, {"host": ["a"], "category": ["x"]}, None, "one column 'host' or 'token'"),
        ({"user": [1], "host": ["a"]}, {"token": [3], "category": ["x"]}, None, "need the columns 'host'"),
        ({"user": [1], "host": ["a"]}, {"host": [3], "category": ["x"]}, None, "give both the same type"),
        ({"user": [1], "host": ["a"]}, {"host": [], "category": []}, None, "there is no category"),
    ],
)
def test_tables_that_do_not_fit_are_refused(visits, labels, users, words):
    with pytest.raises(DataError, match=words):
        cohorts.category_visits(pl.DataFrame(visits), pa.table(labels), users=users)


def test_a_category_without_hosts_in_a_mapping_is_no_category():
    visits = pl.DataFrame({"user": [1], "host": ["a"]})
    with pytest.raises(DataError, match="there is no category"):
        cohorts.category_visits(visits, {"a": []})


def test_a_table_that_matches_nothing_is_no_clean_bill():
    visits = pl.DataFrame({"user": [1, 2], "host": ["clinic.org", "news.org"]})
    with pytest.raises(DataError, match=r"none of the 2 listed hosts occurs in the visits .*'www.clinic.org'"):
        cohorts.category_visits(visits, {"www.clinic.org": "health", "www.vote.org": "politics"})
    found = cohorts.category_visits(visits, {"Clinic.ORG": "health", "vote.org": "politics"})
    assert found.visited.toarray().astype(int).tolist() == [[1, 0], [0, 0]]
    assert found.unseen == ("politics",)
    audit = cohorts.cohort_audit(cohorts.sensitivity([0, 1], found.visited, categories=found.categories), 1, 0.5)
    assert (audit.covered_visits, audit.unseen_categories) == (0.5, ("politics",))
    with pytest.raises(DataError, match="the category of 'a' is None"):
        cohorts.category_visits(visits, {"a": None})
