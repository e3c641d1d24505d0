"""Victims that are known, by a trace or by their interests."""

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure, topics
from reidrisk.base.errors import DataError, OptionError
from reidrisk_studies.jha import personas


def test_a_known_victim_stands_alone():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 4, (60, 4))
    audience = Traces(tokens, 4)
    other = Traces(np.where(rng.random((60, 4)) < 0.8, tokens, 0), 4)
    for attack in (attacks.StrictSets(2), attacks.LooseSets(2), attacks.Hamming()):
        together = measure.known_victim(attack, audience, other)
        assert together.setting == "known victim"
        for i in range(60):
            link = attack.fit(audience).link(other.take(slice(i, i + 1)))
            alone = measure.credits(attack, other.take(slice(i, i + 1)), link, np.array([i]))
            assert together.per_user[i] == alone[0]
    everybody = measure.random_user(attacks.StrictSets(2), audience, other)
    victim = measure.known_victim(attacks.StrictSets(2), audience, other)
    assert victim.rate >= everybody.rate
    assert (victim.per_user >= everybody.per_user).all()


def test_a_victim_known_by_interests_is_found():
    sets = personas.distinct(200, seed=4).toarray() > 0
    api = topics.TopicsAPI(349)
    audience = api.expose(api.top_sets(personas.distinct(200, seed=4), epochs=40, seed=0), seed=0)
    victims = measure.known_interests([np.flatnonzero(row).tolist() for row in sets], 349)
    risk = measure.known_victim(attacks.LooseSets(3), audience, victims)
    assert risk.rate > 0.9
    assert risk.incorrect < 0.02
    assert risk.setting == "known victim"


def test_what_makes_no_sense_is_one_clear_line():
    a = Traces([[1, 2], [3, 4]], 9)
    for error, message, call in [
        (DataError, "nothing is known of person 1", lambda: measure.known_interests([{1}, set()], 9)),
        (DataError, "person 0 has the token -1", lambda: measure.known_interests([{-1}], 9)),
        (DataError, "person 1 has the token 1.5; tokens are whole", lambda: measure.known_interests([{1}, {1.5}], 9)),
        (DataError, "person 0 has the token 'a'; tokens are whole", lambda: measure.known_interests([{"a"}], 9)),
        (DataError, "what is known of person 0 is 1; give a collection", lambda: measure.known_interests([1, 2], 9)),
        (DataError, "what is known of person 0 is 'news'", lambda: measure.known_interests(["news"], 9)),
        (OptionError, "times must be", lambda: measure.known_interests([{1}], 9, times=0)),
        (
            DataError,
            "audience is only 1 user",
            lambda: measure.known_victim(attacks.Hamming(), a.take(slice(0, 1)), a, [0, 0]),
        ),
    ]:
        with pytest.raises(error, match=message):
            call()
