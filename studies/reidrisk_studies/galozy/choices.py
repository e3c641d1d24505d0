"""The cheapest way to share at a given risk: one choice, or a coin between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reidrisk.bandits import Tradeoff, TradeoffPoint
from reidrisk.base.intervals import difference_interval

__all__ = ["Mixture", "by_stronger", "cheapest", "mixture", "price"]


def by_stronger(points: Sequence[TradeoffPoint]) -> list[TradeoffPoint]:
    """Return the points with the risk of the attacker who knows the mechanism in the place of the scoreboard's."""
    return [replace(point, risk=point.likelihood) for point in points if point.likelihood is not None]


def cheapest(points: Sequence[TradeoffPoint], at_most: float) -> TradeoffPoint | None:
    """Return the point of least regret among those at which at most a share ``at_most`` is found."""
    safe = [p for p in points if p.risk.rate <= at_most]
    return min(safe, key=lambda p: p.regret.mean) if safe else None


def price(surface: Tradeoff, at_most: float) -> tuple[float, TradeoffPoint] | None:
    """Return how far the cheapest choice is from the true matrices to blind choice, from 0 to 1, and that choice."""
    best = cheapest(surface.points, at_most)
    if best is None:
        return None
    return (best.regret.mean - surface.least_regret) / (surface.blind_regret - surface.least_regret), best


@dataclass(frozen=True, eq=False)
class Mixture:
    """The least regret at a given risk, in the mean and run by run."""

    mean: float
    per_run: npt.NDArray[np.float64]
    worst: float

    def minus(self, other: Mixture) -> tuple[float, float]:
        """Return the interval of the paired difference."""
        low, high = difference_interval(self.per_run / self.worst, other.per_run / self.worst, 0.95)
        return self.worst * low, self.worst * high


def mixture(points: Sequence[TradeoffPoint], at_most: float) -> Mixture | None:
    """Return the cheapest choice, or coin between two, with which a share of at most ``at_most`` is found.

    Few measured points lie exactly at a limit. A coin that decides between two of them has, exactly, the mean of
    their risks and of their regrets.
    """
    safe = [p for p in points if p.risk.rate <= at_most]
    if not safe:
        return None
    best = min(safe, key=lambda p: p.regret.mean)
    found = (best.regret.mean, best, best, 1.0)
    for a in safe:
        for b in points:
            if b.risk.rate > at_most and b.regret.mean < a.regret.mean:
                share = (b.risk.rate - at_most) / (b.risk.rate - a.risk.rate)
                mean = share * a.regret.mean + (1 - share) * b.regret.mean
                if mean < found[0]:
                    found = (mean, a, b, share)
    mean, a, b, share = found
    assert a.regret.per_run is not None
    assert b.regret.per_run is not None
    return Mixture(mean, share * a.regret.per_run + (1 - share) * b.regret.per_run, a.regret.worst)
