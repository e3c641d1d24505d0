"""Numbers and tables of cohorts that cannot be: refused in one line, or counted exactly."""

import numpy as np
import pytest

from reidrisk import cohorts
from reidrisk.base.errors import ReidRiskError
from reidrisk.cohorts.sensitivity.counts import as_assignment, count_visits
from reidrisk.cohorts.sensitivity.significance import wilson_ends

COUNTS = count_visits([0, 0, 1, 1], [[1], [1], [0], [0]])


def private(**change):
    noise = cohorts.Noise(**({"epsilon": 1.0, "delta": 1e-6, "simulation": True} | change))
    return cohorts.sensitivity([0, 0, 1, 1], [[1], [1], [0], [0]], n_cohorts=2, noise=noise)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: as_assignment(np.array([0, 2**64 - 1], dtype=np.uint64)), "18446744073709551615 of user 1"),
        (lambda: as_assignment(np.array([0, 2**64], dtype=object)), "18446744073709551616 of user 1"),
        (lambda: as_assignment([0, 1], n_cohorts=2.5), "n_cohorts must be"),
        (lambda: private(model="local", delta=None, epsilon=1e-17), "coin toss"),
        (lambda: private(epsilon=2e-9, delta=1e-15), "give a larger one"),
        (lambda: private(epsilon=1e-12), "not 1e-12"),
        (lambda: private(epsilon=1e-300), "not 1e-300"),
        (lambda: cohorts.sensitivity([0, 1], [1, 0], n_cohorts=2, noise={"epsilon": 1.0, "delta": 1e-6}), "the shape"),
        (lambda: cohorts.registrable(5), "give a list of hosts"),
        (lambda: cohorts.sensitivity([0, 1], [[1], [0]], cohorts.CohortSpec(), t=0.1), "a spec or t, not both"),
        (lambda: cohorts.sensitivity([0, 1], [[1], [0]], threshold=0.1), "threshold is no option"),
        (lambda: cohorts.audit_tables(cohorts.CohortSpec()), "the spec names no tables"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, message):
    with pytest.raises(ReidRiskError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_cohorts_above_the_reach_of_floats_are_kept_apart():
    near = [2**53, 2**53 + 1]
    for given in (np.array(near, dtype=object), np.array(near, dtype=np.uint64), near):
        assert as_assignment(given).tolist() == near


def test_ends_of_a_huge_population_are_numbers():
    low, high = wilson_ends(np.array([0.5]), np.array([2**40]), 0.025)
    assert 0.49 < low[0] < 0.5 < high[0] < 0.51
