"""The attacker who rehearses: never far below the best it practised, blind to truth, ready for any table."""

import numpy as np
import pytest
from people import sets, two_looks

from reidrisk import Bags, Traces, attacks, measure
from reidrisk.base.errors import DataError, OptionError
from reidrisk.records.cut import cut


def rates(case):
    names = ("ProfileBayes", "Overlap", "Hellinger", "TfIdf", "NaiveBayes", "BM25", "Affinity", "Rehearsed")
    return {name: measure.random_user(getattr(attacks, name)(), *case).rate for name in names}


def test_people_whose_halves_share_no_item_are_found():
    """What every simple attack on shared items must miss."""
    found = rates(cut(sets(300), np.full(10, 15), seed=0))
    assert found["TfIdf"] == found["NaiveBayes"] == 0.0
    assert found["Rehearsed"] > 0.05 > 10 / 300


def test_it_is_not_below_the_best_single_attack():
    case = (*two_looks(200, 100, 30, seed=7), np.arange(200))
    found = rates(case)
    assert found["Rehearsed"] >= max(found.values()) - 0.04
    assert found["Rehearsed"] > 0.5


@pytest.mark.parametrize("jointly", [True, False])
@pytest.mark.parametrize("apart", [False, True])
def test_nothing_depends_on_names_units_or_the_order_of_people_and_items(jointly, apart):
    targets, queries, *_ = cut(sets(200), np.full(10, 15), seed=0) if apart else two_looks(120, 60)
    n, m, rng = len(targets), len(queries), np.random.default_rng(0)
    rows, asked, names = rng.permutation(n), rng.permutation(m), rng.permutation(targets.n_tokens)

    def moved(bags, order):
        new = bags.take(order).renumbered(names, bags.n_tokens)
        return new.with_counts(3 * new.counts.data).with_users([f"u{i}" for i in range(len(order))])

    others = moved(targets, rows), moved(queries, asked)
    one = attacks.Rehearsed(seed=3, jointly=jointly).fit(targets).look_around(queries)
    two = attacks.Rehearsed(seed=3, jointly=jointly).fit(others[0]).look_around(others[1])
    links, again = one.link(queries, probability=True), two.link(others[1], probability=True)
    assert one.estimate_.rate == pytest.approx(two.estimate_.rate)
    assert np.array_equal(links.n_ties[asked], again.n_ties)
    alone = again.n_ties == 1
    assert alone.mean() > 0.9
    assert np.array_equal(links.target[asked][alone], rows[again.target[alone]])
    np.testing.assert_allclose(links.probability[asked], again.probability, rtol=1e-5)


@pytest.fixture(scope="module")
def practised():
    """An attack that has rehearsed, its measured rate, and the queries, the i-th of which belongs to target i."""
    targets, queries = two_looks(250, 100, 16, seed=11)
    attack = attacks.Rehearsed()
    return attack, measure.random_user(attack, targets, queries, np.arange(250)), queries


def test_the_estimate_holds_the_true_rate_and_the_rehearsal_is_told(practised):
    attack, risk, _ = practised
    estimate = attack.estimate_
    assert estimate.low <= risk.rate <= estimate.high
    assert estimate.rehearsed < risk.rate  # rehearsed records are half as long
    assert 0.3 < estimate.shorter < 0.8
    assert set(attack.practice_.credits) >= {"TfIdf", "ProfileBayes", "Affinity"}
    assert attack.cutting_.way == "part"


def test_probabilities_are_those_of_links(practised):
    attack, _, queries = practised
    links = attack.link(queries, probability=True)
    right = links.target == np.arange(250)
    assert abs(links.probability.mean() - right.mean()) < 0.12


def test_traces_are_counted():
    rng = np.random.default_rng(0)
    likes = rng.integers(0, 30, (60, 4))
    tables = [Traces(np.take_along_axis(likes, rng.integers(0, 4, (60, 12)), axis=1), 30) for _ in range(2)]
    assert measure.random_user(attacks.Rehearsed(), *tables).rate > 0.5


def test_few_or_empty_records_are_no_obstacle():
    targets = Bags(np.eye(5, dtype=np.int64))
    links = attacks.Rehearsed().fit(targets).link(Bags([[0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]))
    assert links.target[0] == 2
    assert links.n_ties[1] == 5
    assert attacks.Rehearsed().fit(targets).look_around(targets).practice_ is None


def test_records_of_two_events_cannot_be_cut_twice():
    rng = np.random.default_rng(0)
    tables = [Bags(np.array([np.bincount(rng.integers(0, 8, 2), minlength=8) for _ in range(60)])) for _ in range(2)]
    attack = attacks.Rehearsed().fit(tables[0]).look_around(tables[1])
    assert attack.estimate_.low < attack.estimate_.rate < attack.estimate_.high
    assert len(attack.link(tables[1])) == 60


def test_what_cannot_be_is_refused():
    with pytest.raises(OptionError, match="people"):
        attacks.Rehearsed(people=3)
    with pytest.raises(OptionError, match="fit"):
        attacks.Rehearsed().link(Bags([[1]]))
    with pytest.raises(DataError, match="look_around"):
        attacks.Rehearsed().fit(Bags([[1]])).practice_  # noqa: B018
    with pytest.raises(DataError, match="vocabulary"):
        attacks.Rehearsed().fit(Bags([[1, 0]])).link(Bags([[1]]))


def test_bursts_are_no_sign_that_nothing_is_shared():
    """Each event is logged many times: cut records share far more than two real ones, which yet share something."""
    rng = np.random.default_rng(1)
    tables = [table.counts.toarray() for table in two_looks(300, 300, 12, seed=5)]
    tables = [Bags(table * rng.geometric(0.2, table.shape)) for table in tables]
    simple = measure.random_user(attacks.TfIdf(), *tables, np.arange(300)).rate
    attack = attacks.Rehearsed()
    assert measure.random_user(attack, *tables, np.arange(300)).rate >= simple - 0.03
    assert simple > 0.1
    assert not attack.practice_.signed


def test_sets_of_which_one_in_twelve_items_is_on_both_sides_are_not_taken_for_apart():
    """A rehearsal cannot keep what no record holds twice; that nothing is shared would find nobody here."""
    rng = np.random.default_rng(0)
    whole = sets(300, items=1_000, size=60).counts.toarray()
    side = rng.random(whole.shape)
    known, asked = Bags(whole * (side < 0.54)), Bags(whole * (side > 0.46))
    found = attacks.Rehearsed().fit(known).look_around(asked)
    simple = attacks.Matched().fit(known).look_around(asked)
    right, least = (np.mean(one.link(asked).target == np.arange(300)) for one in (found, simple))
    assert found.cutting_.kept > 0.0
    assert right >= least > 0.3
