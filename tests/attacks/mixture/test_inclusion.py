"""Membership of padded sets in closed form is what counting every draw gives."""

from itertools import combinations, product

import numpy as np
import pytest

from reidrisk.attacks.mixture.inclusion import Inclusion, partitions


def by_counting(slots):
    """Go through every draw of the slots and every padding."""
    k, n = slots.shape
    table = np.zeros((n, n))
    for drawn in product(range(n), repeat=k):
        held = set(drawn)
        chance = np.prod([slots[s, o] for s, o in enumerate(drawn)])
        pads = list(combinations([o for o in range(n) if o not in held], k - len(held)))
        for pad in pads:
            full = sorted(held | set(pad))
            table[np.ix_(full, full)] += chance / len(pads)
    return table


@pytest.mark.parametrize(("k", "n"), [(1, 2), (1, 4), (2, 3), (2, 2), (3, 5), (4, 6), (5, 6)])
def test_single_and_pairs_are_those_of_every_draw(k, n):
    rng = np.random.default_rng(k * 10 + n)
    slots = rng.dirichlet(np.full(n, 0.4), size=(2, k))
    slots[0, 0] = np.eye(n)[0]
    found = Inclusion(slots)
    for kind in range(2):
        expected = by_counting(slots[kind])
        np.testing.assert_allclose(found.single[kind], np.diag(expected), atol=1e-13)
        np.testing.assert_allclose(found.pairs(kind), expected, atol=1e-13)


def test_sets_hold_k_tokens():
    rng = np.random.default_rng(0)
    found = Inclusion(rng.dirichlet(np.full(200, 0.05), size=(3, 5)))
    np.testing.assert_allclose(found.single.sum(axis=1), 5.0, atol=1e-10)
    np.testing.assert_allclose(found.pairs(1).sum(axis=1), 5.0 * found.single[1], atol=1e-10)


def test_partitions_are_as_many_as_bell_says():
    assert [len(partitions((1 << k) - 1)) for k in range(6)] == [1, 1, 2, 5, 15, 52]
