"""That two tables of the same people share no item is seen in real queries, and not where it is not so."""

import numpy as np
import pytest

from reidrisk import Bags
from reidrisk.attacks import ProfileBayes, Rehearsed
from reidrisk.attacks.rehearsed.apart import as_likely, borne_out, gains, together
from reidrisk.attacks.rehearsed.ways import find_way, separable
from reidrisk.scenarios import Knows


def genres(n=400, items=40, seed=0):
    """Return which of some genres people like: most have many, each its own mix."""
    rng = np.random.default_rng(seed)
    popular = rng.beta(2.0, 2.0, items)
    return rng.random((n, items)) < 1.0 / (1.0 + np.exp(-rng.normal(np.log(popular / (1 - popular)), 1.0, (n, items))))


def films(n=400, items=600, seed=0):
    """Return which films people saw: many of a few popular ones, by six tastes."""
    rng = np.random.default_rng(seed)
    popular = 12.0 / np.arange(1, items + 1) ** 0.7
    taste = rng.dirichlet(np.full(6, 0.3), n) @ rng.gamma(0.4, 2.5, (6, items))
    return rng.random((n, items)) < 1.0 - np.exp(-np.minimum(popular, 2.0) * taste)


def halves(has, seed=1):
    one = np.random.default_rng(seed).random(has.shape) < 0.5
    return tuple(Bags((has & part).astype(np.int64)) for part in (~one, one))


def looks(has, seed=1):
    """Return what two observers see, each half of it, whatever the other sees."""
    rng = np.random.default_rng(seed)
    return tuple(Bags((has & (rng.random(has.shape) < 0.5)).astype(np.int64)) for _ in range(2))


def seasons(has, seed=1):
    """Return the same where most items are common in one table and rare in the other."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.5, 0.5, has.shape[1])
    return tuple(Bags((has & (rng.random(has.shape) < part)).astype(np.int64)) for part in (share, 1.0 - share))


def right(attack, targets, queries):
    links = attack.fit(targets).look_around(queries).link(queries)
    return float(np.mean(links.target == np.arange(len(queries))))


@pytest.mark.parametrize("made", [genres, films])
def test_halves_of_sets_are_seen_to_share_nothing_and_people_are_found_by_it(made):
    targets, queries = halves(made(seed=1))
    found = find_way(targets, queries, seed=0)
    assert (found.kept, found.nothing, found.borne_out) == (0.0, True, True)
    assert right(ProfileBayes(), targets, queries) > 0.2  # if sharing spoke for a target, nobody would be found
    attack = Rehearsed(people=200)
    assert right(attack, targets, queries) > 0.2
    assert (attack.estimate_.low, attack.estimate_.high) == (0.0, 1.0)


@pytest.mark.parametrize("made", [genres, films])
@pytest.mark.parametrize("cut", [looks, seasons])
@pytest.mark.parametrize("seed", range(3))
def test_sets_that_share_are_not_taken_for_halves(made, cut, seed):
    assert not borne_out(*cut(made(seed=seed), seed + 1), seed=0)


@pytest.mark.parametrize("made", [genres, films])
def test_strangers_share_nothing_of_their_own(made):
    targets, queries = halves(made(800))
    assert not borne_out(targets.take(slice(0, 400)), queries.take(slice(400, 800)), seed=0)


@pytest.mark.parametrize("seed", range(6))
def test_people_of_other_tastes_who_share_are_not_taken_for_halves_whoever_is_short(seed):
    one, other = films(250, 200, seed), films(250, 200, seed + 100)
    one[0], one[0, -1] = False, True  # shares nothing with nearly anybody
    rng = np.random.default_rng(seed)
    kept = other | (one & (rng.random(one.shape) < 0.4))
    assert not borne_out(Bags(one.astype(np.int64)), Bags(kept.astype(np.int64)), seed=0)


def test_neither_the_order_of_rows_nor_empty_ones_matter_and_few_people_say_nothing():
    targets, queries = halves(films(200))
    order = np.random.default_rng(3).permutation(200)
    found = together(gains(targets, queries, seed=0))
    assert together(gains(targets.take(order), queries.take(order[::-1]), seed=0)) == found
    nothing = Bags(np.concatenate([queries.counts.toarray(), np.zeros((9, queries.n_tokens), dtype=np.int64)]))
    assert together(gains(targets, nothing, seed=0)) == found
    assert not borne_out(targets.take(slice(0, 6)), queries.take(slice(0, 6)), seed=0)
    assert not borne_out(targets, Bags(np.zeros((3, targets.n_tokens), dtype=np.int64)), seed=0)


def broad(n=800, items=24, seed=3):
    """Return which genres people like where some like most of them, and others the popular ones alone."""
    rng = np.random.default_rng(seed)
    popular = rng.beta(2.0, 2.0, items)
    liking = np.log(popular / (1.0 - popular)) + 2.0 * rng.normal(size=(n, 1))
    return rng.random((n, items)) < 1.0 / (1.0 + np.exp(-liking))


def test_any_few_items_are_held_by_somebody_where_many_have_most_and_yet_are_no_facts():
    liked = broad()
    asked = np.random.default_rng(1).random(liked.shape) < 0.2
    rows = np.flatnonzero((liked & asked).any(axis=1))
    targets, queries = Bags((liked & ~asked).astype(np.int64)), Bags((liked & asked)[rows].astype(np.int64))
    found = find_way(targets, queries, seed=0)
    assert (found.way, found.kept, found.nothing, found.borne_out) == ("part", 0.0, True, True)
    links = Rehearsed(people=200).fit(targets).look_around(queries).link(queries)
    assert np.mean(links.target == rows) > 0.1


@pytest.mark.parametrize("facts", [3, 5])
def test_facts_of_people_who_have_most_items_are_facts(facts):
    case = Knows(Bags(broad().astype(np.int64)), facts=facts).case(0)
    assert find_way(case.targets, case.queries, seed=0).way == "held"


def of_hubs(n=600, hubs=3, items=57, seed=0):
    """Return logs of planes, each of which keeps to the routes of one hub, some common and some rare."""
    rng = np.random.default_rng(seed)
    common, home = rng.dirichlet(np.ones(items)), rng.integers(hubs, size=(n, 1))
    habits = common * np.where(np.arange(items) % hubs == home, 1.0, 0.03)
    habits /= habits.sum(axis=1, keepdims=True)
    return np.stack([rng.multinomial(size, p) for size, p in zip(rng.integers(5, 100, n), habits, strict=True)])


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_those_who_share_nothing_with_the_other_kinds_are_not_taken_for_apart(share):
    """Many flights on few routes: a fifth of them are on the commonest, and strangers are made of the same."""
    for seed in range(3):
        flights = of_hubs(seed=seed)
        asked = np.random.default_rng(seed).binomial(flights, share)
        both = asked.any(axis=1) & (asked < flights).any(axis=1)
        targets, queries = Bags((flights - asked)[both]), Bags(asked[both])
        assert separable(targets, queries), "those of another hub would do"
        assert abs(together(gains(targets, queries, seed=0)).errors) < 3.0
        assert find_way(targets, queries, seed=0).way == "part"


def test_dense_tables_are_not_taken_for_apart_though_short_records_share_nothing_with_many():
    """Everybody buys nearly everything, in bursts: two halves agree far less than events drawn from one."""
    rng = np.random.default_rng(0)
    habits, length = rng.dirichlet(np.full(30, 3.0), 300), np.where(np.arange(300) % 10 == 0, 2, 60)
    one, two = (
        Bags(20 * np.stack([rng.multinomial(n, rng.dirichlet(20.0 * p)) for n, p in zip(length, habits, strict=True)]))
        for _ in range(2)
    )
    assert not separable(one, two)
    assert find_way(one, two, seed=0).way != "apart"


def habits(n, items, seed):
    return np.random.default_rng(seed).dirichlet(np.full(items, 0.05), n) + 1e-12


def bought(shares, sizes, sold, rng):
    """Return what people buy of what is sold."""
    some = shares * sold / (shares * sold).sum(axis=1, keepdims=True)
    return Bags(np.stack([rng.multinomial(n, p) for n, p in zip(sizes, some, strict=True)]))


@pytest.mark.parametrize("both", [0.3, 0.6])
def test_two_shops_that_sell_the_same_in_part_share_what_both_sell(both):
    rng, shares = np.random.default_rng(0), habits(400, 120, seed=1)
    place, same = np.arange(120), int(120 * both)
    rest = same + (120 - same) // 2
    one, two = (
        bought(shares, rng.integers(5, 40, 400), sold, rng) for sold in (place < rest, (place < same) | (place >= rest))
    )
    assert find_way(one, two, seed=0).way != "apart"
    assert right(ProfileBayes(), one, two) > 0.3
    assert right(Rehearsed(people=200), one, two) > 0.3


def test_queries_longer_than_most_targets_are_not_taken_for_strangers():
    rng, shares = np.random.default_rng(0), habits(600, 60, seed=0)
    sold = np.ones(60, dtype=bool)
    one = bought(shares, np.where(rng.random(600) < 0.7, 2, 40), sold, rng)
    assert right(ProfileBayes(), one, bought(shares, np.full(600, 5), sold, rng)) > 0.2


def answers(n=800, questions=36, seed=0):
    """Return what people answer to questions of six answers each, one item an answer: moods decide."""
    rng = np.random.default_rng(seed)
    moods, bent = rng.normal(size=(n, 3)), rng.normal(size=(3, questions))
    felt = moods @ bent / np.sqrt(3.0) + 0.4 * rng.normal(size=(n, questions)) + rng.normal(size=questions)
    place = np.clip(np.floor(felt + 3.0), 0, 5).astype(int)
    return np.eye(6, dtype=bool)[place].reshape(n, -1)


@pytest.mark.parametrize("seed", range(4))
def test_people_are_found_in_answers_to_other_questions(seed):
    """That nothing is shared hardly shows in sharing itself, but queries are as likely if nothing is."""
    targets, queries = halves(answers(seed=seed), seed + 1)
    assert as_likely(targets, queries, seed=0)
    attack = Rehearsed(people=200)
    assert right(attack, targets, queries) > 0.3
    assert attack.estimate_.high == 1.0


@pytest.mark.parametrize("seed", range(2))
def test_answers_that_two_saw_independently_are_not_taken_for_halves(seed):
    targets, queries = looks(answers(seed=seed), seed + 1)
    attack = Rehearsed(people=200)
    assert right(attack, targets, queries) > 0.3
    assert not attack.cutting_.nothing


@pytest.mark.parametrize("seed", [200, 201, 202])
def test_two_shops_that_sell_other_items_most_are_not_taken_for_halves(seed):
    """Half of the items sell ten times as well in one shop: people share less with strangers than in halves."""
    rng = np.random.default_rng(seed)
    taste = rng.dirichlet(np.full(120, 0.3), 300)
    sold = np.where(rng.random(120) < 0.5, 10.0**0.5, 10.0**-0.5)
    one, two = (bought(taste, np.full(300, 30), part, rng) for part in (sold, 1.0 / sold))
    found = find_way(one, two, seed=0)
    assert found.way == "part"
    assert found.kept > 0.0
    assert right(Rehearsed(people=200), one, two) > 0.15
