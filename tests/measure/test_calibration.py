"""Whether probabilities hold: against closed forms, and on credits drawn from the probabilities themselves."""

from itertools import pairwise

import numpy as np
import pytest

from reidrisk.base.errors import DataError
from reidrisk.measure import calibration, recalibrated


def slow_error(p, credit):
    edges = np.arange(11) / 10
    gaps = [
        abs((p[inside] - credit[inside]).sum())
        for low, high in pairwise(edges)
        if (inside := (p >= low) & ((p < high) | (high == 1.0))).any()
    ]
    return sum(gaps) / len(p)


def test_the_error_is_that_of_ten_bins():
    rng = np.random.default_rng(0)
    p, credit = rng.integers(0, 101, 700) / 100, rng.random(700)
    p[:3] = 0.05, 0.95, 1.0
    assert calibration(p, credit).error == pytest.approx(slow_error(p, credit), abs=1e-12)


def test_one_certain_bin_has_the_expected_error_of_a_binomial():
    n, p = 400, 0.25
    found = calibration(np.full(n, p), np.full(n, 0.25))
    assert found.error == pytest.approx(0.0, abs=1e-12)
    assert found.expected == pytest.approx(np.sqrt(2 * p * (1 - p) / (np.pi * n)), rel=0.15)  # mean of |normal|
    assert found.excess == pytest.approx(-found.expected)
    assert calibration(np.ones(5), np.zeros(5)).excess == 1.0


@pytest.mark.parametrize("ties", [1, 3])
def test_probabilities_that_hold_have_no_excess_and_shifted_ones_the_shift(ties):
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 1.0, 4_000) * 0.7 / ties
    credit = (rng.random(p.size) < p * ties) / ties
    assert abs(calibration(p, credit, ties).excess) < 0.01
    assert calibration(p + 0.2, credit, ties).excess == pytest.approx(0.2, abs=0.025)


def test_ties_make_the_expected_error_smaller():
    p = np.full(1_000, 0.2)
    assert calibration(p, p, ties=4).expected < 0.6 * calibration(p, p).expected


def test_the_seed_decides_and_what_is_no_probability_is_refused():
    p, credit = np.linspace(0, 1, 50), np.ones(50)
    assert calibration(p, credit, seed=1) == calibration(p, credit, seed=1) != calibration(p, credit, seed=2)
    for wrong in ([1.5], [np.nan], [-0.1], []):
        with pytest.raises(DataError):
            calibration(wrong, np.ones(len(wrong)))


def test_probabilities_are_put_right_by_other_people_alone():
    rng = np.random.default_rng(1)
    true = rng.random(3_000)
    right = (rng.random(3_000) < true).astype(float)
    said = np.sqrt(true)
    assert calibration(said, right).excess > 0.1
    better = recalibrated(said, right)
    assert calibration(better, right).excess < 0.02
    # Flipping one person's truth moves no probability of that person.
    flipped = right.copy()
    flipped[7] = 1.0 - flipped[7]
    assert recalibrated(said, flipped)[7] == better[7]
    people = np.repeat(np.arange(1_500), 2)
    together = recalibrated(said, right, people)
    flipped = right.copy()
    flipped[14] = 1.0 - flipped[14]
    assert recalibrated(said, flipped, people)[15] == together[15]


def test_larger_stays_larger_within_a_fold_and_few_people_are_refused():
    rng = np.random.default_rng(2)
    said, right = rng.random(400), rng.random(400) < 0.5
    same = recalibrated(np.full(400, 0.3), right)
    assert len(np.unique(same)) <= 5
    assert ((recalibrated(said, right) >= 0) & (recalibrated(said, right) <= 1)).all()
    with pytest.raises(DataError, match="people"):
        recalibrated([0.1, 0.2], [0, 1])
