"""The sparse product: against NumPy, in blocks, with a column that all hold, and within 64 bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as scipy_sparse

from reidrisk.base.errors import DataError, OptionError
from reidrisk.search import UNIT, SparseDot, SparseMin, SparseRows, sparse, sparse_kernels


def rows(values):
    return SparseRows(scipy_sparse.csr_array(values))


def random_rows(rng, n, width, signed):
    values = rng.integers(-3 if signed else 0, 4, (n, width)) * (rng.random((n, width)) < rng.choice([0.05, 0.3, 1.0]))
    if rng.random() < 0.5:
        values[:, int(rng.integers(width))] = rng.integers(-5, 6, n)  # a column that most hold
    return values * (1 << 40 if rng.random() < 0.2 else 1)


@settings(deadline=None, max_examples=150)
@given(seed=st.integers(0, 2**30), block=st.sampled_from([1, 3, 8, 64]))
def test_answers_are_those_of_the_dense_product(seed, block):
    rng = np.random.default_rng(seed)
    n, q, width = (int(rng.integers(1, top)) for top in (40, 8, 12))
    a, b = (
        random_rows(rng, n, width, seed % 2),
        rng.integers(-2 * (seed % 2), 4, (q, width)) * rng.integers(0, 2, (q, 1)),
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sparse_kernels, "_BLOCK", block)
        patched.setattr(sparse_kernels, "_POSTINGS", 0)
        targets, queries, scorer = rows(a), rows(b), SparseDot(per_nat=2.0, threads=1)
        assert targets.layout.block == block
    expected = b @ a.T
    assert np.array_equal(scorer.scores(targets, queries), expected)
    best = scorer.best(targets, queries)
    assert np.array_equal(best.score, expected.max(axis=1))
    assert np.array_equal(best.n_ties, (expected == best.score[:, None]).sum(axis=1))
    assert np.array_equal(best.target, expected.argmax(axis=1))
    k = int(rng.integers(1, n + 1))
    found = scorer.candidates(targets, queries, k)
    assert np.array_equal(found.target, np.argsort(-expected, axis=1, kind="stable")[:, :k])
    assert np.array_equal(found.score, np.take_along_axis(expected, found.target, axis=1))
    at = rng.integers(0, n, q)
    assert np.array_equal(scorer.pairs(targets, queries, at), expected[np.arange(q), at])
    shares = np.exp((expected - best.score[:, None]) / 2.0)
    assert np.allclose(scorer.total(targets, queries, best.score) / UNIT, shares.sum(axis=1), rtol=1e-9)
    chosen = rng.integers(0, n, 5)
    assert np.array_equal(scorer.scores(targets.take(chosen), queries), expected[:, chosen])


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**30), block=st.sampled_from([1, 8, 64]))
def test_the_smaller_weights_add_up(seed, block):
    rng = np.random.default_rng(seed)
    n, q, width = (int(rng.integers(1, top)) for top in (40, 8, 12))
    a, b = (rng.poisson(rng.choice([0.1, 1.0]), (k, width)) * rng.choice([1, 10**9]) for k in (n, q))
    a[:, 0] += 1  # a column that all hold
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sparse_kernels, "_BLOCK", block)
        patched.setattr(sparse_kernels, "_POSTINGS", 0)
        targets, queries, scorer = rows(a), rows(b), SparseMin()
        assert targets.plain_layout.block == block
    expected = np.minimum(b[:, None], a[None]).sum(axis=2)
    best, at = scorer.best(targets, queries), rng.integers(0, n, q)
    assert np.array_equal(scorer.scores(targets, queries), expected)
    assert np.array_equal(best.score, expected.max(axis=1))
    assert np.array_equal(best.n_ties, (expected == best.score[:, None]).sum(axis=1))
    assert np.array_equal(best.target, expected.argmax(axis=1))
    assert np.array_equal(scorer.pairs(targets, queries, at), expected[np.arange(q), at])


def test_threads_and_many_blocks_change_nothing():
    rng = np.random.default_rng(1)
    items, chosen = rng.integers(0, 500, (40_000, 4)), rng.integers(0, 40_000, 130)
    weights = rng.integers(1, 9, items.size), items.ravel(), np.arange(0, items.size + 1, 4)
    held = scipy_sparse.csr_array(weights, shape=(40_000, 500))
    targets, queries = SparseRows(held), SparseRows(held[chosen])
    assert len(targets.layout.start) > 1
    expected = (held[chosen] @ held.T).toarray()
    for threads in (1, 3):
        best = SparseDot(threads=threads).best(targets, queries)
        assert np.array_equal(best.score, expected.max(axis=1))
        assert np.array_equal(best.target, expected.argmax(axis=1))
        assert np.array_equal(best.n_ties, (expected == best.score[:, None]).sum(axis=1))


def test_many_candidates_are_sorted_at_once(monkeypatch):
    monkeypatch.setattr(sparse, "_INSERTED", 2)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (20, 4)), rng.integers(0, 3, (5, 4))
    found = SparseDot().candidates(rows(a), rows(b), 7)
    assert np.array_equal(found.target, np.argsort(-(b @ a.T), axis=1, kind="stable")[:, :7])


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match="round them to whole numbers"):
        rows([[0.5]])
    with pytest.raises(DataError, match="targets have 2 columns, queries 1"):
        SparseDot().best(rows([[1, 2]]), rows([[1]]))
    with pytest.raises(DataError, match="too large for exact scores"):
        SparseDot().scores(rows([[1 << 40]]), rows([[1 << 30]]))
    with pytest.raises(OptionError, match="no likelihoods"):
        SparseDot().total(rows([[1]]), rows([[1]]), np.zeros(1, dtype=np.int64))
    with pytest.raises(OptionError, match="cannot give 2 candidates"):
        SparseDot().candidates(rows([[1]]), rows([[1]]), 2)
