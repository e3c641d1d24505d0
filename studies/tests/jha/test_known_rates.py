"""Who knows visit rates knows how probable two topics are in one week's set, and nobody beats their posterior."""

import numpy as np
import pytest

from reidrisk import attacks, populations, topics
from reidrisk_studies.jha.known_rates import KnownRates, RateSets
from reidrisk_studies.jha.people import People
from reidrisk_studies.repeated import outcome

RATES = np.array(
    [[6.0, 2.0, 0.5, 0.0, 0.0, 1.5, 0.0], [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [40.0, 38, 35, 3, 2, 1, 0.2]]
)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_set_holds_k_topics_and_a_topic_meets_k_minus_1_others(k):
    sets = RateSets(RATES, k)
    assert sets.single.sum(axis=1) == pytest.approx([k] * 3, abs=1e-9)
    for kind in range(3):
        both = sets.pairs(kind)
        assert both == pytest.approx(both.T, abs=1e-12)
        assert both.sum(axis=1) == pytest.approx(k * sets.single[kind], abs=1e-8)


def test_sets_are_those_of_the_simulation():
    n, k = 40_000, 3
    api = topics.TopicsAPI(7, top_k=k)
    for kind, row in enumerate(RATES):
        held = np.zeros((n, 7))
        np.put_along_axis(held, api.top_sets(populations.real([row] * n), epochs=1, seed=2).tokens[:, 0], 1.0, axis=1)
        assert RateSets(RATES, k).pairs(kind) == pytest.approx(held.T @ held / n, abs=0.012)


def test_all_rates_0_is_a_set_of_any_topics():
    sets = RateSets(np.zeros((1, 6)), 2)
    assert sets.single[0] == pytest.approx([2 / 6] * 6)
    assert sets.pairs(0)[0, 1:] == pytest.approx([2 / 6 * 1 / 5] * 5)


def test_knowing_more_finds_more():
    matrix = np.random.default_rng(0).gamma(0.2, 4.0, size=(12, 20))
    people = People(matrix, "real", "")
    one, two = people.sites("drawn", 400, 12, seed=3)
    told = KnownRates(people.rates("drawn", 400, 3).toarray(), whose=np.arange(400))
    rates = [
        outcome(attack, one, two).correct.mean()
        for attack in (attacks.WeightedHamming(5, 0.05), attacks.ProfileBayes(5, 0.05), KnownRates(matrix), told)
    ]
    assert rates[0] < rates[2]
    assert rates[1] < rates[2] + 0.03  # by chance alone
    assert rates[2] <= rates[3] + 0.03
