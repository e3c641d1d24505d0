"""How far a model or a sample is from the statistics it should have (dick, Figures 3 and 4)."""

from dataclasses import dataclass

import numpy as np

from reidrisk.base import Floats, Result, blocks
from reidrisk.populations.type_mixture import MixtureStatistics
from reidrisk.records import TopSets
from reidrisk.release.counts.statistics import Statistics

POINT = 0.001  # 0.1 percentage points: 'virtually all statistics have an absolute error lower' (dick, Section 6)
LARGE = 0.0001  # relative errors are of statistics of at least 0.01 % (dick, Figure 3; its text says 0.1 %)
FIFTH = 0.2  # 'The relative error is at most 20 % for 75 % of statistics' (dick, Section 6)
ABSOLUTE = (0.0, *(round(m * 10.0**e, 12) for e in range(-7, -1) for m in (1, 2, 5)), 0.1)
RELATIVE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
RELATIVE_BINS = tuple(np.round(np.linspace(-0.5, 0.5, 41), 12).tolist())

_CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class ErrorSummary(Result):
    """Errors of one kind of statistic, over all epochs: the terms of J."""

    what: str  # whose errors
    kind: str  # "all", "single", "within" or "across"
    n: int
    within_point: float  # share with an absolute error of at most 0.1 percentage points
    n_large: int  # statistics whose target is at least 0.01 %; the next two are of them
    within_fifth: float  # share with a relative error of at most 20 %
    median_relative: float
    root_mean_square: float  # of the absolute errors


@dataclass(frozen=True, eq=False)
class ErrorCurves(Result):
    """Distribution of the errors: shares of at most :data:`ABSOLUTE` and :data:`RELATIVE`, and shares in bins.

    ``relative_density`` are the shares between neighbours of :data:`RELATIVE_BINS`, signed: too large is positive. What
    lies outside is in no bin.
    """

    what: str
    absolute: tuple[float, ...]
    relative: tuple[float, ...]
    relative_density: tuple[float, ...]


def errors_of(found: MixtureStatistics, targets: Statistics) -> dict[str, tuple[Floats, Floats]]:
    """Return target and error of every term of J, by kind: each epoch's statistics, each unordered pair once."""
    upper = np.triu_indices(targets.n_tokens, 1)
    wanted = {"single": targets.single, "within": targets.within[upper], "across": targets.across.ravel()}
    ours = {
        "single": found.single,
        "within": np.stack([table[upper] for table in found.within]),
        "across": found.across.reshape(len(found.across), -1),
    }
    return {
        kind: (np.broadcast_to(target, ours[kind].shape).ravel(), (ours[kind] - target).ravel())
        for kind, target in wanted.items()
    }


def compare(found: MixtureStatistics, targets: Statistics, what: str) -> tuple[tuple[ErrorSummary, ...], ErrorCurves]:
    """Compare every term of J with its target.

    >>> from reidrisk import TopSets, release
    >>> exact = release.exact_statistics(TopSets([[[0, 1], [0, 2]], [[1, 2], [0, 2]]], n_tokens=3))
    >>> [(s.kind, s.n) for s in compare(popularity_alone(exact, 2), exact, "popularity alone")[0]]
    [('all', 21), ('single', 6), ('within', 6), ('across', 9)]
    """
    kinds = errors_of(found, targets)
    target, error = (np.concatenate(parts) for parts in zip(*kinds.values(), strict=True))
    summaries = [_summary(what, kind, *terms) for kind, terms in {"all": (target, error), **kinds}.items()]
    large = target >= LARGE
    relative = error[large] / target[large]
    shares = []
    for errors, thresholds in ((error, ABSOLUTE), (relative, RELATIVE)):
        ordered = np.sort(np.abs(errors))
        shares.append(np.searchsorted(ordered, thresholds, side="right") / max(len(ordered), 1))
    density = np.histogram(relative, RELATIVE_BINS)[0] / max(len(relative), 1)
    return tuple(summaries), ErrorCurves(what, *(tuple(each.tolist()) for each in (*shares, density)))


def _summary(what: str, kind: str, target: Floats, error: Floats) -> ErrorSummary:
    size = np.abs(error)
    large = target >= LARGE
    relative = size[large] / target[large]
    near = float(np.mean(size <= POINT)) if size.size else 1.0
    fifth = float(np.mean(relative <= FIFTH)) if relative.size else 1.0
    median = float(np.median(relative)) if relative.size else 0.0
    root = float(np.sqrt(np.mean(size**2))) if size.size else 0.0
    return ErrorSummary(what, kind, size.size, near, relative.size, fifth, median, root)


def every_epoch(single: Floats, within: Floats, across: Floats, r: int) -> MixtureStatistics:
    """Return the same statistics for each of r epochs."""
    n = len(single)
    shapes = ((r, n), (r, n, n), (max(r - 1, 0), n, n))
    return MixtureStatistics(*map(np.broadcast_to, (single, within, across), shapes))


def popularity_alone(targets: Statistics, n_epochs: int) -> MixtureStatistics:
    r"""Return what a model would say that knows how often each token occurs, and nothing of pairs: the baseline.

    :math:`q_{across}(a, b) = q(a) q(b)`, and :math:`q_{within}` in proportion to it, with the sum that sets of k have.
    """
    pairs = np.outer(targets.single, targets.single)
    within = pairs * ~np.eye(targets.n_tokens, dtype=np.bool_)
    total = float(within.sum())
    within *= targets.k * (targets.k - 1) / total if total else 0.0
    return every_epoch(targets.single, within, pairs, n_epochs)


def frequencies(sets: TopSets) -> MixtureStatistics:
    """Count how often tokens and pairs occur in each epoch; short sets count as they are."""
    from reidrisk.release.counts.kernels import count_across, count_within  # the compiler is loaded by those who count

    n, r = sets.n_tokens, sets.n_epochs
    # One token more: it takes what is missing, and is cut off at the end.
    single = np.zeros((r, n + 1))
    within = np.zeros((r, n + 1, n + 1), dtype=np.int64)
    across = np.zeros((max(r - 1, 0), n + 1, n + 1), dtype=np.int64)
    for _, start, stop in blocks(len(sets), _CHUNK):
        tokens = np.ascontiguousarray(sets.tokens[start:stop].transpose(1, 0, 2), dtype=np.int32)
        tokens[tokens < 0] = n
        for epoch in range(r):
            single[epoch] += np.bincount(tokens[epoch].ravel(), minlength=n + 1)
            count_within(tokens[epoch], within[epoch])
            if epoch:
                count_across(tokens[epoch - 1], tokens[epoch], across[epoch - 1])
    pairs = (within + within.transpose(0, 2, 1))[:, :n, :n]
    return MixtureStatistics(single[:, :n] / len(sets), pairs / len(sets), across[:, :n, :n] / len(sets))


def noise_of(targets: Statistics) -> dict[str, float]:
    """Return the standard deviation that the noise gave each statistic before post-processing, where it is stated."""
    statement = targets.statement
    if statement is None or not np.isfinite(targets.n_users):
        return {}
    sigma, n = statement.sigma, targets.n_users
    epochs = 2 if targets.counts is None else targets.counts.n_epochs
    found = {}
    if "f12" in sigma:
        found["across"] = sigma["f12"] / n
    if "across" in sigma:
        found["across"] = sigma["across"] / (n * (epochs - 1))
    if "f11" in sigma:
        found["within"] = float(np.hypot(sigma["f11"], sigma["f22"])) / (2.0 * n)
    if "within" in sigma:
        found["within"] = sigma["within"] / (n * epochs)
    return found
