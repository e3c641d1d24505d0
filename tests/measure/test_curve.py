"""What is learnt at N epochs comes from those N epochs."""

import numpy as np
import pytest

from reidrisk import Traces, attacks, measure


@pytest.mark.parametrize(
    "attack",
    [
        attacks.WeightedHamming(3, 0.1),
        attacks.WeightedHamming(3, 0.1, per_epoch=True),
        attacks.LooseSets(),
        attacks.StrictSets(),
    ],
    ids=["weighted", "per epoch", "loose", "strict"],
)
def test_later_epochs_change_nothing_at_earlier_ones(attack):
    rng = np.random.default_rng(0)
    one, two = rng.integers(0, 8, (200, 10)), rng.integers(0, 8, (200, 10))
    two[:, :5] = np.where(rng.random((200, 5)) < 0.5, one[:, :5], two[:, :5])
    other = [np.hstack([x[:, :5], np.minimum(x[:, 5:], 1)]) for x in (one, two)]  # other tokens are common later on
    early = measure.curve(attack, Traces(one, 8), Traces(two, 8), (3, 5))
    again = measure.curve(attack, Traces(other[0], 8), Traces(other[1], 8), (3, 5))
    for a, b in zip(early, again, strict=True):
        assert np.array_equal(a.per_user, b.per_user)
        assert a.incorrect == b.incorrect


def test_the_weights_are_those_of_the_epochs_seen():
    rng = np.random.default_rng(1)
    one = rng.integers(0, 8, (200, 10))
    one[:, 5:] //= 4
    attack = attacks.WeightedHamming(3, 0.1)
    measure.curve(attack, Traces(one, 8), Traces(one, 8), (10, 5))
    here = attack.weights_.match
    assert np.array_equal(here, attack.fit(Traces(one[:, :5], 8)).weights_.match)
    assert not np.array_equal(here, attack.fit(Traces(one, 8)).weights_.match)
