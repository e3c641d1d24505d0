"""Two tests of how large the noise of released counts is: sums that must agree, and counts that are near 0.

Neither asks what was counted; :func:`reidrisk.release.validate_noise.noise_fit` says why they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.release.counts import Counts
from reidrisk.wording import percent

__all__ = ["differing_sums", "near_zero", "nearest_shares", "spread"]

NEAR = 3.0
"""A count is near-empty within so many sigma of 0."""

HALVINGS = 11
"""Windows around 0: sigma, a half of it, a quarter, …"""

_TABULATED = 1 << 20


def differing_sums(counts: Counts, sigma: Mapping[str, float]) -> tuple[int, float]:
    """Return how many differences of sums there are, and the sum of their squares over their variance."""
    if not {"f11", "f22", "f12"} <= set(sigma):
        return 0, 0.0
    k, n = counts.k, counts.n_tokens
    square = 0.0
    for name, axis in (("f11", 1), ("f22", 0)):
        within = counts.tables[name].sum(axis=1, dtype=np.float64)
        across = counts.tables["f12"].sum(axis=axis, dtype=np.float64)
        left = k * within - (k - 1) * across
        variance = k**2 * (n - 2) * sigma[name] ** 2 + (k - 1) ** 2 * n * sigma["f12"] ** 2
        square += float(np.sum((left - left.mean()) ** 2)) / variance
    return 2 * (n - 1), square


def spread(n_sums: int, square: float, level: float) -> dict[str, float]:
    """Return the spread of the sums as a multiple of what it should be, its interval, p-values and power."""
    from scipy.special import chdtr, chdtrc, chdtri

    if not n_sums:
        return dict.fromkeys(("ratio", "low", "high", "p_low", "p_high", "finds_half"), 0.0)
    least = chdtri(n_sums, 1.0 - level)
    return {
        "ratio": math.sqrt(square / n_sums),
        "low": math.sqrt(square / chdtri(n_sums, 0.025)),
        "high": math.sqrt(square / chdtri(n_sums, 0.975)),
        "p_low": float(chdtr(n_sums, square)),
        "p_high": float(chdtrc(n_sums, square)),
        "finds_half": float(chdtr(n_sums, 4.0 * least)),
    }


def near_zero(values: npt.NDArray[Any], sigma: float, discrete: bool, level: float) -> tuple[dict[str, float], str]:
    """Test whether more counts lie near 0 than noise of this size lets; say so where they do."""
    from scipy.special import bdtrc

    size = np.abs(values)
    size = np.sort(size[size <= NEAR * sigma])
    windows = np.asarray(sigma * 0.5 ** np.arange(HALVINGS), dtype=np.float64)
    if discrete:
        windows = np.unique(np.floor(windows))[::-1]
    expected = nearest_shares(windows, sigma, discrete)
    inside = np.searchsorted(size, windows, side="right")
    if not len(size):
        return {"sigma": sigma, "near": 0, "within": 0.0, "expected": float(expected[0]), "p": 1.0}, ""
    p = np.where(inside > 0, bdtrc(np.maximum(inside - 1, 0), len(size), expected), 1.0)
    # Where several are as unlikely, the one with the largest excess tells most.
    worst = int(np.argmax(np.where(p == p.min(), inside / expected, -1.0)))
    adjusted = min(float(p[worst]) * len(windows), 1.0)
    found = {
        "sigma": sigma,
        "near": len(size),
        "within": float(inside[0] / len(size)),
        "expected": float(expected[0]),
        "p": adjusted,
    }
    if adjusted > level:
        return found, ""
    where = f"lie within {windows[worst]:.3g} of 0" if windows[worst] else "are exactly 0"
    told = (
        f"{percent(inside[worst] / len(size))} of {len(size):,} near-empty counts {where}, where noise of the stated "
        f"size puts {percent(expected[worst])} at most"
    )
    return found, told


def nearest_shares(windows: npt.NDArray[np.float64], sigma: float, discrete: bool) -> npt.NDArray[np.float64]:
    """Return which share of an empty count's noise lies in each window, of that within three sigma."""
    from scipy.special import erf

    last = math.floor(NEAR * sigma)
    if discrete and last < _TABULATED:
        cumulated = np.cumsum(np.exp(-0.5 * (np.arange(last + 1) / sigma) ** 2))
        both = 2.0 * cumulated - 1.0  # 0 once, everything else on both sides
        return np.asarray(both[windows.astype(np.int64)] / both[-1])
    return np.asarray(erf(windows / (sigma * math.sqrt(2.0))) / erf(NEAR / math.sqrt(2.0)))
