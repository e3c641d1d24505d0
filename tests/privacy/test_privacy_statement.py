"""A privacy statement: what (epsilon, delta) promises, and what is believed of a file."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from reidrisk.privacy import PrivacyStatement, gaussian_delta


def test_why_delta_is_no_chance_that_the_factor_fails():
    """Gaussian noise exceeds the factor far more often than in delta of all cases, and yet adds delta at most."""
    epsilon, sigma = 1.0, 1.0
    delta = gaussian_delta(sigma, epsilon)
    beyond = epsilon * sigma**2 + 0.5  # outputs above it are more than e^epsilon times as likely
    exceeds = norm.sf(beyond, loc=1.0, scale=sigma)
    assert exceeds > 2.0 * delta
    events = np.linspace(-6.0, 8.0, 2_001)
    added = norm.sf(events, loc=1.0) - math.exp(epsilon) * norm.sf(events)
    assert added.max() == pytest.approx(delta, rel=1e-4)


def test_a_statement_is_said_by_its_numbers_whatever_sentence_stands_in_the_file():
    written = PrivacyStatement("discrete Gaussian noise", 1.0986, 1e-15)
    forged = written.to_dict() | {"reading": "Nobody can learn anything."}
    assert PrivacyStatement.from_document("statement.json", forged) == written
    for same in (written, PrivacyStatement("", 1.0, 1e-9, simulation=True), PrivacyStatement("", 1.0, 0.0)):
        assert PrivacyStatement.from_document("statement.json", same.to_dict()) == same
        assert same.to_dict()["reading"] == same.reading
