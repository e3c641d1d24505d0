"""How much a cell of the matrix counts: by how diverse its values are in the data set (galozy, Section 6.2)."""

import numpy as np

from reidrisk.bandits.transitions import checked_records
from reidrisk.base import ArrayLike, DataError, Floats, OptionError, one_of

WEIGHTS = ("inverse entropy", "uniform", "entropy")  # names of the ways to weigh cells

LEAST_ALPHA = 1e-15  # below the spacing of float64 near 1 nothing is rounded
_MOST_WEIGHT = 1e100  # beyond it squares of weighted cells leave the range of floating point


def cell_entropy(records: ArrayLike, alpha: float = 1e-3) -> Floats:
    """Return the entropy of each cell over the users, in bits: H = -sum_x p(x) log2 p(x).

    Values are rounded to multiples of ``alpha`` first: without, nearly all values of a cell differ and its entropy says
    nothing. The formula in the paper lacks the minus sign.
    """
    array = checked_records(records)
    if not LEAST_ALPHA <= alpha < float("inf"):
        raise OptionError(f"alpha must be finite and at least {LEAST_ALPHA:g}, not {alpha!r}")
    n = len(array)
    values = np.sort(np.rint(array.reshape(n, -1) / alpha), axis=0)
    entropy = np.zeros(values.shape[1])
    # A value that ends its run at row i has occurred i - (end of the run before) times.
    ends = np.vstack([values[1:] != values[:-1], np.ones(values.shape[1], dtype=np.bool_)])
    cells, rows = np.nonzero(ends.T)
    first = np.append(True, cells[1:] != cells[:-1])
    share = np.diff(rows, prepend=-1)
    share[first] = rows[first] + 1
    p = share / n
    np.add.at(entropy, cells, -p * np.log2(p))
    return np.maximum(entropy, 0.0).reshape(array.shape[1:])


def cell_weights(records: ArrayLike, weights: str | ArrayLike = WEIGHTS[0], alpha: float = 1e-3) -> Floats:
    """Return the weight of each cell of (n, d, d) matrices, by name, or as they are where ``weights`` is an array.

    ``"inverse entropy"`` is the paper's formula, w = 1 / H, with w = 0 where H = 0 (:func:`cell_entropy`). It gives
    *less* weight, so less noise, to diverse cells, against the paper's own words ('the more unique the cell value, the
    more noise is added'). ``"entropy"`` is w = H, which does what the words say; ``"uniform"`` is w = 1.

    >>> two = [[[0.5, 0.5], [0.0, 1.0]], [[0.9, 0.1], [0.0, 1.0]]]
    >>> cell_weights(two).tolist(), cell_weights(two, "uniform").tolist()
    ([[1.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]])
    """
    array = np.asarray(records, dtype=np.float64)
    if not isinstance(weights, str):
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != array.shape[1:]:
            raise DataError(f"weights must be of shape {array.shape[1:]}, one per cell, not {given.shape}")
        bad = np.argwhere(~((given >= 0) & (given <= _MOST_WEIGHT)))
        if bad.size:
            cell = f"the weight of cell ({bad[0][0]}, {bad[0][1]}) is {given[tuple(bad[0])]}"
            raise DataError(f"{cell}; weights are not negative and at most {_MOST_WEIGHT:g}")
        return given
    if one_of("weights", weights, WEIGHTS) == "uniform":
        return np.ones(array.shape[1:])
    entropy = cell_entropy(array, alpha)
    if weights == "entropy":
        return entropy
    return np.divide(1.0, entropy, out=np.zeros_like(entropy), where=entropy > 0)
