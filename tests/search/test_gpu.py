"""The torch engines against the twin: on the CPU always, on a GPU where there is one."""

import numpy as np
import pytest
import search_twins
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.search import PairWeights, Weights, gpu

pytest.importorskip("torch", reason="torch is not installed; the GPU engines need it")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not gpu.available(), reason="there is no GPU here"))]


def problem(seed, missing, pairwise=False):
    rng = np.random.default_rng(seed)
    n, q, r, n_tokens = (int(rng.integers(1, top)) for top in (60, 20, 6, 5))
    targets, queries = (rng.integers(0, n_tokens, (m, r)) for m in (n, q))
    if missing:
        targets[rng.random((n, r)) < 0.2] = -1
    queries[rng.random((q, r)) < 0.1] = -1
    rows = r if rng.random() < 0.5 else 1
    if pairwise:
        return targets, queries, PairWeights(rng.integers(-3, 4, (rows, n_tokens, n_tokens))), n_tokens
    mismatch = rng.integers(-3, 3, (rows, n_tokens))
    return targets, queries, Weights(mismatch + rng.integers(0, 4, (rows, n_tokens)), mismatch), n_tokens


def agree(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("device", DEVICES)
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), missing=st.booleans())
def test_the_lattice_agrees(device, seed, missing):
    targets, queries, weights, n_tokens = problem(seed, missing)
    index = gpu.GpuIndex(targets, n_tokens, device)
    agree(gpu.lattice_best(index, queries, weights), search_twins.best(targets, queries, weights))


@pytest.mark.parametrize("device", DEVICES)
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), missing=st.booleans(), pairwise=st.booleans())
def test_the_gather_agrees(device, seed, missing, pairwise):
    targets, queries, weights, n_tokens = problem(seed, missing, pairwise)
    index = gpu.GpuIndex(targets, n_tokens, device)
    agree(gpu.gather_best(index, queries, weights), search_twins.best(targets, queries, weights))
    agree(gpu.best(index, queries, weights), search_twins.best(targets, queries, weights))


@pytest.mark.parametrize("device", DEVICES)
def test_long_keys_and_many_users(device):
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 3, (3_000, 5)) * 30_000
    queries = np.where(rng.random((200, 5)) < 0.4, 0, targets[:200])
    weights = Weights(np.ones((1, 60_001), dtype=np.int64), np.zeros((1, 60_001), dtype=np.int64))
    index = gpu.GpuIndex(targets, 60_001, device)
    agree(gpu.lattice_best(index, queries, weights), search_twins.best(targets, queries, weights))


def test_it_needs_nothing_but_torch_and_numpy():
    import subprocess
    import sys

    code = """
import sys
for name in ("scipy", "numba", "polars", "pyarrow", "pydantic", "typer", "rich"):
    sys.modules[name] = None
import numpy as np
from reidrisk.search.gpu import GpuIndex, best
from reidrisk.search.weights import Weights
w = Weights(np.ones((1, 9), dtype=np.int64), np.zeros((1, 9), dtype=np.int64))
print(best(GpuIndex(np.array([[1, 2], [3, 4]]), 9, "cpu"), np.array([[3, 4]]), w).target)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[1]", done.stderr
