"""Whether probabilities hold: how far what an attack says of its links is from how often they are right."""

from dataclasses import dataclass

import numpy as np

from reidrisk.base import ArrayLike, DataError, Floats, Ints, Result, stream

_BINS = 10
_DRAWS = 400  # the mean error of this many is known to about a thousandth


@dataclass(frozen=True, eq=False)
class Calibration(Result):
    """How well probabilities hold: they ``said`` so much on average, and were ``right`` so often.

    ``error`` is the expected calibration error over ten bins of the same width. Outcomes vary, so it is not 0 even for
    probabilities that hold: ``expected`` is what it would be then, on average, and ``excess`` is the difference, below
    0 where the error is smaller than that.
    """

    said: float
    right: float
    error: float
    expected: float
    excess: float
    n_queries: int


def calibration(probability: ArrayLike, credit: ArrayLike, ties: ArrayLike | int = 1, seed: int = 0) -> Calibration:
    """Compare ``Links.probability`` with credits: error = sum over bins of |sum of p - credit| / n.

    ``credit`` is the probability of a right link (``Risk.per_user``). ``ties`` targets share the best score
    (``Links.n_ties``), each with probability p: one of them is right with probability p ties, and then the credit is
    1 / ties. The error that probabilities which hold would show is the mean over credits drawn that way.

    >>> said = np.repeat([0.05, 0.75], 500)
    >>> held, not_held = np.tile([1.0] * 3 + [0.0], 125), np.zeros(500)
    >>> found = calibration(said, np.concatenate([not_held, held]))
    >>> round(found.said, 3), found.right, round(found.error, 3), bool(found.excess < found.error)
    (0.4, 0.375, 0.025, True)
    """
    p, right, t = np.broadcast_arrays(*(np.asarray(values, dtype=np.float64) for values in (probability, credit, ties)))
    if p.ndim != 1 or not p.size:
        raise DataError(f"give a probability and a credit for each of at least one query, not shape {p.shape}")
    if not (p.min() >= 0.0 and p.max() <= 1.0 + 1e-9):
        raise DataError(f"probabilities lie in [0, 1], but range from {p.min()} to {p.max()}")
    bins = np.minimum((p * _BINS).astype(np.int64), _BINS - 1)
    rng, found = stream(seed, "calibration"), _error(p, right, bins)
    drawn = [_error(p, (rng.random(p.size) < p * t) / t, bins) for _ in range(_DRAWS)]
    expected = float(np.mean(drawn))
    return Calibration(float(p.mean()), float(right.mean()), found, expected, found - expected, p.size)


def recalibrated(
    probability: ArrayLike,
    credit: ArrayLike,
    people: ArrayLike | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Floats:
    """Return probabilities that hold as far as other people's links can teach it: cross-fitted isotonic regression.

    Each person's links are given the monotone function of the stated probability that fits the credits of the people
    of all other ``folds`` best (least squares), so nobody's own truth is used on their own link. ``people`` (n,) are
    numbers of the persons behind the queries; default: each query is another's.

    >>> rng = np.random.default_rng(0)
    >>> true = rng.random(4_000)
    >>> said, right = true**3, rng.random(4_000) < true
    >>> bool(calibration(said, right).excess > 0.2), bool(calibration(recalibrated(said, right), right).excess < 0.01)
    (True, True)
    """
    from scipy.optimize import isotonic_regression

    p, right = (np.asarray(values, dtype=np.float64) for values in (probability, credit))
    who = np.arange(p.size) if people is None else np.unique(np.asarray(people), return_inverse=True)[1]
    n = int(who.max(initial=0)) + 1
    if n < folds:
        raise DataError(f"there are {n} people for {folds} folds; ask more of them, or take fewer folds")
    fold = stream(seed, "recalibrated").permutation(n)[who] % folds
    out = np.empty(p.size)
    for f in range(folds):
        inside, known = fold == f, np.flatnonzero(fold != f)
        order = known[np.argsort(p[known], kind="stable")]
        values, start = np.unique(p[order], return_index=True)  # equal probabilities stay equal
        weight = np.diff(np.append(start, order.size))
        means = np.add.reduceat(right[order], start) / weight
        fitted = isotonic_regression(means, weights=weight.astype(np.float64)).x
        out[inside] = np.interp(p[inside], values, fitted)
    return np.clip(out, 0.0, 1.0)


def _error(p: Floats, right: Floats, bins: Ints) -> float:
    return float(np.abs(np.bincount(bins, weights=p - right, minlength=_BINS)).sum() / p.size)
