"""How points are spread: covariance from few points, and turning points into other coordinates in a fixed order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats
from reidrisk.base.kernels import njit
from reidrisk.base.streams import stream

_LEARN = 20_000  # points that say how all are spread
FLAT = 1e-9  # variance relative to the largest below which a direction is none

Singles = npt.NDArray[np.float32]


class Spread(NamedTuple):
    """Mean and covariance of n points, the covariance shrunk as far as this few points ask for."""

    mean: Floats
    covariance: Floats
    n: int = 1

    @property
    def whitening(self) -> Floats:
        """A (d, k) matrix that makes the covariance the unit matrix; directions without any spread are left out."""
        values, vectors = np.linalg.eigh(self.covariance)
        kept = values > max(float(values[-1]), 1e-300) * FLAT
        return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def spread(points: Singles, seed: int = 0) -> Spread:
    """Return how points are spread, from 20,000 of them at most, drawn with ``seed``.

    The covariance S of n points is shrunk towards the mean variance m times the unit matrix, as far as its own error
    asks for: w m I + (1 - w) S with w = min(1, (mean |x|^4 - |S|^2) / (n |S - m I|^2)) (Ledoit and Wolf 2004).

    >>> found = spread(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]], dtype=np.float32))
    >>> found.mean.tolist(), bool(found.covariance[0, 0] > found.covariance[1, 1])
    ([1.0, 0.5], True)
    """
    if len(points) > _LEARN:
        rows = stream(seed, "vectors: spread").choice(len(points), _LEARN, replace=False, shuffle=False)
        points = points[np.sort(rows)]
    x = points.astype(np.float64)
    mean = x.mean(axis=0)
    x -= mean
    n, d = x.shape
    raw = x.T @ x / n
    middle = float(np.trace(raw)) / d
    square = float((raw**2).sum())
    away = square - d * middle**2
    error = (float(((x**2).sum(axis=1) ** 2).mean()) - square) / n
    shrunk = 1.0 if away <= 0.0 else min(1.0, max(0.0, error) / away)
    return Spread(mean, (1.0 - shrunk) * raw + shrunk * middle * np.eye(d), n)


class Turn:
    """A linear map of points, x -> (x - centre) matrix, the same for a row wherever and with whomever it is computed.

    The matrix is rounded to single precision, so that every product is exact in double precision, and sums go through
    the dimensions from the first to the last.

    >>> Turn(np.array([1.0, 0.0]), np.array([[2.0], [1.0]]))(np.array([[3.0, 4.0]], dtype=np.float32)).tolist()
    [[8.0]]
    """

    def __init__(self, centre: Floats, matrix: Floats) -> None:
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        self._less = centre @ self.matrix.astype(np.float64)

    def __call__(self, points: Singles) -> Singles:
        """Return the points in the new coordinates, in single precision."""
        out = np.empty((len(points), self.matrix.shape[1]), dtype=np.float32)
        _turn(np.ascontiguousarray(points, dtype=np.float32), self.matrix, self._less, out)
        return out


@njit(nogil=True, cache=True)
def _turn(points: Any, matrix: Any, less: Any, out: Any) -> None:
    k = matrix.shape[1]
    total = np.empty(k)
    for row in range(len(points)):
        total[:] = 0.0
        for i in range(matrix.shape[0]):
            x = np.float64(points[row, i])
            for j in range(k):
                total[j] += x * np.float64(matrix[i, j])
        for j in range(k):
            out[row, j] = total[j] - less[j]
