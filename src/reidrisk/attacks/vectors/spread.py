"""How points are spread: covariance from few points, and turning points into other coordinates in a fixed order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats
from reidrisk.base.kernels import njit
from reidrisk.base.streams import stream

_LEARN, _FEW = 20_000, 20  # points that say how all are spread; fewer say next to nothing of single directions
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

    Of few points, the largest variances come out too large and the smallest too small. Each is led back as far as the
    density of all of them asks for (nonlinear shrinkage, Ledoit and Wolf 2020); of fewer than 20 points all are led
    towards their mean (Ledoit and Wolf 2004).

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
    if n < _FEW:
        return Spread(mean, _towards_mean(x, raw), n)
    values, vectors = np.linalg.eigh(raw)
    there = values > max(float(values[-1]), 1e-300) * FLAT
    if d > n:  # directions without a point in them say nothing; those without any spread at all are none
        there |= raw.diagonal().min() > 0.0
    values, vectors = np.where(values > 0.0, values, 0.0)[there], vectors[:, there]
    return Spread(mean, vectors * shrunk(values, n - 1) @ vectors.T, n)


def shrunk(values: Floats, n: int) -> Floats:
    """Return the variances of k directions that n points with such sample variances, ascending, come from.

    By the density f of the variances and its Hilbert transform g, both estimated with a kernel, a variance v becomes
    v / ((pi c v f)^2 + (1 - c - pi c v g)^2) with c = k / n (Ledoit and Wolf 2020, equations 4.3 to 4.8); where there
    are more directions than points, those without any get the same.

    >>> values = np.linalg.eigvalsh(np.cov(np.random.default_rng(0).normal(size=(200, 100)).T))
    >>> led_back = shrunk(values, 199)
    >>> bool(values[0] < 0.1 < 0.5 < led_back[0] and led_back[-1] < 1.5 < 2.5 < values[-1])
    True
    """
    k, width, root = len(values), n ** (-1.0 / 3.0), 5.0**0.5
    seen = values[max(0, k - n) :]
    seen = np.maximum(seen, seen[-1] * FLAT)
    x = (seen[:, None] - seen) / (width * seen)
    bump = 1.0 - x**2 / 5.0
    density = (0.75 / root) * np.mean(np.maximum(bump, 0.0) / (width * seen), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(np.abs(x) == root, 0.0, bump * np.log(np.abs((root - x) / (root + x))))
    transform = np.mean((-0.3 * x + (0.75 / root) * logs) / (np.pi * width * seen), axis=1)
    if k <= n:
        c = k / n
        return np.asarray(seen / ((np.pi * c * seen * density) ** 2 + (1.0 - c - np.pi * c * seen * transform) ** 2))
    ends = np.log((1.0 + root * width) / (1.0 - root * width))
    at_zero = (0.3 / width**2 + 0.75 / root / width * (1.0 - 0.2 / width**2) * ends) / np.pi * np.mean(1.0 / seen)
    unseen = 1.0 / (np.pi * (k - n) / n * at_zero)
    rest = seen / (np.pi**2 * seen**2 * (density**2 + transform**2))
    return np.concatenate([np.full(k - len(seen), unseen), rest])


def _towards_mean(x: Floats, raw: Floats) -> Floats:
    """Return w m I + (1 - w) S: m is the mean variance, and w what the error of S asks for."""
    n, d = x.shape
    middle, square = float(np.trace(raw)) / d, float((raw**2).sum())
    away = square - d * middle**2
    error = (float(((x**2).sum(axis=1) ** 2).mean()) - square) / n
    back = 1.0 if away <= 0.0 else min(1.0, max(0.0, error) / away)
    return np.asarray((1.0 - back) * raw + back * middle * np.eye(d))


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
