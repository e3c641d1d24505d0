import numpy as np
import pytest

from reidrisk import ReidRiskError, TopSets, populations
from reidrisk.release import TypeMixture

MODEL = TypeMixture(np.random.default_rng(0).normal(scale=2.0, size=(5, 3, 3, 7)))


def test_a_model_is_a_population_with_full_sets():
    sets = populations.mixture(MODEL, 3_000, seed=4)
    assert sets.is_padded
    assert sets.tokens.shape == (3_000, 3, 3)
    raw = MODEL.sample(3_000, seed=4)
    assert not raw.is_padded
    kept = raw.tokens >= 0
    assert np.array_equal(sets.tokens[kept], raw.tokens[kept])


def test_the_same_seed_gives_the_same_people():
    one, two, other = (populations.mixture(MODEL, 500, seed=seed).tokens for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_anything_that_samples_will_do_and_nothing_else():
    class Coin:
        def sample(self, n, seed):
            return TopSets(np.zeros((n, 1, 1), dtype=int), n_tokens=2)

    assert len(populations.mixture(Coin(), 9)) == 9
    with pytest.raises(ReidRiskError, match="fitted model"):
        populations.mixture("model.safetensors", 9)
    with pytest.raises(ReidRiskError, match="seed"):
        populations.mixture(MODEL, 9, seed=-1)
    with pytest.raises(ReidRiskError, match="at least 1"):
        populations.mixture(MODEL, 0)
