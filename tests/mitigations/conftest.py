"""Small cases whose answers are known by hand."""

import numpy as np
import pytest

from reidrisk import Bags, Traces, Vocabulary
from reidrisk.records import Case, Truth


@pytest.fixture
def bags_case():
    rng = np.random.default_rng(3)
    rates = rng.gamma(0.3, 3.0, (120, 25))
    labels = Vocabulary([f"item {i}" for i in range(25)])
    sides = [Bags(rng.poisson(rates) + np.eye(120, 25, dtype=int), vocabulary=labels) for _ in range(2)]
    return Case(*sides, Truth(np.arange(120), "rows"))


@pytest.fixture
def traces_case():
    rng = np.random.default_rng(4)
    habits = rng.integers(30, size=(150, 3))
    sides = [Traces(np.take_along_axis(habits, rng.integers(3, size=(150, 6)), axis=1), n_tokens=30) for _ in range(2)]
    return Case(*sides, Truth(np.arange(150), "rows"))
