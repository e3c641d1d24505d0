"""How far priors of a kind of users are drawn together: what the targets say decides."""

import numpy as np
import pytest

from reidrisk.attacks.profile.prior import AllUsers, general_grid, log_alone, log_likelihood

EPOCHS, TOKENS = 20, 30
GRID = general_grid(TOKENS, EPOCHS)
LIKELIHOOD = np.ascontiguousarray(np.exp(log_alone(GRID, np.arange(EPOCHS + 1), np.asarray(float(EPOCHS)))).T)


def everyone(rng):
    """Return priors of all users: each token is held by some, at rates of its own, and hardly by the others."""
    weight = np.full((TOKENS, len(GRID.rate)), 1e-3)
    weight[:, 2] += rng.uniform(0.4, 0.9, TOKENS)
    weight[np.arange(TOKENS), rng.integers(16, 28, TOKENS)] += 0.4
    return AllUsers(weight / weight.sum(axis=1, keepdims=True), LIKELIHOOD, np.ones(TOKENS))


def histograms(weight, users, rng):
    """Return how often the tokens are held in two halves of a kind that has these priors: (1, tokens, counts) each."""
    weight = weight / weight.sum(axis=1, keepdims=True)
    rates = np.stack([rng.choice(GRID.rate, 2 * users, p=row) for row in weight])
    counts = rng.binomial(EPOCHS, rates).reshape(TOKENS, 2, users)
    each = [np.stack([np.bincount(row, minlength=EPOCHS + 1) for row in counts[:, side]]) for side in (0, 1)]
    return [half[None].astype(np.float64) for half in each]


@pytest.mark.parametrize("seed", range(3))
def test_a_change_common_to_all_tokens_draws_priors_together(seed):
    rng = np.random.default_rng(seed)
    people = everyone(rng)
    common = people.weight * np.exp(0.1 * np.arange(len(GRID.rate)))
    own = people.weight * np.exp(rng.choice([-0.3, 0.3], (TOKENS, 1)) * np.arange(len(GRID.rate)))
    assert people.drawn_best(*histograms(common, 60, rng)) == 40.0
    assert people.drawn_best(*histograms(own, 60, rng)) <= 10.0


def test_a_kind_of_nobody_is_as_everybody():
    people = everyone(np.random.default_rng(0))
    found = people.changed(people.weight, np.zeros((TOKENS, EPOCHS + 1)), 10.0, 3)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_the_change_of_shape_is_found_in_tokens_that_say_little():
    """One token has no users of its own in the kind; what all others show moves it too."""
    rng = np.random.default_rng(1)
    people = everyone(rng)
    counted = histograms(people.weight * np.exp(0.15 * np.arange(len(GRID.rate))), 500, rng)[0][0]
    counted[0] = 0.0
    mean = people.changed(people.weight, counted, 10.0, 30)[0] @ GRID.rate
    assert mean > 1.2 * (people.weight[0] @ GRID.rate)


def test_the_log_likelihood_is_that_of_its_numpy_twin():
    rng = np.random.default_rng(2)
    people = everyone(rng)
    counted = rng.poisson(1.0, (TOKENS, EPOCHS + 1)).astype(np.float64)
    twin = float((counted * np.log(people.weight @ LIKELIHOOD.T)).sum())
    assert log_likelihood(people.weight, counted, LIKELIHOOD) == pytest.approx(twin, rel=1e-12)
