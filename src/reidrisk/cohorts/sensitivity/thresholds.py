"""What a threshold costs: the share of cohorts and of users blocked, and how frequent categories are."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reidrisk.base.arrays import Floats
from reidrisk.base.errors import DataError, OptionError
from reidrisk.base.results import Spoken
from reidrisk.cohorts.sensitivity.counts import CohortCounts
from reidrisk.cohorts.sensitivity.gaps import Gaps, exceeding, gaps
from reidrisk.cohorts.sensitivity.significance import gap_intervals

Ends = tuple[Floats, Floats]

THRESHOLDS = tuple(round(0.005 * i, 3) for i in range(1, 61))
"""From 0.005 to 0.3; the paper's figure has thresholds of this range."""

_EDGES = tuple(round(0.01 * i, 2) for i in range(101))


@dataclass(frozen=True, eq=False)
class ThresholdCurve(Spoken):
    """The share of cohorts, and of users with a cohort, that each threshold blocks (floc, Utility vs privacy)."""

    t: tuple[float, ...]
    cohorts: tuple[float, ...]
    users: tuple[float, ...]
    certain: tuple[float, ...]  # share of the cohorts whose interval lies above t as a whole
    possible: tuple[float, ...]  # share of those whose interval reaches above it
    n_cohorts: int
    level: float = 0.95
    noisy: bool = False


@dataclass(frozen=True, eq=False)
class FrequencyHistogram(Spoken):
    """How many categories are visited by which share of users; bin ``i`` goes from edge ``i`` up to edge ``i + 1``."""

    edges: tuple[float, ...]
    categories: tuple[int, ...]
    below: float
    share_below: float


def threshold_curve(
    counts: CohortCounts, thresholds: Sequence[float] | None = None, level: float = 0.95
) -> ThresholdCurve:
    """Return what each threshold would block; default: from 0.005 to 0.3.

    >>> from reidrisk.cohorts.sensitivity.counts import count_visits
    >>> counts = count_visits([0, 0, 1, 1, 1, 1], [[1], [1], [0], [0], [0], [0]])
    >>> curve = threshold_curve(counts, [0.1, 0.7])
    >>> curve.cohorts, [round(share, 2) for share in curve.users]
    ((0.5, 0.0), [0.33, 0.0])
    """
    thresholds = THRESHOLDS if thresholds is None else thresholds
    if not len(thresholds) or any(b <= a for a, b in itertools.pairwise(thresholds)):
        raise OptionError("thresholds must ascend, and there must be at least one")
    return curve_of(counts, gaps(counts), gap_intervals(counts, level), thresholds, level)


def curve_of(
    counts: CohortCounts, found: Gaps, ends: Ends, thresholds: Sequence[float], level: float, noisy: bool = False
) -> ThresholdCurve:
    """Return what each threshold would block, by gaps and the ends of their intervals; noisy gaps are not exact."""
    above = [found[1] > t if noisy else exceeding(counts, found, t) for t in thresholds]
    sizes = counts.sizes
    return ThresholdCurve(
        t=tuple(map(float, thresholds)),
        cohorts=tuple(float(chosen.mean()) for chosen in above),
        users=tuple(float(sizes[chosen].sum() / sizes.sum()) for chosen in above),
        certain=tuple(float((ends[0] > t).mean()) for t in thresholds),
        possible=tuple(float((ends[1] > t).mean()) for t in thresholds),
        n_cohorts=sizes.size,
        level=float(level),
        noisy=noisy,
    )


def frequency_histogram(
    counts: CohortCounts, edges: Sequence[float] | None = None, below: float = 0.05
) -> FrequencyHistogram:
    """Return how many categories each share of the population visited (floc, figure of Definition 1)."""
    bins = np.asarray(_EDGES if edges is None else edges, dtype=np.float64)
    if bins.size < 2 or (np.diff(bins) <= 0).any():
        raise OptionError("edges must ascend, and there must be at least two")
    freq = counts.population_freq
    if freq.min() < bins[0] or freq.max() > bins[-1]:
        raise DataError(f"frequencies go from {freq.min():g} to {freq.max():g}; give edges that hold them all")
    return FrequencyHistogram(
        edges=tuple(bins.tolist()),
        categories=tuple(np.histogram(freq, bins)[0].tolist()),
        below=float(below),
        share_below=float((freq < below).mean()),
    )
