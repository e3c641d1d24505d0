"""The sensitivity gap of each cohort and which gaps exceed a threshold, in whole numbers: no rounding decides."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from reidrisk.base.options import between_0_and_1
from reidrisk.cohorts.sensitivity.counts import CohortCounts

_CELLS = 1 << 21  # cells of a block: temporary arrays of 16 MiB
_CLOSE = 1e-9  # far above the rounding of a gap: what lies closer to t is decided in whole numbers

Gaps = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def gaps(counts: CohortCounts) -> Gaps:
    r"""Return the anomalous category of each cohort and its sensitivity gap (floc, Definition 3).

    .. math:: X^* = \arg\max_X \mathrm{CohortFreq}(X, C) - \mathrm{PopulationFreq}(X)

    Among categories with the same gap the first counts. The gap may be negative, where users without a cohort visit
    more than those with one.

    Examples
    --------
    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> category, gap = gaps(count_visits([0, 0, 1, 1], [[1, 0], [1, 0], [0, 1], [0, 0]]))
    >>> category.tolist(), gap.tolist()
    ([0, 1], [0.5, 0.25])
    """
    category = np.empty(counts.cohorts.size, dtype=np.int64)
    largest = np.empty(counts.cohorts.size, dtype=np.int64)
    for rows in cohort_blocks(counts):
        above = excess(counts, rows)
        category[rows] = above.argmax(axis=1)
        largest[rows] = above.max(axis=1)
    return category, largest / (counts.sizes.astype(np.float64) * counts.n_users)


def excess(counts: CohortCounts, rows: slice) -> npt.NDArray[np.int64]:
    """Return ``visits * n_users - population * size``: the gaps times ``size * n_users``, exactly."""
    visits = counts.visits[rows].astype(np.int64)
    return visits * counts.n_users - counts.population * counts.sizes[rows, None]


def exceeding(counts: CohortCounts, found: Gaps, t: float) -> npt.NDArray[np.bool_]:
    """Tell which cohorts are sensitive: a gap strictly above t (floc, Definition 4).

    ``t`` is taken as the decimal it is written as, and gaps that come close to it are compared in whole numbers: with
    t = 0.1, 30 % in a cohort against 20 % in the population is not above.

    Examples
    --------
    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> counts = count_visits([0, 0, 1, 1], [[1], [1], [1], [0]])
    >>> exceeding(counts, gaps(counts), 0.25).tolist(), exceeding(counts, gaps(counts), 0.249).tolist()
    ([False, False], [True, False])
    """
    t = between_0_and_1("t", t)
    category, gap = found
    above: npt.NDArray[np.bool_] = gap > t
    limit = Fraction(repr(t))
    for row in np.flatnonzero(np.abs(gap - t) < _CLOSE):
        size, total = int(counts.sizes[row]), counts.n_users
        visits, population = int(counts.visits[row, category[row]]), int(counts.population[category[row]])
        above[row] = Fraction(visits, size) - Fraction(population, total) > limit
    return above


def cohort_blocks(counts: CohortCounts) -> Iterator[slice]:
    """Cut the cohorts into blocks of a bounded number of cells."""
    step = max(1, _CELLS // counts.visits.shape[1])
    for start in range(0, counts.cohorts.size, step):
        yield slice(start, min(start + step, counts.cohorts.size))
