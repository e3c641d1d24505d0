"""Audiences, gaps and drift: exact at the ends, and as stated in between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk import Traces, attacks, measure, populations, topics
from reidrisk.base.errors import DataError, OptionError
from reidrisk.populations.rates import BLOCK
from reidrisk_studies.jha import personas
from reidrisk_studies.jha.audiences import audiences, seen, visits
from reidrisk_studies.jha.drift import drifting


@given(st.integers(10, 400), st.floats(0, 1), st.integers(2, 4), st.integers(0, 99))
@settings(deadline=None)
def test_audiences_cover_everybody_and_share_a_core(n, overlap, sites, seed):
    try:
        found = audiences(n, overlap, seed, sites)
    except OptionError:
        assert n - n * overlap / (sites - (sites - 1) * overlap) < sites + 1
        return
    times = np.bincount(np.concatenate(found), minlength=n)
    assert set(times.tolist()) <= {1, sites}
    for rows in found:
        assert np.array_equal(rows, np.unique(rows))
        core = int((times == sites).sum())
        assert core == pytest.approx(overlap * len(rows), abs=1 + overlap)
    sizes = [len(rows) for rows in found]
    assert max(sizes) - min(sizes) <= 1
    again = audiences(n, overlap, seed, sites)
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))


def test_a_stranger_can_only_be_linked_wrongly():
    tokens = np.arange(300)[:, None]
    whole = Traces(tokens, 300)
    at_a, at_b = audiences(300, overlap=0.5, seed=1)
    risk = measure.random_user(attacks.Hamming(), seen(whole, at_a), seen(whole, at_b))
    assert (risk.n_targets, risk.n_queries) == (200, 200)
    strangers = ~np.isin(at_b, at_a)
    assert np.array_equal(risk.per_user, (~strangers).astype(float))
    assert risk.baseline == pytest.approx(0.5 / 200)
    same = audiences(300, overlap=1.0, seed=1)
    assert all(np.array_equal(rows, np.arange(300)) for rows in same)
    assert not np.intersect1d(*audiences(300, overlap=0.0, seed=1)).size


def test_visits_have_the_stated_mean_and_streams_of_their_own():
    a, b = (visits(4000, 25, every=4.0, seed=0, site=site) for site in "ab")
    sigma = np.sqrt(0.25 * 0.75 / a.size)
    assert abs(a.mean() - 0.25) < 4 * sigma
    assert abs((a & b).mean() - 0.0625) < 4 * sigma, "sites are independent"
    assert np.array_equal(visits(100, 10, every=4.0, seed=0, site="a"), a[:100, :10])
    each = visits(3000, 20, every=np.repeat([1.0, 2.0, 10.0], 1000), seed=0)
    assert [round(part.mean(), 1) for part in np.split(each, 3)] == [1.0, 0.5, 0.1]


def test_gaps_cost_the_attacker():
    api = topics.TopicsAPI(349)
    sets = api.top_sets(personas.distinct(300, seed=1), epochs=20, seed=0)
    a, b = (api.expose(sets, seed=0, site=site) for site in "ab")
    for attack in (attacks.WeightedHamming(5, 0.05), attacks.LooseSets()):
        rates = []
        for every in (1.0, 2.0, 6.0):
            came = (visits(300, 20, every, seed=0, site=site) for site in "ab")
            one, two = (seen(t, came=c) for t, c in zip((a, b), came, strict=True))
            rates.append(measure.random_user(attack, one, two).rate)
        assert rates[0] > rates[1] > rates[2]
        assert rates[0] == measure.random_user(attack, a, b).rate


def test_no_drift_is_the_constant_population_bit_for_bit():
    api = topics.TopicsAPI(40, top_k=3)
    rates = personas.distinct(BLOCK + 50, n_topics=40, top_k=3, seed=2)
    still = drifting(rates, share=0.0, seed=5)
    assert np.array_equal(api.top_sets(rates, 4, seed=1).tokens, api.top_sets(still, 4, seed=1).tokens)
    moving = api.top_sets(drifting(rates, share=0.2, seed=5), 4, seed=1).tokens
    assert np.array_equal(moving[:, 0], api.top_sets(rates, 1, seed=1).tokens[:, 0]), "the first epoch is the start"
    assert not np.array_equal(moving[:, 3], api.top_sets(rates, 4, seed=1).tokens[:, 3])


def test_drift_keeps_the_margins_and_loses_persistence_at_the_stated_rate():
    rng = np.random.default_rng(0)
    matrix = rng.gamma(0.3, 2.0, (3000, 12))  # no two rates are equal: a replacement shows
    parts = [part.toarray() for _, _, part in drifting(populations.real(matrix), 0.15, seed=3).stretches(0, 6)]
    assert len(parts) == 6
    for h, now in enumerate(parts):
        kept = 0.85**h
        assert (now == matrix).mean() == pytest.approx(kept, abs=4 * np.sqrt(kept * (1 - kept) / matrix.size) + 1e-12)
        assert now.mean(axis=0) == pytest.approx(matrix.mean(axis=0), rel=0.15)
    assert all(np.isin(parts[-1][:, t], matrix[:, t]).all() for t in range(12))
    everything = [p.toarray() for _, _, p in drifting(populations.real(matrix), 1.0, seed=3).stretches(0, 2)]
    donors = [np.flatnonzero((matrix == row).all(axis=1)).tolist() for row in everything[1][:50]]
    assert all(len(d) == 1 and d[0] != i for i, d in enumerate(donors)), "with share 1, a whole other user"


def test_drift_of_more_users_and_epochs_starts_the_same_on_any_threads():
    api = topics.TopicsAPI(30, top_k=3)
    matrix = np.random.default_rng(1).gamma(0.3, 2.0, (50, 30))
    few = drifting(personas.crossover(matrix, 500, seed=1), 0.1, seed=2)
    many = drifting(personas.crossover(matrix, BLOCK + 20, seed=1), 0.1, seed=2)
    small, large = api.top_sets(few, 4, seed=3, threads=1), api.top_sets(many, 6, seed=3, threads=2)
    assert np.array_equal(small.tokens, large.tokens[:500, :4])


def test_drift_costs_an_attacker_who_pools_weeks():
    api = topics.TopicsAPI(349)
    rates = personas.distinct(300, seed=1)
    measured = []
    for share in (0.0, 0.3):
        sets = api.top_sets(drifting(rates, share, seed=0), epochs=20, seed=0)
        a, b = (api.expose(sets, seed=0, site=site) for site in "ab")
        measured.append(measure.random_user(attacks.LooseSets(), a, b))
    assert measure.difference(measured[0], measured[1]).low > 0.2


def test_bad_input_is_one_clear_line():
    rates, whole = personas.identical(5), Traces([[1, 2], [3, 4]], 9)
    for error, message, call in [
        (OptionError, "overlap is a share", lambda: audiences(10, 1.5, seed=0)),
        (OptionError, "sites must be a whole number of at least 2", lambda: audiences(10, 0.5, 0, sites=1)),
        (OptionError, "2 users are too few for 3 sites", lambda: audiences(2, 0.0, 0, sites=3)),
        (
            OptionError,
            "every is a mean number of epochs of at least 1, not 0.5",
            lambda: visits(5, 2, 0.5, 0),
        ),
        (OptionError, "one for each of the 5 users", lambda: visits(5, 2, [2.0, 3.0], 0)),
        (OptionError, "every is a mean .* not nan", lambda: visits(5, 2, np.nan, 0)),
        (OptionError, "share is a probability", lambda: drifting(rates, -0.1, seed=0)),
        (OptionError, "share is a probability .* not '0.1'", lambda: drifting(rates, "0.1", seed=0)),
        (OptionError, "overlap is a share .* not 'half'", lambda: audiences(10, "half", seed=0)),
        (OptionError, "every must be one number .* not 'x'", lambda: visits(5, 2, "x", seed=0)),
        (OptionError, "only 1; give at least 2", lambda: drifting(personas.identical(1), 0.1, seed=0)),
        (OptionError, "needs Rates, not list", lambda: drifting([[1.0]], 0.1, seed=0)),
        (OptionError, "drift already", lambda: drifting(drifting(rates, 0.1, 0), 0.1, 0)),
        (DataError, r"give one bool per user and epoch, \(2, 2\)", lambda: seen(whole, came=[[True]])),
        (DataError, r"rows lie in \[0, 2\)", lambda: seen(whole, [0, 2])),
        (DataError, "name a user twice", lambda: seen(whole, [1, 1])),
        (DataError, "rows must be whole numbers", lambda: seen(whole, [0.5])),
    ]:
        with pytest.raises(error, match=message):
            call()
