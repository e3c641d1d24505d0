"""Two tables that differ by more than chance: fewer links are right than a rehearsal of one of them would say."""

import numpy as np
import pytest
from people import drawn, tastes, two_looks

from reidrisk import attacks, measure
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


@pytest.mark.xfail(reason="tastes that change are said too surely: .56 for .36, off by .13 beyond chance", strict=True)
def test_probabilities_hold_where_tastes_change():
    known, asked = changed(200, 0.3, seed=1)
    links = attacks.Rehearsed().fit(known).look_around(asked).one_by_one().link(asked, probability=True)
    right = (links.target == np.arange(200)).astype(float)
    assert measure.calibration(links.probability, right, links.n_ties, 0).excess < 0.1


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
    after = Shortfall(-1.0, -2.0, -0.5).off(before, 100)
    assert after.rate == pytest.approx(1.0 / (1.0 + np.e))
    assert (after.low, after.rehearsed) == (0.0, 0.4)
    assert 0.7 < after.high < 0.75
