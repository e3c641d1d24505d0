"""How targets are laid out, and how answers of shards become one, on values that can be checked by hand."""

import numpy as np

from reidrisk.search import Best, Candidates, Index, choose, merged, merged_candidates
from reidrisk.search.index import unsigned


def test_the_best_of_two_sets_of_targets():
    a = Best(np.array([5, 3]), np.array([1, 2]), np.array([0, 1]))
    b = Best(np.array([5, 4]), np.array([2, 1]), np.array([7, 8]))
    for answer in (merged(a, b), merged(b, a)):
        assert [part.tolist() for part in answer] == [[5, 4], [3, 1], [0, 8]]


def test_candidates_of_two_sets_of_targets():
    one, two = Candidates(np.array([[7, 8]]), np.array([[5, 1]])), Candidates(np.array([[2, 0]]), np.array([[5, 4]]))
    for parts in ([one, two], [two, one]):
        assert [part.tolist() for part in merged_candidates(parts, 3)] == [[[2, 7, 0]], [[5, 5, 4]]]


def test_targets_by_row_by_column_and_by_pattern_of_missing_tokens():
    index = Index(np.array([[3, -1], [0, 1]]), n_tokens=5)
    assert (index.rows.tolist(), index.columns.tolist()) == ([[3, 65535], [0, 1]], [[3, 0], [65535, 1]])
    assert (index.missing, index.has_gaps) == (65535, True)
    assert [(epochs.tolist(), rows.tolist()) for epochs, rows in index.patterns] == [([0], [0]), ([0, 1], [1])]
    assert unsigned(np.array([[3, -1]]), 70_000).dtype == np.uint32


def test_few_queries_are_scanned():
    index = Index(np.zeros((1000, 2), dtype=np.int64), 9)
    assert (choose(index, 1_000_000, device="cpu").method, choose(index, 10).method) == ("lattice", "scan")
