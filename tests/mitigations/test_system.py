"""The system's own mechanism is changed: for both observers, and an attacker is told of it."""

import numpy as np
import pytest

from reidrisk import attacks, mitigations, populations, topics
from reidrisk.base.errors import DataError, OptionError
from reidrisk.mechanisms import TopKNoise
from reidrisk.mitigations import System, Trial, named, tried
from reidrisk.mitigations.scoring import attackers
from reidrisk.mitigations.system import of_system
from reidrisk.records import Case, Truth

N = 400


@pytest.fixture(scope="module")
def sets():
    return populations.published(N, 4, seed=1)


@pytest.fixture(scope="module")
def case(sets):
    api = topics.TopicsAPI(n_topics=sets.n_tokens)
    one, two = (api.expose(sets, seed=1, site=site) for site in "ab")
    return Case(one, two, Truth(np.arange(N), "simulated"))


@pytest.fixture(scope="module")
def trial(sets):
    return Trial(mechanism=TopKNoise(5, 0.05, sets.n_tokens), top_sets=sets)


def agreement(case):
    return float((case.targets.tokens == case.queries.tokens).mean())


def test_more_noise_leaves_as_many_tokens_as_the_new_noise_says(case, trial):
    changed = System(noise=0.4).within(trial, case).apply(case)
    for name in ("targets", "queries"):
        same = (getattr(changed, name).tokens == getattr(case, name).tokens).mean()
        assert same == pytest.approx(0.6 / 0.95, abs=0.04)
    assert agreement(changed) == pytest.approx(agreement(case) * (0.6 / 0.95) ** 2, abs=0.02)


def test_fewer_tokens_make_two_observers_agree_more_often(case, trial, sets):
    changed = System(top_k=1).within(trial, case).apply(case)
    assert agreement(changed) == pytest.approx(0.95**2, abs=0.03)  # one token, unless either answer is random
    held = (changed.queries.tokens[:, :, None] == sets.tokens).any(axis=2).mean()
    assert held == pytest.approx(0.95, abs=0.03)
    two = System(top_k=2, noise=0.3).within(trial, case).apply(case)
    assert agreement(two) == pytest.approx(0.7**2 / 2, abs=0.04)


def test_the_attacker_is_told_of_the_system_as_it_is_now(case, trial):
    change = System(noise=0.3, top_k=3).within(trial, case)
    known = change.known_to_attacker(case)
    assert (known.mechanism.noise, known.mechanism.top_k) == (0.3, 3)
    entry = next(one for one in attacks.registry() if one.attack is attacks.WeightedHamming)
    told = attackers(known, [entry], trial, knows=True)[0]
    assert (told.noise, told.top_k) == (pytest.approx(0.3), 3)
    unaware = attackers(change.released(case), [entry], trial, knows=False)[0]
    assert (unaware.noise, unaware.top_k) == (pytest.approx(0.05), 5)
    both = named("system:0.2 + draw:0.5").within(trial, case).known_to_attacker(case)
    assert both.mechanism.noise == 0.2


def test_more_noise_is_tried_by_default_where_a_system_is_declared(case, trial):
    usual = [one.text for one in mitigations.usual_changes(case, trial)]
    assert {"system:0.1", "system:0.2", "system:0.4"} <= set(usual)
    assert not any(text.startswith("system") for text in (one.text for one in mitigations.usual_changes(case)))
    found = tried(case, [System(noise=0.6), System(top_k=1)], [attacks.Hamming()], trial)
    less, more = found.tried
    assert less.risk.rate < found.before.rate < more.risk.rate
    assert of_system(Trial(mechanism=TopKNoise(2, 0.0, 9, "nothing"))) == ()


def test_what_the_system_does_not_allow_is_refused_in_one_line(case, trial):
    bare = Trial(mechanism=trial.mechanism)
    for change, how, said in (
        (System(noise=0.2), Trial(), "none is declared"),
        (System(noise=0.01), trial, "with probability 0.05 already"),
        (System(top_k=2), bare, "needs the sets that the system held"),
        (System(top_k=6), trial, "holds 5 tokens of a person"),
    ):
        with pytest.raises(DataError) as error:
            change.within(how, case).apply(case)
        assert said in str(error.value)
        assert "\n" not in str(error.value)
    for text in ("system", "system:1.5", "system:top_k=0"):
        with pytest.raises(OptionError):
            named(text)
    assert named("system:0.2,top_k=3") == System(noise=0.2, top_k=3)
