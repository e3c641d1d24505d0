"""Weights learnt from choices: recovered, penalised, of one sign; and the scorer against a plain sum."""

import numpy as np
import pytest
from features import features_of
from people import two_looks

from reidrisk import attacks
from reidrisk.attacks.rehearsed.choices import Choices
from reidrisk.attacks.rehearsed.panel import Panel
from reidrisk.attacks.rehearsed.scorer import WeighedPanel
from reidrisk.attacks.rehearsed.weights import fitting_scale, learnt_weights, starting_weights
from reidrisk.search import UNIT


def choices(weights, m=3_000, c=12, seed=0):
    """Draw which of c targets is true, with the probabilities that these weights give."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, c, len(weights)))
    chance = np.exp(x @ weights)
    true = (chance.cumsum(axis=1) < rng.random((m, 1)) * chance.sum(axis=1, keepdims=True)).sum(axis=1)
    x[np.arange(m), [0] * m], x[np.arange(m), true] = x[np.arange(m), true].copy(), x[np.arange(m), 0].copy()
    return Choices(x, np.zeros((m, c)), np.ones(m))


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


def test_everybody_good_has_an_equal_say_at_the_start():
    good, nearly, bad = (np.repeat([1.0, 0.0], [n, 3_000 - n]) for n in (2_000, 1_600, 1_000))
    x = choices(np.array([2.0, 0, 0, 0, 0, 0, 0, 0, 0]))
    for even in (starting_weights(x, [good, nearly, bad], exact=False, signed=one) for one in (False, True)):
        np.testing.assert_array_equal(even[:3], even[3:6])
        assert even[0] > 0.0
        assert not even[6:].any()
    assert even[0] == 2 * even[1] > even[2] == 0.0  # of the last: signed


def test_readings_weigh_half_as_fits_for_all_attacks_alike():
    true = np.tile([0.0, 0.4, 1.2], 2)
    even = starting_weights(choices(true), [np.ones(3_000)] * 2, exact=False)
    np.testing.assert_array_equal(even[:3], even[3:])
    assert even[2] > even[1] > 0.0  # before: only the first two have a say, one twice as much as the other
    assert not starting_weights(choices(true), [np.ones(3_000)] * 2, exact=False, signed=True)[2]


def test_one_reading_alone_is_a_start_only_where_the_rehearsal_is_exact():
    good = np.ones(3_000)
    even, one = np.array([1.0, 0.5, 0, 1.0, 0.5, 0]), np.array([2.0, 0, 0, 0, 0, 0])
    assert np.flatnonzero(starting_weights(choices(even), [good, good], exact=True)).tolist() == [0, 1, 3, 4]
    assert np.flatnonzero(starting_weights(choices(one), [good, good], exact=True)).tolist() == [0]
    both = starting_weights(choices(one), [good, good], exact=False)
    np.testing.assert_array_equal(both[:3], both[3:])


def test_gains_and_scales_fit_the_probabilities_that_made_the_choices():
    x = choices(np.array([1.5]), m=6_000)
    scores = x.features[..., 0]
    twin = np.log(np.exp(scores[:, 0]) / np.exp(scores).sum(axis=1))
    np.testing.assert_allclose(x.gains(scores), twin)
    assert fitting_scale(x, scores)[0] == pytest.approx(1.5, rel=0.15)


def test_a_few_choices_stand_for_all():
    """Fifty of a hundred others, each for two: weights and probabilities are about those of all."""
    true = np.array([1.0, 0.5])
    every = choices(true, m=4_000, c=101)
    more = np.zeros((4_000, 51))
    more[:, 1:] = np.log(2.0)
    few = Choices(every.features[:, :51], more, np.ones(4_000))
    np.testing.assert_allclose(learnt_weights(few, np.zeros(2), 0.01, signed=True), true, atol=0.15)
    assert few.gains(few.scores(true)).mean() == pytest.approx(every.gains(every.scores(true)).mean(), abs=0.1)


def test_choices_side_by_side_count_by_their_shares():
    one, two = choices(np.array([2.0]), m=900, c=8), choices(np.array([0.0]), m=300, c=12, seed=1)
    both = one.beside(two, 0.25)
    assert both.more.shape == (1_200, 12)
    assert both.weight[900:].sum() == pytest.approx(300.0)
    learnt = learnt_weights(both, np.zeros(1), 0.01, signed=True)
    twin = learnt_weights(one.beside(two, 1.0 - 1e-9), np.zeros(1), 0.01, signed=True)
    assert abs(twin[0]) < 0.1 < learnt[0]


def test_the_scorer_is_the_weighted_sum_of_the_features():
    targets, queries = two_looks(50, 40)
    panel = Panel([attacks.BM25(), attacks.NaiveBayes(), attacks.Affinity()], targets, queries)
    weights = np.random.default_rng(0).normal(size=panel.n_features)
    weights[3:6] = 0.0
    scorer, asked = WeighedPanel(panel.scorers, panel.typical, weights), panel.asked(queries)
    scores = scorer.scores(panel.known, asked)
    raw = [attack.near_best(queries, np.full(50, -1)).astype(float) for attack in panel.attacks]
    twin = features_of(raw, panel.typical, panel.known, asked) @ weights
    np.testing.assert_allclose(scores / scorer.per_nat, twin, atol=1e-5)
    rows = np.random.default_rng(1).integers(50, size=50)
    assert np.array_equal(scorer.pairs(panel.known, asked, rows), scores[np.arange(50), rows])
    best = scores.max(axis=1)
    likely = np.exp((scores - best[:, None]) / scorer.per_nat).sum(axis=1)
    np.testing.assert_allclose(scorer.total(panel.known, asked, best) / UNIT, likely, rtol=1e-6)
