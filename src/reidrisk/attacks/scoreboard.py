"""The scoreboard attack: link a few known numbers to the record that agrees with most of them (galozy, Section 5)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reidrisk.attacks.registry import per_pair, register
from reidrisk.attacks.scored import Posed, ScoredAttack
from reidrisk.base import ArrayLike, DataError, Floats, Ints, OptionError, each, njit, slices
from reidrisk.records import Cells, Vectors
from reidrisk.search import GRID, ByBlocks, to_grid

_SHARD = 256  # queries scored between two looks at the work list
_MOST_WEIGHT = 2.0**62 / GRID  # of all cells together: scores are 64-bit integers


@register(kinds=(Cells, Vectors), cost=per_pair(1e-8))
class Scoreboard(ScoredAttack[Cells | Vectors]):
    """Link to the record that agrees with most of the known cells (Narayanan and Shmatikov; galozy, Section 5).

    Score(aux, r') = sum over known cells i of w_i [ |aux_i - r'_i| < alpha ]; the paper divides by the number of
    known cells, or by the sum of their weights, which is the same for all records. (It prints the difference without
    its absolute value.) The attacker picks one of the best at random, and rates use the exact expectation of that.

    It takes Cells, of which some may be unknown, and Vectors, of which all are known. ``alpha`` is the tolerance,
    ``weights`` (m,) the weight of each cell; default: all count the same.

    >>> targets = Cells([[0.2, 0.8, 0.0], [0.5, 0.5, 0.0], [0.5, 0.1, 0.4]])
    >>> links = Scoreboard().fit(targets).link(Cells([[0.5, float("nan"), 0.0], [0.5, float("nan"), float("nan")]]))
    >>> links.target.tolist(), links.n_ties.tolist()
    ([1, 1], [1, 2])
    """

    def __init__(self, alpha: float = 1e-3, weights: ArrayLike | None = None) -> None:
        if not alpha > 0:
            raise OptionError(f"alpha must be above 0, not {alpha!r}: a difference is never below 0")
        self.alpha = alpha
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Knows some numbers of a record and links them to the record that agrees with most of them, to within "
            f"{self.alpha:g}. It knows nothing of how the records were changed (galozy, Section 5)."
        )

    def fit(self, targets: Cells | Vectors) -> Self:
        """Look at the records among which the right one is sought."""
        self._known = self._checked(targets)
        m = self._known.n_cells
        weights = np.ones(m) if self.weights is None else self.weights
        if weights.shape != (m,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise DataError(
                f"weights must be {m} finite numbers of at least 0, one per cell, not shape {weights.shape}"
            )
        self.weights_ = score_grid(weights)
        return self

    def _posed(self, queries: Cells | Vectors) -> Posed:
        self._refuse_unfitted("_known")
        asked = self._checked(queries)
        if asked.n_cells != self._known.n_cells:
            raise DataError(f"targets have {self._known.n_cells} cells, queries have {asked.n_cells}")
        return Posed(CellAgreement(self.weights_, self.alpha), self._known, asked.values)

    def _checked(self, records: Any) -> Cells:
        if isinstance(records, Vectors):
            return Cells(records.values)
        if not isinstance(records, Cells):
            raise DataError(f"{self.name} compares cells, not {type(records).__name__}; wrap the numbers in Cells")
        return records


@dataclass(frozen=True, eq=False)
class CellAgreement(ByBlocks):
    """The score of :class:`Scoreboard`, for an engine: the weight of each cell on the grid, and the tolerance."""

    weights: Ints
    alpha: float

    def scores(self, targets: Cells, queries: Floats, reach: Ints | None = None) -> Ints:
        """Return the (q, n) scores, all of them exact."""
        return agreement(targets.values, *known_cells(queries), self.weights, self.alpha)

    def pairs(self, targets: Cells, queries: Floats, rows: Ints) -> Ints:
        """Return the score of each query with the record given for it."""
        near = np.abs(queries - targets.values[rows]) < self.alpha
        return np.asarray(np.where(near, self.weights, 0).sum(axis=1))


def score_grid(weights: Floats) -> Ints:
    """Put weights of cells on the score grid, or say that their sum does not fit in 64 bits."""
    if not float(weights.max(initial=0.0)) * len(weights) < _MOST_WEIGHT:
        largest = f"the largest of {len(weights)} weights is {weights.max():g}, too large for exact scores"
        raise DataError(f"{largest}; divide all weights by it: only their ratios count")
    return to_grid(weights)


def known_cells(values: Floats) -> tuple[Ints, Floats]:
    """Return the known cells of each record and their values, filled up with a NaN at cell 0."""
    known = ~np.isnan(values)
    width = max(1, int(known.sum(axis=1).max(initial=0)))
    order = np.argsort(~known, axis=1, kind="stable")[:, :width]
    found = np.take_along_axis(values, order, axis=1)
    return np.where(np.isnan(found), 0, order), found


def agreement(
    targets: Floats, cells: Ints, values: Floats, weights: Ints, alpha: float, threads: int | None = None
) -> Ints:
    """Return the score of every query with every target: (q, n) integers.

    ``cells`` and ``values`` (q, a) are which cells the attacker knows of each query, and their values; NaN agrees with
    nothing. ``weights`` (m,) are on the score grid.
    """
    out = np.zeros((len(cells), len(targets)), dtype=np.int64)
    work = slices(len(cells), _SHARD)
    each(lambda part: _agree(targets, cells[part], values[part], weights, alpha, out[part]), work, threads)
    return out


@njit(nogil=True, cache=True)
def _agree(targets: Any, cells: Any, values: Any, weights: Any, alpha: float, out: Any) -> None:
    for q in range(cells.shape[0]):
        for t in range(targets.shape[0]):
            total = 0
            for i in range(cells.shape[1]):
                if abs(values[q, i] - targets[t, cells[q, i]]) < alpha:
                    total += weights[cells[q, i]]
            out[q, t] = total
