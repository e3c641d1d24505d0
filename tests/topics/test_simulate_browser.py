"""The fast simulation and a browser by the specification agree in distribution where their models coincide."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from reidrisk import populations
from reidrisk.topics import Browser, Taxonomy, TopicsAPI

WEEK = 7 * 86_400
RATES = np.array([6.0, 3.0, 2.0, 1.5, 0.7, 0.3, *[0.0] * 10])  # many topics nobody visits: noise shows there
TAXONOMY = Taxonomy({3 * i + 1: f"/T{i}" for i in range(len(RATES))})
N, LEAST = 6000, 1e-3
"""Users, and the p-value below which two samples are held to differ: one false alarm in a thousand seeds."""
CALLER, SITES = "everywhere.example", ("a.example", "b.example")


def by_specification(top_k: int, noise: float) -> np.ndarray:
    """What two sites learn of the same epoch, (users, 2), from Poisson visits of every user.

    In the week before, the caller meets the user on a page about each topic: so it has observed whatever the set holds,
    padding too, as the model of the papers assumes.
    """
    rng = np.random.default_rng(5)
    told = np.empty((N, 2), dtype=np.int64)
    for user in range(N):
        browser = Browser(TAXONOMY, seed=user, top_k=top_k, noise=noise, noise_rule="original")
        browser.visit(1, TAXONOMY.ids.tolist(), [CALLER])
        moments = sorted((time, t) for t, k in enumerate(rng.poisson(RATES)) for time in rng.integers(1, WEEK, size=k))
        for time, token in moments:
            browser.visit(WEEK + int(time), [TAXONOMY.ids[token]], [CALLER])
        answers = [browser.answers(3 * WEEK - 1, site, CALLER)[-1] for site in SITES]
        assert all(epoch == 2 * WEEK for epoch, _ in answers)
        told[user] = [topic for _, topic in answers]
    return TAXONOMY.to_tokens(told)


def by_simulation(top_k: int, noise: float, rates: np.ndarray = RATES) -> np.ndarray:
    api = TopicsAPI(len(TAXONOMY), top_k=top_k, noise=noise)
    sets = api.top_sets(populations.real(np.tile(rates, (4 * N, 1))), epochs=1, seed=2)
    return np.column_stack([api.expose(sets, seed=3, site=site).tokens[:, 0].astype(np.int64) for site in SITES])


def p_value(one: np.ndarray, two: np.ndarray) -> float:
    """Chi-square of the pairs (token at one site, token at the other): it sees the set they share, not only a token."""
    n = len(TAXONOMY)
    both = np.stack([np.bincount(x[:, 0] * n + x[:, 1], minlength=n * n) for x in (one, two)])
    rare = both.sum(axis=0) < 25
    both = np.column_stack([both[:, ~rare], both[:, rare].sum(axis=1)])
    return float(chi2_contingency(both[:, both.sum(axis=0) > 0]).pvalue)


@pytest.fixture(scope="module")
def browsers() -> np.ndarray:
    return by_specification(top_k=3, noise=0.1)


def test_the_two_agree(browsers):
    assert p_value(browsers, by_simulation(top_k=3, noise=0.1)) > LEAST


@pytest.mark.parametrize(
    "other",
    [{"top_k": 3, "noise": 0.15}, {"top_k": 3, "noise": 0.05}, {"top_k": 2, "noise": 0.1}, {"top_k": 4, "noise": 0.1},
     {"top_k": 3, "noise": 0.1, "rates": RATES * [1, 0.5, *[1] * 14]}],
)  # fmt: skip
def test_the_comparison_notices_another_noise_another_k_and_other_rates(browsers, other):
    """It is weaker on what hardly changes the sets: all rates times 1.3 gives a p-value of 3e-4, no more."""
    assert p_value(browsers, by_simulation(**other)) < LEAST / 100
