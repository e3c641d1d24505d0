"""What hours of the day add: the formula, what teaches it, and what ProfileBayes makes of it."""

import numpy as np
import pytest
from people import torn_tables
from scipy import sparse

from reidrisk import attacks
from reidrisk.attacks.hours import HourCells, HourHabits
from reidrisk.attacks.profile.hours import _POWERS, STEPS, HourTerms, Suspects, _most_likely, hour_bags, learnt_hours
from reidrisk.records import Events
from reidrisk.search.sparse import SparseDot


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


def suspected(own, people, chance, seed=5):
    """Suspects of each query: its own target, and nine others that are as likely together as it is not."""
    others = (own[:, None] + np.random.default_rng(seed).integers(1, people, (len(own), 9))) % people
    each = np.concatenate([[chance], np.full(9, (1.0 - chance) / 9)])
    return Suspects(np.column_stack([own, others]), np.tile(each, (len(own), 1)))


def learnt(known, asked, suspects):
    some = np.arange(asked.shape[0])
    return learnt_hours(attacks.ProfileBayes(), known, asked, some, suspects, np.arange(known.shape[0]))


def test_rows_give_the_formula():
    there, asked = hours_of(60, 1, visits=8), hours_of(60, 2)
    there[3], asked[5] = 0, 0
    known, queries = clocks(there, items=3, seed=1), clocks(asked, items=3, seed=2)
    alone = attacks.ProfileBayes().fit(hour_bags(known)).look_around(hour_bags(queries))
    alone.link(hour_bags(queries), probability=True)
    habits = HourHabits.learnt(HourCells.of(known))
    terms = HourTerms(alone, alone._posed(hour_bags(queries)).targets.rows, habits, 0.7, 0.6)
    found = SparseDot().scores(terms.of_targets(known), terms.of_queries(queries)) / STEPS
    posed = alone._posed(hour_bags(queries))
    hours = posed.scorer.scores(posed.targets, posed.queries) / STEPS / alone.temperature_
    joint, wanted = (side[:, :-24].toarray().reshape(-1, 3, 24) for side in (known, queries))
    r, a, _ = habits.shares
    for t in (t for t in range(60) if t != 3):
        own = joint[t].sum(axis=1) / joint[t].sum()
        mixed = a * own + (1 - a) * habits.popular
        in_hour = joint[t] / np.maximum(joint[t].sum(axis=0), 1)
        again = np.log(1 + r / (1 - r) * in_hour / mixed[:, None])
        np.testing.assert_allclose(found[:, t], 0.7 * hours[:, t] + 0.6 * (wanted * again).sum(axis=(1, 2)), atol=1e-3)
    assert not found[:, 3].any()  # of the third it is not known when
    assert not found[5].any()


def test_hours_add_to_the_own_target_if_those_who_are_likely_share_them():
    known, asked, own = clocks(hours_of(300, 1, visits=8)), clocks(hours_of(300, 2, visits=8)), np.arange(300)
    found = learnt(known, asked[:100], suspected(own[:100], 300, 0.5))
    assert found is not None
    scores = SparseDot().scores(found.of_targets(known), found.of_queries(asked[100:]))
    rank = (scores >= scores[np.arange(200), own[100:]][:, None]).sum(axis=1)
    assert np.median(rank) < 30  # of 300; learnt from others


@pytest.mark.parametrize("late", [0, 9], ids=["other people", "another time zone"])
def test_hours_that_nobody_likely_shares_add_nothing(late):
    asked, own = hours_of(300, 2, visits=8), np.arange(100)
    other = np.roll(asked[own if late else own + 150], late, axis=1)
    assert learnt(clocks(hours_of(300, 1, visits=8)), clocks(other), suspected(own, 300, 0.5)) is None


def test_hours_that_say_too_much_at_any_power_do_not_count():
    """The less is believed of them, the likelier queries are: what they say comes from events that go together."""
    suspects = Suspects(np.tile([0, 1], (50, 1)), np.tile([0.9, 0.1], (50, 1)))
    place, gain = _most_likely([power * np.full((50, 2), -9.0) for power in _POWERS], suspects)
    assert (place, gain.tolist()) == (-1, [0.0] * 50)
    place, gain = _most_likely([power * np.tile([1.0, -3.0], (50, 1)) for power in _POWERS], suspects)
    assert place == len(_POWERS) - 1
    assert gain.min() > 0.0


def test_hours_of_the_same_visits_tell_alone_where_items_say_nothing():
    """Two observers who each see half of the clicks of a session: anything may be clicked, but both know when."""
    rng = np.random.default_rng(7)
    visits = rng.integers(0, 60 * 24, (300, 6))  # hours since the first day
    who, which = np.repeat(np.arange(300), 60), rng.integers(6, size=18_000)
    when = (visits[who, which] * 3_600 + rng.integers(3_600, size=18_000)).astype("M8[s]")
    log = {"who": who, "what": rng.integers(400, size=18_000), "when": when}
    log = Events(log, user="who", items="what", time="when")
    side = rng.random(len(log)) < 0.5
    known, asked = (log.take(part).bags() for part in (side, ~side))
    for kind in (attacks.ProfileBayes, attacks.Rehearsed):
        attack = kind().fit(known).look_around(asked)
        assert right(attack, asked) > 0.5, kind
        blind = kind().fit(known.with_clock(None)).look_around(asked.with_clock(None))
        assert right(blind, asked) < 0.1, kind


def test_habits_of_the_day_tell_alone_where_items_say_nothing():
    """Each is there at hours of their own, on either side other ones, and anybody may have anything."""
    rng = np.random.default_rng(5)
    habits = rng.dirichlet(np.full(24, 0.15), 300)
    who = np.repeat(np.arange(300), 24)
    hour = np.array([rng.choice(24, p=habits[i]) for i in who])
    when = ((rng.integers(60, size=len(who)) * 24 + hour) * 3_600).astype("M8[s]")
    log = {"who": who, "what": rng.integers(60, size=len(who)), "when": when}
    log = Events(log, user="who", items="what", time="when")
    side = np.arange(len(log)) % 2 == 0
    known, asked = (log.take(part).bags() for part in (side, ~side))
    attack = attacks.ProfileBayes().fit(known).look_around(asked)
    assert not attack._habits.hours.same_visits
    assert right(attack, asked) > right(attacks.Clock().fit(known).look_around(asked), asked) - 0.03 > 0.3


@pytest.fixture(scope="module")
def torn():
    return torn_tables(4)


def right(attack, asked):
    return float((attack.link(asked).target == np.arange(len(asked))).mean())


def test_more_people_are_found_by_hours_of_the_same_visits(torn):
    known, asked = torn
    attack = attacks.ProfileBayes().fit(known).look_around(asked)
    blind = attacks.ProfileBayes().fit(known.with_clock(None)).look_around(asked.with_clock(None))
    assert attack._habits.hours is not None
    assert right(attack, asked) > right(blind, asked) + 0.1
    # A record whose hours are not known is linked by its items, and a part of the targets as in the whole.
    assert (attack.link(asked.with_clock(None)).target == blind.link(asked.with_clock(None)).target).all()
    rows = np.arange(200, 50, -1)
    assert (
        attack.narrowed(rows).score(asked, np.arange(150)[:1].repeat(220)) == attack.score(asked, [200] * 220)
    ).all()


@pytest.mark.parametrize("late", [0, 9])
def test_another_time_zone_costs_nobody_even_where_items_tell_little(late):
    rng = np.random.default_rng(11)
    common = rng.dirichlet(np.full(40, 0.5))
    taste = np.array([rng.dirichlet(30 * common + 1e-3) for _ in range(250)])
    habits = rng.dirichlet(np.full(24, 0.125), 250)
    who = np.tile(np.repeat(np.arange(250), 15), 2)
    second = np.arange(len(who)) >= len(who) // 2
    item = np.array([rng.choice(40, p=taste[i]) for i in who])
    hour = np.array([rng.choice(24, p=habits[i]) for i in who]) + late * second
    when = ((rng.integers(60, size=len(who)) + 100 * second) * 24 + hour) * 3_600
    log = {"who": who, "what": item, "when": when.astype("M8[s]")}
    log = Events(log, user="who", items="what", time="when")
    side = log.time >= 90 * 86_400
    known, asked = (log.take(part).bags() for part in (~side, side))
    found, blind = (
        attacks.ProfileBayes().fit(one).look_around(two)
        for one, two in ((known, asked), (known.with_clock(None), asked.with_clock(None)))
    )
    if late:
        assert right(found, asked) == right(blind, asked)
    else:
        assert right(found, asked) > right(blind, asked) + 0.1


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
    assert all(one._habits.hours is None for one in panel.attacks if isinstance(one, attacks.ProfileBayes))
