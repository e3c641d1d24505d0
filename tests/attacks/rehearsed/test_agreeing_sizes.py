"""Sizes that agree closely count, as sure links show; where records were cut to size, they do not."""

import numpy as np
import pytest
from people import drawn, tastes

from reidrisk import Bags, attacks, measure
from reidrisk.attacks.profile.sized.volume import Volume
from reidrisk.attacks.rehearsed.scorer import WeighedPanel
from reidrisk.records import Case, Truth
from reidrisk.scenarios import Split


def tables(n, spread, seed):
    """Two tables whose sizes differ by a factor of about exp(spread) for the same person, and tenfold among people."""
    rng = np.random.default_rng(seed)
    shares, much = tastes(n, 150, seed), np.exp(rng.normal(3.0, 1.0, n))
    sizes = [np.maximum(much * np.exp(spread * rng.normal(size=n)), 2).astype(int) for _ in range(2)]
    return [drawn(shares, size, seed + i) for i, size in enumerate(sizes, 1)]


def looked(seed):
    known, asked = tables(250, 0.05, seed)
    return known, asked, attacks.Rehearsed().fit(known).look_around(asked)


@pytest.fixture(scope="module")
def close():
    return looked(3)


def test_sizes_that_agree_count_and_are_told(close):
    _, asked, attack = close
    without = attack.given_sizes().look_around(asked)
    notes = {note.code: note for note in attack.rests_on}
    assert notes["sizes-agree"]["correlation"] > 0.8
    assert "sizes-agree" not in {note.code for note in without.rests_on}
    assert attack.estimate_.low <= right(attack, asked) <= attack.estimate_.high


def right(attack, asked):
    return float((attack.link(asked).target == np.arange(len(asked))).mean())


def test_sizes_that_agree_find_more_people(close):
    more = []
    for _, asked, attack in (close, looked(4), looked(5)):
        more.append(right(attack, asked) - right(attack.given_sizes().look_around(asked), asked))
    assert min(more) >= 0.0
    assert np.mean(more) > 0.03


def test_all_pairs_and_single_pairs_agree(close):
    _, asked, attack = close
    posed = attack._posed(asked)
    rows = np.random.default_rng(0).integers(250, size=250)
    whole = posed.scorer.scores(posed.targets, posed.queries)
    assert np.array_equal(whole[np.arange(250), rows], posed.scorer.pairs(posed.targets, posed.queries, rows))


def test_what_sizes_add_is_the_log_bayes_factor():
    rng = np.random.default_rng(0)
    x, y, r = rng.normal(size=6), rng.normal(size=4), 0.9
    added = WeighedPanel((), np.zeros(0), np.zeros(0), agreeing=r)._sized(x[None, :], y[:, None])
    one, two = Volume(r, (), ())._alone(x), r / (1 - r * r) * np.outer(y, x)
    assert np.allclose(added, one + two)


def test_sizes_that_differ_do_not_count():
    known, asked = tables(200, 0.8, seed=5)
    attack = attacks.Rehearsed().fit(known).look_around(asked)
    assert "sizes-agree" not in {note.code for note in attack.rests_on}


def test_parts_that_were_cut_to_size_say_nothing_by_it():
    bags = Bags(np.random.default_rng(0).poisson(2.0, (30, 20)))
    cut = Split(bags, by="random").case()
    assert cut.cut_to_size
    assert not cut.met_by(attacks.Rehearsed()).volume
    assert cut.met_by(attacks.ProfileBayes()).volume is False
    assert cut.met_by(attacks.ProfileBayes(volume=True)).volume
    assert not Split(bags, by="random", independent=True).case().cut_to_size
    given = Case(bags, bags, Truth(np.arange(30), "given"))
    assert given.met_by(attacks.Rehearsed()).volume
    assert measure.random_user(given.met_by(attacks.TfIdf()), *given).rate == 1.0


def test_two_sides_that_make_up_records_of_one_length_are_no_error():
    """Who has more in one table then has less in the other: their sizes are as far from agreeing as can be."""
    rng = np.random.default_rng(0)
    whole = np.stack([rng.multinomial(400, p) for p in rng.dirichlet(np.full(20, 0.5), 60)])
    one = rng.binomial(whole, rng.uniform(0.3, 0.7, (60, 1)))
    known, asked = Bags(one), Bags(whole - one)
    attack = attacks.Rehearsed().fit(known).look_around(asked)
    assert float((attack.link(asked).target == np.arange(60)).mean()) > 0.9
    assert "sizes-agree" not in {note.code for note in attack.rests_on}


def test_that_long_records_find_long_ones_is_no_agreement():
    """On each side half of the records have 200 events and half 3, whoever they are of: only alike ones are linked."""
    rng = np.random.default_rng(3)
    shares = tastes(400, 150, 3)
    sides = [drawn(shares, np.where(rng.random(400) < 0.5, 200, 3), seed) for seed in (1, 2)]
    attack = attacks.Rehearsed().fit(sides[0]).look_around(sides[1])
    assert "sizes-agree" not in {note.code for note in attack.rests_on}
