"""Two tables that differ by more than chance: fewer links are right than a rehearsal of one of them would say."""

import numpy as np
import pytest
from people import drawn, tastes, two_looks

from reidrisk import Bags, attacks, measure
from reidrisk.attacks.rehearsed import rehearsal
from reidrisk.attacks.rehearsed.differing import Shortfall
from reidrisk.attacks.rehearsed.estimate import Estimate


def changed(n, stays, seed):
    """Two tables of people of whose taste a share stays, and the rest is new."""
    shares, new = np.split(tastes(2 * n, 120, seed), 2)
    later = stays * shares + (1.0 - stays) * new
    return drawn(shares, np.full(n, 40), seed + 1), drawn(later, np.full(n, 40), seed + 2)


def test_tastes_that_change_are_not_promised(monkeypatch):
    known, asked = changed(200, 0.3, seed=1)
    attack = attacks.Rehearsed().fit(known).look_around(asked).one_by_one()
    links = attack.link(asked, probability=True)
    right = (links.target == np.arange(200)).astype(float)
    assert attack.practice_.rate > right.mean()  # though rehearsed records are shorter
    assert attack.estimate_.low <= right.mean() <= attack.estimate_.high
    monkeypatch.setattr(rehearsal, "shortfall", lambda *_: None)
    trusting = attacks.Rehearsed().fit(known).look_around(asked).one_by_one()
    promised = trusting.link(asked, probability=True).probability.mean()
    assert right.mean() < links.probability.mean() < promised - 0.1


def said_and_right(known, asked, truth):
    """Return what is said of links one by one, and how many are right; the expectation must hold that."""
    attack = attacks.Rehearsed().fit(known).look_around(asked).one_by_one()
    links = attack.link(asked, probability=True)
    right = (links.target == truth).astype(float)
    assert attack.estimate_.low <= right.mean() <= attack.estimate_.high
    return links.probability.mean(), right.mean(), measure.calibration(links.probability, right, links.n_ties, 0).excess


def test_probabilities_hold_where_tastes_change():
    assert said_and_right(*changed(200, 0.3, seed=1), np.arange(200))[2] < 0.1


@pytest.mark.parametrize("stays", [0.3, 0.5])
def test_what_is_said_falls_with_what_stays(stays):
    found = np.array([said_and_right(*changed(200, stays, seed), np.arange(200)) for seed in range(3)]).mean(axis=0)
    assert abs(found[0] - found[1]) < 0.2  # .70 was said for .36 where how sure links are was asked alone


def test_events_that_come_in_bursts_are_not_promised():
    """A rehearsal tears bursts apart, so that its two parts share most of them: it finds everybody."""
    shares, rng = tastes(300, 150, 0), np.random.default_rng(0)

    def table():
        rows = (np.repeat(rng.choice(150, 8, p=p), rng.integers(3, 9, 8)) for p in shares)
        return Bags(np.array([np.bincount(row, minlength=150) for row in rows]))

    said, right, _ = said_and_right(table(), table(), np.arange(300))
    assert right < 0.6
    assert said < right + 0.2


def half_strangers(seed):
    """Return what is said and right where half of the queries are of people who are not there."""
    known, asked = two_looks(400, 120, 30, seed=seed)
    rows = np.random.default_rng(seed).permutation(400)[:200]
    truth = np.where(rows < 200, rows, -1)
    said, right, _ = said_and_right(known.take(np.arange(200)), asked.take(rows), truth)
    assert right == pytest.approx((truth >= 0).mean(), abs=0.02)
    return said, right


@pytest.mark.parametrize("seed", [0, 1])
def test_people_who_are_not_there_are_allowed_for(seed):
    """Or everybody is there and less like himself: which of the two it is cannot be seen for sure."""
    said, right = half_strangers(seed)
    assert right < said < 0.75  # .89 was said where how sure links are was asked alone


@pytest.mark.xfail(reason="where half of the people are not there, .68 is said for .49 right", strict=True)
def test_people_who_are_not_there_are_counted_out():
    said, right = np.mean([half_strangers(seed) for seed in (0, 1)], axis=0)
    assert said == pytest.approx(right, abs=0.15)


@pytest.mark.parametrize("seed", [0, 1])
def test_people_who_are_there_are_not_counted_out_where_seasons_differ(seed):
    rng = np.random.default_rng(seed)
    taste, common = tastes(300, 120, seed), 10.0 ** rng.uniform(-0.5, 0.5, 120)
    one, two = (taste * common, taste / common)
    known, asked = (Bags(np.stack([rng.multinomial(40, p / p.sum()) for p in shares])) for shares in (one, two))
    _, right, _ = said_and_right(known, asked, np.arange(300))
    assert right > 0.8


def test_little_that_stays_is_not_taken_for_nothing():
    known, asked = changed(300, 0.25, seed=2)
    attack = attacks.Rehearsed(jointly=False)
    rate = measure.random_user(attack, known, asked, np.arange(300)).rate
    assert attack.cutting_.way == "part"
    assert rate > measure.random_user(attacks.NaiveBayes(), known, asked, np.arange(300)).rate - 0.05


def test_tastes_that_stay_are_as_rehearsed(monkeypatch):
    found = []
    whole = rehearsal.shortfall
    monkeypatch.setattr(rehearsal, "shortfall", lambda *given: found.append(whole(*given)))
    known, asked = two_looks()
    attacks.Rehearsed().fit(known).look_around(asked)
    assert found == [None]


def test_an_estimate_falls_by_as_many_logits_and_never_below_nobody():
    before = Estimate(0.5, 0.0, 0.8, rehearsed=0.4, shorter=0.5)
    after = Shortfall(-1.0, -2.0, -0.5, asked=10_000).off(before, 100)
    assert after.rate == pytest.approx(1.0 / (1.0 + np.e), abs=1e-4)
    assert (after.low, after.rehearsed) == (0.0, 0.4)
    assert 0.7 < after.high < 0.75
