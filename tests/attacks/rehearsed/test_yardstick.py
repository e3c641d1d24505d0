"""What two tables have in common is measured right whatever their sizes, and whichever of them is cut."""

import numpy as np
import pytest
from people import drawn, tastes, two_looks

from reidrisk import Bags
from reidrisk.attacks import Rehearsed
from reidrisk.attacks.rehearsed.cutting import Cutting
from reidrisk.attacks.rehearsed.ways import find_way
from reidrisk.attacks.rehearsed.yardstick import Yardstick
from reidrisk.records.cut import cut


def uneven(n, items, seed, base, strength=8.0):
    """Records some of which hold far more than others."""
    sizes = np.maximum(np.random.default_rng(seed).lognormal(np.log(base), 1.0, n).astype(int), 6)
    return drawn(tastes(n, items, seed, strength), sizes, seed + 1).counts.toarray()


def halved(whole, share, seed):
    asked = np.random.default_rng(seed).binomial(whole, share)
    both = (asked.sum(axis=1) > 0) & (asked.sum(axis=1) < whole.sum(axis=1))
    return Bags((whole - asked)[both]), Bags(asked[both])


@pytest.mark.parametrize(("items", "strength"), [(60, 8.0), (60, 4.0), (100, 8.0)])
def test_a_part_of_uneven_records_keeps_nothing(items, strength):
    """Long queries are of long records: real ones must not look as if they shared more with their targets."""
    cases = (halved(uneven(400, items, seed, 40, strength), 0.2, seed) for seed in range(6))
    found = [find_way(*case, seed=0) for case in cases]
    assert {one.way for one in found} == {"part"}
    assert np.mean([one.kept for one in found]) < 0.05


@pytest.mark.parametrize("ranked", [True, False])
def test_what_is_kept_is_found_whoever_is_asked_about_with_more(ranked):
    """Whether whoever holds more is asked about with more is seen, and rehearsed."""
    sizes, found = np.array([5, 8, 12, 20]) if not ranked else np.array([10, 20, 40, 80]), []
    for seed in range(4):
        case = cut(Bags(uneven(400, 60, seed, 60)), sizes, seed, "part", kept=0.6, ranked=ranked)
        assert Yardstick.of(case.targets, case.queries, seed).ranked == ranked
        found.append(find_way(case.targets, case.queries, seed=seed).kept)
    assert np.mean(found) == pytest.approx(0.6, abs=0.12)


def short_and_long(n=300, items=60, short=8, long=60, seed=0):
    shares = tastes(n, items, seed, strength=6.0)
    return drawn(shares, np.full(n, short), seed + 1), drawn(shares, np.full(n, long), seed + 2)


def test_far_longer_queries_are_cut_instead_of_targets():
    known, asked = short_and_long()
    found = find_way(known, asked, seed=0)
    assert (found.way, found.turned) == ("part", True)
    assert found.kept < 0.2
    assert not find_way(asked, known, seed=0).turned
    assert not find_way(*two_looks(200, 100, 60), seed=0).turned
    assert not find_way(known, asked.take(slice(0, 100)), seed=0).turned, "too few to learn from"


def test_what_is_cut_out_of_queries_stands_for_targets():
    known, asked = short_and_long()
    case = Cutting("part", turned=True).rehearse(known, asked, seed=0)
    rows = case.truth.target
    assert sorted(rows) == list(range(len(asked)))
    both = case.targets.counts.toarray()[rows] + case.queries.counts.toarray()
    assert (both == asked.counts.toarray()[rows]).all()
    assert (case.targets.counts.sum(axis=1) == known.counts.sum(axis=1)).all()


def test_no_more_queries_are_cut_than_there_are_targets():
    known, asked = short_and_long()
    case = Cutting("part", turned=True).rehearse(known.take(slice(0, 50)), asked, seed=0)
    assert len(case.targets) == len(case.queries) == 50


def test_what_far_longer_queries_find_is_foreseen():
    off = []
    for seed in range(3):
        known, asked = short_and_long(seed=seed)
        attack = Rehearsed().fit(known).look_around(asked)
        right, estimate = np.mean(attack.link(asked).target == np.arange(len(known))), attack.estimate_
        assert estimate.low - 0.05 <= right <= estimate.high + 0.05
        assert estimate.high - estimate.low < 0.35, "targets cut in two would tell hardly anything"
        off.append(estimate.rate - right)
    assert abs(np.mean(off)) < 0.1


def test_people_who_are_not_there_are_counted_out_of_longer_queries():
    known, asked = short_and_long(n=600, items=200)
    half = known.take(slice(0, 300))
    everybody, some = (Rehearsed().fit(one).look_around(asked) for one in (known, half))
    right = np.mean(some.link(asked).target == np.arange(len(asked)))
    assert everybody.estimate_.low > 0.9 > 0.5 > right
    assert some.estimate_.low <= right <= some.estimate_.high < everybody.estimate_.rate


def test_where_longer_queries_are_cut_nothing_depends_on_the_order_of_rows_or_on_doubled_counts():
    known, asked = short_and_long(n=260)
    rng = np.random.default_rng(1)
    rows, asks = rng.permutation(260), rng.permutation(260)

    def linked(targets, queries):
        attack = Rehearsed().fit(targets).look_around(queries)
        assert attack.cutting_.turned
        return attack.link(queries).target, attack.estimate_.rate

    plain, rate = linked(known, asked)
    moved, again = linked(known.take(rows), asked.take(asks))
    doubled, twice = linked(*(Bags(2 * bags.counts.toarray()) for bags in (known, asked)))
    assert (rows[moved] == plain[asks]).all()
    assert (doubled == plain).all()
    assert again == pytest.approx(rate) == pytest.approx(twice)
