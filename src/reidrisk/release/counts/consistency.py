"""Noisy counts brought to agree with each other: tables of at least 0 whose sums are the best unbiased ones.

Post-processing: it looks at the noisy counts and at the variance of their noise only. Clipping a table at 0 would add
half of the noise of every pair that never occurs; so the number of users and how many have each token are estimated
from all tables first, and every table is then moved to the nearest one that has these sums and nothing below 0.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from reidrisk.base import Array, DataError, Floats

Tables = dict[str, Floats]

_ROUNDS = 1000
_TOLERANCE = 1e-6  # of a row's sum, as a share of the largest


def estimated_users(tables: Mapping[str, Array], k: int, n_epochs: int) -> float:
    r"""Estimate the number of users, which is private too, from noisy counts: :math:`\sum f_{12} / k^2`."""
    across = tables["f12"] if "f12" in tables else tables["across"]
    n = float(np.sum(across, dtype=np.float64)) / (k**2 * (n_epochs - 1))
    if n <= 0.0:
        spent = "a real measurement has spent its budget, and another one spends more"
        raise DataError(f"the noisy counts add up to {n:.3g} users; give more users or a larger epsilon, but {spent}")
    return n


def consistent_tables(noisy: Mapping[str, Any], variance: Mapping[str, float], k: int, n_epochs: int) -> Tables:
    r"""Move noisy tables to ones that are at least 0 and agree on how many users have each token.

    In counts of full sets of two epochs, :math:`\sum_b f_{11}[a, b] / (k - 1) = \sum_b f_{12}[a, b] / k` is how many
    users have a in the first epoch, the same with :math:`f_{22}` and columns in the second; both add up to k times the
    number of users. These sums are estimated by generalised least squares; sums over more epochs share only the number
    of users. The tables then follow by Dykstra's projections. Exact counts come out as they went in. ``variance``
    is that of the noise of one count of each table.

    >>> tables = {"f12": np.array([[5.0, -1.0], [0.0, 4.0]])}
    >>> consistent_tables(tables, {"f12": 1.0}, k=1, n_epochs=2)["f12"].sum()
    np.float64(8.0)
    """
    tables: Tables = {name: np.array(table, dtype=np.float64) for name, table in noisy.items()}
    estimated_users(tables, k, n_epochs)
    users = _users(tables, variance, k, n_epochs)
    if users <= 0.0:
        users = estimated_users(tables, k, n_epochs)
    n = len(next(iter(tables.values())))
    if n_epochs > 2 or k == 1 or n < 3:
        return {name: _spread(name, table, users * _each(name, k, n_epochs)) for name, table in tables.items()}
    have = []
    for name, sums in (("f11", tables["f12"].sum(axis=1)), ("f22", tables["f12"].sum(axis=0))):
        # Two estimates of how many have each token, off their means: sums of n - 2 free pairs, and of n cells.
        own, other = (k - 1) / (variance[name] * (n - 2)), k / (variance["f12"] * n)
        rows = tables[name].sum(axis=1)
        deviation = own * (rows - rows.mean()) + other * (sums - sums.mean())
        have.append(_nonnegative(deviation / (own * (k - 1) + other * k) + users * k / n, users * k))
    return {
        "f11": _nearest(tables["f11"], (k - 1) * have[0]),
        "f22": _nearest(tables["f22"], (k - 1) * have[1]),
        "f12": _nearest(tables["f12"], k * have[0], k * have[1]),
    }


def _nearest(table: Floats, rows: Floats, columns: Floats | None = None, tolerance: float = _TOLERANCE) -> Floats:
    """Return the nearest table of at least 0 with these row sums: symmetric with zero diagonal, or with column sums."""
    n, close = len(table), tolerance * max(float(rows.max()), 1e-300)
    table, below, shift = table.copy(), np.zeros_like(table), np.empty_like(table)
    missing = rows - table.sum(axis=1)
    for _ in range(_ROUNDS):
        if columns is None:
            each = (missing - missing.sum() / (2 * n - 2)) / (n - 2)
            table += np.add.outer(each, each, out=shift)  # symmetric to the last bit
            np.fill_diagonal(table, 0.0)
        else:
            np.add.outer(missing, columns - table.sum(axis=0), out=shift)
            shift -= missing.mean()
            shift /= n
            table += shift
        # Dykstra: what clipping took away is given back before it clips again, so that the limit is the nearest point.
        table += below
        np.minimum(table, 0.0, out=below)
        table -= below
        missing = rows - table.sum(axis=1)
        if np.abs(missing).max() <= close:
            break
    # What is left to go is a share of the tolerance; the total, which everything is divided by, is kept exactly.
    return table * (float(rows.sum()) / max(float(table.sum()), 1e-300))


def _spread(name: str, table: Floats, total: float) -> Floats:
    if name in ("f12", "across"):
        return _nonnegative(table, total)
    upper = np.triu_indices(len(table), 1)
    found = np.zeros_like(table)
    found[upper] = _nonnegative(table[upper], total / 2.0)
    return found + found.T


def _nonnegative(values: Floats, total: float) -> Floats:
    """Return the nearest values of at least 0 that add up to ``total``: the same amount off each, then clipped."""
    ordered = np.sort(values, axis=None)[::-1]
    surplus = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    kept = np.flatnonzero(ordered > surplus)
    # Nothing is kept where the total is 0, or is lost beside a value of more than 2^53 times it.
    return np.asarray(np.maximum(values - surplus[kept[-1] if kept.size else 0], 0.0))


def _each(name: str, k: int, n_epochs: int) -> int:
    """Return how much one user adds to all entries of a table."""
    if name in ("f12", "across"):
        return k**2 * (n_epochs - 1)
    return k * (k - 1) * (1 if name in ("f11", "f22") else n_epochs)


def _users(tables: Tables, variance: Mapping[str, float], k: int, n_epochs: int) -> float:
    """Weigh the estimates of the number of users that the totals of all tables give by their variance."""
    top = bottom = 0.0
    for name, table in tables.items():
        each, n = _each(name, k, n_epochs), len(table)
        # A pair within an epoch stands twice in its table, so the noise of their total counts four times.
        noise = variance[name] * (n**2 if name in ("f12", "across") else 4 * math.comb(n, 2))
        top += each * float(table.sum()) / noise
        bottom += each**2 / noise
    return top / bottom
