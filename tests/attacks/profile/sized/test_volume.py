"""Totals as evidence: they help where people keep their volume, and are ignored unless asked for."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from reidrisk import Bags, Traces, measure
from reidrisk.attacks import ProfileBayes
from reidrisk.attacks.profile.sized.volume import Volume, normal_score, ranks
from reidrisk.base.errors import OptionError


def shoppers(n, seed, lasting, tastes=0.4):
    """Draw two bags of each person over 30 items; totals vary by e, and a share ``lasting`` of that lasts."""
    rng = np.random.default_rng(seed)
    own = rng.dirichlet(np.full(30, tastes), size=n)
    always = rng.normal(size=n)
    sides = []
    for _ in range(2):
        volume = np.sqrt(lasting) * always + np.sqrt(1.0 - lasting) * rng.normal(size=n)
        totals = 3 + rng.poisson(30.0 * np.exp(volume))
        sides.append(Bags(np.stack([rng.multinomial(total, taste) for total, taste in zip(totals, own, strict=True)])))
    return sides


def test_the_bayes_factor_is_that_of_two_normal_numbers():
    volume = Volume(0.7, tuple(range(1, 200)), tuple(range(10, 2_000, 7)))
    totals = np.array([3.0, 90.0, 180.0]), np.array([45.0, 1_000.0, 1_900.0])
    found = sum(one * two for one, two in zip(volume.of_targets(totals[0]), volume.of_queries(totals[1]), strict=True))
    x, y = normal_score(totals[0], volume.known), normal_score(totals[1], volume.asked)
    together = multivariate_normal([0.0, 0.0], [[1.0, 0.7], [0.7, 1.0]]).logpdf(np.column_stack([x, y]))
    # A target's factors have the mean one over the queries among which they are ranked.
    others = normal_score(np.array(volume.asked), volume.asked)
    pairs = np.stack(np.broadcast_arrays(x[:, None], others), axis=-1)
    both = multivariate_normal([0.0, 0.0], [[1.0, 0.7], [0.7, 1.0]]).logpdf(pairs)
    mean = np.exp(both - norm.logpdf(x)[:, None] - norm.logpdf(others)).mean(axis=1)
    assert found == pytest.approx(together - norm.logpdf(x) - norm.logpdf(y) - np.log(mean))


def test_factors_have_the_mean_one_over_queries_even_where_many_are_of_one_size():
    asked = (1.0,) * 60 + (2.0,) * 30 + (5.0,) * 10
    volume = Volume(0.95, (1.0,) * 50 + (2.0,) * 40 + (3.0,) * 10, asked)
    known, queries = volume.of_targets(np.array([1.0, 2.0, 3.0])), volume.of_queries(np.array(asked))
    factors = np.exp(sum(np.multiply.outer(one, two) for one, two in zip(known, queries, strict=True)))
    assert factors.mean(axis=1) == pytest.approx(1.0)


def test_ranks_know_no_units():
    totals = np.random.default_rng(0).geometric(0.01, size=1_000).astype(float)
    assert len(ranks(totals)) == 255
    assert np.array_equal(normal_score(3.0 * totals, ranks(3.0 * totals)), normal_score(totals, ranks(totals)))
    assert abs(normal_score(totals, ranks(totals)).std() - 1.0) < 0.05


def test_volume_helps_where_it_lasts():
    more = []
    for seed in range(1, 6):
        targets, queries = shoppers(500, seed, lasting=0.95, tastes=2.0)
        plain, with_it = (measure.random_user(ProfileBayes(volume=one), targets, queries) for one in (False, True))
        more.append(with_it.rate - plain.rate)
    assert min(more) > 0.01
    assert np.mean(more) > 0.03
    targets, queries = shoppers(500, 1, lasting=0.95, tastes=2.0)
    attack = ProfileBayes(volume=True).fit(targets).look_around(queries)
    assert attack.model_.volume.correlation == pytest.approx(0.95, abs=0.06)


def test_volume_is_left_out_where_it_does_not_last():
    targets, queries = shoppers(500, 2, lasting=0.0)
    attack = ProfileBayes(volume=True).fit(targets).look_around(queries)
    assert attack.model_ == ProfileBayes().fit(targets).look_around(queries).model_
    assert attack.model_.volume is None


def test_by_default_totals_are_given_and_not_evidence():
    targets, queries = shoppers(300, 3, lasting=1.0)
    attack = ProfileBayes().fit(targets).look_around(queries)
    assert attack.model_.volume is None
    # Twice as much of everything that one person did is no other taste: the best target of a longer query is the same.
    longer = Bags(np.where(np.arange(300)[:, None] == 7, 2, 1) * queries.counts.toarray())
    assert attack.link(longer).target[7] == attack.link(queries).target[7]
    with_it = ProfileBayes(volume=True).fit(targets).look_around(queries)
    assert with_it.model_.volume is not None


def test_where_both_sides_hold_the_same_events_totals_are_evidence_of_themselves():
    rng = np.random.default_rng(6)
    popular = 1.0 / np.arange(1, 301)
    totals = np.maximum(rng.lognormal(3.0, 1.0, size=400), 4.0).astype(int)
    whole = np.stack([rng.multinomial(total, popular / popular.sum()) for total in totals])
    targets, queries = (Bags(rng.binomial(whole, 0.5)) for _ in range(2))
    found = ProfileBayes().fit(targets).look_around(queries).model_.volume
    assert found is not None
    assert found.correlation >= 0.9
    assert ProfileBayes(volume=False).fit(targets).look_around(queries).model_.volume is None


def test_of_sets_that_hold_the_same_items_sizes_are_no_evidence_by_default():
    rng = np.random.default_rng(7)
    whole = (rng.random((300, 80)) < rng.uniform(0.05, 0.4, size=(300, 1))).astype(int)
    targets, queries = (Bags(rng.binomial(whole, 0.7)) for _ in range(2))
    found = ProfileBayes().fit(targets).look_around(queries).model_
    assert found.distinct
    assert found.volume is None
    assert ProfileBayes(volume=True).fit(targets).look_around(queries).model_.volume is not None


def test_doubling_and_the_order_of_people_change_nothing_with_volume_either():
    targets, queries = shoppers(200, 4, lasting=0.9)
    links = ProfileBayes(volume=True).fit(targets).link(queries, probability=True)
    order = np.random.default_rng(0).permutation(200)
    again = ProfileBayes(volume=True).fit(Bags(2 * targets.counts)).link(Bags(3 * queries.counts), probability=True)
    moved = ProfileBayes(volume=True).fit(targets.take(order)).link(queries, probability=True)
    for other, target in ((again, again.target), (moved, order[moved.target])):
        assert np.array_equal(target, links.target)
        assert np.array_equal(other.probability, links.probability)


def test_of_one_size_and_of_traces_there_is_no_volume():
    _, queries = shoppers(50, 5, lasting=0.9)
    same = Bags(np.eye(30, dtype=int)[np.arange(50) % 30])
    assert ProfileBayes(volume=True).fit(same).look_around(queries).model_.volume is None
    with pytest.raises(OptionError, match="volume=True is for bags"):
        ProfileBayes(volume=True).fit(Traces([[1, 2]], n_tokens=3))
