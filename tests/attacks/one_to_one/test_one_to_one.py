"""OneToOne: marginals against enumeration; more right links of a survey, strangers and several queries unharmed."""

from itertools import product

import numpy as np
import pytest

from reidrisk import attacks, measure
from reidrisk.attacks.one_to_one.claims import Wishes, settle
from reidrisk.base.errors import OptionError
from reidrisk.records import Attributes, Vectors


def survey(n, seed=0, several=False):
    """Some people's answers from 1 to 5, age and town, at two times; or of half of them at three times, as queries."""
    rng = np.random.default_rng(seed)
    tastes, age, town = rng.normal(size=(n, 10)), rng.integers(18, 90, n), rng.integers(0, 30, n)
    made = []
    for _ in range(3 if several else 2):
        said = np.clip(np.rint(3 + tastes + rng.normal(0, 0.6, (n, 10))), 1, 5).astype(int)
        moved = np.where(rng.random(n) < 0.1, rng.integers(0, 30, n), town)
        made.append({"age": age + rng.integers(0, 2, n), "town": moved.astype(str)})
        made[-1] |= dict(zip("abcdefghij", said.T, strict=True))
    known, asked = made[:2]
    if several:
        asked = {name: np.concatenate([one[name][: n // 2] for one in made[1:]]) for name in known}
    return Attributes.together(Attributes(known), Attributes(asked))


def test_marginals_are_those_of_all_ways_to_give_targets_away():
    rng = np.random.default_rng(1)
    nats = rng.normal(0, 2, (3, 4))
    nats -= nats.max(axis=1, keepdims=True)
    near = np.tile(np.arange(4), (3, 1))
    nobody = np.exp(rng.normal(-1, 1, 3))
    wanted = Wishes(near, nats, np.zeros(3), nobody, 0.7)
    found = settle(wanted, n=4)
    likely = np.column_stack([np.exp(nats), found.odds * nobody])
    exact = np.zeros((3, 5))
    for way in product(range(5), repeat=3):
        given = [target for target in way if target < 4]
        if len(given) == len(set(given)):
            exact[np.arange(3), way] += likely[np.arange(3), way].prod()
    exact /= exact.sum(axis=1, keepdims=True)
    assert found.chances(wanted) == pytest.approx(exact[:, :4], abs=0.06)


def test_more_people_of_a_survey_are_found_and_chances_hold():
    known, asked = survey(250)
    alone, both = (attacks.OneToOne(jointly=way).fit(known).look_around(asked) for way in (False, True))
    credits = []
    for attack in (alone, both):
        links = attack.link(asked, probability=True)
        credits.append(measure.credits(attack, asked, links, np.arange(250)))
    assert measure.calibration(links.probability, credits[1], links.n_ties).excess < 0.03
    assert credits[1].mean() > credits[0].mean() + 0.03
    assert (alone.setting, both.setting, alone.rests_on) == ("random user", "matching", ())
    assert both.rests_on[0].code == "linked-together"
    assert (alone.link(asked).target == attacks.FellegiSunter().fit(known).link(asked).target).all()
    # Which queries are asked at once does not matter, nor their order.
    few = np.array([40, 3, 199])
    assert both.link(asked.take(few)).target.tolist() == both.link(asked).target[few].tolist()
    again = attacks.OneToOne().fit(known).look_around(asked.take(np.arange(250)[::-1]))
    assert (again.link(asked).target == both.link(asked).target).all()
    every = both.near_best(asked.take(few), np.full(3, -1))
    assert every.max(axis=1).tolist() == both.link(asked.take(few)).score.tolist()
    assert both.score(asked.take(few), np.array([7, 3, 0])).tolist() == every[np.arange(3), [7, 3, 0]].tolist()
    assert both.narrowed(np.arange(100)).look_around(asked.take(np.arange(90))).compares_queries


def test_strangers_and_few_queries_do_no_harm():
    for rows in (np.arange(75, 225), np.arange(30)):
        truth = np.where(rows < 150, rows, -1)
        gains = []
        for seed in range(2, 6):
            known, asked = survey(300, seed=seed)
            few, queries = known.take(np.arange(150)), asked.take(rows)
            alone, together = (
                measure.credits(attack, queries, attack.link(queries), truth).mean()
                for jointly in (False, True)
                for attack in [attacks.OneToOne(jointly=jointly).fit(few).look_around(queries)]
            )
            gains.append(together - alone)
        assert np.mean(gains) >= -0.02


def test_people_with_several_queries_are_linked_one_by_one():
    known, queries = survey(300, seed=3, several=True)
    attack = attacks.OneToOne().fit(known).look_around(queries)
    assert (attack.setting, attack.rests_on[0]["why"]) == ("random user", "several")
    more = attacks.OneToOne().fit(known.take(np.arange(100))).look_around(queries)
    assert more.rests_on[0]["why"] == "more-queries"
    assert not attacks.OneToOne.applies(known.take(np.arange(100)), queries)


def test_vectors_are_matched_too_and_an_attack_without_likelihoods_is_refused():
    rng = np.random.default_rng(0)
    people = rng.normal(size=(200, 8))
    known, asked = (Vectors((people + rng.normal(0, 0.35, (200, 8))).astype(np.float32)) for _ in range(2))
    alone, both = (attacks.OneToOne(jointly=way).fit(known).look_around(asked) for way in (False, True))
    rates = [(one.link(asked).target == np.arange(200)).mean() for one in (alone, both)]
    assert rates[1] > rates[0]
    with pytest.raises(OptionError, match="no likelihoods"):
        attacks.OneToOne(attacks.Nearest()).fit(known).look_around(asked)
    with pytest.raises(OptionError, match="no attack for"):
        attacks.OneToOne().fit(survey)
