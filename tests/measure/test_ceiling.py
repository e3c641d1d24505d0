"""How far attacks get of what is possible: shares hold their intervals, and who knows more is refused."""

import numpy as np
import pytest

from reidrisk import attacks, measure, populations, topics
from reidrisk.base.errors import DataError, OptionError
from reidrisk.measure.ceiling import _share_interval
from reidrisk.populations import TypeMixture


def people(n=400, noise=0.05, seed=0):
    model = TypeMixture(np.random.default_rng(0).normal(scale=3.0, size=(20, 5, 2, 30)))
    sets, api = populations.mixture(model, n, seed=seed), topics.TopicsAPI(30, top_k=2, noise=noise)
    return model, sets, *(api.expose(sets, seed=seed, site=site) for site in ("a", "b"))


def test_shares_are_of_the_ceiling_and_their_intervals_hold_them():
    model, _, a, b = people()
    found = measure.ceiling(model, a, b, [attacks.Hamming(), attacks.WeightedHamming(2, 0.05), attacks.Markov()])
    for one in found.others:
        assert one.share == pytest.approx(one.risk.rate / found.best.rate)
        assert one.low <= one.share <= one.high
        assert one.risk.per_user is None
    assert found.others[2].high < 1.0
    assert type(found).from_json(found.to_json()) == found


def test_the_best_itself_has_all_of_it():
    model, _, a, b = people(200)
    (one,) = measure.ceiling(model, a, b, [attacks.MixtureBayes(model)]).others
    assert (one.share, one.low <= 1.0 <= one.high) == (1.0, True)


def test_the_interval_of_a_share_is_wrong_no_more_often_than_it_says():
    _, _, a, b = people(60)
    risk = measure.random_user(attacks.Hamming(), a, b)
    rng, missed = np.random.default_rng(1), 0
    for _ in range(25):
        best = rng.random(250) < 0.5
        other = best & (rng.random(250) < 0.6) | (~best & (rng.random(250) < 0.1))  # rates .35 of .5
        pair = [
            risk.__class__(
                rate=float(hits.mean()),
                low=0.0,
                high=1.0,
                incorrect=1.0 - float(hits.mean()),
                abstained=0.0,
                baseline=0.01,
                n_targets=100,
                n_queries=250,
                attack=name,
                per_user=hits.astype(float),
            )
            for name, hits in (("other", other), ("best", best))
        ]
        low, high = _share_interval(*pair)
        missed += not low <= 0.7 <= high
    assert missed <= 5  # of 1.25 expected at most


def test_who_knows_more_is_refused():
    model, sets, a, b = people(50)
    for attack in (attacks.FullInformation(sets), attacks.LooseSets(require_unique=True)):
        with pytest.raises(OptionError, match="knows more"):
            measure.ceiling(model, a, b, [attack])


def test_nobody_found_is_said():
    model, _, a, b = people(200)
    shown = attacks.MixtureBayes(model).fit(a).link(b)
    wrong = (shown.target + 1) % 200
    with pytest.raises(DataError, match="none of 200"):
        measure.ceiling(model, a, b, [], truth=np.where(shown.n_ties == 1, wrong, -1))
