"""Without truth: only probabilities that held in a rehearsal are told, with the check beside them."""

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure
from reidrisk.audit import AuditSpec, audit_traces
from reidrisk.audit.probability_check import check_probabilities


def lasting(seed, people=1_000, n_tokens=1_000, epochs=10):
    """Two observers of people who have five interests each."""
    rng = np.random.default_rng(seed)
    interests = np.array([rng.choice(n_tokens, 5, replace=False) for _ in range(people)])
    return [Traces(np.take_along_axis(interests, rng.integers(0, 5, (people, epochs)), 1), n_tokens) for _ in range(2)]


def rarely_the_same(seed, people=1_000, n_tokens=300, epochs=6):
    """Two observers who see the same token in one epoch of eight, where the attack takes every second for granted."""
    rng = np.random.default_rng(seed)
    a, other = (rng.integers(0, n_tokens, (people, epochs)) for _ in range(2))
    b = np.where(rng.random((people, epochs)) < 0.12, a, other)
    return Traces(a, n_tokens), Traces(b, n_tokens)


def test_an_uncalibrated_attack_does_not_speak():
    a, b = rarely_the_same(3)
    attack = attacks.WeightedHamming(2, 0.0).fit(a)
    links = attack.link(b, probability=True)
    sure = links.probability >= 0.9
    assert sure.mean() > 0.1
    assert measure.credits(attack, b, links, np.arange(len(b)))[sure].mean() < 0.7  # it says 90, and is often wrong
    found = audit_traces(a, b.take(np.arange(900)), AuditSpec(seed=1))
    assert (found.choosiness, found.choosy_attack, found.n_choosy) == ((), None, 0)
    assert {rehearsal.attack for rehearsal in found.rehearsals} == {"WeightedHamming", "ProfileBayes", "NaiveBayes"}
    assert not any(rehearsal.passed for rehearsal in found.rehearsals)


def test_nobody_is_told_to_be_found_where_all_are_strangers():
    a, _ = lasting(0, n_tokens=200, epochs=8)
    _, other = lasting(1, n_tokens=200, epochs=8)
    found = audit_traces(a, other.take(np.arange(900)), AuditSpec(seed=1))
    stated = attacks.ProfileBayes(None, 0.0).fit(a).link(other, probability=True).probability
    assert np.mean(stated >= 0.9) > 0.1  # and every one of these links is wrong
    assert found.choosiness == ()


def test_what_held_is_told_with_its_check():
    a, b = lasting(0)
    asked = b.take(np.arange(900))
    found = audit_traces(a, asked, AuditSpec(seed=1, attacks=("weighted-hamming", "profile-bayes")))
    assert found.choosy_attack == "ProfileBayes"
    check = next(rehearsal for rehearsal in found.rehearsals if rehearsal.attack == "ProfileBayes")
    assert {point.threshold for point in found.choosiness} <= set(check.passed)
    attack = attacks.ProfileBayes(None, 0.0, seed=1).fit(a)
    links = attack.link(asked, probability=True)
    credit = measure.credits(attack, asked, links, np.arange(900))
    assert [point.threshold for point in found.choosiness] == [0.99]  # less was not confirmed
    for point in found.choosiness:
        sure = links.probability >= point.threshold
        assert point.answered == pytest.approx(sure.mean())
        assert credit[sure].mean() >= point.threshold  # what was told is true


def test_one_epoch_or_a_few_people_cannot_be_rehearsed():
    a, b = lasting(0)
    few = check_probabilities(attacks.WeightedHamming(2, 0.0), a.take(np.arange(15)), np.ones(15), (0.9,), seed=0)
    assert (few.points, few.passed) == ((), ())
    one = audit_traces(a.epochs(1), b.take(np.arange(900)).epochs(1), AuditSpec(seed=1))
    assert one.choosiness == ()
    assert all(rehearsal.points == () for rehearsal in one.rehearsals)
