"""Other groupings than Chrome's: prefixes of SimHashes, and k-means without small groups."""

import numpy as np
import pytest
from scipy import sparse

from reidrisk.base.errors import DataError, OptionError
from reidrisk.cohorts import SortingLSH
from reidrisk_studies.floc.other_groupings import kmeans, prefix_lsh


def test_prefixes_are_equal_parts_of_the_space():
    hashes = np.random.default_rng(0).integers(0, 1 << 50, 1_000)
    assert np.array_equal(prefix_lsh(hashes, 4), SortingLSH([46] * 16).assign(hashes))
    assert set(prefix_lsh(hashes, 0).tolist()) == {0}
    assert np.array_equal(prefix_lsh(hashes, 50), hashes)


def test_kmeans_finds_groups_that_are_there_and_keeps_them_large():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2, 3], [60, 60, 60, 3])
    points = rng.normal(0, 0.1, (183, 2)) + 10 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[truth]
    found = kmeans(points, 4, seed=2)
    assert len({(a, b) for a, b in zip(truth, found, strict=True)}) == 4
    large = kmeans(points, 4, min_size=10, seed=2)
    assert sorted(np.bincount(large).tolist())[0] >= 60
    assert np.array_equal(large, kmeans(sparse.csr_array(points), 4, min_size=10, seed=2))
    assert set(kmeans(np.zeros((5, 1)), 3).tolist()) == {0}
    rare = np.eye(30)[np.random.default_rng(0).integers(0, 30, 400)]  # every group can be told apart
    sizes = np.bincount(kmeans(rare, 30))
    assert sorted(sizes.tolist()) == sorted(rare.sum(axis=0).astype(int).tolist())


def test_what_cannot_be_grouped_is_refused():
    with pytest.raises(OptionError, match="prefix"):
        prefix_lsh([1], 51)
    with pytest.raises(OptionError, match="n_cohorts"):
        kmeans([[1.0]], 2)
    with pytest.raises(DataError, match="features of user 1"):
        kmeans([[1.0], [np.nan]], 1)
    with pytest.raises(DataError, match="shape"):
        kmeans([1.0], 1)
    with pytest.raises(DataError, match="must be numbers"):
        kmeans([["a"], ["b"]], 2)
