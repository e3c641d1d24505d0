import numpy as np

from reidrisk import Traces, measure
from reidrisk.audit import suppress


def queries(n=100, rare=5, gaps=50):
    tokens = np.zeros((n, 2), dtype=np.int64)
    tokens[:rare, 0] = np.arange(1, rare + 1)  # a few people hold a token of their own
    tokens[n - gaps :, 1] = -1
    return Traces(tokens, n_tokens=2_000)


def test_shares_and_histogram_count_people():
    risk = np.r_[np.ones(5), np.full(5, 0.05), np.zeros(90)]
    found = suppress.exposure(measure.exposure(risk, queries()), 5)
    assert found.above == {"1": 0.10, "10": 0.05, "50": 0.05, "90": 0.05}
    assert sum(share for _, _, share in found.histogram) == 1.0
    assert measure.Exposure.from_json(found.to_json()) == found


def test_no_number_is_about_a_few_people_only():
    risk = np.r_[np.ones(5), np.full(30, 0.05), np.zeros(65)]
    found = suppress.exposure(measure.exposure(risk, queries()), 20)
    assert found.above == {"1": 0.35}  # five people are above 10 %: not said
    assert all(share == 0.0 or share * 100 >= 20 for _, _, share in found.histogram)
    assert sum(share for _, _, share in found.histogram) == 1.0
    assert [low for low, _, _ in found.histogram[1:]] == [high for _, high, _ in found.histogram[:-1]]


def test_fewer_people_than_a_group_show_nothing_but_everyone():
    found = suppress.exposure(measure.exposure(np.array([1.0, 0.5, 0.0, 0.0]), queries(4, rare=1, gaps=2)), 20)
    assert found.histogram == ((0.0, 1.0, 1.0),)
    assert found.groups == ()
    assert found.above == {}


def test_groups_are_about_traits_with_intervals():
    risk = np.r_[np.ones(5), np.zeros(95)]
    found = suppress.exposure(measure.exposure(risk, queries()), 5)
    assert {group.level for group in found.groups} >= {"1", "2"}
    rare = next(group for group in found.groups if group.n == 5)
    assert rare.rate == 1.0
    assert rare.low < 1.0 == rare.high
    assert rare.trait == "rarest-item"


def test_a_hidden_group_cannot_be_found_by_subtraction():
    found = suppress.exposure(measure.exposure(np.zeros(100), queries()), 20)
    assert {group.trait for group in found.groups} == {"periods-observed"}  # the other trait has a group of five
    assert found.hidden_groups == 2


def test_a_trait_that_all_share_is_not_shown():
    found = measure.exposure(np.zeros(100), queries(gaps=0))
    assert {group.trait for group in found.groups} == {"rarest-item"}


def test_choosiness_trades_wrong_links_for_silence():
    rng = np.random.default_rng(0)
    sure = rng.random(5_000)
    right = (rng.random(5_000) < sure).astype(float)  # a calibrated attacker
    curve = measure.choosiness(sure, right)
    assert curve[0].answered == 1.0
    assert curve[0].correct == right.mean()
    assert all(point.low <= point.correct <= point.high for point in curve)
    wrong = [point.incorrect for point in curve]
    assert wrong == sorted(wrong, reverse=True)
    assert measure.choosiness(sure, None)[0].correct is None
