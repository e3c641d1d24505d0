"""What somebody tries by hand in three lines must never find more people than the default audit says."""

import numpy as np
import pytest
from scipy import sparse

from reidrisk.audit import AuditSpec, audit_case
from reidrisk.records import Bags, Case, Truth


def loyalty(n, each, n_items, own, seed):
    """A loyalty programme and its partner: what the same customers buy at both, a year long."""
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, n_items + 1) ** 0.8
    popular /= popular.sum()
    tastes = rng.choice(n_items, (n, 10), p=popular)
    tables = []
    for amount in (each, each // 2):
        who = np.repeat(np.arange(n), rng.negative_binomial(2, 2 / (2 + amount), n) + 1)
        favourite = tastes[who, rng.integers(0, 10, len(who))]
        item = np.where(rng.random(len(who)) < own, favourite, rng.choice(n_items, len(who), p=popular))
        tables.append(sparse.coo_array((np.ones(len(who), dtype=int), (who, item)), shape=(n, n_items)).tocsr())
    return tables


@pytest.mark.parametrize(
    ("n", "each", "n_items", "own"),
    [(150, 40, 80, 0.5), (250, 15, 300, 0.3), (150, 120, 25, 0.2), (150, 6, 1_000, 0.6)],
)
def test_the_nearest_histogram_finds_no_more_people_than_the_headline(n, each, n_items, own):
    known, asked = loyalty(n, each, n_items, own, seed=0)
    # Three lines of NumPy.
    a, b = (np.sqrt(side / side.sum(axis=1, keepdims=True)) for side in (known.toarray(), asked.toarray()))
    by_hand = float(np.mean((b @ a.T).argmax(axis=1) == np.arange(n)))
    case = Case(Bags(known), Bags(asked), Truth(np.arange(n), "given"))
    whole = int(asked.sum(axis=1).max())
    found = audit_case(case, AuditSpec(seed=0, epochs=(whole,)))
    assert found.not_run == ()
    assert found.strongest.rate >= by_hand - 1e-9
