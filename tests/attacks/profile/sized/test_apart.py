"""Tables that share no item: taste, learnt from which items go together, and that nothing is held on both sides."""

import itertools
import math

import numpy as np
import pytest

from reidrisk import Bags, measure
from reidrisk.attacks import Affinity, ProfileBayes
from reidrisk.attacks.profile.sized import Model, Tally
from reidrisk.attacks.profile.sized.model import AGAIN
from reidrisk.attacks.profile.sized.rows import all_scores
from reidrisk.attacks.profile.sized.taste import Taste, item_vectors

GROUPS, ITEMS = 12, 30  # of items; each person likes three of the groups


def fans(n, seed, apart):
    """Draw what each person has of the groups of items they like; cut in two item by item, or event by event."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, ITEMS + 1) ** 0.5
    liked = np.stack([np.isin(np.arange(GROUPS), rng.choice(GROUPS, 3, replace=False)) for _ in range(n)]) + 0.02
    own = (liked[:, :, None] * popular).reshape(n, -1)
    whole = rng.poisson(200.0 * own / own.sum(axis=1, keepdims=True))
    one = whole * (rng.random(whole.shape) < 0.5) if apart else rng.binomial(whole, 0.5)
    return Bags(one), Bags(whole - one)


@pytest.fixture(scope="module")
def two_sides():
    return fans(300, 0, apart=True)


@pytest.mark.parametrize("apart", [False, True])
def test_probabilities_of_all_queries_of_a_size_add_up_to_one(apart):
    popularity = np.array([0.4, 0.3, 0.2, 0.1])
    taste = Taste(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]]), popularity, precision=0.3)
    model = Model(0.0 if apart else 0.6, 1.5, taste=taste, apart=apart)
    known = Tally.of(Bags([[1, 0, 2, 0]]))
    total, again = 0.0, 0.0
    for events in itertools.product(range(4), repeat=1 if apart else 3):
        query = Tally(Bags([np.bincount(events, minlength=4)]).counts)
        chance = math.exp(all_scores(model, known, query, popularity)[0, 0]) * popularity[list(events)].prod()
        total += chance
        again += chance if events[0] in (0, 2) else 0.0
    assert total == pytest.approx(1.0, abs=1e-9)
    if apart:
        assert again < 3.0 * AGAIN


def test_a_taste_is_the_mode_of_its_posterior(two_sides):
    table = Tally.of(two_sides[0])
    taste = Taste.learnt(table, table.popularity, seed=0)
    covariance = (taste.vectors * table.popularity[:, None]).T @ taste.vectors
    held = table.counts[[7]].indices
    mode = np.linalg.solve(len(held) * covariance + 2.0 * np.eye(len(covariance)), taste.vectors[held].sum(axis=0))
    assert taste.placed(table).taste[7] == pytest.approx(mode)
    norm = np.log(np.exp(taste.vectors @ mode) @ table.popularity)
    assert taste.placed(table).norm[7] == pytest.approx(norm)


def test_items_of_one_group_have_like_vectors_and_where_none_go_together_there_are_none(two_sides):
    vectors = item_vectors(Tally.of(two_sides[0]), seed=0)
    likeness = (vectors @ vectors.T).reshape(GROUPS, ITEMS, GROUPS, ITEMS).mean(axis=(1, 3))
    assert np.diag(likeness).min() > 2.0 * np.abs(likeness - np.diag(np.diag(likeness))).max()
    assert item_vectors(Tally.of(Bags(np.ones((20, 5), dtype=int))), seed=0) is None


def test_people_are_found_although_no_item_is_shared(two_sides):
    attack = ProfileBayes().fit(two_sides[0]).look_around(two_sides[1])
    assert attack.model_.apart
    ours, theirs = (measure.random_user(one, *two_sides) for one in (ProfileBayes(), Affinity()))
    assert measure.difference(ours, theirs).low > 0.05
    links = attack.link(two_sides[1], probability=True)
    assert abs(links.probability.mean() - ours.rate) < 0.15


def test_sharing_counts_against_nobody_where_items_are_shared():
    attack = ProfileBayes().fit(fans(300, 1, apart=False)[0]).look_around(fans(300, 1, apart=False)[1])
    assert not attack.model_.apart
    assert attack.model_.taste is None


def test_names_of_items_the_order_of_people_and_doubled_counts_change_nothing(two_sides):
    targets, queries = two_sides
    rng = np.random.default_rng(2)
    links = ProfileBayes().fit(targets).link(queries)
    people, items = rng.permutation(len(targets)), rng.permutation(targets.n_tokens)
    moved = ProfileBayes().fit(targets.take(people)).link(queries)
    renamed = ProfileBayes().fit(Bags(targets.counts[:, items])).link(Bags(queries.counts[:, items]))
    twice = ProfileBayes().fit(Bags(2 * targets.counts)).link(Bags(2 * queries.counts))
    for found in (people[moved.target], renamed.target, twice.target):
        assert np.array_equal(found, links.target)
