"""The set attacks on tables whose answer is known by hand, and against a plain reading of the definitions."""

import numpy as np
import pytest
from attack_twins import reconstruct_numpy, set_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, measure, topics
from reidrisk.attacks import LooseSets, StrictSets
from reidrisk.attacks.sets.reconstruction import reconstruct, sizes
from reidrisk.base.errors import DataError, OptionError
from reidrisk_studies.jha import personas

TARGETS = Traces([[1, 1, 2, 2, 5], [1, 1, 3, 3, 6], [4, 4, 4, 3, -1], [7, 8, 0, -1, 2]], n_tokens=9)
QUERIES = Traces([[2, 1, 1, 2, 8], [1, 3, 1, 6, 6], [4, 4, 4, 4, 4], [-1, -1, -1, -1, -1]], n_tokens=9)


def plain(traces, f):
    """Return (G, R^f) of every user as Python sets."""
    rows = [[o for o in row if o >= 0] for row in traces.tokens.tolist()]
    return [(set(row), {o for o in row if row.count(o) >= f}) for row in rows]


def slow_strict(targets, queries, f):
    t, q = ([kept for _, kept in plain(x, f)] for x in (targets, queries))
    return [t.index(r) if r and t.count(r) == 1 and q.count(r) == 1 else -1 for r in q]


def slow_loose(targets, queries, f, unique=False):
    t, q, answers = plain(targets, f), plain(queries, f), []
    kept_t, kept_q = [r for _, r in t], [r for _, r in q]
    for seen, kept in q:
        fits = [i for i, (s, r) in enumerate(t) if kept and r and kept <= s and r <= seen]
        ok = len(fits) == 1 and (not unique or (kept_q.count(kept) == 1 and kept_t.count(kept_t[fits[0]]) == 1))
        answers.append(fits[0] if ok else -1)
    return answers


@given(set_pairs())
@settings(deadline=None)
def test_every_attack_is_what_the_paper_says(case):
    targets, queries, f = case
    got = {
        name: attack.fit(targets).link(queries).target.tolist()
        for name, attack in {
            "strict": StrictSets(f),
            "loose": LooseSets(f),
            "unique": LooseSets(f, require_unique=True),
        }.items()
    }
    assert got["strict"] == slow_strict(targets, queries, f)
    assert got["loose"] == slow_loose(targets, queries, f)
    assert got["unique"] == slow_loose(targets, queries, f, unique=True)


@given(set_pairs())
@settings(deadline=None)
def test_profiles_and_sizes_have_a_numpy_twin(case):
    traces, _, f = case
    fast, slow = reconstruct(traces, f), reconstruct_numpy(traces, f)
    assert np.array_equal(fast.seen, slow.seen)
    assert np.array_equal(fast.kept, slow.kept)
    assert sizes(fast.kept).tolist() == [len(kept) for _, kept in plain(traces, f)]


@given(set_pairs(), st.sampled_from([StrictSets, LooseSets]))
@settings(deadline=None)
def test_measured_rates_count_right_and_wrong_links_together(case, make):
    targets, queries, f = case
    n = min(len(targets), len(queries))
    targets, queries = targets.take(slice(0, n)), queries.take(slice(0, n))
    risk = measure.random_user(make(f), targets, queries)
    links = make(f).fit(targets).link(queries)
    assert risk.rate == pytest.approx(np.mean(links.target == np.arange(n)))
    assert risk.abstained == pytest.approx(np.mean(links.target < 0))


def test_profiles_of_four_users_by_hand():
    p = reconstruct(TARGETS, 2)
    assert p.kept[:, 0].tolist() == [2 + 4, 2 + 8, 16, 0]
    assert p.seen[:, 0].tolist() == [2 + 4 + 32, 2 + 8 + 64, 16 + 8, 128 + 256 + 1 + 4]


def test_strict_answers_of_four_users_by_hand():
    # {1, 2} is found; {1, 6} is nobody's; {4} is found; an empty profile is nobody's, not even the empty target's.
    links = StrictSets().fit(TARGETS).link(QUERIES)
    assert links.target.tolist() == [0, -1, 2, -1]
    assert links.score.tolist() == [3, 0, 2, 0]
    assert links.n_ties.tolist() == [1, 0, 1, 0]


def test_loose_answers_of_four_users_by_hand():
    # Query 1 kept {1, 6}; target 1 saw both, and the {1, 3} it kept were seen by the query.
    attack = LooseSets().fit(TARGETS)
    assert attack.link(QUERIES).target.tolist() == [0, 1, 2, -1]
    assert attack.score(QUERIES, np.array([0, 1, 2, 3])).tolist() == [3, 2, 2, 0]
    rows, scores = attack.candidates(QUERIES, 2)
    assert rows.tolist() == [[0, 1], [1, 0], [2, 0], [0, 1]]
    assert scores.tolist() == [[3, 0], [2, 0], [2, 0], [0, 0]]
    assert attack.candidates(QUERIES, 2, among=np.array([3, 2, 1, 0]))[0].tolist() == [[0, 3], [1, 3], [2, 3], [3, 2]]


def test_twins_on_either_side_are_not_linked_strictly():
    one, two = Traces([[1, 1]], 9), Traces([[1, 1], [1, 1]], 9)
    assert StrictSets().fit(two).link(one).target.tolist() == [-1]
    assert StrictSets().fit(one).link(two).target.tolist() == [-1, -1]
    assert LooseSets().fit(one).link(two).target.tolist() == [0, 0]
    assert LooseSets(require_unique=True).fit(one).link(two).target.tolist() == [-1, -1]


def test_a_target_with_a_twin_is_not_linked_where_uniqueness_is_asked_for():
    # The query kept {1, 4}: only target 0 saw both, but target 1 keeps {1} as target 0 does.
    targets, query = Traces([[1, 1, 4, 5], [1, 1, 6, 7], [2, 2, 3, 8]], 9), Traces([[1, 1, 4, 4]], 9)
    assert LooseSets().fit(targets).link(query).target.tolist() == [0]
    assert LooseSets(require_unique=True).fit(targets).link(query).target.tolist() == [-1]


def test_who_was_seen_around_keeps_a_part_honest():
    one, two = Traces([[1, 1]], 9), Traces([[1, 1], [1, 1]], 9)
    assert StrictSets().fit(one).link(two.take(slice(0, 1))).target.tolist() == [0]
    looked = StrictSets().fit(one).look_around(two)
    assert looked.link(two.take(slice(0, 1))).target.tolist() == [-1]
    assert looked.look_around(two.take(slice(0, 0))).link(two).target.tolist() == [0, 0]


@given(set_pairs(), st.integers(1, 7), st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_a_sample_scores_what_the_whole_would(case, sample, seed):
    targets, queries, f = case
    truth = np.arange(len(queries)) % len(targets)
    for attack in (StrictSets(f), LooseSets(f, require_unique=True)):
        whole = measure.random_user(attack, targets, queries, truth)
        part = measure.random_user(attack, targets, queries, truth, sample=sample, seed=seed)
        rows, _ = measure.risk.chosen_queries(len(queries), sample, seed)
        assert np.array_equal(part.per_user, whole.per_user if rows is None else whole.per_user[rows])


def test_best_and_worst_case_of_appendix_a():
    api = topics.TopicsAPI(349)
    for rates, low, high in [(personas.distinct(300, seed=1), 0.95, 1.0), (personas.identical(300), 0.0, 0.02)]:
        sets = api.top_sets(rates, epochs=40, seed=0)
        a, b = (api.expose(sets, seed=0, site=site) for site in "ab")
        risk = measure.random_user(LooseSets(), a, b)
        assert low <= risk.rate <= high
        assert risk.incorrect <= 0.05


def test_bad_input_is_one_clear_line():
    with pytest.raises(OptionError, match=r"call fit\(targets\) first"):
        StrictSets().link(QUERIES)
    for threshold in (0, 1.5, True):
        with pytest.raises(OptionError, match="threshold must be a whole number of epochs"):
            LooseSets(threshold).fit(TARGETS)
    with pytest.raises(DataError, match="targets have 9 tokens in the vocabulary, queries have 8"):
        LooseSets().fit(TARGETS).link(Traces([[1]], 8))
    with pytest.raises(DataError, match="compares traces, not ndarray"):
        LooseSets().fit(np.array([[1, 2]]))
    with pytest.raises(OptionError, match=r"target rows lie in \[0, 4\)"):
        LooseSets().fit(TARGETS).score(QUERIES, np.array([0, 1, 2, 4]))
    with pytest.raises(OptionError, match="cannot give 5 candidates of 4 targets"):
        LooseSets().fit(TARGETS).candidates(QUERIES, 5)
