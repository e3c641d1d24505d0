import importlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, attacks, measure
from reidrisk.base.errors import OptionError

module = importlib.import_module("reidrisk.measure.matching")


def tables(seed, n=5, r=3, n_tokens=3):
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, n_tokens, (n, r))
    queries = np.where(rng.random((n, r)) < 0.6, targets, rng.integers(0, n_tokens, (n, r)))
    return Traces(targets, n_tokens), Traces(queries, n_tokens)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**20))
def test_the_assignment_has_the_best_sum_of_all_permutations(seed):
    targets, queries = tables(seed)
    attack = attacks.WeightedHamming(top_k=2, noise=0.1).fit(targets)
    full = module._scores(attack, queries, 5)
    rng = np.random.default_rng(seed)
    link = module._assigned(full, rng.permutation(5), rng)
    assert sorted(link.tolist()) == [0, 1, 2, 3, 4]
    best = max(sum(full[i, p[i]] for i in range(5)) for p in itertools.permutations(range(5)))
    assert sum(full[i, link[i]] for i in range(5)) == best


def test_ties_are_the_mean_over_random_orders():
    same = Traces(np.zeros((4, 2), dtype=np.int64), 2)
    risk = measure.matching(attacks.Hamming(), same, same, seed=1, orders=800)
    assert risk.rate == pytest.approx(0.25, abs=0.03)  # any permutation is as good: one in four is right
    assert risk.setting == "matching"


def test_the_greedy_way_agrees_with_taking_pairs_one_by_one():
    targets, queries = tables(3, n=60, n_tokens=4)
    attack = attacks.WeightedHamming(top_k=2, noise=0.1).fit(targets)
    rows, scores = attack.candidates(queries, 6)
    link = module._greedy(rows, scores, 60, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    order = rng.permutation(rows.size)
    order = order[np.argsort(-scores.ravel()[order], kind="stable")]
    expected, taken = np.full(60, -1), set()
    for pair in order:
        query, target = pair // 6, rows.ravel()[pair]
        if expected[query] < 0 and target not in taken:
            expected[query] = target
            taken.add(target)
    assert np.array_equal(link, expected)


def test_large_tables_are_matched_on_candidates_and_say_so(monkeypatch):
    targets, queries = tables(4, n=200, r=4, n_tokens=5)
    dense = measure.matching(attacks.Hamming(), targets, queries, seed=0, orders=10)
    monkeypatch.setattr(module, "DENSE_LIMIT", 50)
    risk = measure.matching(attacks.Hamming(), targets, queries, seed=0, orders=10)
    assert {note.code: note for note in risk.notes}["assignment"]["optimal"] is False
    assert risk.abstained == 0.0
    assert risk.rate == pytest.approx(dense.rate, abs=0.08)


def test_many_ties_on_candidates_are_broken_at_random(monkeypatch):
    """Ten tokens, one epoch: hundreds of equal targets, more than there are candidates."""
    monkeypatch.setattr(module, "DENSE_LIMIT", 50)
    same = Traces(np.random.default_rng(0).integers(0, 10, (2_000, 1)), 10)
    risk = measure.matching(attacks.Hamming(), same, same, seed=0, orders=40)
    assert risk.abstained == pytest.approx(0.0, abs=1e-12)
    assert risk.rate == pytest.approx(10 / 2_000, rel=0.35)
    first, second = risk.per_user[:1_000].sum(), risk.per_user[1_000:].sum()
    assert first == pytest.approx(second, rel=0.8)


def test_seeing_everyone_helps_here():
    targets, queries = tables(5, n=300, r=6, n_tokens=6)
    attack = attacks.WeightedHamming(top_k=2, noise=0.05)
    together = measure.matching(attack, targets, queries, seed=0)
    assert together.rate > measure.random_user(attack, targets, queries).rate
    assert together.rate <= len(np.unique(queries.tokens, axis=0)) / 300  # what Lemma 4 allows


def test_same_seed_same_rate_and_bad_orders_are_refused():
    targets, queries = tables(6, n=30)
    one, two = (measure.matching(attacks.Hamming(), targets, queries, seed=3) for _ in range(2))
    assert one == two
    with pytest.raises(OptionError, match="must be a whole number of at least 1"):
        measure.matching(attacks.Hamming(), targets, queries, orders=0)


def test_queries_of_strangers_and_distractors():
    targets = Traces([[1, 2], [3, 4], [0, 0]], 5, users=["a", "b", "c"])
    queries = Traces([[1, 2], [3, 4]], 5, users=["a", "x"])
    risk = measure.matching(attacks.Hamming(), targets, queries, seed=0)
    assert risk.rate == 0.5
    assert risk.baseline == pytest.approx(0.5 / 3)
