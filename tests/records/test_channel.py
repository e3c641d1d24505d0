import numpy as np
import pytest
from scipy import sparse

from reidrisk import Channel
from reidrisk.base.errors import DataError


def test_dense_and_sparse_hold_the_same():
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    dense, thin = Channel(matrix), Channel(sparse.csr_matrix(matrix))
    assert thin.is_sparse
    assert not dense.is_sparse
    assert dense.shape == thin.shape == (2, 3)
    assert np.array_equal(dense.matrix, thin.matrix.toarray())
    assert Channel(dense).matrix is dense.matrix


def test_a_channel_cannot_be_changed():
    matrix = np.eye(2)
    channel = Channel(matrix)
    matrix[0, 0] = 7
    assert channel.matrix[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 0


@pytest.mark.parametrize("wrap", [np.array, lambda m: sparse.csr_array(np.array(m))])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.0], [0.7, 0.2]], "row 1 adds up to 0.9"),
        ([[1.0, 0.0], [1.5, -0.5]], "row 1, column 1 is -0.5"),
        ([[np.nan, 1.0], [0.0, 1.0]], "row 0, column 0 is nan"),
        ([[1.0, 0.0], [0.0, 0.0]], "row 1 adds up to 0"),
    ],
)
def test_bad_channels_are_named(wrap, matrix, message):
    with pytest.raises(DataError, match=message):
        Channel(wrap(matrix))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [([0.5, 0.5], "has shape"), ([["a", "b"]], "matrix of numbers"), (np.empty((0, 3)), "is empty")],
)
def test_what_is_no_matrix_is_refused(matrix, message):
    with pytest.raises(DataError, match=message):
        Channel(matrix)
