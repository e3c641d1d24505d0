"""The sentence of a privacy statement: what (epsilon, delta) promises, and nothing more."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from reidrisk.privacy import PrivacyStatement, gaussian_delta


def test_the_sentence_adds_delta_and_does_not_call_it_a_chance():
    reading = PrivacyStatement("discrete Gaussian noise", 1.0986, 1e-15).reading
    assert reading.endswith("by a factor of at most e^1.1, plus at most 1e-15.")
    assert "chance" not in reading


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


def test_a_file_with_the_former_sentence_is_said_to_be_wrong():
    written = PrivacyStatement("discrete Gaussian noise", 1.0986, 1e-15)
    former = written.reading.replace("plus at most", "but for a chance of")
    found = PrivacyStatement.from_document("statement.json", written.to_dict() | {"reading": former})
    assert found.reading == f"{written.reading} (The file says 'but for a chance of 1e-15': that was wrong.)"
    for same in (
        written,
        PrivacyStatement("", 1.0, 1e-9, simulation=True),
        PrivacyStatement("", 1.0, 0.0, reading="x"),
    ):
        assert PrivacyStatement.from_document("statement.json", same.to_dict()) == same
