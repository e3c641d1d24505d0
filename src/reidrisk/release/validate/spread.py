"""Tests of how large the noise of released counts is: sums that must agree, counts that are alike, counts near 0.

None asks what was counted; :func:`reidrisk.release.validate.noise.noise_fit` says why they hold.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reidrisk.base.arrays import Array, Floats
from reidrisk.release.counts.pairs import PairCounts

NEAR = 3.0  # a count is near-empty within this many sigma of 0
HALVINGS = 11  # windows around 0: sigma, a half of it, a quarter, …
SHOWS = 0.5  # a table was examined if half of its noise would show with at least this probability
_TABULATED = 1 << 20


@dataclass(frozen=True)
class Differences:
    """Differences of counts that are noise alone, or noise and what people change."""

    n: int  # how many are independent
    square: float  # sum of their squares over the variance of the noise
    shares: Mapping[str, float]
    """Of every table whose noise is in them, the share of the variance that is its own, where they tell of it."""
    moving: float = 0.0  # what people would add to the squares who choose anew every epoch


def differing_sums(counts: PairCounts, sigma: Mapping[str, float]) -> dict[str, Differences]:
    """Return differences of sums that agree before the noise: ``all``, and of two epochs those of each.

    ``f11`` is of pairs in the first epoch and of rows across, ``f22`` of the second and of columns: what one of them
    lacks, the other does not show. Rows and columns across are independent, off their mean.
    """
    if {"within", "across"} <= set(sigma):
        return {"all": _totals(counts, sigma)}
    if not {"f11", "f22", "f12"} <= set(sigma):
        return {}
    k, n = counts.k, counts.n_tokens
    found = {}
    for name, axis in (("f11", 1), ("f22", 0)):
        within = counts.tables[name].sum(axis=1, dtype=np.float64)
        across = counts.tables["f12"].sum(axis=axis, dtype=np.float64)
        left = k * within - (k - 1) * across
        own, other = k**2 * (n - 2) * sigma[name] ** 2, (k - 1) ** 2 * n * sigma["f12"] ** 2
        square = float(np.sum((left - left.mean()) ** 2)) / (own + other)
        found[name] = Differences(n - 1, square, {name: own / (own + other), "f12": other / (own + other)})
    first, second = found.values()
    shares = {"f11": 0.0, "f22": 0.0, "f12": min(first.shares["f12"], second.shares["f12"])}
    return {**found, "all": Differences(2 * (n - 1), first.square + second.square, shares)}


def _totals(counts: PairCounts, sigma: Mapping[str, float]) -> Differences:
    """Return the difference of the users that two totals give; of more than two epochs."""
    k, n, epochs = counts.k, counts.n_tokens, counts.n_epochs
    pairs, cells = epochs * math.comb(k, 2), (epochs - 1) * k**2
    within, across = (float(np.sum(counts.flat(name), dtype=np.float64)) for name in ("within", "across"))
    own, other = math.comb(n, 2) * (sigma["within"] / pairs) ** 2, (n * sigma["across"] / cells) ** 2
    square = (within / pairs - across / cells) ** 2 / (own + other)
    return Differences(1, square, {"within": own / (own + other), "across": other / (own + other)})


def alike_sums(counts: PairCounts, sigma: Mapping[str, float]) -> dict[str, Differences]:
    """Return differences that are small if epochs are alike; what people change adds to them.

    ``orders``: a then b, and b then a, of the table across alone. ``pairs``: the same pair in either of two epochs.
    ``epochs``: how many have each token by pairs within an epoch, and by pairs across, where the first and the last
    epoch are counted half as often.
    """
    k, n, epochs = counts.k, counts.n_tokens, counts.n_epochs
    name = "across" if "across" in sigma else "f12"
    across = counts.tables[name].astype(np.float64)
    turned = (across - across.T)[np.triu_indices(n, 1)]
    variance = 2.0 * sigma[name] ** 2
    moving = float(across.sum() - np.trace(across)) / variance
    found = {"orders": Differences(turned.size, float(np.sum(turned**2)) / variance, {name: 1.0}, moving)}
    if {"f11", "f22"} <= set(sigma):
        first, second = (counts.flat(one).astype(np.float64) for one in ("f11", "f22"))
        variance = sigma["f11"] ** 2 + sigma["f22"] ** 2
        shares = {one: sigma[one] ** 2 / variance for one in ("f11", "f22")}
        square, moving = float(np.sum((first - second) ** 2)), float(np.sum(first + second))
        found["pairs"] = Differences(first.size, square / variance, shares, moving / variance)
    if "within" in sigma and n > 2:
        weight = epochs / (2.0 * k * (epochs - 1))
        have = counts.tables["within"].sum(axis=1, dtype=np.float64) / (k - 1)
        left = have - weight * (across.sum(axis=0) + across.sum(axis=1))
        own, other = (n - 2) * (sigma["within"] / (k - 1)) ** 2, 2 * n * (weight * sigma["across"]) ** 2
        variance = own + other
        moving = (epochs / (epochs - 1)) ** 2 * (0.5 - 1.0 / epochs) * float(have.sum()) / epochs / variance
        shares = {"within": own / variance, "across": other / variance}
        found["epochs"] = Differences(n - 1, float(np.sum((left - left.mean()) ** 2)) / variance, shares, moving)
    return {what: differences for what, differences in found.items() if differences.n}


def spread(sums: Differences | None, level: float) -> dict[str, float]:
    """Return the spread of the sums as a multiple of what it should be, its interval, p-values and power."""
    from scipy.special import chdtr, chdtrc, chdtri

    if sums is None:
        return dict.fromkeys(("n", "ratio", "low", "high", "p_low", "p_high", "finds_half"), 0.0)
    return {
        "n": sums.n,
        "ratio": math.sqrt(sums.square / sums.n),
        "low": math.sqrt(sums.square / chdtri(sums.n, 0.025)),
        "high": math.sqrt(sums.square / chdtri(sums.n, 0.975)),
        "p_low": float(chdtr(sums.n, sums.square)),
        "p_high": float(chdtrc(sums.n, sums.square)),
        "finds_half": finds_less(sums, level, 0.25, 0.0),
    }


def least_spread(alike: Differences, level: float) -> dict[str, float]:
    """Return the spread of what is alike as a multiple of the least, the p-value of so little, and its power."""
    from scipy.special import chdtr

    return {
        "n": alike.n,
        "ratio": math.sqrt(alike.square / alike.n),
        "p": float(chdtr(alike.n, alike.square)),
        "finds_half": finds_less(alike, level, 0.25, most_moving(alike)),
    }


def most_moving(alike: Differences) -> float:
    """Return what people are taken to add to the squares.

    They would be there beside half of the noise as well: what exceeds the noise is taken for theirs, and at least
    what people would add who choose anew every epoch. Half of the noise and such people look like all of it and none.
    """
    return max(alike.square - alike.n, alike.moving, 0.0)


def finds_less(differences: Differences, level: float, variance: float, people: float) -> float:
    """Return how likely noise of this multiple of the stated variance shows, beside what people add."""
    from scipy.special import chdtri, chndtr

    least = chdtri(differences.n, 1.0 - level)
    return float(chndtr(least / variance, differences.n, people / variance))


def power_of_tables(
    near: Mapping[str, float], sums: Mapping[str, Differences], alike: Mapping[str, Differences], level: float
) -> dict[str, tuple[float, str]]:
    """Return, of each table, how likely half of its noise alone would show, and what shows it best.

    Differences of one table stand for themselves, and so do counts near 0. Those that hold the noise of several count
    for one of them only where the others would show the same by other means.
    """
    found = {name: (power, "near") for name, power in near.items()}
    every = [(name, one, 0.0) for name, one in sums.items()]
    every += [(name, one, most_moving(one)) for name, one in alike.items()]
    for _ in found:  # what one round clears helps the next
        seen = {name for name, (power, _) in found.items() if power >= SHOWS}
        for what, differences, people in every:
            for name, share in differences.shares.items():
                if name not in seen and differences.shares.keys() - {name} <= seen:
                    power = finds_less(differences, level, 1.0 - 0.75 * share, people)
                    found[name] = max(found[name], (power, what))
    return found


def near_zero(values: Array, sigma: float, discrete: bool, level: float) -> tuple[dict[str, float], dict[str, float]]:
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


def nearest_shares(windows: Floats, sigma: float, discrete: bool) -> Floats:
    """Return which share of an empty count's noise lies in each window, of that within three sigma."""
    from scipy.special import erf

    last = math.floor(NEAR * sigma)
    if discrete and last < _TABULATED:
        cumulated = np.cumsum(np.exp(-0.5 * (np.arange(last + 1) / sigma) ** 2))
        both = 2.0 * cumulated - 1.0  # 0 once, everything else on both sides
        return np.asarray(both[windows.astype(np.int64)] / both[-1])
    return np.asarray(erf(windows / (sigma * math.sqrt(2.0))) / erf(NEAR / math.sqrt(2.0)))
