"""The embedded population follows from the printed figures, by sums that are right."""

import numpy as np
import pytest

from reidrisk.populations.published import embedded
from reidrisk_studies import calibrate_published


def test_information_agrees_with_counting_what_two_observers_see():
    # Three equally likely sets of two out of four topics; the joint distribution written out by hand.
    sets, noise = np.array([[0, 1], [0, 2], [1, 3]], dtype=np.int16), 0.2
    seen = np.zeros((3, 4))
    for row, members in enumerate(sets):
        seen[row] = noise / 4
        seen[row, members] += (1 - noise) / 2
    joint = np.einsum("ua,ub->ab", seen, seen) / 3
    alone = joint.sum(axis=1)
    expected = np.sum(joint * np.log2(joint / np.outer(alone, alone)))
    entropy, shared = calibrate_published.information(*calibrate_published.rates(sets, 4), noise=noise, k=2)
    assert shared == pytest.approx(expected)
    assert entropy == pytest.approx(-np.sum(alone * np.log2(alone)))


def test_both_exceed_agrees_with_scipy():
    from scipy.stats import multivariate_normal

    for a, b, r in ((0.4, 0.7, 0.65), (1.4, -0.2, -0.8), (1.5, 1.6, 0.95)):
        exact = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([-a, -b])
        assert calibrate_published._both_exceed(a, b, r) == pytest.approx(exact, abs=1e-6)


@pytest.mark.slow
def test_the_parameter_file_follows_from_the_printed_figures():
    derived, shipped = calibrate_published.derive(), embedded()
    assert derived.threshold == pytest.approx(shipped.threshold, abs=1e-4)
    assert derived.lasting == pytest.approx(shipped.lasting, abs=1e-4)
    assert derived.weekly == pytest.approx(shipped.weekly, abs=1e-4)
    assert derived.exponent == pytest.approx(shipped.exponent, abs=1e-3)
    assert derived.theme_share == pytest.approx(shipped.theme_share, abs=1e-3)
