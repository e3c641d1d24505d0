"""How well two kinds of releases can be told apart: the promised trade-off curve, the measured one, and their areas."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats

ALARM = 1e-4  # probability that noise as promised is found too small
_POINTS = 101


def tradeoff(false_alarms: npt.ArrayLike, mu: float) -> Floats:
    r"""Return the best rate of detections at each rate of false alarms, :math:`\Phi(\Phi^{-1}(\alpha) + \mu)`.

    The trade-off function of the Gaussian mechanism (Dong, Roth and Su 2022), of which dick, Proposition 4 is the
    translation to epsilon and delta; :math:`\mu` is sensitivity over noise.
    """
    from scipy.special import ndtr, ndtri

    return np.asarray(ndtr(ndtri(np.asarray(false_alarms, dtype=np.float64)) + mu))


def tradeoff_area(mu: float) -> float:
    r"""Return the area under the trade-off curve, :math:`\Phi(\mu / \sqrt2)`."""
    from scipy.special import ndtr

    return float(ndtr(mu / math.sqrt(2.0)))


def verdict(inside: Floats, outside: Floats, promised: float) -> dict[str, Any]:
    """Compare the area under the curve with the promised one; its variance is DeLong's."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n = len(inside)
    ranks = rankdata(np.concatenate([inside, outside]))
    above = (ranks[:n] - rankdata(inside)) / n  # share of releases without that lie below each release with
    below = 1.0 - (ranks[n:] - rankdata(outside)) / n
    area = float(above.mean())
    error = math.sqrt((above.var(ddof=1) + below.var(ddof=1)) / n)

    def mu(at: float) -> float:
        return math.sqrt(2.0) * float(ndtri(min(max(at, 0.5 / n), 1.0 - 0.5 / n)))

    passed = bool(area + float(ndtri(ALARM)) * error <= tradeoff_area(promised))
    low, high = area - 1.96 * error, area + 1.96 * error
    found = {"promised": promised, "found": mu(area), "low": mu(low), "high": mu(high)}
    return found | {"area": area, "area_low": low, "area_high": high, "passed": passed}


def curve(inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Return rates of false alarms and of detections over all thresholds, at most :data:`_POINTS` of them."""
    thresholds = np.quantile(np.concatenate([inside, outside]), np.linspace(0.0, 1.0, _POINTS)[::-1])
    alarms, detections = (
        1.0 - np.searchsorted(np.sort(v), thresholds, side="left") / len(v) for v in (outside, inside)
    )
    return np.concatenate([[0.0], alarms]), np.concatenate([[0.0], detections])
