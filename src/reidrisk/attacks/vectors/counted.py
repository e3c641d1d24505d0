"""The two-covariance model where records are means of several vectors: the more of them, the surer it is.

    y = z + e,      z ~ N(m, B),   e ~ N(0, (1/k + c) W)

for the mean y of a record's k vectors: W is how vectors of one person differ within a table, B is between people, and
c, in vectors, is what the two tables differ by in addition, which no number of vectors averages out. In coordinates
where W is the unit matrix and B diagonal, diag(b), a record has the precision p = 1 / (1/k + c) in every dimension, and
for query x and target y with precisions p and r

    log P(x, y | one person) / P(x, y | two people) = sum over dimensions of
        p r x y / s + p^2 x^2 (1/s - 1/(p + h)) / 2 + r^2 y^2 (1/s - 1/(r + h)) / 2 - log(s h / ((p + h) (r + h))) / 2

with h = 1/b and s = p + r + h. For queries of one precision that is a product of two rows, (x, x^2) and what the target
makes of it; queries come in few of them, since numbers of vectors are rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.vectors.spread import FLAT, Singles, Spread, Turn, spread
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.progress import Progress
from reidrisk.base.streams import stream
from reidrisk.records import Vectors
from reidrisk.search import GRID
from reidrisk.search.answer import Best, ByBlocks, Candidates
from reidrisk.search.dense import VectorRows, VectorScorer

_STEPS = np.unique(np.rint(2.0 ** (np.arange(0, 41) / 2.0)))  # numbers of vectors that are told apart: 1, 2, 3, 4, 6, 8
_CONTRASTS, _FEWEST = 20_000, 30  # differences within people that are learnt from in a table; in both, at least
_FURTHEST = float(1 << 12)  # standard deviations beyond which a point is taken to be as far
LEAST, MOST = 1e-6, 1e5  # of b: people who do not differ, and vectors of one person that are nearly the same


class Within(NamedTuple):
    """How vectors of one person differ in a table: W from ``n`` differences, and the mean of 1/k over both tables."""

    covariance: Floats
    n: int
    share: float


def counts_of(table: Vectors) -> Ints:
    """Return of how many vectors each record is."""
    return np.ones(len(table), dtype=np.int64) if table.several is None else table.several.per_record


def within(targets: Vectors, queries: Vectors, seed: int) -> Within | None:
    """Learn W from the several vectors that people have in one table; ``None`` where hardly anybody has."""
    rng = stream(seed, "gaussian bayes: within")
    found = [table.several.contrasts(_CONTRASTS, rng) for table in (targets, queries) if table.several is not None]
    n = sum(map(len, found))
    if n < _FEWEST:
        return None
    shares = [float((1.0 / counts_of(table)).mean()) for table in (targets, queries)]
    return Within(spread(np.concatenate(found), seed).covariance, n, sum(shares) / 2.0)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Records in the coordinates of the model, (n, d), and the precision of each."""

    values: Singles
    precision: Floats

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> CountedRows:
        return CountedRows(self.values[rows], self.precision[rows])

    take = __getitem__


@dataclass(frozen=True, eq=False)
class Counted:
    """The model: (d, k) ``basis`` of its coordinates, b in ``between`` (k,), c in ``apart``.

    ``centre`` is the mean of the targets, ``drift`` what queries are off from it, both in the space of the vectors.
    """

    basis: Floats
    between: Floats
    apart: float
    centre: Floats
    drift: Floats

    @classmethod
    def of(cls, within: Within, spreads: tuple[Spread, Spread], apart: float, drift: Floats) -> Counted:
        """Return the model where means of targets and queries are so spread, by B + (mean of 1/k + c) W."""
        means = (spreads[0].covariance + spreads[1].covariance) / 2.0
        values, vectors = np.linalg.eigh(within.covariance + means / MOST)
        kept = values > max(float(values[-1]), 1e-300) * FLAT
        white = vectors[:, kept] / np.sqrt(values[kept])
        wide, turned = np.linalg.eigh(white.T @ means @ white)
        between = np.clip(wide - within.share - apart, LEAST, MOST)
        return cls(white @ turned, between, apart, spreads[0].mean, drift)

    def rows(self, points: Singles, counts: Ints, side: int) -> CountedRows:
        """Return means of this many vectors each, of targets (0) or queries (1), in the coordinates of the model."""
        limit = (_FURTHEST * np.sqrt(self.between + 1.0 + self.apart)).astype(np.float32)
        values = np.clip(Turn(self.centre + side * self.drift, self.basis)(points), -limit, limit)
        return CountedRows(values, self.precisions(counts))

    def precisions(self, counts: Ints) -> Floats:
        """Return 1 / (1/k + c), k rounded to one of the numbers that are told apart."""
        upper = np.minimum(np.searchsorted(_STEPS, counts), len(_STEPS) - 1)
        lower = np.maximum(upper - 1, 0)
        nearer = np.where(counts / _STEPS[lower] < _STEPS[upper] / counts, lower, upper)
        return np.asarray(1.0 / (1.0 / _STEPS[nearer] + self.apart))

    def drawn(self, points: Singles, counts: Ints, asked: Ints, rng: np.random.Generator) -> CountedRows:
        """Draw what the other table would hold of the people behind these targets, by such numbers of vectors."""
        known = self.rows(points, counts, 0)
        r, h = known.precision[:, None], 1.0 / self.between
        person = r * known.values / (r + h) + rng.normal(size=known.values.shape) / np.sqrt(r + h)
        p = self.precisions(rng.choice(asked, len(known)))
        return CountedRows((person + rng.normal(size=person.shape) / np.sqrt(p)[:, None]).astype(np.float32), p)

    def scorer(self, known: CountedRows) -> CountedScorer:
        """Return the scorer of the likelihood ratio, for these targets and others."""
        return CountedScorer(self.between, float(np.median(known.precision)))


class _Part(NamedTuple):
    """Queries of one precision: their rows in the table, and a question to a scorer of products."""

    rows: Ints
    scorer: VectorScorer
    targets: VectorRows
    queries: VectorRows


@dataclass(frozen=True, eq=False)
class CountedScorer(ByBlocks):
    """The log likelihood ratio in steps of 2^-16 nats; ``usual`` is the precision about which x^2 is expanded."""

    between: Floats
    usual: float
    temperature: float = 1.0

    @property
    def per_nat(self) -> float:
        """Steps of a score in one nat."""
        return GRID * self.temperature

    def best(self, targets: CountedRows, queries: CountedRows, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied target of each query."""
        found = Best(*(np.zeros(len(queries), dtype=np.int64) for _ in range(3)))
        for part in self._parts(targets, queries):
            for whole, some in zip(found, part.scorer.best(part.targets, part.queries, progress), strict=True):
                whole[part.rows] = some
        return found

    def candidates(self, targets: CountedRows, queries: CountedRows, k: int) -> Candidates:
        """Find the k best targets of each query."""
        found = Candidates(*(np.zeros((len(queries), k), dtype=np.int64) for _ in range(2)))
        for part in self._parts(targets, queries):
            for whole, some in zip(found, part.scorer.candidates(part.targets, part.queries, k), strict=True):
                whole[part.rows] = some
        return found

    def scores(self, targets: CountedRows, queries: CountedRows, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, exact as far as ``reach`` below each query's best; what is below is lower."""
        found = np.zeros((len(queries), len(targets)), dtype=np.int64)
        for part in self._parts(targets, queries):
            below = None if reach is None else reach[part.rows]
            found[part.rows] = part.scorer.scores(part.targets, part.queries, below)
        return found

    def pairs(self, targets: CountedRows, queries: CountedRows, rows: Ints) -> Ints:
        """Return the score of each query with the target row given for it."""
        found = np.zeros(len(queries), dtype=np.int64)
        for one in self._parts(targets.take(rows), queries):
            found[one.rows] = one.scorer.pairs(one.targets, one.queries, one.rows)
        return found

    def total(self, targets: CountedRows, queries: CountedRows, score: Ints) -> Ints:
        """Add up the likelihoods of all targets relative to the score given for each query."""
        found = np.zeros(len(queries), dtype=np.int64)
        for part in self._parts(targets, queries):
            found[part.rows] = part.scorer.total(part.targets, part.queries, score[part.rows])
        return found

    def _parts(self, targets: CountedRows, queries: CountedRows) -> Iterator[_Part]:
        h, r = 1.0 / self.between, targets.precision[:, None]
        wide = bool((targets.precision != self.usual).any())
        y = targets.values.astype(np.float64)
        for p in np.unique(queries.precision):
            rows = np.flatnonzero(queries.precision == p)
            x, s, mean = queries.values[rows].astype(np.float64), p + r + h, p + self.usual + h
            known = [p * r / s * y] + ([0.5 * p * p * (1.0 / s - 1.0 / mean)] if wide else [])
            asked = [x] + ([x * x] if wide else [])
            own = 0.5 * r * r * y * y * (1.0 / s - 1.0 / (r + h)) - 0.5 * np.log(s * h / ((p + h) * (r + h)))
            alone = 0.5 * p * p * x * x * (1.0 / mean - 1.0 / (p + h))
            one, two = (
                VectorRows.of(np.hstack(parts).astype(np.float32), "likelihood", _added(extra))
                for parts, extra in ((known, own), (asked, alone))
            )
            yield _Part(rows, VectorScorer.of("likelihood", one, self.temperature), one, two)


def _added(terms: npt.NDArray[np.float64]) -> Floats:
    """Return the sum of each row, from the first dimension to the last, whatever rows are beside it."""
    total = np.zeros(len(terms))
    for column in terms.T:
        total += column
    return total
