"""What hours of the day add: the formula, what teaches it, and what ProfileBayes makes of it."""

import numpy as np
import pytest
from people import torn_tables
from scipy import sparse

from reidrisk import attacks
from reidrisk.attacks.profile.sized.hours import HourTerms, hours_of_queries, learnt_hours


def hours_of(people, seed, visits=4):
    """Days of each person by hour of the day: each has a few usual hours."""
    rng = np.random.default_rng(seed)
    habits = np.random.default_rng(0).dirichlet(np.full(24, 0.3), people)
    return sparse.csr_array(np.array([rng.multinomial(visits, p) for p in habits]).astype(float))


def test_rows_give_the_formula():
    rng = np.random.default_rng(1)
    there, asked = rng.poisson(0.3, (40, 24)) * 1.0, rng.poisson(0.2, (30, 24)) * 1.0
    there[3], asked[5] = 0.0, 0.0
    popular = rng.dirichlet(np.full(24, 2.0))
    found = HourTerms(0.4, 0.7, tuple(popular)).of_targets(sparse.csr_array(there)) @ (
        hours_of_queries(sparse.csr_array(asked)).T
    )
    with np.errstate(invalid="ignore"):
        logs = 0.7 * np.log(0.4 * there / there.sum(axis=1, keepdims=True) / popular + 0.6)
    logs[3] = 0.0  # it is not known when
    np.testing.assert_allclose(found.toarray(), logs @ asked.T, atol=1e-12)


def test_hours_add_to_the_own_target_if_links_share_them():
    known, asked, own = hours_of(300, 1), hours_of(300, 2), np.arange(300)
    found = learnt_hours(known, asked[:100], own[:100], np.full(100, 0.9))
    assert found is not None
    scores = (hours_of_queries(asked[100:]) @ found.of_targets(known).T).toarray()
    rank = (scores >= scores[np.arange(200), own[100:]][:, None]).sum(axis=1)
    assert np.median(rank) < 50  # of 300; learnt from others


@pytest.mark.parametrize("late", [0, 9], ids=["other people", "another time zone"])
def test_hours_that_links_do_not_share_add_nothing(late):
    known, asked, own = hours_of(300, 1), hours_of(300, 2), np.arange(100)
    other = asked[own if late else own + 150].toarray()
    assert learnt_hours(known, sparse.csr_array(np.roll(other, late, axis=1)), own, np.full(100, 0.9)) is None


def test_that_sure_links_are_of_long_records_is_no_evidence_of_hours():
    rng = np.random.default_rng(3)
    long = np.arange(400) < 100
    known, asked = (rng.multinomial(1, np.full(24, 1 / 24), 400) * 1.0 for _ in range(2))
    known[long], asked[long] = (rng.multinomial(40, np.full(24, 1 / 24), 100) for _ in range(2))
    known, asked = sparse.csr_array(known), sparse.csr_array(asked[:100])
    assert learnt_hours(known, asked, np.arange(100), np.full(100, 0.9)) is None


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
