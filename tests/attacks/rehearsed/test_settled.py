"""Queries weighed against each other: marginals against enumeration, one record each, and the same in any part."""

from itertools import permutations

import numpy as np
import pytest
from people import two_looks

from reidrisk import attacks
from reidrisk.attacks.rehearsed.settled import _COOLER, _cooler, _crowded, claimed
from reidrisk.base.notes import Note
from reidrisk.records import Bags


@pytest.mark.parametrize("seed", range(4))
def test_marginals_are_those_of_all_links_together(seed):
    rng = np.random.default_rng(seed)
    m, n = 4, 6
    weights = np.exp(rng.normal(0.0, 2.0, (m, n)))
    exact, total = np.zeros((m, n)), 0.0
    for links in permutations(range(n), m):
        weight = np.prod(weights[np.arange(m), links])
        exact[np.arange(m), links] += weight
        total += weight
    exact /= total
    near = np.tile(np.arange(n), (m, 1))
    wanted = weights * np.exp(claimed(near, weights, np.zeros(m), n)[0])
    found = wanted / wanted.sum(axis=1, keepdims=True)
    alone = weights / weights.sum(axis=1, keepdims=True)
    assert np.abs(found - exact).max() < 0.12
    assert np.abs(found - exact).mean() < 0.3 * np.abs(alone - exact).mean()


@pytest.mark.parametrize("nobody", [0.0, 0.7])
def test_targets_that_are_not_near_are_claimed_as_well(nobody):
    """Of those that a query likes equally little it claims as much as if all of them were near."""
    rng = np.random.default_rng(0)
    m, n, k = 30, 50, 4
    near = np.array([rng.permutation(n)[:k] for _ in range(m)])
    weights = np.full((m, n), 0.05)
    np.put_along_axis(weights, near, np.exp(rng.normal(0.0, 1.0, (m, k))), axis=1)
    all_near = np.tile(np.arange(n), (m, 1))
    one, taken = claimed(all_near, weights, np.zeros(m), n, nobody)
    some = np.take_along_axis(weights, near, axis=1)
    two, found = claimed(near, some, np.full(m, 0.05 * (n - k)), n, nobody)
    # That a query does not want a target itself when it claims it is left out for those that are far.
    assert found == pytest.approx(taken, rel=0.05)
    assert two == pytest.approx(np.take_along_axis(one, near, axis=1), abs=0.05)


@pytest.fixture(scope="module")
def tables():
    return two_looks(300, 100, 14, seed=5)


@pytest.fixture(scope="module")
def both(tables):
    """The attacker who holds both tables, and the one who is given one record."""
    return [attacks.Rehearsed(jointly=one).fit(tables[0]).look_around(tables[1]) for one in (True, False)]


def test_who_holds_both_tables_finds_more(both, tables):
    together, alone = both
    rates = [(one.link(tables[1]).target == np.arange(300)).mean() for one in both]
    assert rates[0] > rates[1] + 0.04
    assert (together.setting, together.rests_on) == ("matching", (Note("linked-together", attack="Rehearsed"),))
    assert (alone.setting, alone.rests_on) == ("random user", ())
    assert together.estimate_.rate > alone.estimate_.rate
    assert together.estimate_.low <= rates[0]
    links = together.link(tables[1], probability=True)
    assert len(np.unique(links.target)) > len(np.unique(alone.link(tables[1]).target))
    said = alone.link(tables[1], probability=True).probability.mean()
    assert said < links.probability.mean() < rates[0] + 0.15


def test_no_more_is_found_than_is_expected_of_both_tables():
    """Records of 14 events, cut in two, are found far less often."""
    off = []
    for seed in range(5):
        known, asked = two_looks(300, 100, 14, seed=seed)
        together = attacks.Rehearsed().fit(known).look_around(asked)
        links = together.link(asked, probability=True)
        rate = (links.target == np.arange(300)).mean()
        assert together.estimate_.rehearsed < rate - 0.3
        assert together.estimate_.low <= rate <= together.estimate_.high < 1.0
        off.append(links.probability.mean() - rate)
    assert abs(np.mean(off)) < 0.15


def test_a_part_of_queries_or_targets_is_scored_as_in_the_whole(both, tables):
    together = both[0]
    rows = np.random.default_rng(0).permutation(300)[:40]
    whole, part = together.link(tables[1]), together.link(tables[1].take(rows))
    assert np.array_equal(whole.score[rows], part.score)
    scorer, targets, queries = together._posed(tables[1])
    scores = scorer.scores(targets, queries)
    shards = [scorer.scores(targets.take(some), queries) for some in (rows, np.setdiff1d(np.arange(300), rows))]
    assert np.array_equal(shards[0], scores[:, rows])
    assert np.array_equal(scorer.pairs(targets, queries, np.arange(300)), np.diagonal(scores))
    again = scorer.best(targets, queries)
    assert np.array_equal(again.score, scores.max(axis=1))


def test_a_query_that_was_not_looked_at_is_linked_by_itself(both, tables):
    """Those looked at claim their targets; another look at the same people must not lose to them."""
    other = two_looks(300, 100, 15, seed=5)[1]
    together, alone = (one.link(other) for one in both)
    assert np.array_equal(together.score, alone.score)
    assert np.array_equal(together.target, alone.target)


def test_who_is_given_one_record_at_a_time_is_the_other_attacker(both, tables):
    single, alone = both[0].one_by_one().look_around(tables[1]), both[1]
    assert np.array_equal(single.link(tables[1]).score, alone.link(tables[1]).score)
    assert both[0].setting == "matching"  # that one stays as it was


def test_some_of_the_targets_are_claimed_by_who_is_looked_at_then(both, tables):
    some = np.arange(0, 300, 3)
    fewer = both[0].narrowed(some).look_around(tables[1].take(some))
    assert fewer.compares_queries
    rate = (fewer.link(tables[1].take(some)).target == np.arange(100)).mean()
    assert rate > (both[0].link(tables[1]).target == np.arange(300)).mean() - 0.02


def test_people_with_several_queries_are_seen_without_truth(tables):
    rng = np.random.default_rng(0)
    long = Bags(tables[0].counts.toarray() * 3)
    twice = Bags(np.concatenate([rng.binomial(long.counts.toarray(), 0.4) for _ in range(2)])[::2] + 0)
    attack = attacks.Rehearsed().fit(long).look_around(twice)
    assert (attack.setting, attack.rests_on[0]["why"]) == ("random user", "several")
    more = attack.narrowed(np.arange(200)).look_around(twice)
    assert more.rests_on[0]["why"] == "more-queries"


def _made_up(own, bold, seed=0):
    """Scores of queries with all of 200 targets, as they should be but for their boldness."""
    scores = np.random.default_rng(seed).normal(0.0, 3.0, (len(own), 200))
    scores[np.arange(len(own)), own] += 3.0**2  # of the logarithm of a likelihood, where the variance is that
    scores *= bold
    return np.tile(np.arange(200), (len(own), 1)), scores - scores.max(axis=1, keepdims=True)


def test_links_that_are_too_bold_are_cooled():
    near, scores = _made_up(np.arange(200), 6.0)
    nothing = np.zeros(200)
    times, sure = _crowded(near, np.exp(scores), nothing)
    place = _cooler(near, scores, np.zeros((len(_COOLER), 200)), sure)
    assert times > 1.0
    assert place is not None
    rates = []
    for cool in (0.0, _COOLER[place]):
        weights = np.exp(scores * (cool or 1.0))
        wanted = weights * np.exp(claimed(near, weights, nothing, 200)[0]) if cool else weights
        rates.append((wanted.argmax(axis=1) == np.arange(200)).mean())
    assert rates[1] > rates[0] + 0.02


def test_where_right_links_share_targets_no_power_will_do():
    near, scores = _made_up(np.arange(200) // 2, 1.0)
    scores[np.arange(200), np.arange(200) // 2] += 8.0
    scores -= scores.max(axis=1, keepdims=True)
    times, sure = _crowded(near, np.exp(scores), np.zeros(200))
    assert times > 1.0
    assert _cooler(near, scores, np.zeros((len(_COOLER), 200)), sure) is None
