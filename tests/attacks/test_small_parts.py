"""The small parts of the attacks, on values that can be checked by hand."""

import numpy as np
import pytest
from attack_twins import draw_rates_numpy

from reidrisk import Traces
from reidrisk.attacks.hamming import pair_weights
from reidrisk.attacks.profile.calibration import draw_rates, n_simulated
from reidrisk.attacks.profile.counts import Ladder, count, ladder_of
from reidrisk.attacks.profile.learnt import Learnt
from reidrisk.attacks.profile.likelihoods import deepest
from reidrisk.attacks.profile.posterior import Round, best_temperature
from reidrisk.attacks.profile.prior import general_grid, group_tokens, top_set_grid
from reidrisk.attacks.scoreboard import agreement, known_cells
from reidrisk.attacks.sets.reconstruction import alike
from reidrisk.search import GRID


def test_ladders_round_and_scale():
    assert Ladder(trials=30, step=2).rung(np.array([30, 29, 11, 0])).tolist() == [0, 1, 10, 15]
    assert Ladder(trials=15, step=1, every=2).scaled(np.array([0, 1, 2, 3, 30])).tolist() == [0, 1, 1, 2, 15]
    assert ladder_of(Traces([[1] * 30], n_tokens=2)) == Ladder(trials=30, step=2, every=1, overlap=1.0)
    nobody_saw_the_third_epoch = Traces([[1, 1, -1, 1], [0, -1, -1, 0]], n_tokens=2)
    assert ladder_of(nobody_saw_the_third_epoch).overlap == pytest.approx(1.44)


def test_counts_and_groups_of_tokens():
    counts = count(Traces([[3, 1, 3, -1]], n_tokens=5), Ladder(4, 1))
    assert (counts.token.tolist(), counts.count.tolist(), counts.rung.tolist()) == ([1, 3], [1, 2], [1])
    assert group_tokens(count(Traces([[2, 2, 0]], n_tokens=3), Ladder(3, 1))).tolist() == [0, 1, 2]


def test_grids_and_depths():
    grid = top_set_grid(0.2, 0.001)
    assert (grid.both >= grid.rate**2 - 1e-15).all()
    assert general_grid(n_tokens=50, trials=30).same_epoch is False
    assert [deepest(349, 17, 3, same_epoch) for same_epoch in (True, False)] == [40, 255]


def test_calibration_simulates_a_few_users_and_doubts_wrong_links():
    sizes = [n_simulated(268, 349), n_simulated(1_000_000, 349), n_simulated(5_000, 20_000), n_simulated(10, 10**6)]
    assert sizes == [268, 1000, 300, 0]
    sure = GRID * (20 * np.eye(40, dtype=np.int64))
    everyone = np.arange(40)
    right = Round.of(np.diagonal(sure), sure, everyone)
    wrong = Round.of(np.zeros(40, dtype=np.int64), np.roll(sure, 1, axis=1), everyone)
    assert best_temperature([right]) < best_temperature([right, wrong])
    own, strangers, credit = Round.of(np.array([3 * GRID]), np.array([[7 * GRID, GRID, 5 * GRID]]), np.array([0]))
    assert (own.tolist(), np.flatnonzero(strangers[0]).tolist()) == ([2.0], [0, 4 * 16])
    assert credit.tolist() == [0.0]


def test_the_same_token_counts_more_than_one_often_held_with_it():
    together = np.array([[0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.1, 0.1, 0.2]])
    weights = pair_weights(np.array([0.5, 0.5, 0.2]), together, q_in=0.45, q_out=0.05)
    assert weights[0, 0] > weights[0, 1] > weights[0, 2]


def test_equal_rows_and_known_cells():
    rows = np.array([[5], [7], [5]], dtype=np.uint64)
    found = alike(rows, np.array([[5], [6]], dtype=np.uint64))
    assert [part.tolist() for part in found] == [[2, 0], [0, -1]]
    cells, values = known_cells(np.array([[np.nan, 0.5], [0.1, 0.2]]))
    assert (cells.tolist(), values[1].tolist(), values[0, 0]) == ([[1, 0], [0, 1]], [0.1, 0.2], 0.5)
    targets = np.array([[0.2, 0.8], [0.5, 0.5]])
    assert agreement(targets, np.array([[1]]), np.array([[0.5]]), np.array([3, 4]), 1e-3).tolist() == [[0, 4]]


@pytest.mark.parametrize(("system", "kinds"), [(None, 3), ((2, 0.1), 1), ((2, 0.1), 3)])
def test_rates_drawn_together_are_those_drawn_user_by_user(system, kinds):
    rng = np.random.default_rng(kinds)
    tokens = rng.choice(30, (150, 12), p=np.arange(30, 0, -1) / 465)
    tokens[rng.random(tokens.shape) < 0.2] = -1
    learnt = Learnt(Traces(tokens, 30), system, kinds, 0)
    drawn = [draw(learnt.prior, learnt.counts, learnt.ladder, np.random.default_rng(5))
             for draw in (draw_rates, draw_rates_numpy)]  # fmt: skip
    assert np.array_equal(*drawn)
