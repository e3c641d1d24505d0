"""Weights learnt from choices: recovered, penalised, of one sign; and the scorer against a plain sum."""

import numpy as np
import pytest
from people import two_looks

from reidrisk import attacks
from reidrisk.attacks.rehearsed.panel import Panel, features
from reidrisk.attacks.rehearsed.scorer import WeighedPanel, best_scale, learnt_weights, log_shares, starting_weights
from reidrisk.search import UNIT


def choices(weights, m=3_000, c=12, seed=0):
    """Draw which of c targets is true, with the probabilities that these weights give."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, c, len(weights)))
    chance = np.exp(x @ weights)
    true = (chance.cumsum(axis=1) < rng.random((m, 1)) * chance.sum(axis=1, keepdims=True)).sum(axis=1)
    x[np.arange(m), [0] * m], x[np.arange(m), true] = x[np.arange(m), true].copy(), x[np.arange(m), 0].copy()
    return x


def test_weights_are_recovered_and_a_penalty_keeps_them_at_the_start():
    true = np.array([1.0, 0.0, 0.5, 0.0, 2.0])
    x = choices(true)
    np.testing.assert_allclose(learnt_weights(x, np.zeros(5), 0.01, signed=True), true, atol=0.12)
    start = np.array([0.3, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(learnt_weights(x, start, 1e9, signed=True), start, atol=1e-3)


def test_a_score_never_speaks_against_a_target_unless_signed():
    x = choices(np.array([1.0, -1.0, 0.0]))
    assert learnt_weights(x, np.zeros(3), 0.01, signed=True)[1] < -0.8
    assert (learnt_weights(x, np.zeros(3), 0.01, signed=False) >= 0.0).all()


def test_everybody_has_an_equal_say_at_the_start_unless_one_is_clearly_better():
    even = starting_weights(choices(np.array([1.0, 0, 0, 1.0, 0, 0])))
    assert even[0] == even[3] > 0
    alone = starting_weights(choices(np.array([2.0, 0, 0, 0, 0, 0])))
    assert np.flatnonzero(alone).tolist() == [0]


def test_log_shares_and_scales_fit_the_probabilities_that_made_the_choices():
    x = choices(np.array([1.5]), m=6_000)[..., 0]
    twin = np.log(np.exp(x[:, 0]) / np.exp(x).sum(axis=1))
    np.testing.assert_allclose(log_shares(x), twin)
    assert best_scale(x[:, 0], x) == pytest.approx(1.5, rel=0.15)


def test_the_scorer_is_the_weighted_sum_of_the_features():
    targets, queries = two_looks(50, 40)
    panel = Panel([attacks.BM25(), attacks.NaiveBayes(), attacks.Affinity()], targets, queries)
    weights = np.random.default_rng(0).normal(size=panel.n_features)
    weights[3:6] = 0.0
    scorer, asked = WeighedPanel(panel.scorers, panel.typical, weights), panel.asked(queries)
    scores = scorer.scores(panel.known, asked)
    raw = [attack.near_best(queries, np.full(50, -1)).astype(float) for attack in panel.attacks]
    twin = features(raw, panel.typical, panel.known, asked) @ weights
    np.testing.assert_allclose(scores / scorer.per_nat, twin, atol=1e-5)
    rows = np.random.default_rng(1).integers(50, size=50)
    assert np.array_equal(scorer.pairs(panel.known, asked, rows), scores[np.arange(50), rows])
    best = scores.max(axis=1)
    likely = np.exp((scores - best[:, None]) / scorer.per_nat).sum(axis=1)
    np.testing.assert_allclose(scorer.total(panel.known, asked, best) / UNIT, likely, rtol=1e-6)
