"""Quantitative information flow as computed by an independent library."""

import numpy as np
import pytest
from scipy import sparse

from reidrisk import bounds

qif = pytest.importorskip("qif", reason="the qif package has no wheel for this platform")


def cases():
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (1, 4), (2, 3), (5, 5), (8, 3), (20, 40)):
        P = rng.dirichlet(np.full(m, 0.4), size=n)
        P[rng.random((n, m)) < 0.3] = 0.0
        P[np.arange(n), rng.integers(m, size=n)] += 0.05
        P /= P.sum(axis=1, keepdims=True)
        yield P, rng.dirichlet(np.ones(n)), rng.random((3, n))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("P", "prior", "gain"), list(cases()))
def test_vulnerabilities_and_leakages(P, prior, gain, form):
    given = form(P)
    uniform = np.full(len(P), 1 / len(P))
    assert bounds.random_user(given) == pytest.approx(qif.measure.bayes_vuln.posterior(uniform, P))
    assert bounds.vulnerability(given, prior=prior) == pytest.approx(qif.measure.bayes_vuln.posterior(prior, P))
    assert bounds.vulnerability(given, gain, prior) == pytest.approx(qif.measure.g_vuln.posterior(gain, prior, P))
    assert bounds.min_entropy_leakage(given, prior) == pytest.approx(
        qif.measure.bayes_vuln.min_entropy_leakage(prior, P), abs=1e-12
    )
    assert bounds.mutual_information(given, prior) == pytest.approx(
        qif.measure.shannon.add_leakage(prior, P), abs=1e-12
    )


@pytest.mark.parametrize(("P", "prior", "gain"), list(cases()))
def test_the_strategy_of_the_best_guesser_is_as_good_as_our_rule(P, prior, gain):
    strategy = np.asarray(qif.measure.bayes_vuln.strategy(np.full(len(P), 1 / len(P)), P)).ravel()
    assert bounds.accuracy(P, strategy.astype(np.int64)) == pytest.approx(bounds.random_user(P))


def test_epsilon_of_positive_channels():
    for n, m in ((2, 2), (4, 3), (7, 7)):
        P = np.random.default_rng(n).dirichlet(np.ones(m), size=n)
        # Metric privacy at distance 1 between any two secrets is local differential privacy.
        apart = qif.metric.discrete(qif.uint)
        assert bounds.ldp_epsilon(P) == pytest.approx(qif.measure.d_privacy.smallest_epsilon(P, apart))
