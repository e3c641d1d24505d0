"""The seed of an audit reaches what its attacks draw, and the order of the rows reaches nothing."""

import numpy as np

from reidrisk import Traces
from reidrisk.audit import AuditSpec, InMemory, audit_traces

N, TOKENS = 150, 25


def tables():
    """Return two tables of people who draw from a few interests each."""
    rng = np.random.default_rng(11)
    rates = rng.dirichlet(np.full(TOKENS, 0.12), N)
    return [np.stack([rng.choice(TOKENS, 6, p=row) for row in rates]) for _ in range(2)]


def answered(seed, orders=(slice(None), slice(None))):
    """Return how many records the attack answers at each threshold of its probability."""
    names = np.array([f"person {i}" for i in range(N)])
    pair = (Traces(tokens[rows], TOKENS, users=names[rows]) for tokens, rows in zip(tables(), orders, strict=True))
    spec = AuditSpec(inputs=InMemory(), attacks=("profile-bayes",), seed=seed, min_group=1)
    return [(point.threshold, point.answered) for point in audit_traces(*pair, spec).choosiness]


def test_an_audit_hands_its_seed_on_and_does_not_mind_the_order_of_rows():
    first, rng = answered(3), np.random.default_rng(2)
    assert first
    for _ in range(3):
        assert answered(3, (rng.permutation(N), rng.permutation(N))) == first
    assert any(answered(seed) != first for seed in (4, 5, 6, 7, 8))
