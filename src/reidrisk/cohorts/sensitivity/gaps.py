"""How far each cohort is from the population, in whole numbers: no rounding decides what exceeds a threshold."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reidrisk.base import Bools, Floats, Ints, Spoken, between_0_and_1, slices
from reidrisk.cohorts.sensitivity.counts import CohortCounts

_CELLS = 1 << 21  # cells of a block: temporary arrays of 16 MiB
_CLOSE = 1e-9  # far above the rounding of a gap: what lies closer to t is decided in whole numbers

Gaps = tuple[Ints, Floats]


def gaps(counts: CohortCounts) -> Gaps:
    r"""Return the anomalous category of each cohort and its sensitivity gap (floc, Definition 3).

    .. math:: X^* = \arg\max_X \mathrm{CohortFreq}(X, C) - \mathrm{PopulationFreq}(X)

    Among equal gaps the first counts. It is negative where users without a cohort visit more than those with one.
    """
    return _farthest(counts, either_way=False)


def _farthest(counts: CohortCounts, either_way: bool) -> Gaps:
    category, largest = np.empty((2, counts.cohorts.size), dtype=np.int64)
    for rows in row_blocks(*counts.visits.shape):
        away = np.abs(excess(counts, rows)) if either_way else excess(counts, rows)
        category[rows], largest[rows] = away.argmax(axis=1), away.max(axis=1)
    return category, largest / (counts.sizes.astype(np.float64) * counts.n_users)


def excess(counts: CohortCounts, rows: slice) -> Ints:
    """Return ``visits * n_users - population * size``: the gaps times ``size * n_users``, exactly."""
    return counts.visits[rows].astype(np.int64) * counts.n_users - counts.population * counts.sizes[rows, None]


def exceeding(counts: CohortCounts, found: Gaps, t: float) -> Bools:
    """Tell which cohorts are sensitive: a gap strictly above t (floc, Definition 4).

    ``t`` is taken as the decimal it is written as, and gaps that come close to it are compared in whole numbers: with
    t = 0.1, 30 % in a cohort against 20 % in the population is not above.
    """
    t = between_0_and_1("t", t)
    category, gap = found
    above: Bools = gap > t
    limit = Fraction(repr(t))
    for row in np.flatnonzero(np.abs(gap - t) < _CLOSE):
        cohort_freq = Fraction(int(counts.visits[row, category[row]]), int(counts.sizes[row]))
        above[row] = cohort_freq - Fraction(int(counts.population[category[row]]), counts.n_users) > limit
    return above


def row_blocks(rows: int, columns: int) -> list[slice]:
    """Cut a table into blocks of rows with a bounded number of cells."""
    return slices(rows, _CELLS // columns)


@dataclass(frozen=True, eq=False)
class Closeness(Spoken):
    """How far the farthest category of each cohort is from the population, and its column: (m,) arrays."""

    distance: Floats
    category: Ints
    worst: float  # the least t for which the assignment satisfies t-closeness
    k: int

    def satisfied(self, k: int, t: float) -> bool:
        """Tell whether the assignment is k-anonymous and t-close."""
        return self.k >= k and self.worst <= t


def closeness(counts: CohortCounts) -> Closeness:
    r"""Return the distance of t-closeness of every cohort (floc, Sensitivity).

    A user visited a category or did not, so the distance (total variation, and earth mover's alike) is

    .. math:: \max_X \left|\mathrm{CohortFreq}(X, C) - \mathrm{PopulationFreq}(X)\right|.

    The sensitivity gap is the same without the bars: it overlooks a category that a cohort *avoids*. That every cohort
    that is not sensitive satisfies t-closeness, as the paper says, holds for the gap, not for this distance.

    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> found = closeness(count_visits([0, 0, 1, 1], [[0], [0], [1], [0]]))
    >>> found.distance.tolist(), found.satisfied(k=2, t=0.25)     # the gap of cohort 0 is -0.25
    ([0.25, 0.25], True)
    """
    category, distance = _farthest(counts, either_way=True)
    return Closeness(distance, category, float(distance.max()), counts.k)
