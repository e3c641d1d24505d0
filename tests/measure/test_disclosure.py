"""An attacker who subtracts: from all that is shown of few people, no smaller circle of them can be set apart."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, measure


def derived(shown, n):
    """Return every circle of people that follows from those shown, by taking away or putting together."""
    known = {frozenset(range(n)), *shown}
    while True:
        more = {a - b for a, b in itertools.permutations(known, 2) if b < a}
        more |= {a | b for a, b in itertools.combinations(known, 2) if not a & b}
        if more <= known:
            return known - {frozenset()}
        known |= more


def circle(mask):
    return frozenset(np.flatnonzero(mask).tolist())


def people(seed, n, levels):
    rng = np.random.default_rng(seed)
    risk = rng.choice([0.0, 0.0005, 0.05, 0.1, 0.3, 0.5, 1.0], n, p=rng.dirichlet(np.full(7, levels)))
    tokens = np.where(rng.random((n, 2)) < 0.2, rng.integers(0, 3000, (n, 2)), 0)
    tokens[rng.random((n, 2)) < rng.choice([0.0, 0.1, 0.5])] = -1
    return risk, Traces(tokens[:, : rng.integers(1, 3)], n_tokens=3000)


def nobody_is_alone(shown, n, min_group):
    for found in derived(shown, n):
        assert len(found) >= min_group or len(found) == n


@given(st.integers(0, 2**20), st.integers(1, 60), st.sampled_from([0.05, 0.5]))
@settings(deadline=None, max_examples=150)
def test_shares_above_thresholds_and_bars_cannot_be_subtracted(seed, n, levels):
    risk, traces = people(seed, n, levels)
    found = measure.exposure(risk, traces, min_group=8)
    above = {float(t) / 100: share for t, share in found.above.items()}
    bars = {(low, high): share for low, high, share in found.histogram}
    shown = {circle(risk > t): share for t, share in above.items()}
    shown |= {circle((risk > low if low else risk >= 0) & (risk <= high)): share for (low, high), share in bars.items()}
    for group, share in shown.items():
        assert len(group) == pytest.approx(share * n)
    nobody_is_alone(shown, n, 8)


@given(st.integers(0, 2**20), st.integers(1, 60))
@settings(deadline=None, max_examples=150)
def test_groups_cannot_be_subtracted_from_everybody_or_from_those_who_were_seen(seed, n):
    risk, traces = people(seed, n, 0.5)
    found = measure.exposure(risk, traces, min_group=8)
    tokens = traces.tokens
    seen = (tokens >= 0).sum(axis=1)
    counts = np.bincount(tokens[tokens >= 0], minlength=3000) / n / traces.n_epochs
    rarest = np.where(tokens >= 0, counts[tokens], np.inf).min(axis=1)
    members = {f"seen in {r} of {traces.n_epochs} epochs": circle(seen == r) for r in range(3)} | {
        "rarest token seen less than once in 1,000 observations": circle(rarest < 0.001),
        "rarest token seen once in 100 to 1,000 observations": circle((rarest >= 0.001) & (rarest < 0.01)),
        "rarest token seen more than once in 100 observations": circle((rarest >= 0.01) & (rarest < np.inf)),
    }
    for trait in ("epochs observed", "how common the rarest token is"):
        shown = {members[group.level] for group in found.groups if group.trait == trait}
        assert {len(group) for group in shown} == {group.n for group in found.groups if group.trait == trait}
        nobody_is_alone(shown, n, 8)
        if trait != "epochs observed" and shown and (seen > 0).sum() >= 8:
            inside = derived(shown | {circle(seen > 0)}, n)
            assert all(len(group) >= 8 for group in inside if group <= circle(seen > 0))


@given(st.integers(0, 2**20), st.integers(1, 60), st.booleans())
@settings(deadline=None, max_examples=100)
def test_a_choosy_attacker_shows_no_steps_of_a_few_people(seed, n, truth):
    rng = np.random.default_rng(seed)
    sure = rng.choice([0.0, 0.02, 0.15, 0.5, 0.92, 0.99], n, p=rng.dirichlet(np.full(6, 0.3)))
    curve = measure.choosiness(sure, rng.random(n) if truth else None, min_group=8)
    assert curve[0].threshold == 0.0
    assert [p.threshold for p in curve] == sorted(p.threshold for p in curve)
    shown = {circle(sure >= point.threshold): point.answered for point in curve}
    for group, share in shown.items():
        assert len(group) == pytest.approx(share * n)
    nobody_is_alone(shown, n, 8)


def test_one_of_33_people_is_not_told_apart():
    risk = np.r_[np.ones(32), 0.3]
    tokens = np.zeros((33, 4), dtype=np.int64)
    tokens[:13, 0] = -1
    found = measure.exposure(risk, Traces(tokens, n_tokens=5), min_group=20)
    assert found.above == {"10": 1.0, "1": 1.0}
    assert found.groups == ()  # 20 were seen in every epoch, which would leave 13
    assert found.hidden_groups == 2


def test_of_four_people_nothing_is_shown_but_all_of_them():
    curve = measure.choosiness(np.array([0.3, 0.95, 0.95, 0.99]), np.ones(4), min_group=20)
    assert [(point.threshold, point.answered) for point in curve] == [(0.0, 1.0)]
    same = measure.choosiness(np.full(4, 0.95), np.ones(4), min_group=20)
    assert [point.threshold for point in same] == [0.0]


def test_where_all_may_be_shown_all_is():
    risk = np.repeat([0.0, 0.005, 0.05, 0.15, 0.3, 0.6, 1.0], 20)
    found = measure.exposure(risk, Traces(np.zeros((140, 2), dtype=np.int64), n_tokens=2), min_group=20)
    assert [share for _, _, share in found.histogram] == [1 / 7] * 7
    assert list(found.above) == ["1", "10", "50", "90"]
    curve = measure.choosiness(np.linspace(0, 1, 2_000), None, min_group=20)
    assert len(curve) == 14  # of 15: between 0 and 0.001 lie two people


def test_every_share_of_the_curve_has_its_interval():
    rng = np.random.default_rng(1)
    sure = rng.random(400)
    for point in measure.choosiness(sure, (rng.random(400) < sure).astype(float)):
        assert point.low <= point.correct <= point.high
        assert point.incorrect_low <= point.incorrect <= point.incorrect_high
        assert point.precision == pytest.approx(point.correct / point.answered)
        assert point.precision_low <= point.precision <= point.precision_high
    right = measure.choosiness(np.full(50, 0.95), np.ones(50))[-3]
    assert right.threshold == 0.9
    assert (right.incorrect, right.incorrect_low) == (0.0, 0.0)
    assert 0.0 < right.incorrect_high < 0.1
    assert 0.9 < right.precision_low < right.precision_high == 1.0
