"""An attacker who subtracts: from all that is shown of few people, no smaller circle of them can be set apart."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, measure
from reidrisk.audit import AuditSpec, ProbabilityCheck, ThresholdCheck, audit_traces, suppress


def derived(shown, n):
    """Return every circle of people that follows from those shown, by taking away or putting together."""
    known = {frozenset(range(n)), *shown}
    while True:
        more = {a - b for a, b in itertools.permutations(known, 2) if b < a}
        more |= {a | b for a, b in itertools.combinations(known, 2) if not a & b}
        if more <= known:
            return known - {frozenset()}
        known |= more


def shown_of(sure, right, least):
    return suppress.curve(measure.choosiness(sure, right), len(sure), least)


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
    found = suppress.exposure(measure.exposure(risk, traces), 8)
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
    found = suppress.exposure(measure.exposure(risk, traces), 8)
    tokens = traces.tokens
    seen = (tokens >= 0).sum(axis=1)
    counts = np.bincount(tokens[tokens >= 0], minlength=3000) / n / traces.n_epochs
    rarest = np.where(tokens >= 0, counts[tokens], np.inf).min(axis=1)
    members = {str(r): circle(seen == r) for r in range(3)} | {
        "below-0.001": circle(rarest < 0.001),
        "0.001-to-0.01": circle((rarest >= 0.001) & (rarest < 0.01)),
        "from-0.01": circle((rarest >= 0.01) & (rarest < np.inf)),
    }
    for trait, whole in (("periods-observed", circle(seen >= 0)), ("rarest-item", circle(seen > 0))):
        levels = [group.level for group in found.groups if group.trait == trait]
        shown = {members[level] for level in levels if level != "other"}
        shown |= {whole.difference(*shown)} if "other" in levels else set()
        assert {len(group) for group in shown} == {group.n for group in found.groups if group.trait == trait}
        nobody_is_alone(shown, n, 8)
        if trait != "periods-observed" and shown and (seen > 0).sum() >= 8:
            inside = derived(shown | {circle(seen > 0)}, n)
            assert all(len(group) >= 8 for group in inside if group <= circle(seen > 0))


@given(st.integers(0, 2**20), st.integers(1, 60), st.booleans())
@settings(deadline=None, max_examples=100)
def test_a_choosy_attacker_shows_no_steps_of_a_few_people(seed, n, truth):
    rng = np.random.default_rng(seed)
    sure = rng.choice([0.0, 0.02, 0.15, 0.5, 0.92, 0.99], n, p=rng.dirichlet(np.full(6, 0.3)))
    curve = shown_of(sure, rng.random(n) if truth else None, least=8)
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
    found = suppress.exposure(measure.exposure(risk, Traces(tokens, n_tokens=5)), 20)
    assert found.above == {"10": 1.0, "1": 1.0}
    assert found.groups == ()  # 20 were seen in every epoch, which would leave 13
    assert found.hidden_groups == 2


def test_of_four_people_nothing_is_shown_but_all_of_them():
    curve = shown_of(np.array([0.3, 0.95, 0.95, 0.99]), np.ones(4), least=20)
    assert [(point.threshold, point.answered) for point in curve] == [(0.0, 1.0)]
    same = shown_of(np.full(4, 0.95), np.ones(4), least=20)
    assert [point.threshold for point in same] == [0.0]


def test_where_all_may_be_shown_all_is():
    risk = np.repeat([0.0, 0.005, 0.05, 0.15, 0.3, 0.6, 1.0], 20)
    found = suppress.exposure(measure.exposure(risk, Traces(np.zeros((140, 2), dtype=np.int64), n_tokens=2)), 20)
    assert [share for _, _, share in found.histogram] == [1 / 7] * 7
    assert list(found.above) == ["1", "10", "50", "90"]
    curve = shown_of(np.linspace(0, 1, 2_000), None, least=20)
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


def parts_of_few(shown, whole, min_group):
    """Return the circles smaller than ``min_group`` that follow from those shown; the whole is known in any case."""
    known = {frozenset(whole), *shown}
    while True:
        more = {a - b for a, b in itertools.permutations(known, 2) if b < a}
        more |= {a | b for a, b in itertools.combinations(known, 2) if not a & b}
        if more <= known:
            return [found for found in known if 0 < len(found) < min_group and found != frozenset(whole)]
        known |= more


@given(st.integers(0, 2**20), st.integers(8, 120), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=150)
def test_right_and_wrong_answers_of_a_few_are_not_told_apart(seed, n, skill):
    rng = np.random.default_rng(seed)
    sure = rng.choice([0.0, 0.02, 0.15, 0.5, 0.92, 0.99], n, p=rng.dirichlet(np.full(6, 0.5)))
    right = rng.random(n) < rng.choice([skill, sure.mean(), 0.99])
    curve = shown_of(sure, right.astype(float), least=8)
    assert curve[0].correct == pytest.approx(right.mean())
    for point in curve:
        answers = sure >= point.threshold
        assert point.low - 1e-12 <= (answers & right).mean() <= point.high + 1e-12
        assert point.incorrect_low - 1e-12 <= (answers & ~right).mean() <= point.incorrect_high + 1e-12
    told = [point.threshold for point in curve if point.correct is not None]
    for part in (right, ~right):
        assert not parts_of_few({circle((sure >= t) & part) for t in told}, np.flatnonzero(part).tolist(), 8)


@given(st.integers(0, 2**20), st.integers(8, 120), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=150)
def test_a_few_who_were_found_or_were_not_do_not_follow_from_the_rates_of_groups(seed, n, rate):
    rng = np.random.default_rng(seed)
    found = rng.random(n) < rate
    _, traces = people(seed, n, 0.5)
    groups = suppress.exposure(measure.exposure(found.astype(float), traces), 8).groups
    seen = (traces.tokens >= 0).sum(axis=1)
    levels = [group.level for group in groups if group.trait == "periods-observed"]
    alone = [int(level) for level in levels if level != "other"]
    told = [seen == int(level) if level != "other" else ~np.isin(seen, alone) for level in levels]
    for group in groups:
        if group.trait == "periods-observed":
            members = told[levels.index(group.level)]
            assert members.sum() == group.n
            assert group.low - 1e-12 <= found[members].mean() <= group.high + 1e-12
    for part in (found, ~found):
        assert not parts_of_few({circle(members & part) for members in told}, np.flatnonzero(part).tolist(), 8)
    for trait in {group.trait for group in groups}:
        rates = [group for group in groups if group.trait == trait]
        for total, each in (
            (found.sum(), [g.rate * g.n for g in rates]),
            (n - found.sum(), [(1 - g.rate) * g.n for g in rates]),
        ):
            for left in (*each, total - sum(each)):
                assert round(left) == 0 or round(left) >= 8 or round(left) == total


def test_one_wrong_answer_among_300_people_is_not_told():
    sure = np.r_[np.full(28, 0.95), np.full(272, 0.3)]
    right = np.r_[np.ones(27), 0.0, np.ones(100), np.zeros(172)]
    told = shown_of(sure, right, least=20)
    assert not {0.5, 0.9} & {point.threshold for point in told}
    assert {0.0, 0.3, 0.99} <= {point.threshold for point in told}  # everybody, or nobody, is answered for
    assert {0.5, 0.9} <= {point.threshold for point in shown_of(sure, None, least=20)}


def test_seven_of_a_group_who_were_not_found_are_not_told():
    tokens = np.zeros((153, 2), dtype=np.int64)
    tokens[:53, 1] = -1
    traces = Traces(tokens, n_tokens=2)
    found = np.r_[np.ones(46), np.zeros(7), np.ones(60), np.zeros(40)]
    told = suppress.exposure(measure.exposure(found, traces), 20)
    assert (told.groups, told.hidden_groups) == ((), 2)  # the rate of the other group would tell the seven
    found[40:46] = found[100:107] = 0.0
    found[20:40] = 0.0
    few, many = suppress.exposure(measure.exposure(found, traces), 20).groups
    assert (few.rate, many.rate) == (20 / 53, 0.53)


def test_small_groups_of_a_trait_are_put_together():
    tokens = np.zeros((200, 4), dtype=np.int64)
    for row, missing in ((slice(0, 10), 1), (slice(10, 25), 2)):
        tokens[row, :missing] = -1
    found = np.r_[np.ones(22), np.zeros(178)]
    found[150:] = 1.0
    told = suppress.exposure(measure.exposure(found, Traces(tokens, n_tokens=2)), 3)
    assert [(group.level, group.n) for group in told.groups] == [("2", 15), ("3", 10), ("4", 175)]
    told = suppress.exposure(measure.exposure(np.r_[np.ones(25), found[25:]], Traces(tokens, n_tokens=2)), 20)
    assert [(group.level, group.n, group.rate) for group in told.groups][1:] == [("other", 25, 1.0)]
    assert told.hidden_groups == 0


def test_the_check_of_an_attack_keeps_its_answer_and_loses_what_tells_of_a_few():
    point = ThresholdCheck(0.9, 0.2, 0.95, 0.99, 0.97, 1.0, 0.005, passed=True)
    check = ProbabilityCheck("Hamming", 2_000, 4, (point, dataclasses.replace(point, threshold=0.99, answered=0.005)))
    told = suppress._check(check, 20)
    assert [one.threshold for one in told.points] == [0.9]  # ten people reached 0.99
    only = told.points[0]
    assert (only.answered, only.stated, only.passed) == (0.2, 0.95, True)
    assert (only.right, only.low, only.high, only.strangers) == (None, None, None, None)


def test_a_result_says_how_much_was_left_out_and_passing_twice_changes_nothing():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 40, (200, 3))
    b = np.where(rng.random(a.shape) < 0.7, a, rng.integers(0, 40, a.shape))
    b[:7, 1] = -1
    inside, outside = (audit_traces(Traces(a, 40), Traces(b, 40), AuditSpec(seed=1, min_group=k)) for k in (1, 20))
    note = next(note for note in outside.notes if note.code == "left-out")
    assert note["groups"] == outside.exposure.hidden_groups > 0
    assert note["thresholds"] == len(inside.choosiness) - len(outside.choosiness)
    assert suppress.exposure(outside.exposure, 20) == outside.exposure
    assert {point.threshold for point in outside.choosiness} < {point.threshold for point in inside.choosiness}
    assert [risk.rate for risk in inside.risks] == [risk.rate for risk in outside.risks]
