"""The two-covariance model: a vector is a person's point plus what differs from record to record.

    y = z + e,  x = z + e',      z ~ N(m, B),  e ~ N(0, N),  e' ~ N(drift, N')

for target y and query x of one person: B is between people, and the two tables may differ by different amounts, in
different directions. What is seen are the covariances B + N and B + N' of the tables; D = N + N', the covariance of the
difference of two records of one person, says the rest. In coordinates where the tables' covariances are unit matrices
and what is between people is diagonal, diag(rho) (canonical correlations), with u and v the two records times
sqrt(rho / (1 - rho^2)),

    log P(x, y | one person) / P(x, y | two people) = u v - sum rho (u^2 + v^2) / 2 - sum log(1 - rho^2) / 2,

a product of two rows and a constant of each: the model of speaker verification (Brümmer and de Villiers 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reidrisk.attacks.vectors.spread import Singles, Spread, Turn
from reidrisk.base.arrays import Floats, Ints
from reidrisk.search.dense import VectorRows, VectorScorer

_LEAST, _MOST = 1e-6, 2.0 - 1e-6  # of D: a copy, and records of one person that are as far apart as of two
_FURTHEST = float(1 << 16)  # standard deviations beyond which a point is taken to be as far
_THINNEST = 0.02  # of a table's variance in a direction, relative to that of both
_SURE = 1.0 - 5e-7  # a correlation at which one record says all


class Weighed(NamedTuple):
    """Rows as the likelihood ratio takes them, and what each adds by itself."""

    values: Singles
    extra: Floats


@dataclass(frozen=True, eq=False)
class TwoCovariances:
    """The model in its own coordinates: a (d, k) basis of targets and one of queries, and their correlations (k,).

    ``centre`` is the mean of the targets, ``drift`` what queries are off from it, both in the space of the vectors.
    """

    bases: tuple[Floats, Floats]
    correlation: Floats
    centre: Floats
    drift: Floats

    @classmethod
    def of(cls, white: Floats, difference: Floats, spreads: tuple[Spread, Spread], drift: Floats) -> TwoCovariances:
        """Return the model where ``white`` (d, k) makes both tables' mean covariance S the unit matrix.

        ``difference`` (k, k) is D there, and B = 1 - D / 2. By how much the tables differ is taken from their
        covariances, as far as these differ by more than chance makes them: otherwise each has a share of D.
        """
        values, vectors = np.linalg.eigh((difference + difference.T) / 2.0)
        delta = np.clip(values, _LEAST, _MOST)
        gap = vectors.T @ (white.T @ (spreads[0].covariance - spreads[1].covariance) @ white) @ vectors / 2.0
        share = float(np.clip(np.diag(gap) @ delta / (delta @ delta), -0.48, 0.48))
        gap = beyond_chance(gap, min(one.n for one in spreads), np.diag(share * delta))
        half = [_root(np.eye(len(delta)) + sign * gap) for sign in (1.0, -1.0)]
        left, rho, right = np.linalg.svd((half[1] * (1.0 - delta / 2.0)) @ half[0])
        basis = white @ vectors
        return cls((basis @ half[0] @ right.T, basis @ half[1] @ left), np.minimum(rho, _SURE), spreads[0].mean, drift)

    def _scale(self) -> Floats:
        return np.asarray(np.sqrt(self.correlation / (1.0 - self.correlation**2)))

    @property
    def constant(self) -> float:
        """What every pair has."""
        return float(-0.5 * np.log1p(-(self.correlation**2)).sum())

    def turn(self, side: int) -> Turn:
        """Return the map of targets (0) or queries (1) into rows whose product counts."""
        return Turn(self.centre + side * self.drift, self.bases[side] * self._scale())

    def weighed(self, points: Singles, side: int) -> Weighed:
        """Return targets (0) or queries (1) as the likelihood ratio takes them."""
        limit = (_FURTHEST * self._scale()).astype(np.float32)
        rows = np.clip(self.turn(side)(points), -limit, limit)
        extra = np.zeros(len(rows))
        for rho, column in zip(self.correlation, rows.T, strict=True):  # in one order, whoever asks
            extra -= 0.5 * rho * column.astype(np.float64) ** 2
        return Weighed(rows, extra + side * self.constant)

    def rows(self, points: Singles, counts: Ints, side: int) -> VectorRows:
        """Return targets (0) or queries (1) for a scorer; of how many vectors each is the mean does not count here."""
        weighed = self.weighed(points, side)
        return VectorRows.of(weighed.values, "likelihood", weighed.extra)

    def scorer(self, known: VectorRows) -> VectorScorer:
        """Return the scorer of the likelihood ratio."""
        return VectorScorer.of("likelihood", known)

    def drawn(self, points: Singles, counts: Ints, asked: Ints, rng: np.random.Generator) -> VectorRows:
        """Draw what the other table would hold of the people behind these targets, as rows of queries."""
        rho, scale = self.correlation, self._scale()
        rows = self.weighed(points, 0).values.astype(np.float64)
        other = rho * rows + np.sqrt(1.0 - rho**2) * scale * rng.normal(size=rows.shape)
        values = np.asarray(other, dtype=np.float32)
        return VectorRows(values, -0.5 * (values.astype(np.float64) ** 2) @ rho + self.constant)

    def ratios(self, targets: Weighed, queries: Weighed) -> Singles:
        """Return the (q, n) log likelihood ratios, in single precision: for learning, not for links."""
        found = queries.values @ targets.values.T
        found += targets.extra.astype(np.float32)
        found += queries.extra.astype(np.float32)[:, None]
        return np.asarray(found)


def beyond_chance(gap: Floats, n: int, usual: Floats | float = 0.0) -> Floats:
    """Return half the difference of two covariances in k directions, led back as far as chance may have made it.

    It goes back to what is ``usual``. Chance makes about k (k + 1) / (2 n) of the squares (James and Stein).

    >>> beyond_chance(np.array([[0.1]]), 10).tolist(), beyond_chance(np.array([[0.5]]), 1_000).round(2).tolist()
    ([[0.0]], [[0.5]])
    """
    rest, k = gap - usual, len(gap)
    kept = max(0.0, 1.0 - k * (k + 1) / (2.0 * n) / max(float((rest**2).sum()), 1e-300))
    return np.asarray(usual + kept * rest)


def _root(covariance: Floats) -> Floats:
    """Return the symmetric root of the inverse."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors / np.sqrt(np.maximum(values, _THINNEST)) @ vectors.T)
