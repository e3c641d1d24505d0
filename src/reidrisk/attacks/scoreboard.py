"""The scoreboard attack: link a few known numbers to the record that agrees with most of them (galozy, Section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reidrisk.attacks.base import Attack, Links, check_k
from reidrisk.attacks.registry import per_pair, register
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.kernels import njit
from reidrisk.base.parallel import each
from reidrisk.base.progress import Progress
from reidrisk.base.users import UserIds, as_users, take_users
from reidrisk.search import GRID, Best, to_grid
from reidrisk.search.engines import Engine, LocalEngine

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SHARD = 256  # queries scored between two looks at the work list
_SCORES = 2_000_000  # scores held at once
_MOST_WEIGHT = 2.0**62 / GRID  # of all cells together: scores are 64-bit integers


class Cells:
    """Records of real numbers, such as flattened transition matrices; a cell that is not known is NaN.

    Parameters
    ----------
    values : (n, m) array
        One record a row.
    users : (n,) array, optional
        User ids.

    Examples
    --------
    >>> Cells([[0.2, 0.8], [0.5, float("nan")]])
    Cells(2 records x 2 cells, 25 % unknown)
    """

    __slots__ = ("users", "values")

    def __init__(self, values: npt.ArrayLike, users: Any = None) -> None:
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 2 or not array.shape[1]:
            raise DataError(f"cells must have shape (records, cells), not {array.shape}")
        if np.isinf(array).any():
            raise DataError(f"record {int(np.argwhere(np.isinf(array))[0][0])} has an infinite cell; NaN means unknown")
        self.values = array
        self.users: UserIds | None = as_users(users, len(array))

    @property
    def n_cells(self) -> int:
        """Number of cells of a record."""
        return int(self.values.shape[1])

    def take(self, rows: Ints | slice) -> Cells:
        """Return the chosen rows, in that order."""
        new = Cells(self.values[rows])
        new.users = take_users(self.users, rows)
        return new

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        unknown = 100.0 * float(np.isnan(self.values).mean()) if self.values.size else 0.0
        return f"Cells({len(self):,} records x {self.n_cells} cells, {unknown:.0f} % unknown)"


@register(kinds=(Cells,), cost=per_pair(1e-8))
class Scoreboard(Attack[Cells]):
    """Link to the record that agrees with most of the known cells (Narayanan and Shmatikov; galozy, Section 5).

    Score(aux, r') = sum over known cells i of w_i [ |aux_i - r'_i| < alpha ]; the paper divides by the number of
    known cells, or by the sum of their weights, which is the same for all records. (It prints the difference without
    its absolute value.) The attacker picks one of the best at random, and rates use the exact expectation of that.

    Parameters
    ----------
    alpha : float
        Tolerance.
    weights : (m,) array, optional
        Weight of each cell; all count the same when missing.

    Examples
    --------
    >>> targets = Cells([[0.2, 0.8, 0.0], [0.5, 0.5, 0.0], [0.5, 0.1, 0.4]])
    >>> links = Scoreboard().fit(targets).link(Cells([[0.5, float("nan"), 0.0], [0.5, float("nan"), float("nan")]]))
    >>> links.target.tolist(), links.n_ties.tolist()
    ([1, 1], [1, 2])
    """

    def __init__(self, alpha: float = 1e-3, weights: npt.ArrayLike | None = None) -> None:
        if not alpha > 0:
            raise OptionError(f"alpha must be above 0, not {alpha!r}: a difference is never below 0")
        self.alpha = alpha
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)

    @property
    def description(self) -> str:
        """What the attacker does and assumes."""
        return (
            "Knows some numbers of a record and links them to the record that agrees with most of them, to within "
            f"{self.alpha:g}. "
            "It knows nothing of how the records were changed (galozy, Section 5)."
        )

    def fit(self, targets: Cells) -> Self:
        """Look at the records among which the right one is sought."""
        self._targets = _checked(targets, self.name)
        m = targets.n_cells
        weights = np.ones(m) if self.weights is None else self.weights
        if weights.shape != (m,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise DataError(f"weights must be {m} finite numbers of at least 0, one a cell, not shape {weights.shape}")
        self.weights_ = score_grid(weights)
        return self

    def link(self, queries: Cells, probability: bool = False, *, engine: Engine | None = None) -> Links:
        """Link every query to the record with the best score; there is no model, so no probability."""
        asked = self._asked(queries)
        found = (engine or LocalEngine()).best(Agreement(self.weights_, self.alpha), self._targets, asked)
        return Links(target=found.target, score=found.score, n_ties=found.n_ties)

    def score(self, queries: Cells, target_index: Ints) -> Ints:
        """Return the score of each query with the given record."""
        asked = self._asked(queries)
        near = np.abs(asked.values - self._targets.values[self._rows(target_index, len(asked), len(self._targets))])
        return np.asarray(np.where(near < self.alpha, self.weights_, 0).sum(axis=1))

    def candidates(self, queries: Cells, k: int, among: Ints | None = None) -> tuple[Ints, Ints]:
        """Return the k best records of each query and their scores, best first."""
        among = None if among is None else self._chosen(among, len(self._targets))
        n = len(self._targets) if among is None else len(among)
        check_k(k, n)
        rows, best = (np.zeros((len(queries), k), dtype=np.int64) for _ in range(2))
        for part, scores in self._blocks(queries):
            chosen = scores if among is None else scores[:, among]
            rows[part] = np.argsort(-chosen, axis=1, kind="stable")[:, :k]
            best[part] = np.take_along_axis(chosen, rows[part], axis=1)
        return rows if among is None else among[rows], best

    def near_best(self, queries: Cells, reach: Ints) -> Ints | None:
        """Return the score of every query with every record, all of them exact."""
        out = np.zeros((len(queries), len(self._targets)), dtype=np.int64)
        for part, scores in self._blocks(queries):
            out[part] = scores
        return out

    def _asked(self, queries: Cells) -> Cells:
        self._refuse_unfitted("_targets")
        _checked(queries, self.name)
        if queries.n_cells != self._targets.n_cells:
            raise DataError(f"targets have {self._targets.n_cells} cells, queries have {queries.n_cells}")
        return queries

    def _blocks(self, queries: Cells) -> Any:
        asked = self._asked(queries)
        return Agreement(self.weights_, self.alpha).blocks(self._targets, asked)


@dataclass(frozen=True, eq=False)
class Agreement:
    """The score of :class:`Scoreboard`, for an engine: the weight of each cell on the grid, and the tolerance."""

    weights: Ints
    alpha: float

    def blocks(self, targets: Cells, queries: Cells) -> Iterator[tuple[slice, Ints]]:
        """Yield some queries and their scores with every target, never more than a bounded number of them."""
        size = max(1, _SCORES // len(targets))
        for start in range(0, len(queries), size):
            part = slice(start, min(start + size, len(queries)))
            cells, values = known_cells(queries.values[part])
            yield part, agreement(targets.values, cells, values, self.weights, self.alpha)

    def best(self, targets: Cells, queries: Cells, progress: Progress | None = None) -> Best:
        """Find best score, number of ties and lowest tied record of each query."""
        target, score, n_ties = (np.zeros(len(queries), dtype=np.int64) for _ in range(3))
        for part, scores in self.blocks(targets, queries):
            target[part] = scores.argmax(axis=1)
            score[part] = scores.max(axis=1)
            n_ties[part] = (scores == score[part, None]).sum(axis=1)
        return Best(score, n_ties, target)


def score_grid(weights: Floats) -> Ints:
    """Put weights of cells on the score grid, or say that their sum does not fit in 64 bits.

    Examples
    --------
    >>> score_grid(np.array([1.0, 0.5])).tolist()
    [65536, 32768]
    """
    if not float(weights.max(initial=0.0)) * len(weights) < _MOST_WEIGHT:
        raise DataError(
            f"the largest of {len(weights)} weights is {weights.max():g}, too large for exact scores; "
            "divide all weights by it: only their ratios count"
        )
    return to_grid(weights)


def known_cells(values: Floats) -> tuple[Ints, Floats]:
    """Return the known cells of each record and their values, filled up with a NaN at cell 0.

    Examples
    --------
    >>> cells, values = known_cells(np.array([[np.nan, 0.5], [0.1, 0.2]]))
    >>> cells.tolist(), values.tolist()
    ([[1, 0], [0, 1]], [[0.5, nan], [0.1, 0.2]])
    """
    known = ~np.isnan(values)
    width = max(1, int(known.sum(axis=1).max(initial=0)))
    order = np.argsort(~known, axis=1, kind="stable")[:, :width]
    found = np.take_along_axis(values, order, axis=1)
    return np.where(np.isnan(found), 0, order), found


def agreement(
    targets: Floats, cells: Ints, values: Floats, weights: Ints, alpha: float, threads: int | None = None
) -> Ints:
    """Return the score of every query with every target: (q, n) integers.

    Parameters
    ----------
    targets : (n, m) array
        Records.
    cells, values : (q, a) arrays
        Which cells the attacker knows of each query, and their values; NaN agrees with nothing.
    weights : (m,) int64
        Weight of each cell on the score grid.
    alpha : float
        Tolerance.
    threads : int, optional
        How many; one for each core when missing.

    Examples
    --------
    >>> targets = np.array([[0.2, 0.8], [0.5, 0.5]])
    >>> agreement(targets, np.array([[1]]), np.array([[0.5]]), np.array([3, 4]), 1e-3).tolist()
    [[0, 4]]
    """
    out = np.zeros((len(cells), len(targets)), dtype=np.int64)
    each(
        lambda part: _agree(targets, cells[part], values[part], weights, alpha, out[part]),
        [slice(start, start + _SHARD) for start in range(0, len(cells), _SHARD)],
        threads,
    )
    return out


@njit(nogil=True, cache=True)
def _agree(
    targets: Any, cells: Any, values: Any, weights: Any, alpha: float, out: Any
) -> None:  # pragma: no cover - compiled
    for q in range(cells.shape[0]):
        for t in range(targets.shape[0]):
            total = 0
            for i in range(cells.shape[1]):
                if abs(values[q, i] - targets[t, cells[q, i]]) < alpha:
                    total += weights[cells[q, i]]
            out[q, t] = total


def _checked(records: Any, name: str) -> Cells:
    if not isinstance(records, Cells):
        raise DataError(f"{name} compares cells, not {type(records).__name__}; wrap the numbers in Cells")
    return records
