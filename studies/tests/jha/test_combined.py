"""Two set attacks in one, against a plain reading of what both, or either, link."""

import numpy as np
import pytest
from attack_twins import set_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, attacks, measure
from reidrisk.attacks import LooseSets, StrictSets
from reidrisk.base.errors import OptionError
from reidrisk_studies.jha.combined import Both, Either


@given(set_pairs())
@settings(deadline=None)
def test_both_and_either_are_what_the_paper_says(case):
    targets, queries, f = case
    pairs = list(zip(*(LooseSets(g).fit(targets).link(queries).target.tolist() for g in (f, f + 1)), strict=True))
    both = Both(LooseSets(f), LooseSets(f + 1)).fit(targets).link(queries)
    assert both.target.tolist() == [a if a == b else -1 for a, b in pairs]
    either = Either(LooseSets(f), LooseSets(f + 1)).fit(targets).link(queries)
    for (a, b), target, ties in zip(pairs, either.target.tolist(), either.n_ties.tolist(), strict=True):
        named = {a, b} - {-1}
        assert ties == len(named)
        assert target == min(named, default=-1)


@given(set_pairs(), st.sampled_from(["both", "either", "strict either"]))
@settings(deadline=None)
def test_measured_rates_count_right_and_wrong_links_together(case, which):
    targets, queries, f = case
    n = min(len(targets), len(queries))
    targets, queries = targets.take(slice(0, n)), queries.take(slice(0, n))
    attack = {
        "both": Both(LooseSets(f), StrictSets(f)),
        "either": Either(LooseSets(f), LooseSets(f + 1)),
        "strict either": Either(StrictSets(f), StrictSets(f + 1)),
    }[which]
    risk = measure.random_user(attack, targets, queries)
    links = attack.fit(targets).link(queries)
    right = sum(1 for i, t in enumerate(links.target.tolist()) if t == i and links.n_ties[i] == 1)
    halves = [i for i in range(n) if links.n_ties[i] == 2 and links.target[i] >= 0 and "either" in which]
    answers = [(attack.a.link(queries).target, attack.b.link(queries).target)] if halves else []
    right += sum(0.5 for i in halves if i in (answers[0][0][i], answers[0][1][i]))
    assert risk.rate == pytest.approx(right / n)
    assert risk.abstained == pytest.approx(np.mean(links.target < 0))


def test_who_was_seen_around_keeps_a_part_honest():
    one, two = Traces([[1, 1]], 9), Traces([[1, 1], [1, 1]], 9)
    for attack in (Both(StrictSets(), LooseSets()), Either(StrictSets(), StrictSets(1))):
        looked = attack.fit(one).look_around(two)
        assert looked.link(two.take(slice(0, 1))).target.tolist() == [-1]
        assert looked.look_around(two.take(slice(0, 0))).link(two).target.tolist() == [0, 0]
        assert attack.fit(one).link(two.take(slice(0, 1))).target.tolist() == [0]


@given(set_pairs(), st.integers(1, 7), st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_a_sample_scores_what_the_whole_would(case, sample, seed):
    targets, queries, f = case
    truth = np.arange(len(queries)) % len(targets)
    attack = Either(StrictSets(f), Both(LooseSets(f), StrictSets(f + 1)))
    whole = measure.random_user(attack, targets, queries, truth)
    part = measure.random_user(attack, targets, queries, truth, sample=sample, seed=seed)
    rows, _ = measure.risk.chosen_queries(len(queries), sample, seed)
    assert np.array_equal(part.per_user, whole.per_user if rows is None else whole.per_user[rows])


@given(set_pairs())
@settings(deadline=None)
def test_pairs_of_attacks_nest(case):
    targets, queries, f = case
    parts = [LooseSets(f), LooseSets(f + 1), StrictSets(f)]
    named = [attack.fit(targets).link(queries).target.tolist() for attack in parts]
    any_of = Either(Either(LooseSets(f), LooseSets(f + 1)), StrictSets(f)).fit(targets).link(queries)
    agreed = Both(Either(LooseSets(f), LooseSets(f + 1)), StrictSets(f)).fit(targets).link(queries)
    for i, (a, b, c) in enumerate(zip(*named, strict=True)):
        names = {a, b, c} - {-1}
        assert (any_of.n_ties[i], any_of.target[i]) == (len(names), min(names, default=-1))
        assert agreed.target[i] == (c if c in (a, b) else -1)


def test_two_answers_that_differ_tie():
    # With f = 2 only target 0 fits, with f = 3 only target 1: it kept token 2 twice, which the query never saw.
    targets = Traces([[1, 3, 1, 3, 5, 7], [1, 1, 1, 2, 2, 4]], n_tokens=9)
    query = Traces([[1, 1, 1, 3, 3, 4]], n_tokens=9)
    links = Either(LooseSets(2), LooseSets(3)).fit(targets).link(query)
    assert (links.target.tolist(), links.n_ties.tolist()) == ([0], [2])
    risk = measure.random_user(Either(LooseSets(2), LooseSets(3)), targets, query, truth=[1])
    assert (risk.rate, risk.incorrect) == (0.5, 0.5)
    assert Both(LooseSets(2), LooseSets(3)).fit(targets).link(query).target.tolist() == [-1]


def test_narrowed_pairs_leave_the_original_alone_and_give_candidates():
    targets, queries = Traces([[1, 1, 4], [2, 2, 5], [3, 3, 3]], 9), Traces([[1, 1, 7], [2, 2, 2], [3, 3, 8]], 9)
    attack = Either(StrictSets(1), Both(LooseSets(2), StrictSets(2))).fit(targets)
    before = attack.link(queries).target
    assert before.tolist() == [0, 1, 2]
    assert attack.narrowed(np.array([2, 1])).link(queries).target.tolist() == [-1, 1, 0]
    assert np.array_equal(attack.link(queries).target, before)
    rows, scores = attack.candidates(queries, 2, np.array([2, 1, 0]))
    assert (rows.tolist(), scores.tolist()) == ([[0, 2], [1, 2], [2, 1]], [[1, 0]] * 3)
    assert attack.score(queries, np.array([0, 0, 2])).tolist() == [1, 0, 1]


def test_intervals_promise_nothing_where_either_asks_which_queries_are_unique():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 6, (60, 4))
    a, b = Traces(tokens, 6), Traces(np.where(rng.random((60, 4)) < 0.6, tokens, 0), 6)
    strict, loose = StrictSets(2), LooseSets(3)
    for attack in (Both(loose, strict), Either(strict, loose)):
        assert measure.random_user(attack, a, b).covers == "none"
        assert measure.random_user(attack, a, b, sample=50, seed=0).covers == "queries"
    assert measure.random_user(Both(loose, LooseSets(2)), a, b).covers == "queries"


def test_only_set_attacks_are_combined():
    with pytest.raises(OptionError, match="Both combines set attacks, not Hamming"):
        Both(LooseSets(), attacks.Hamming())
