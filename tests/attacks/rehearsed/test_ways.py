"""How two tables are related is found without truth, on cases made in that way."""

import numpy as np
import pytest
from people import baskets, drawn, sets, tastes, two_looks

from reidrisk import Bags
from reidrisk.attacks import Rehearsed
from reidrisk.attacks.rehearsed.cutting import _RUNS, _in_runs
from reidrisk.attacks.rehearsed.explained import held_factors, mixture_factors, thinned
from reidrisk.attacks.rehearsed.strangers import excess
from reidrisk.attacks.rehearsed.ways import _share, find_way
from reidrisk.records.cut import cut
from reidrisk.scenarios import Split


def test_a_query_that_its_target_holds_is_seen():
    plays = drawn(tastes(200, 100, 3), np.full(200, 50), 4)
    case = cut(plays, np.array([6, 10]), seed=0, way="held")
    assert find_way(case.targets, case.queries, seed=0).way == "held"


def test_other_events_of_the_same_people_are_parts():
    found = find_way(*two_looks(200, 100, 60), seed=0)
    assert (found.way, found.kept) == ("part", 0.0)
    assert abs(found.distance) < 3.0


@pytest.mark.parametrize("kept", [0.3, 0.6])
def test_the_share_that_two_sets_have_in_common_is_found(kept):
    case = cut(sets(300, size=40), np.full(50, 20), seed=1, way="part", kept=kept)
    found = find_way(case.targets, case.queries, seed=0)
    assert found.way == "part"
    assert found.kept == pytest.approx(kept, abs=0.2)


def test_items_that_go_to_one_side_only_are_seen():
    plays = drawn(tastes(300, 150, 5, strength=4.0), np.full(300, 120), 6)
    case = cut(plays, np.full(10, 6), seed=2, way="apart")
    assert find_way(case.targets, case.queries, seed=0).way == "apart"


def test_records_are_cut_between_visits_where_these_are_known():
    log = baskets()
    case = Split(log, by="time").case()
    assert find_way(case.targets, case.queries, seed=0).way == "visits"
    torn = case.targets.with_counts(case.targets.counts.data)
    assert find_way(torn, case.queries, seed=0).way == "part"
    once = log.bags(visit=1e9)
    assert (once.visits.per_record == 1).all()
    assert find_way(once, case.queries, seed=0).way != "visits"
    estimate = Rehearsed(people=100).fit(case.targets).look_around(case.queries).estimate_
    assert 0.0 <= estimate.low < estimate.rate < estimate.high < 1.0


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_what_is_found_by_visits_is_expected(seed):
    """Records of three visits, of which a rehearsal leaves two and asks for one, are found far less often."""
    case = Split(baskets(seed=seed), by="time").case()
    attack = Rehearsed(people=100).fit(case.targets).look_around(case.queries)
    rate = (attack.link(case.queries).target == case.truth.target).mean()
    assert attack.estimate_.low <= rate <= attack.estimate_.high < 0.8


def test_visits_that_were_torn_apart_are_no_visits():
    log = baskets()
    asked = np.random.default_rng(0).random(len(log)) < 0.2
    targets, queries = log.take(~asked).bags(), log.take(asked).bags()
    assert queries.visits is not None
    assert find_way(targets, queries, seed=0).way == "part"


def test_factors_are_likelihood_ratios():
    """Over all ordered draws of two events, likelihoods add up to 1 under every target."""
    targets = Bags([[3, 1, 0], [1, 1, 4]])
    pairs = [(i, j) for i in range(3) for j in range(3)]
    asked = Bags(np.array([np.bincount(pair, minlength=3) for pair in pairs]))
    common = (np.array([4, 2, 4]) + 0.5) / 11.5
    chance = np.array([common[i] * common[j] for i, j in pairs])[:, None]
    np.testing.assert_allclose((chance * np.exp(mixture_factors(targets, asked, 0.6, 3.0))).sum(axis=0), 1.0)
    np.testing.assert_allclose((chance * np.exp(held_factors(targets, asked, 0.1))).sum(axis=0), 1.0)


def test_a_mixture_is_what_its_formula_says():
    targets, asked = Bags([[3, 1, 0], [1, 1, 4]]), Bags([[1, 0, 2]])
    p, d, n = (np.array([4, 2, 4]) + 0.5) / 11.5, targets.counts.toarray(), np.array([4, 6])
    inside = 0.4 + 0.6 * (d + 3.0 * p) / ((n + 3.0)[:, None] * p)
    twin = (np.array([1, 0, 2]) * np.log(inside)).sum(axis=1)
    np.testing.assert_allclose(mixture_factors(targets, asked, 0.6, 3.0)[0], twin)


def test_shorter_records_keep_an_event():
    short = thinned(Bags([[10, 10], [1, 0]]), 0.25, seed=0)
    assert short.counts.sum(axis=1).tolist() == [5, 1]


def test_items_that_both_sides_hold_with_all_their_events_are_seen():
    """Plays of artists, of which each table holds an artist with all plays or not at all."""
    plays = sets(300, size=40)
    plays = plays.with_counts(np.random.default_rng(0).geometric(0.02, plays.counts.nnz))
    case = cut(plays, np.full(50, 20), seed=1, way="apart", kept=0.6)
    found = find_way(case.targets, case.queries, seed=0)
    assert found.way == "apart"
    assert found.kept == pytest.approx(0.6, abs=0.25)


def test_fewer_items_keep_all_their_events():
    short = thinned(Bags(np.full((5, 8), 9)), 0.5, seed=0, items=True)
    assert (np.diff(short.counts.indptr) == 4).all()
    assert set(short.counts.data) == {9}


def test_sets_of_five_of_which_some_are_shared_are_no_tables_that_share_nothing():
    """Both sides draw from the same five items: too little to cut, and enough to see that something is shared."""
    rng = np.random.default_rng(0)
    five = sets(500, items=150, size=5).counts.toarray()
    tables = [five * (rng.random(five.shape) < 0.5) for _ in range(2)]
    known, asked = (Bags(table[(tables[0].sum(1) > 0) & (tables[1].sum(1) > 0)]) for table in tables)
    assert excess(known, asked, seed=0).errors > 2.0
    found = find_way(known, asked, seed=0)
    assert found.way == "part"
    assert found.kept > 0.1


def test_facts_that_are_items_and_not_events_are_seen():
    """Somebody knows which artists another hears, not how often."""
    plays = sets(300, size=30)
    plays = plays.with_counts(np.random.default_rng(0).geometric(0.02, plays.counts.nnz))
    units = plays.with_counts(np.ones(plays.counts.nnz, dtype=np.int64))
    asked = cut(units, np.array([3]), seed=0, way="held").queries
    found = find_way(plays, asked, seed=0)
    assert (found.way, found.once) == ("held", True)
    case = found.rehearse(plays, asked, seed=0)
    assert set(case.queries.counts.data) == {1}
    assert case.targets.counts.data.max() > 1


def test_where_everybody_holds_every_item_the_two_sides_are_not_apart():
    """A few facts of few people, over four levels that all of them reach: whatever it is, something is shared."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(4, 8.0), 40)
    targets = Bags(np.array([rng.multinomial(3_000, one) for one in shares]) + 1)
    for seed in range(3):
        case = cut(targets, np.full(10, 16), seed=seed, way="held")
        assert find_way(case.targets, case.queries, seed=seed).way != "apart"


def test_strangers_are_not_seen_to_share_anything_and_then_nobody_may_be_found():
    one, two = two_looks(240, 80, 30, seed=9)
    half = np.arange(240) < 120
    assert find_way(one, two, seed=0).shared
    away = Rehearsed().fit(one.take(np.flatnonzero(half))).look_around(two.take(np.flatnonzero(~half)))
    assert away.cutting_.way == "apart" or not away.cutting_.shared
    assert away.cutting_.way == "apart" or away.estimate_.low == 0.0


def test_in_dense_sets_the_share_in_common_is_a_models():
    """Ten of thirty genres, of which each side keeps seven in ten: whatever a rehearsal keeps looks the same."""
    rng = np.random.default_rng(0)
    liked = rng.random((400, 30)).argsort(axis=1) < 10
    known, asked = (Bags((liked & (rng.random(liked.shape) < 0.7)).astype(np.int64)) for _ in range(2))
    found = find_way(known, asked, seed=0)
    assert found.way == "part"
    assert 0.6 < found.kept < 0.8


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_a_model_of_sets_knows_which_share_of_a_query_its_target_holds(share):
    """It is not fooled by items that anybody has, nor by events that must be others since the target's are used up."""
    rng = np.random.default_rng(0)
    popular, taste = rng.normal(-3.0, 1.3, 84), rng.normal(size=(600, 6)) @ rng.normal(size=(6, 84))
    liked = rng.random((600, 84)) < 1.0 - np.exp(-np.exp(popular + 0.7 * taste))
    tables = [liked & (rng.random(liked.shape) < share) for _ in range(2)]
    some = tables[0].any(axis=1) & tables[1].any(axis=1)
    known, asked = (Bags(table[some].astype(np.int64)) for table in tables)
    held = known.counts.minimum(asked.counts).nnz / asked.counts.nnz
    assert _share(known, asked, seed=0) == pytest.approx(held, abs=0.08)


def bought(seed, both):
    """Lines of receipts, each of an item with an amount, that go to either side; or each is on either by itself."""
    rng = np.random.default_rng(seed)
    tables = np.zeros((2, 300, 60), dtype=np.int64)
    for person, taste in enumerate(rng.dirichlet(np.full(60, 0.3), 300)):
        n = rng.integers(8, 30)
        items, amounts = rng.choice(60, n, p=taste), np.ceil(rng.lognormal(2.5, 1.2, n)).astype(np.int64)
        first = rng.random(n) < 0.5
        for table, there in zip(tables, (first, rng.random(n) < 0.5 if both else ~first), strict=True):
            np.add.at(table[person], items[there], amounts[there])
    some = tables.any(axis=2).all(axis=0)
    return [Bags(table[some]) for table in tables]


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_amounts_that_come_in_one_piece_are_not_taken_for_tables_that_share_nothing(seed):
    known, asked = bought(seed, both=False)
    found = find_way(known, asked, seed=0)
    assert not (found.way == "apart" and found.kept == 0.0)


def test_lines_with_amounts_that_are_in_both_tables_go_as_whole_items():
    known, asked = bought(0, both=True)
    found = find_way(known, asked, seed=0)
    assert found.way == "apart"
    assert 0.2 < found.kept < 0.9


def test_a_questionnaire_answered_twice_shares_most_answers():
    """Thirty questions, a fifth of them answered yes, one answer in ten another the second time."""
    rng = np.random.default_rng(3)
    yes = rng.random((1_000, 30)) < rng.beta(1.0, 4.0, 30)
    known, asked = (Bags((yes ^ (rng.random(yes.shape) < 0.1)).astype(np.int64)) for _ in range(2))
    found = find_way(known, asked, seed=0)
    assert found.way == "part"
    assert found.kept > 0.5


def test_that_nothing_is_shared_can_be_ruled_out():
    plays = drawn(tastes(300, 150, 5, strength=4.0), np.full(300, 120), 6)
    case = cut(plays, np.full(10, 6), seed=2, way="apart")
    assert find_way(case.targets, case.queries, seed=0, sharing=True).way == "part"


def test_of_many_visits_neighbours_go_together():
    many, few = baskets(30, visits=50).bags(), baskets(30, visits=20).bags()
    runs = _in_runs(many)
    assert (runs.visits.per_record == _RUNS).all()
    assert (runs.counts != many.counts).nnz == 0
    first = many.visits.take(np.array([7])).counts[:9].sum(axis=0)  # ceil(50 / 6) visits
    assert (runs.visits.take(np.array([7])).counts[[0]].toarray() == first).all()
    assert _in_runs(few) is few


def test_facts_of_people_who_have_enough_are_seen_to_be_held_where_most_have_too_few():
    rng = np.random.default_rng(0)
    sizes = np.where(np.arange(600) < 200, 30, 5)
    tests = drawn(rng.dirichlet(np.full(6, 2.0), 600), sizes, 1)
    case = cut(tests.take(slice(0, 200)), np.full(200, 16), seed=0, way="held")
    assert find_way(tests, case.queries, seed=0).way == "held"
