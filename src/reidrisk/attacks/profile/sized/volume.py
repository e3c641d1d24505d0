"""What totals tell, where they are evidence: who does much in one table may do much in the other, too.

Totals of each side are ranked and laid on a normal curve: x of a target, y of a query. If one person made both, the two
are taken for normal with the correlation r, else for independent, so that the log Bayes factor is

    r x y / (1 - r^2)  -  r^2 (x^2 + y^2) / (2 (1 - r^2))  -  log(1 - r^2) / 2.

Ranks know no units: neither the length of a period nor what is counted matters. Where many totals are equal, ranks are
not normal; so the factor is divided by its mean over the totals of queries, and none is likelier than all together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reidrisk.base.arrays import Floats

CORRELATIONS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_RANKS = 255  # totals of a side that are kept, at most


class VolumeTerms(NamedTuple):
    """The log Bayes factor as a product of three numbers of a target and three of a query."""

    first: Floats
    second: Floats
    third: Floats


@dataclass(frozen=True)
class Volume:
    """The ``correlation`` of totals, and the totals of targets and queries, in order, among which others are ranked.

    >>> volume = Volume(0.8, (1.0, 2.0, 3.0), (10.0, 20.0, 30.0))
    >>> known, asked = volume.of_targets(np.array([1.0, 3.0])), volume.of_queries(np.array([30.0]))
    >>> sum(one * two for one, two in zip(known, asked)).round(2).tolist()
    [-1.44, 0.58]
    """

    correlation: float
    known: tuple[float, ...]
    asked: tuple[float, ...]

    def of_targets(self, totals: Floats) -> VolumeTerms:
        """Return the terms of targets with these totals."""
        each, place = np.unique(totals, return_inverse=True)
        x = normal_score(each, self.known)
        alone, slope = self._alone(x), self.correlation / (1.0 - self.correlation**2) * x
        _, y, rest = self.of_queries(np.array(self.asked))
        alone = alone - np.log(np.exp(alone[:, None] + np.outer(slope, y) + rest).mean(axis=1))
        return VolumeTerms(alone[place], slope[place], np.ones(len(totals)))

    def of_queries(self, totals: Floats) -> VolumeTerms:
        """Return the terms of queries with these totals."""
        y = normal_score(totals, self.asked)
        return VolumeTerms(np.ones(len(y)), y, self._alone(y) - 0.5 * np.log1p(-(self.correlation**2)))

    def _alone(self, score: Floats) -> Floats:
        r2 = self.correlation**2
        return np.asarray(-0.5 * r2 / (1.0 - r2) * score**2)


def ranks(totals: Floats) -> tuple[float, ...]:
    """Return the totals of records, in order; of many, as many quantiles."""
    ordered = np.sort(totals)
    if len(ordered) > _RANKS:
        ordered = ordered[np.linspace(0, len(ordered) - 1, _RANKS).round().astype(np.int64)]
    return tuple(ordered.tolist())


def normal_score(totals: Floats, among: tuple[float, ...]) -> Floats:
    """Return where each total stands among others, laid on the normal curve; equals stand in their middle.

    >>> normal_score(np.array([1.0, 2.0]), (1.0, 2.0, 3.0)).round(2).tolist()
    [-0.67, 0.0]
    """
    from scipy.special import ndtri

    others = np.array(among)
    place = sum(np.searchsorted(others, totals, side=side) for side in ("left", "right")) / 2.0
    return np.asarray(ndtri((place + 0.5) / (len(others) + 1.0)))
