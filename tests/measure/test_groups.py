"""Audiences partitioned by a fingerprint: the same as one measurement in each group, with what is learnt from all."""

import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Bags, Traces, attacks, measure
from reidrisk.base.errors import DataError, OptionError

SETS = {
    "strict": attacks.StrictSets(2),
    "loose": attacks.LooseSets(1),
    "unique": attacks.LooseSets(1, require_unique=True),
}


def tables(seed, n=40, r=4, n_tokens=4):
    rng = np.random.default_rng(seed)
    targets = rng.integers(-1, n_tokens, (n, r))
    queries = np.where(rng.random((n, r)) < 0.7, targets, rng.integers(-1, n_tokens, (n, r)))
    return Traces(targets, n_tokens), Traces(queries, n_tokens), rng


@given(st.integers(0, 2**20), st.booleans())
@settings(deadline=None, max_examples=30)
def test_weighted_ties_are_counted_within_the_group(seed, sampled):
    one, two, rng = tables(seed)
    fingerprints = rng.integers(-1, 6, (2, 40))
    fingerprints[1][rng.random(40) < 0.7] = fingerprints[0][rng.random(40) < 0.7][0]
    attack = attacks.WeightedHamming(2, 0.1)
    risk = measure.random_user(
        attack, one, two, groups=tuple(fingerprints), sample=15 if sampled else None, seed=3 if sampled else None
    )
    rows = measure.risk.chosen_queries(40, 15, 3)[0] if sampled else np.arange(40)
    attack.fit(one)
    score = np.stack([attack.score(two, np.full(40, t)) for t in range(40)], axis=1)
    credit, silent, baseline = [], 0, []
    for i in rows:
        candidates = np.flatnonzero((fingerprints[0] == fingerprints[1][i]) & (fingerprints[1][i] >= 0))
        silent += not candidates.size
        best = candidates[score[i, candidates] == score[i, candidates].max(initial=-(10**9))]
        credit.append((i in best) / max(len(best), 1))
        baseline.append((i in candidates) / max(len(candidates), 1))
    assert np.array_equal(risk.per_user, credit)
    assert risk.abstained == pytest.approx(silent / len(rows))
    assert risk.baseline == pytest.approx(np.mean(baseline))


@given(st.integers(0, 2**20), st.sampled_from(list(SETS)))
@settings(deadline=None, max_examples=40)
def test_set_attacks_judge_who_is_unique_within_the_group(seed, which):
    one, two, rng = tables(seed)
    labels = rng.integers(0, 3, 40)
    risk = measure.random_user(SETS[which], one, two, groups=(labels, labels))
    for group in range(3):
        rows = np.flatnonzero(labels == group)
        if len(rows) > 1:
            alone = measure.random_user(SETS[which], one.take(rows), two.take(rows))
            assert np.array_equal(risk.per_user[rows], alone.per_user)
    part = measure.random_user(SETS[which], one, two, groups=(labels, labels), sample=9, seed=1)
    assert np.array_equal(part.per_user, risk.per_user[measure.risk.chosen_queries(40, 9, 1)[0]])


@pytest.mark.parametrize("limit", [10_000, 5])
def test_matching_within_groups_is_one_matching_in_each(limit, monkeypatch):
    monkeypatch.setattr(sys.modules["reidrisk.measure.matching"], "DENSE_LIMIT", limit)
    one, two, rng = tables(7, n=60)
    attack = attacks.Hamming()  # which learns nothing, so that a group alone is the same
    plain = measure.matching(attack, one, two, seed=0)
    same = measure.matching(attack, one, two, seed=0, groups=(["x"] * 60, ["x"] * 60))
    assert np.array_equal(plain.per_user, same.per_user)
    assert (plain.rate, plain.low, plain.abstained) == (same.rate, same.low, same.abstained)
    assert plain.baseline == pytest.approx(same.baseline)
    labels = rng.integers(0, 3, 60)
    risk = measure.matching(attack, one, two, groups=(labels, labels), seed=0, orders=40)
    for rows in (np.flatnonzero(labels == group) for group in range(3)):
        alone = measure.matching(attack, one.take(rows), two.take(rows), seed=0, orders=40)
        assert risk.per_user[rows].mean() == pytest.approx(alone.rate, abs=0.08)
    assert risk.rate > plain.rate
    assert risk.baseline == pytest.approx(3 / 60)
    assert (risk.notes[-1].code, risk.notes[-1]["groups"]) == ("within-groups", 3)


def test_matching_links_nobody_whose_group_is_not_known_or_another_one():
    one, two, rng = tables(8, n=40)
    labels, asked = rng.integers(0, 2, 40), np.full(40, -1)
    risk = measure.matching(attacks.WeightedHamming(2, 0.1), one, two, groups=(labels, asked), seed=0)
    assert (risk.rate, risk.abstained, risk.baseline) == (0.0, 1.0, 0.0)
    swapped = measure.matching(attacks.WeightedHamming(2, 0.1), one, two, groups=(labels, 1 - labels), seed=0)
    assert (swapped.rate, swapped.baseline) == (0.0, 0.0)
    with pytest.raises(DataError, match="there are 39 groups for 40 queries"):
        measure.matching(attacks.Hamming(), one, two, groups=(labels, labels[:39]))


def test_one_group_for_all_changes_nothing_and_smaller_ones_help():
    one, two, rng = tables(5, n=400)
    every = attacks.Hamming(), attacks.WeightedHamming(2, 0.1), attacks.LooseSets(2), SETS["strict"]
    for attack in every:
        plain = measure.random_user(attack, one, two)
        same = measure.random_user(attack, one, two, groups=(["x"] * 400, ["x"] * 400))
        assert np.array_equal(plain.per_user, same.per_user)
        assert (plain.rate, plain.abstained) == (same.rate, same.abstained)
        assert same.baseline == pytest.approx(plain.baseline)
    labels = rng.integers(0, 20, 400)
    split = measure.random_user(every[1], one, two, groups=(labels, labels))
    assert measure.difference(split, measure.random_user(every[1], one, two)).low > 0
    sizes = np.bincount(labels)
    assert split.baseline == pytest.approx(np.mean(1 / sizes[labels]))
    assert split.notes[-1]["groups"] == 20


def test_a_fingerprint_that_changed_hides_the_user():
    a = Traces([[1, 2], [3, 4]], 9)
    risk = measure.random_user(attacks.Hamming(), a, a, groups=(["x", "y"], ["y", "z"]))
    assert (risk.rate, risk.incorrect, risk.abstained, risk.baseline) == (0.0, 0.5, 0.5, 0.0)


def test_bags_and_curves_have_groups_too():
    bags = Bags([[1, 0], [1, 0], [0, 1]])
    assert measure.random_user(attacks.Overlap(), bags, bags, groups=([0, 1, 1], [0, 1, 1])).rate == 1.0
    a = Traces([[1, 2], [1, 2], [5, 6]], 9)
    rates = [r.rate for r in measure.curve(attacks.Hamming(), a, a, (1, 2), groups=([0, 1, 1], [0, 1, 1]))]
    assert rates == [1.0, 1.0]


def test_thousands_of_groups_are_a_matter_of_seconds():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 50, (6_000, 6))
    a, b = Traces(tokens, 50), Traces(np.where(rng.random(tokens.shape) < 0.5, tokens, 0), 50)  # matches by merit
    labels = rng.integers(0, 3_000, 6_000)
    for attack in (attacks.WeightedHamming(2, 0.1), attacks.LooseSets(2)):
        measure.random_user(attack, a.take(slice(0, 50)), b.take(slice(0, 50)), groups=(labels[:50], labels[:50]))
        start = time.process_time()
        risk = measure.random_user(attack, a, b, groups=(labels, labels))
        assert time.process_time() - start < 6
        assert risk.rate > 0.02


def test_bad_groups_are_one_clear_line():
    a = Traces([[1, 2], [3, 4]], 9)
    for groups, error, message in [
        (([0, 1], [0]), DataError, "there are 1 groups for 2 queries"),
        (([0, 1], ["a", "b"]), DataError, "both be whole numbers or both be text"),
        (([0.5, 1], [0, 1]), DataError, "groups of the targets are float64"),
        ([0, 1, 2], OptionError, "groups must be a pair"),
    ]:
        with pytest.raises(error, match=message):
            measure.random_user(attacks.Hamming(), a, a, groups=groups)


def test_one_target_is_no_choice():
    a = Traces([[1, 2]], 9)
    with pytest.raises(DataError, match="only 1 target"):
        measure.random_user(attacks.Hamming(), a, a)
