"""Vectors made less telling: noise added to them, or fewer directions kept."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.base import Floats, OptionError, whole
from reidrisk.base.arrays import Singles
from reidrisk.mitigations.base import Mitigation, Side, released_tables
from reidrisk.mitigations.registry import register
from reidrisk.records import Case, Vectors

_STEPS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)


@register(kinds=(Vectors,), strengths=(0.25, 1.0, 3.0))
@dataclass(frozen=True)
class GaussianNoise(Mitigation):
    """Add Gaussian noise to every coordinate: ``sigma`` times the standard deviation of the released coordinates.

    The standard deviation is the root of the mean variance over dimensions, so that noise is the same in all
    directions. Of people with several vectors, each vector gets noise of its own, which averages out in part. It is
    simulated noise, for measuring: floating-point noise for a release can be attacked. Whoever knows of it can do
    nothing about it, but :class:`reidrisk.attacks.GaussianBayes` learns how much there is.

    >>> table = Vectors(np.eye(3))
    >>> GaussianNoise(sigma=0.0).apply(Case(table, table, None)).queries.values.tolist() == np.eye(3).tolist()
    True
    """

    sigma: float

    def __post_init__(self) -> None:
        if isinstance(self.sigma, bool) or not isinstance(self.sigma, int | float) or not 0.0 <= self.sigma < np.inf:
            raise OptionError(f"sigma must be a number of at least 0, not {self.sigma!r}")

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return noise from a twentieth of the spread to eight times it."""
        return tuple(cls(sigma) for sigma in _STEPS)

    def _learn(self, case: Case, side: Side) -> float:
        tables = released_tables(case, side)
        return float(np.sqrt(np.mean([_all(table).var(axis=0, dtype=np.float64).mean() for table in tables])))

    def _changed(self, table: Vectors, learnt: float, rng: np.random.Generator) -> Vectors:
        return table.mapped(lambda points: points + self.sigma * learnt * rng.normal(size=points.shape))


def _all(table: Vectors) -> Singles:
    """Return every vector that is released, not only the mean of each person's."""
    return table.values if table.several is None else table.several.values


class _Directions(NamedTuple):
    """The mean of the released vectors, and the directions that are kept, (n_dimensions, d)."""

    mean: Floats
    kept: Floats


@register(kinds=(Vectors,))
@dataclass(frozen=True)
class Reduce(Mitigation):
    """Keep the ``d`` directions in which the released vectors differ most (principal components), and nothing else.

    What is released has d coordinates; who knows of it, the directions being part of the release, turns records of
    their own in the same way.

    >>> table = Vectors([[1.0, 2.0, 0.1], [2.0, 4.0, 0.0], [3.0, 6.0, 0.2]])
    >>> Reduce(d=1).apply(Case(table, table, None)).queries.n_dimensions
    1
    """

    d: int

    def __post_init__(self) -> None:
        whole("d", self.d)

    def check(self, case: Any, seed: int, side: str) -> None:
        """Refuse more directions than there are."""
        super().check(case, seed, side)
        if self.d > case.queries.n_dimensions:
            raise OptionError(f"vectors of {case.queries.n_dimensions} dimensions cannot be reduced to {self.d}")

    @classmethod
    def usual(cls, case: Case) -> tuple[Self, ...]:
        """Return a half, an eighth and a thirty-second of the dimensions."""
        n = case.queries.n_dimensions
        return tuple(cls(d) for d in dict.fromkeys(n // part for part in (2, 8, 32)) if d)

    @classmethod
    def ladder(cls, case: Case) -> tuple[Self, ...]:
        """Return dimensions from all but one down to one."""
        n = case.queries.n_dimensions
        steps = (int(n * 0.8**i) for i in range(1, 40))
        return tuple(cls(d) for d in dict.fromkeys(steps) if 0 < d < n)

    def _repeatable(self) -> bool:
        return True

    def _learn(self, case: Case, side: Side) -> _Directions:
        values = np.concatenate([_all(table) for table in released_tables(case, side)]).astype(np.float64)
        mean = values.mean(axis=0)
        values -= mean
        _, vectors = np.linalg.eigh(values.T @ values)
        return _Directions(mean, vectors[:, ::-1][:, : self.d])

    def _changed(self, table: Vectors, learnt: _Directions, rng: np.random.Generator) -> Vectors:
        return table.mapped(lambda points: (points - learnt.mean) @ learnt.kept)

    def _along(self, table: Vectors, learnt: _Directions) -> Vectors:
        """Return the other table in the same coordinates: without these, nobody could compare the two."""
        return self._changed(table, learnt, np.random.default_rng(0))
