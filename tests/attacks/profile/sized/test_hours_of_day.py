"""What hours of the day add: the formula, what teaches it, and what ProfileBayes makes of it."""

import numpy as np
import pytest
from people import torn_tables
from scipy import sparse

from reidrisk import attacks
from reidrisk.attacks.hours import HourCells, HourHabits
from reidrisk.attacks.profile.sized.hours import HourTerms, Suspects, hours_of_queries, learnt_hours


def clocks(there, items=1, seed=0):
    """Hours as bags hold them: in each hour in which a record is there, it has an item, drawn anew."""
    rng = np.random.default_rng(seed)
    row, hour = np.nonzero(there)
    times = there[row, hour].astype(np.int64)
    row, hour = np.repeat(row, times), np.repeat(hour, times)
    item = rng.integers(items, size=len(row))
    places = np.concatenate([item, np.full(len(row), items)]) * 24 + np.tile(hour, 2)
    shape = len(there), 24 * (items + 1)
    held = sparse.coo_array((np.ones(2 * len(row), dtype=np.int64), (np.tile(row, 2), places)), shape=shape)
    return held.tocsr()


def hours_of(people, seed, visits=4):
    """Days of each person by hour of the day: each has a few usual hours."""
    rng = np.random.default_rng(seed)
    habits = np.random.default_rng(0).dirichlet(np.full(24, 0.3), people)
    return np.array([rng.multinomial(visits, p) for p in habits])


def suspected(own, people, chance):
    """Suspects of each query: its own target, and others that are as likely together as it is not."""
    others = (own[:, None] + np.arange(1, 10)) % people
    each = np.concatenate([[chance], np.full(9, (1.0 - chance) / 9)])
    return Suspects(np.column_stack([own, others]), np.tile(each, (len(own), 1)))


def test_rows_give_the_formula():
    rng = np.random.default_rng(1)
    there, asked = rng.poisson(0.3, (40, 24)), rng.poisson(0.2, (30, 24))
    there[3], asked[5] = 0, 0
    known, queries = clocks(there, items=3, seed=1), clocks(asked, items=3, seed=2)
    habits = HourHabits.learnt(HourCells.of(known))
    found = HourTerms(habits, 0.4, 0.7, 0.6).of_targets(known) @ hours_of_queries(queries).T
    joint, wanted = (side[:, :-24].toarray().reshape(-1, 3, 24) for side in (known, queries))
    r, a, _ = habits.shares
    expected = np.zeros((40, 30))
    for t in (t for t in range(40) if t != 3):  # of the third it is not known when
        own = joint[t].sum(axis=1) / joint[t].sum()
        mixed = a * own + (1 - a) * habits.popular
        in_hour = joint[t] / np.maximum(joint[t].sum(axis=0), 1)
        hours = 0.7 * np.log(0.4 * there[t] / there[t].sum() / habits.popular_hours + 0.6)
        again = 0.6 * np.log(1 + r / (1 - r) * in_hour / mixed[:, None])
        expected[t] = asked @ hours + (wanted * again).sum(axis=(1, 2))
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


def test_hours_add_to_the_own_target_if_those_who_are_likely_share_them():
    known, asked, own = clocks(hours_of(300, 1)), clocks(hours_of(300, 2)), np.arange(300)
    found = learnt_hours(known, asked[:100], suspected(own[:100], 300, 0.5), own)
    assert found is not None
    scores = (hours_of_queries(asked[100:]) @ found.of_targets(known).T).toarray()
    rank = (scores >= scores[np.arange(200), own[100:]][:, None]).sum(axis=1)
    assert np.median(rank) < 50  # of 300; learnt from others


@pytest.mark.parametrize("late", [0, 9], ids=["other people", "another time zone"])
def test_hours_that_nobody_likely_shares_add_nothing(late):
    asked, own = hours_of(300, 2), np.arange(100)
    other = np.roll(asked[own if late else own + 150], late, axis=1)
    suspects = suspected(own, 300, 0.5)
    assert learnt_hours(clocks(hours_of(300, 1)), clocks(other), suspects, np.arange(300)) is None


def test_that_long_records_are_found_more_surely_is_no_evidence_of_hours():
    rng = np.random.default_rng(3)
    long = np.arange(400) < 100
    known, asked = (rng.multinomial(1, np.full(24, 1 / 24), 400) for _ in range(2))
    known[long], asked[long] = (rng.multinomial(40, np.full(24, 1 / 24), 100) for _ in range(2))
    suspects = suspected(np.arange(100), 400, 0.9)
    assert learnt_hours(clocks(known), clocks(asked[:100]), suspects, np.arange(400)) is None


@pytest.fixture(scope="module")
def torn():
    return torn_tables(4)


def right(attack, asked):
    return float((attack.link(asked).target == np.arange(len(asked))).mean())


def test_more_people_are_found_by_hours_of_the_same_visits(torn):
    known, asked = torn
    attack = attacks.ProfileBayes().fit(known).look_around(asked)
    blind = attacks.ProfileBayes().fit(known.with_clock(None)).look_around(asked.with_clock(None))
    assert attack.model_.hours is not None
    assert right(attack, asked) > right(blind, asked) + 0.1
    # A record whose hours are not known is linked by its items, and a part of the targets as in the whole.
    assert (attack.link(asked.with_clock(None)).target == blind.link(asked.with_clock(None)).target).all()
    rows = np.arange(200, 50, -1)
    assert (
        attack.narrowed(rows).score(asked, np.arange(150)[:1].repeat(220)) == attack.score(asked, [200] * 220)
    ).all()


def test_links_by_hours_do_not_depend_on_the_order_of_people_or_names_of_items(torn):
    known, asked = torn
    rng = np.random.default_rng(0)
    rows, names = rng.permutation(len(known)), rng.permutation(known.n_tokens)
    straight = attacks.ProfileBayes().fit(known).look_around(asked).link(asked, probability=True)
    moved = [bags.renumbered(names, known.n_tokens) for bags in (known.take(rows), asked)]
    other = attacks.ProfileBayes().fit(moved[0]).look_around(moved[1]).link(moved[1], probability=True)
    one = straight.n_ties == 1
    assert (straight.n_ties == other.n_ties).all()
    assert (rows[other.target[one]] == straight.target[one]).all()
    np.testing.assert_allclose(other.probability, straight.probability, rtol=1e-9)


def test_who_practises_weighs_hours_otherwise(torn):
    known, asked = torn
    rehearsed = attacks.Rehearsed(jointly=False).fit(known).look_around(asked)
    panel = rehearsed._seen.panel
    assert rehearsed._seen.hours is not None
    assert all(one.model_.hours is None for one in panel.attacks if isinstance(one, attacks.ProfileBayes))
