"""The two-covariance model: a vector is a person's point plus what differs from record to record.

    y = z + e,  x = z + e',      z ~ N(m, B),  e ~ N(0, f D),  e' ~ N(drift, (1 - f) D)

for target y and query x of one person: B is between people, D the covariance of the difference of two records of one
person, of which the targets have the share f. Both tables together have the covariance S = B + D / 2. In coordinates
where S is the unit matrix and D diagonal, diag(delta), the two records correlate dimension by dimension: with
t = 1 - delta/2 + f delta, q = 1 - delta/2 + (1 - f) delta, rho = (1 - delta/2) / sqrt(t q), and u, v the two records
times sqrt(rho / (1 - rho^2)), each after division by its standard deviation,

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

_LEAST, _MOST = 1e-6, 2.0 - 1e-6  # of delta: a copy, and records of one person that are as far apart as of two
_FURTHEST = float(1 << 16)  # standard deviations beyond which a point is taken to be as far
_SHARE = 0.02  # of the difference, at least, that either side has


class Weighed(NamedTuple):
    """Rows as the likelihood ratio takes them, and what each adds by itself."""

    values: Singles
    extra: Floats


@dataclass(frozen=True, eq=False)
class TwoCovariances:
    """The model in its own coordinates: (d, k) ``basis`` of these, ``delta`` (k,), the targets' share f of it.

    ``centre`` is the mean of the targets, ``drift`` what queries are off from it, both in the space of the vectors.
    """

    basis: Floats
    delta: Floats
    share: float
    centre: Floats
    drift: Floats

    @classmethod
    def of(cls, white: Floats, difference: Floats, spreads: tuple[Spread, Spread], drift: Floats) -> TwoCovariances:
        """Return the model where ``white`` (d, k) makes S the unit matrix, and ``difference`` (k, k) is D there.

        The share follows from how much wider one table is spread than the other: the least squares of
        S_T - S_Q = (2 f - 1) D.
        """
        values, vectors = np.linalg.eigh((difference + difference.T) / 2.0)
        delta, basis = np.clip(values, _LEAST, _MOST), white @ vectors
        gap = np.einsum("ij,ik,kj->j", basis, spreads[0].covariance - spreads[1].covariance, basis)
        share = 0.5 + 0.5 * float(gap @ delta) / float(delta @ delta)
        return cls(basis, delta, float(np.clip(share, _SHARE, 1.0 - _SHARE)), spreads[0].mean, drift)

    @property
    def correlation(self) -> Floats:
        """The correlation rho of two records of one person, dimension by dimension."""
        between = 1.0 - self.delta / 2.0
        return np.asarray(between / np.sqrt(self._variances()[0] * self._variances()[1]))

    def _variances(self) -> tuple[Floats, Floats]:
        between = 1.0 - self.delta / 2.0
        return between + self.share * self.delta, between + (1.0 - self.share) * self.delta

    def _scale(self, side: int) -> Floats:
        rho = self.correlation
        return np.asarray(np.sqrt(rho / (1.0 - rho**2) / self._variances()[side]))

    @property
    def constant(self) -> float:
        """What every pair has."""
        return float(-0.5 * np.log1p(-(self.correlation**2)).sum())

    def turn(self, side: int) -> Turn:
        """Return the map of targets (0) or queries (1) into rows whose product counts."""
        return Turn(self.centre + side * self.drift, self.basis * self._scale(side))

    def weighed(self, points: Singles, side: int) -> Weighed:
        """Return targets (0) or queries (1) as the likelihood ratio takes them."""
        limit = (_FURTHEST * self._scale(side) * np.sqrt(self._variances()[side])).astype(np.float32)
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
        rows = self.weighed(points, 0).values / self._scale(0) / np.sqrt(self._variances()[0])
        rho = self.correlation
        other = rho * rows + np.sqrt(1.0 - rho**2) * rng.normal(size=rows.shape)
        values = np.asarray(other * self._scale(1) * np.sqrt(self._variances()[1]), dtype=np.float32)
        return VectorRows(values, -0.5 * (values.astype(np.float64) ** 2) @ rho + self.constant)

    def ratios(self, targets: Weighed, queries: Weighed) -> Singles:
        """Return the (q, n) log likelihood ratios, in single precision: for learning, not for links."""
        found = queries.values @ targets.values.T
        found += targets.extra.astype(np.float32)
        found += queries.extra.astype(np.float32)[:, None]
        return np.asarray(found)
