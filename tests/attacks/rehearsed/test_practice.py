"""Choices of targets to learn from, against plain computations; and some targets that stand for a crowd."""

import numpy as np
import pytest
from people import two_looks

from reidrisk import attacks, measure
from reidrisk.attacks.rehearsed import rehearsal as module
from reidrisk.attacks.rehearsed.choices import Choices
from reidrisk.attacks.rehearsed.nearest import chosen, largest
from reidrisk.attacks.rehearsed.practice import with_say


@pytest.mark.parametrize("n", [40, 600, 2_000, 2_011])
@pytest.mark.parametrize("k", [8, 30])
def test_the_largest_values_are_found_in_long_rows_too(n, k):
    values = np.random.default_rng(n).normal(size=(7, n))
    found = np.sort(largest(values, k), axis=1)
    assert np.array_equal(found, np.sort(np.argsort(-values, axis=1)[:, :k], axis=1))


@pytest.mark.parametrize("n", [30, 1_000])
def test_choices_are_the_own_target_then_near_ones_then_others_once_each(n):
    rng = np.random.default_rng(0)
    own, near = rng.integers(n, size=12), rng.integers(n, size=(12, 20))
    drawn = rng.integers(n, size=(12, 80)) if n > 161 else np.tile(np.arange(n), (12, 1))
    rows, stand = chosen(own, near, drawn, n)
    for i in range(12):
        there = np.isfinite(stand[i])
        some = rows[i][there]
        close = np.setdiff1d(near[i], own[i])
        assert some[0] == own[i]
        assert len(np.unique(some)) == len(some)
        assert set(some[1 : 1 + len(close)]) == set(close)
        assert np.exp(stand[i][there]).sum() == pytest.approx(n)  # together they stand for all
        assert not stand[i][: 1 + len(close)].any()


def test_a_rate_among_ten_times_as_many_is_foreseen():
    rng = np.random.default_rng(0)
    own, others = rng.normal(4.0, 1.0, (4_000, 1)), rng.normal(0.0, 1.0, (4_000, 1_999))
    few = np.concatenate([own, others[:, :199]], axis=1)
    right = [(own > others[:, :k].max(axis=1, keepdims=True)).mean() for k in (199, 1_999)]
    choices = Choices(few[..., None], np.zeros(few.shape), np.ones(4_000))
    odds = [np.log(one / (1.0 - one)) for one in right]
    # Own scores spread as much as strangers' do: log-likelihood ratios are 4 times the score.
    assert choices.farther(4.0 * few, 10.0, right[0]) == pytest.approx(odds[0] - odds[1], abs=0.25)
    assert choices.farther(few, 1.0, right[0]) == 0.0


def test_some_of_many_targets_are_practised_on(monkeypatch):
    monkeypatch.setattr(module, "PRACTISED", 150)
    targets, queries = two_looks(400, 100, 30, seed=7)
    attack = attacks.Rehearsed()
    risk = measure.random_user(attack, targets, queries, np.arange(400))
    assert attack.practice_.farther > 0.0
    assert risk.rate > measure.random_user(attacks.NaiveBayes(), targets, queries, np.arange(400)).rate - 0.05
    assert attack.estimate_.low <= risk.rate <= attack.estimate_.high


def test_attacks_without_weight_are_left_out():
    every = [attacks.BM25(), attacks.TfIdf(), attacks.Hellinger()]
    some, weights = with_say(every, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0]))
    assert some == [every[1]]
    assert weights.tolist() == [1.0, 0.0, 0.5]
    assert with_say(every, np.zeros(9))[0] == [every[0]]
