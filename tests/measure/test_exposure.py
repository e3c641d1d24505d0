"""How risk is spread over people: in few groups, by names that enough of them hold, none of them about a few."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, measure
from reidrisk.audit import suppress
from reidrisk.base.errors import DataError
from reidrisk.base.vocabulary import Vocabulary
from reidrisk.records import Events


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


def bags(n=400, seed=0):
    """Records of one to a hundred items; a hundred of the people hold 'harbour'."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.3, 1.5, (n, 60)))
    counts[:, 0] = np.arange(n) < 100
    counts[counts.sum(axis=1) == 0, 1] = 1
    labels = ["harbour", *(f"place {i}" for i in range(1, 60))]
    return Bags(counts, vocabulary=Vocabulary(labels))


def test_bags_are_told_apart_by_what_they_hold_in_few_groups():
    people = bags()
    risk = np.where(np.arange(400) < 100, 0.9, 0.1)
    found = measure.exposure(risk, people)
    totals = people.counts.sum(axis=1)
    for trait in ("items-held", "rarest-holders"):
        groups = [group for group in found.groups if group.trait == trait]
        assert 2 <= len(groups) <= 6
        assert sum(group.n for group in groups) == 400
    first = next(group for group in found.groups if group.trait == "items-held")
    low, high = map(int, first.level.split("-"))
    assert first.n == ((totals >= low) & (totals <= high)).sum()
    named = [group for group in found.groups if group.trait == "holds-item"]
    assert [group.level for group in named] == ["harbour"]
    assert (named[0].n, round(named[0].rate, 6)) == (100, 0.9)


def test_chance_names_no_item_and_rare_ones_are_never_named():
    people = bags(seed=1)
    rng = np.random.default_rng(3)
    named = [
        group
        for _ in range(20)
        for group in measure.exposure(rng.random(400) < 0.3, people).groups
        if group.trait == "holds-item"
    ]
    assert len(named) <= 2
    own = Bags(np.eye(40, dtype=np.int64), vocabulary=Vocabulary(f"i{i}" for i in range(40)))
    found = measure.exposure(np.r_[np.ones(20), np.zeros(20)], own)
    assert [group for group in found.groups if group.trait == "holds-item"] == []


def test_visits_are_a_trait_where_they_are_known():
    log = {"u": np.repeat(np.arange(60), 3), "i": np.tile([0, 1, 2], 60), "t": np.tile([0, 0, 1], 60)}
    log["t"][:90] = 0  # half of the people came once
    found = measure.exposure(np.zeros(60), Events(log, user="u", items="i", time="t").bags())
    assert [(group.level, group.n) for group in found.groups if group.trait == "visits-seen"] == [("1", 30), ("2", 30)]


def test_many_periods_become_few_groups():
    tokens = np.zeros((500, 365), dtype=np.int16)
    tokens[np.arange(365)[None, :] > np.arange(500)[:, None] * 365 // 500] = -1
    found = measure.exposure(np.zeros(500), Traces(tokens, n_tokens=2))
    levels = [group.level for group in found.groups]
    assert len(levels) <= 6
    assert levels[-1].endswith("-")


def test_an_item_is_named_only_where_enough_people_hold_it_and_enough_do_not():
    counts = np.zeros((100, 3), dtype=np.int64)
    counts[:30, 0], counts[:, 1], counts[:85, 2] = 1, 2, 1
    people = Bags(counts, vocabulary=Vocabulary(["few", "all", "most"]))
    risk = np.where(np.arange(100) < 30, 1.0, np.where(np.arange(100) < 85, 0.5, 0.0))
    raw = measure.exposure(risk, people, least=5)
    assert {group.level for group in raw.groups if group.trait == "holds-item"} == {"few", "most"}
    shown = suppress.exposure(raw, 20)
    assert [group.level for group in shown.groups if group.trait == "holds-item"] == ["few"]
    assert shown.hidden_groups >= 1


@pytest.mark.parametrize(
    ("risk", "people", "message"),
    [
        (np.zeros(2), "people", "queries must be Traces, Bags or Vectors, not str"),
        (np.zeros(2), None, "not NoneType"),
        ("risk", Bags([[1], [2]]), "a risk for each of the 2 records, not str"),
        (np.zeros(3), Bags([[1], [2]]), r"for each of the 2 records, not float64 \(3,\)"),
        (np.array([0.0, 1.5]), Bags([[1], [2]]), "the risk of record 1 is 1.5"),
        (np.array([np.nan, 0.5]), Traces([[1], [2]], 3), "the risk of record 0 is nan"),
    ],
)
def test_what_is_no_risk_of_records_is_refused_in_one_line(risk, people, message):
    with pytest.raises(DataError, match=message):
        measure.exposure(risk, people)
