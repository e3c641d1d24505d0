"""The ends of epsilon and delta against exact rational arithmetic: no rounding may carry them to the wrong side."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from channel_strategies import FORMS, as_given, quick
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reidrisk import Channel, bounds
from reidrisk.bounds import row_pairs
from reidrisk.bounds.exact_pairs import exact_crossing, exact_excess, exp_ends, log_ends

TINY = (0.0, 5e-324, 1e-310, 1e-300, 1e-40, 1e-20, 1e-17, 1e-16, 3e-16, 1e-12, 1e-6)
DELTAS = (5e-324, 1e-300, 1e-40, 1e-20, 1e-17, 1e-16, 2e-16, 1e-15, 1e-12, 1e-6, 0.01, 0.25, 0.5, 0.75, 0.999)


@st.composite
def extreme_channels(draw, max_users=4, max_outputs=4):
    """Rows that add up to 1 in floating point and hold zeros, subnormal numbers and values next to each other."""
    n, m = draw(st.integers(1, max_users)), draw(st.integers(1, max_outputs))
    cell = st.one_of(st.sampled_from(TINY), st.sampled_from((0.25, 0.5, 0.1, 0.3)), st.floats(0.0, 1.0))
    rows = []
    for _ in range(n):
        row = draw(st.lists(cell, min_size=m, max_size=m))
        while math.fsum(row) > 1.0:
            row = [value / 4 for value in row]
        at = draw(st.integers(0, m - 1))
        row[at] += 1.0 - math.fsum(row)
        row[at] = math.nextafter(row[at], draw(st.sampled_from((row[at], 0.0, 1.0))))
        rows.append(row)
    return np.array(rows)


def exactly_needed(P, delta):
    """Smallest x >= 1 with P(E | i) <= x P(E | j) + delta for all pairs i, j and all sets E, as a fraction."""
    n, m = P.shape
    rows = [[Fraction(float(value)) for value in row] for row in P]
    need = Fraction(1)
    for i, j in itertools.product(range(n), repeat=2):
        for outputs in itertools.product((False, True), repeat=m):
            p = sum(itertools.compress(rows[i], outputs), Fraction(0)) - Fraction(delta)
            q = sum(itertools.compress(rows[j], outputs), Fraction(0))
            if p > 0 and q == 0:
                return math.inf
            if p > 0:
                need = max(need, p / q)
    return need


def log_of(x, digits=60):
    """log x for x >= 1 to many more digits than a float has: 2 artanh((y - 1) / (y + 1)) + k log 2."""

    def near_one(y):
        z, total, power, k = (y - 1) / (y + 1), Fraction(0), (y - 1) / (y + 1), 1
        while power and abs(power) > Fraction(1, 10**digits) * abs(z):
            total += power / k
            power, k = _short(power * z * z, digits), k + 2
        return 2 * total

    k = 0
    while x >= Fraction(3, 2):
        x, k = x / 2, k + 1
    return near_one(x) + k * near_one(Fraction(2))


def _short(value, digits):
    """Cut off far more digits than matter, or the fractions grow without end."""
    bits = 4 * digits + value.denominator.bit_length() - value.numerator.bit_length() + 8
    return Fraction((value.numerator << bits) // value.denominator, 1 << bits)


def test_the_slow_logarithm():
    assert abs(float(log_of(Fraction(3))) - math.log(3)) < 1e-15
    assert float(log_of(Fraction(10) ** 400)) == pytest.approx(400 * math.log(10), rel=1e-14)


@given(extreme_channels(), st.sampled_from(DELTAS), st.sampled_from(FORMS))
@example(np.array([[1e-16, 1.0], [0.0, 1.0]]), 1e-20, "dense")
@example(np.array([[1e-16, 1.0 - 1e-16], [1e-19, 1.0]]), 1e-20, "dense")
@example(np.array([[0.5, 0.5], [1.0, 0.0]]), 0.5, "sparse")
@example(np.array([[5e-324, 1.0], [0.0, 1.0]]), 5e-324, "dense")
@example(np.array([[1e-310, 1.0], [5e-324, 1.0]]), 5e-324, "dense")
@example(np.array([[1.0, 5e-324], [5e-324, 1.0]]), 1e-300, "dense")
@settings(quick, max_examples=400)
def test_epsilon_lies_between_its_ends(P, delta, form):
    low, high = bounds.ldp_epsilon_interval(as_given(P, form), delta)
    need = exactly_needed(P, delta)
    assert bounds.ldp_epsilon(as_given(P, form), delta) == high
    if need in (1, math.inf):
        assert low == high == (0.0 if need == 1 else math.inf)
        return
    exact = log_of(need)
    assert Fraction(low) < exact < Fraction(high)
    assert high - low <= 1e-13 * high + 1e-300  # and they are close: few rows are compared in full


@given(extreme_channels())
@settings(quick, max_examples=200)
def test_epsilon_without_delta_lies_between_its_ends(P):
    low, high = bounds.ldp_epsilon_interval(P)
    need = exactly_needed(P, 0.0)
    if need in (1, math.inf):
        assert low == high == (0.0 if need == 1 else math.inf)
        return
    assert Fraction(low) < log_of(need) < Fraction(high)
    assert high - low <= 1e-13 * high + 2.0**-50


def hold(low, high, need):
    if need == math.inf:
        assert high == math.inf
    else:
        assert Fraction(low) <= log_of(need)
        assert high == math.inf or log_of(need) <= Fraction(high)


@given(extreme_channels(), st.sampled_from(DELTAS), st.integers(1, 60))
@settings(quick, max_examples=200)
def test_with_little_work_the_ends_of_epsilon_still_hold(P, delta, work):
    low, high = bounds.ldp_epsilon_interval(P, delta, work=work)
    hold(low, high, exactly_needed(P, delta))


@given(extreme_channels(), st.sampled_from(DELTAS))
@settings(quick, max_examples=200)
def test_where_undecided_pairs_are_too_many_the_ends_still_hold(P, delta):
    pairs = row_pairs.RowPairs(Channel(P))
    pairs._room = 0
    low, high = pairs.epsilon(delta)
    hold(low, high, exactly_needed(P, delta))


@given(extreme_channels(), st.one_of(st.just(0.0), st.just(math.inf), st.floats(0.0, 750.0), st.floats(0.0, 1e-9)))
@example(np.array([[0.3, 0.7], [0.1, 0.9]]), math.log(3.0))
@example(np.array([[1.0, 0.0], [1e-310, 1.0]]), 710.0)
@example(np.array([[1.0, 0.0], [5e-324, 1.0]]), 744.0)
@settings(quick, max_examples=300)
def test_delta_lies_between_its_ends(P, epsilon):
    low, high = bounds.ldp_delta_interval(P, epsilon)
    assert low <= high

    def worst(x):
        return min(max(exact_excess(p, q, x) for p in P for q in P), Fraction(1))

    few, many = exp_ends(epsilon)  # e^epsilon is between the two
    assert Fraction(low) <= worst(many) <= worst(few) <= Fraction(high)
    if few == many:
        assert high <= math.nextafter(low, 1.0)
    assert high - low <= 1e-14


@given(st.floats(0.0, 745.0))
@quick
def test_log_and_exp_enclose_each_other(epsilon):
    few, many = exp_ends(epsilon)
    assert log_ends(few)[0] <= epsilon <= log_ends(many)[1]
    if epsilon > 0.0:
        assert log_of(Fraction(few)) < Fraction(epsilon) < log_of(Fraction(many))


@given(extreme_channels(max_users=2), st.sampled_from(DELTAS), st.floats(1.0, 1e300))
@quick
def test_a_wrong_guess_does_not_change_the_crossing(P, delta, guess):
    p, q = P[0], P[-1]
    assert exact_crossing(p, q, delta, guess) == exact_crossing(p, q, delta)


def test_ties_among_very_many_pairs_stay_certified_and_close():
    """Randomised response: all 90,000 pairs are equally bad, too many to look at one by one in whole numbers."""
    n, epsilon = 300, 1.0
    P = (np.ones((n, n)) + (math.exp(epsilon) - 1) * np.eye(n)) / (math.exp(epsilon) + n - 1)
    top, other = Fraction(float(P[0, 0])), Fraction(float(P[0, 1]))
    for delta in (1e-20, 1e-9, 1e-3):
        low, high = bounds.ldp_epsilon_interval(P, delta)
        exact = log_of((top - Fraction(delta)) / other)
        assert Fraction(low) <= exact <= Fraction(high)
        assert high - low < 1e-8


def test_an_epsilon_beyond_the_largest_float_is_finite():
    low, high = bounds.ldp_epsilon_interval([[1.0, 5e-324], [5e-324, 1.0]], delta=1e-300)
    assert 744.4 < low < high < 744.5
