import subprocess
import sys

import numpy as np
import pytest
import search_twins
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.base.errors import DataError, OptionError
from reidrisk.search import Index, Weights, best, choose, gpu, lattice, scan


@st.composite
def problems(draw, negative=False):
    """Small vocabularies and small whole gains: duplicates, ties and zero gains are common."""
    n, q, r, n_tokens = (draw(st.integers(1, top)) for top in (60, 20, 5, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.0, 0.15]))
    tables = [np.where(rng.random((m, r)) < missing, -1, rng.integers(0, n_tokens, (m, r))) for m in (n, q)]
    rows = r if draw(st.booleans()) else 1
    mismatch = rng.integers(-3, 3, (rows, n_tokens))
    gain = rng.integers(-2 if negative else 0, 4, (rows, n_tokens))
    return tables[0], tables[1], Weights(mismatch + gain, mismatch), n_tokens


def agree(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)


@settings(deadline=None, max_examples=200)
@given(problems(), st.sampled_from([1, 2, 3]))
def test_the_lattice_agrees_with_the_twin(problem, threads):
    targets, queries, weights, n_tokens = problem
    found = lattice.best(Index(targets, n_tokens), queries, weights, threads=threads)
    agree(found, search_twins.best(targets, queries, weights))


@settings(deadline=None, max_examples=100)
@given(problems(negative=True), st.sampled_from(["auto", "lattice", "scan"]))
def test_every_plan_gives_the_same_answer_with_negative_gains_too(problem, method):
    targets, queries, weights, n_tokens = problem
    agree(best(Index(targets, n_tokens), queries, weights, method), search_twins.best(targets, queries, weights))


def test_keys_longer_than_64_bits_are_verified():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 3, (400, 5)) * 30_000
    queries = np.where(rng.random((400, 5)) < 0.4, 0, targets[rng.permutation(400)])
    weights = Weights(np.ones((1, 60_001), dtype=np.int64), np.zeros((1, 60_001), dtype=np.int64))
    agree(lattice.best(Index(targets, 60_001), queries, weights), search_twins.best(targets, queries, weights))


def test_a_hash_collision_does_not_join_strangers(monkeypatch):
    """With every long key hashed to the same number, only the verification tells groups apart."""
    from reidrisk.search import hashing

    targets = np.array([[1, 2], [1, 3], [1, 2]], dtype=np.uint16)
    table = hashing.table_for(8, 1)
    for i, row in enumerate(targets):
        place = 0
        while table[0, place, 1] and not (targets[int(table[0, place, 1]) >> 32] == row).all():
            place += 1
        table[0, place] = (42, ((int(table[0, place, 1]) >> 32 if table[0, place, 1] else i) << 32)
                           + (int(table[0, place, 1]) & 0xFFFFFFFF) + 1)  # fmt: skip
    epochs = np.array([0, 1])
    found = hashing.find_group(table, targets, targets[1], np.uint64(42), np.uint64(0), epochs, False)
    assert (int(found) >> 32, int(found) & 0xFFFFFFFF) == (1, 1)
    found = hashing.find_group(table, targets, targets[2], np.uint64(42), np.uint64(0), epochs, False)
    assert (int(found) >> 32, int(found) & 0xFFFFFFFF) == (0, 2)
    stranger = np.array([9, 9], dtype=np.uint16)
    assert hashing.find_group(table, targets, stranger, np.uint64(42), np.uint64(0), epochs, False) == 0


def test_thousands_of_duplicates_and_many_users():
    rng = np.random.default_rng(1)
    targets = np.vstack([np.zeros((5_000, 4), dtype=np.int64), rng.integers(0, 40, (20_000, 4))])
    queries = np.vstack([np.zeros((10, 4), dtype=np.int64), targets[rng.integers(0, 25_000, 300)]])
    queries[rng.random(queries.shape) < 0.3] = 7
    weights = Weights(rng.integers(1, 90_000, (4, 40)), rng.integers(-9, 0, (4, 40)))
    index = Index(targets, 40)
    agree(lattice.best(index, queries, weights), scan.best(index, queries, weights))


def test_the_plan_follows_the_work():
    short, long = Index(np.zeros((100_000, 4), dtype=np.int8), 9), Index(np.zeros((1_000, 30), dtype=np.int8), 9)
    assert choose(short, 100_000).method == "lattice"
    assert choose(long, 100_000).method == "scan"
    assert choose(short, 100_000, memory=1_000).method == "scan"
    rng = np.random.default_rng(0)
    gaps = Index(np.where(rng.random((2_000, 10)) < 0.5, -1, 0), 9)  # hundreds of patterns of missingness
    assert choose(gaps, 100).method == "scan"


def test_an_unknown_method_is_refused():
    index = Index(np.zeros((2, 1), dtype=np.int64), 2)
    weights = Weights(np.ones((1, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64))
    with pytest.raises(OptionError, match="one of auto, lattice, scan"):
        best(index, np.zeros((1, 1), dtype=np.int64), weights, "magic")


def test_the_memory_stays_within_what_the_plan_says():
    """Measured as the peak of a process of its own, over what the same process takes before it searches."""
    code = """
import resource
import subprocess
import sys

import numpy as np
from reidrisk.search import Index, Weights, choose, lattice
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = np.random.default_rng(0)
targets, queries = (rng.integers(0, 400, (600_000, 4)).astype(np.int16) for _ in range(2))
weights = Weights(rng.integers(1, 9_000, (1, 400)), rng.integers(-9, 0, (1, 400)))
lattice.best(Index(targets[:100], 400), queries[:100], weights)
before = peak()
lattice.best(Index(targets, 400), queries, weights)
print(peak() - before, choose(Index(targets, 400), len(queries)).memory)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    used, planned = map(int, done.stdout.split())
    assert used <= planned, done.stderr


def test_a_device_that_does_not_exist_is_refused():
    index = Index(np.zeros((2, 1), dtype=np.int64), 2)
    with pytest.raises(OptionError, match="one of auto, cpu, cuda"):
        choose(index, 1, device="abacus")
    if not gpu.available():
        with pytest.raises(OptionError, match="there is no GPU here"):
            choose(index, 1, device="cuda")


@pytest.mark.parametrize("method", ["lattice", "scan"])
@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([[300, 2]], "there is one outside"),
        ([[65_537, 2]], "there is one outside"),
        ([[1]], "2 epochs"),
        ([[1, 2, 5]], "2 epochs"),
        ([[1.0, 2.0]], "signed integers"),
    ],
)
def test_queries_that_do_not_fit_are_refused_by_every_method(method, queries, message):
    weights = Weights(np.ones((1, 9), dtype=np.int64), np.zeros((1, 9), dtype=np.int64))
    with pytest.raises(DataError, match=message):
        best(Index(np.array([[1, 2], [3, 4]]), 9), np.array(queries), weights, method)


def test_weights_that_do_not_fit_are_refused():
    index, queries = Index(np.array([[1, 2], [3, 4]]), 9), np.array([[1, 2]])
    for shape in ((3, 9), (1, 8)):
        with pytest.raises(DataError, match="weights are for"):
            best(index, queries, Weights(np.ones(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)))
    with pytest.raises(DataError, match="round them to whole numbers"):
        Weights(np.full((1, 9), 0.5), np.zeros((1, 9)))


def test_fortran_order_with_gaps_and_many_epochs():
    rng = np.random.default_rng(0)
    tokens = np.asfortranarray(np.where(rng.random((500, 10)) < 0.01, -1, rng.integers(0, 50, (500, 10))))
    weights = Weights(np.ones((1, 50), dtype=np.int64), np.zeros((1, 50), dtype=np.int64))
    for method in ("auto", "lattice", "scan"):
        agree(best(Index(tokens, 50), tokens[:50], weights, method), search_twins.best(tokens, tokens[:50], weights))


def test_too_little_memory_is_the_stated_reason():
    index = Index(np.zeros((100_000, 4), dtype=np.int8), 9)
    assert choose(index, 100_000, memory=1 << 20, device="cpu").reason == "memory"
