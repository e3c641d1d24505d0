"""Tests of how large the noise of released counts is: sums that must agree, counts that are alike, counts near 0.

None asks what was counted; :func:`reidrisk.release.validate.noise.noise_fit` says why they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.release.counts.pairs import Counts

NEAR = 3.0  # a count is near-empty within this many sigma of 0
HALVINGS = 11  # windows around 0: sigma, a half of it, a quarter, …
_TABULATED = 1 << 20


def differing_sums(counts: Counts, sigma: Mapping[str, float]) -> tuple[int, float]:
    """Return how many differences of sums there are, and the sum of their squares over their variance."""
    if {"within", "across"} <= set(sigma):
        return 1, _totals(counts, sigma)
    if not {"f11", "f22", "f12"} <= set(sigma):
        return 0, 0.0
    k, n = counts.k, counts.n_tokens
    square = 0.0
    for name, axis in (("f11", 1), ("f22", 0)):
        within = counts.tables[name].sum(axis=1, dtype=np.float64)
        left = k * within - (k - 1) * counts.tables["f12"].sum(axis=axis, dtype=np.float64)
        variance = k**2 * (n - 2) * sigma[name] ** 2 + (k - 1) ** 2 * n * sigma["f12"] ** 2
        square += float(np.sum((left - left.mean()) ** 2)) / variance
    return 2 * (n - 1), square


def _totals(counts: Counts, sigma: Mapping[str, float]) -> float:
    """Return the squared difference of the users that two totals give, over its variance; of more than two epochs."""
    k, n, epochs = counts.k, counts.n_tokens, counts.n_epochs
    pairs, cells = epochs * math.comb(k, 2), (epochs - 1) * k**2
    within, across = (float(np.sum(counts.flat(name), dtype=np.float64)) for name in ("within", "across"))
    variance = math.comb(n, 2) * (sigma["within"] / pairs) ** 2 + (n * sigma["across"] / cells) ** 2
    return (within / pairs - across / cells) ** 2 / variance


def alike_sums(counts: Counts, sigma: Mapping[str, float]) -> dict[str, tuple[int, float, float]]:
    """Return, where sums hardly tell, differences that are small if epochs are alike; what people change adds to them.

    ``orders``: a then b, and b then a. ``epochs``: how many have each token by pairs within an epoch, and by pairs
    across, where the first and the last epoch are counted half as often. Of each the number of differences, the sum of
    their squares over the variance of the noise, and what people would add to it who choose anew every epoch.
    """
    if {"f11", "f22", "f12"} <= set(sigma):
        return {}
    k, n, epochs = counts.k, counts.n_tokens, counts.n_epochs
    name = "across" if "across" in sigma else "f12"
    across = counts.tables[name].astype(np.float64)
    turned = (across - across.T)[np.triu_indices(n, 1)]
    variance = 2.0 * sigma[name] ** 2
    moving = float(across.sum() - np.trace(across)) / variance
    found = {"orders": (turned.size, float(np.sum(turned**2)) / variance, moving)}
    if "within" in sigma and n > 2:
        weight = epochs / (2.0 * k * (epochs - 1))
        have = counts.tables["within"].sum(axis=1, dtype=np.float64) / (k - 1)
        left = have - weight * (across.sum(axis=0) + across.sum(axis=1))
        variance = (n - 2) * (sigma["within"] / (k - 1)) ** 2 + 2 * n * (weight * sigma["across"]) ** 2
        moving = (epochs / (epochs - 1)) ** 2 * (0.5 - 1.0 / epochs) * float(have.sum()) / epochs / variance
        found["epochs"] = n - 1, float(np.sum((left - left.mean()) ** 2)) / variance, moving
    return {what: numbers for what, numbers in found.items() if numbers[0]}


def spread(n_sums: int, square: float, level: float) -> dict[str, float]:
    """Return the spread of the sums as a multiple of what it should be, its interval, p-values and power."""
    from scipy.special import chdtr, chdtrc, chdtri

    if not n_sums:
        return dict.fromkeys(("ratio", "low", "high", "p_low", "p_high", "finds_half"), 0.0)
    return {
        "ratio": math.sqrt(square / n_sums),
        "low": math.sqrt(square / chdtri(n_sums, 0.025)),
        "high": math.sqrt(square / chdtri(n_sums, 0.975)),
        "p_low": float(chdtr(n_sums, square)),
        "p_high": float(chdtrc(n_sums, square)),
        "finds_half": float(chdtr(n_sums, 4.0 * chdtri(n_sums, 1.0 - level))),
    }


def least_spread(number: int, square: float, moving: float, level: float) -> dict[str, float]:
    """Return the spread of what is alike as a multiple of the least, the p-value of so little, and its power.

    People would be there beside half of the noise as well: what exceeds the noise is taken for theirs, and at least
    what people would add who choose anew every epoch. Half of the noise and such people look like all of it and none.
    """
    from scipy.special import chdtr, chdtri, chndtr

    return {
        "n": number,
        "ratio": math.sqrt(square / number),
        "p": float(chdtr(number, square)),
        "finds_half": float(chndtr(4.0 * chdtri(number, 1.0 - level), number, 4.0 * max(square - number, moving, 0.0))),
    }


def near_zero(
    values: npt.NDArray[Any], sigma: float, discrete: bool, level: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Test whether more counts lie near 0 than noise of this size lets; return where, if they do."""
    from scipy.special import bdtrc

    size = np.abs(values)
    below = int(np.sum((values < 0) & (size <= NEAR * sigma)))
    size = np.sort(size[size <= NEAR * sigma])
    windows = np.asarray(sigma * 0.5 ** np.arange(HALVINGS), dtype=np.float64)
    if discrete:
        windows = np.unique(np.floor(windows))[::-1]
    expected = nearest_shares(windows, sigma, discrete)
    inside = np.searchsorted(size, windows, side="right")
    most = float(expected[0])
    if not len(size):
        return {"sigma": sigma, "near": 0, "within": 0.0, "expected": most, "p": 1.0, "finds_half": 0.0}, {}
    p = np.where(inside > 0, bdtrc(np.maximum(inside - 1, 0), len(size), expected), 1.0)
    # Where several are as unlikely, the one with the largest excess tells most.
    worst = int(np.argmax(np.where(p == p.min(), inside / expected, -1.0)))
    adjusted = min(float(p[worst]) * len(windows), 1.0)
    found = {
        "sigma": sigma,
        "near": len(size),
        "within": float(inside[0] / len(size)),
        "expected": most,
        "p": adjusted,
        "finds_half": _finds_half(len(size), below, most, level / len(windows)),
    }
    if adjusted > level:
        return found, {}
    share = float(inside[worst] / len(size))
    return found, {"share": share, "n": len(size), "within": float(windows[worst]), "expected": float(expected[worst])}


def _finds_half(near: int, below: int, expected: float, level: float) -> float:
    """Return how likely half of the noise would show in near-empty counts, as many of them empty as these seem to be.

    Noise puts half of the empty ones below 0, and fewer of the others. Of counts that are spread evenly a third lies
    within one sigma, of empty ones the expected share; of the latter nearly all, 95 %, would with half of the noise.
    """
    from scipy.special import bdtrc

    empty = min(2.0 * below / near, 1.0)
    unlikely = np.flatnonzero(bdtrc(np.maximum(np.arange(near + 1) - 1, 0), near, expected)[1:] <= level)
    if not unlikely.size:
        return 0.0
    return float(bdtrc(int(unlikely[0]), near, empty * math.erf(math.sqrt(2.0)) + (1.0 - empty) / 3.0))


def nearest_shares(windows: npt.NDArray[np.float64], sigma: float, discrete: bool) -> npt.NDArray[np.float64]:
    """Return which share of an empty count's noise lies in each window, of that within three sigma."""
    from scipy.special import erf

    last = math.floor(NEAR * sigma)
    if discrete and last < _TABULATED:
        cumulated = np.cumsum(np.exp(-0.5 * (np.arange(last + 1) / sigma) ** 2))
        both = 2.0 * cumulated - 1.0  # 0 once, everything else on both sides
        return np.asarray(both[windows.astype(np.int64)] / both[-1])
    return np.asarray(erf(windows / (sigma * math.sqrt(2.0))) / erf(NEAR / math.sqrt(2.0)))
