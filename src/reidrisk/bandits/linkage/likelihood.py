"""The attacker who knows the mechanism: how likely a shared record r' is, given known cells x.

    score(x, r') = sum over known cells i of  log f(r'_i | x_i) - log g(r'_i),

f being the distribution that the mechanism gives a cell of true value x_i, and g that of the cell among all shared
records (a kernel estimate): a rare value that fits says more than a common one. What f is depends on the record:

- **one user's record, noisy cells**: x_i plus Laplace noise of scale b_i, cut off at 0 and divided by the sum S of its
  row, whose mean and spread come from the moments of the noise.
- **one user's record, cells without noise** (weights of 0, as galozy's 1/H has them): r'_i = x_i / S, so zeros stay
  zeros, and *one* known cell above 0 tells S. Other known cells of the row are then compared without that doubt; a
  second one without noise agrees or rules the record out. Where no cell has noise, S is 1.
- **averages of m > 1 records, and truncated matrices**: Laplace around x_i with the spread of the cell among the shared
  records, together with the noise. An average also obeys limits: x_i / m <= S r'_i <= (x_i + m - 1) / m; more than
  three scales of the noise beyond them costs the distance in scales.

Contradictions cost 30 nats and no more, since rounding may cause them. This attacker never sees the other true records,
and comes near to the best attack; it is not a bound.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from reidrisk.bandits.sharing.anonymise import Shared
from reidrisk.bandits.sharing.strategies import PrivateClusters, TruncatedSVD
from reidrisk.base import Bools, Floats, Ints, each, njit, slices
from reidrisk.search import GRID, to_grid

EXACT = 1e-9  # values nearer than this are the same
LEAST_SCALE = 1e-9  # below it, noise is lost in rounding
_NARROW = 1e-4  # least spread of a cell among the averages
_RULED_OUT = 30.0  # nats that a contradiction costs
_RELATIVE = 1e-6  # by which cells without noise may differ: records may have been kept in single precision
_SLACK = 3.0  # scales of the noise by which a limit may be missed at no cost
_MOST = 1e4  # nats that a single cell can tell: sums of them stay far inside 64 bits
_HALF = float(np.log(0.5))
_LEAST = -int(_RULED_OUT * GRID)
_SHARD = 64


class SharedRows(NamedTuple):
    """What a score needs of the shared records, (n, m) or (n,) arrays."""

    cells: Floats  # a row that noise emptied is 0 again
    logs: Floats  # of the cells, 0 where a cell is 0
    behind: Floats  # users behind each record
    single: Bools  # whether the record is one user's, neither an average nor truncated
    common: Ints  # how common the value is among the shared records: a log-density on the score grid
    common_ratio: Ints  # the same of its logarithm


class KnownCells(NamedTuple):
    """What a score needs of the known cells, each a (q, a) array."""

    cells: Ints
    values: Floats
    logs: Floats  # of the values, 0 where a value is 0
    noise: Floats  # scale of the noise in each cell, 0 = none
    alone: Floats  # the same with what the unknown sum of the row adds
    blurred: Floats  # and with what the other records of an average add
    total: Floats  # the expected sum of the cell's row
    log_total: Floats
    unsure: Floats  # how far that sum may be off, as the scale of a Laplace variable; 0 = not at all
    relative: Floats  # the same as a share of the sum
    top_noise: Floats  # the logarithm of the highest density of a Laplace variable of that scale, as below
    top_alone: Floats
    top_blurred: Floats
    top_relative: Floats

    def chosen(self, part: Any) -> Self:
        """Return the same of some of the queries or cells."""
        arrays: Any = (np.ascontiguousarray(each[part]) for each in self)
        return type(self)(*arrays)


class LinkModel(NamedTuple):
    """Both, and whether averages obey limits."""

    targets: SharedRows
    known: KnownCells
    limited: bool


def model_of(shared: Shared, cells: Ints, values: Floats) -> LinkModel:
    """Work out the model from what is public alone: the shared records, the mechanism, and the known cells (q, a)."""
    n, d = shared.records.shape[:2]
    behind = np.bincount(shared.groups)[shared.source].astype(np.float64)
    truncated = any(isinstance(step, TruncatedSVD) and step.rank < d for step in shared.steps)
    private = any(isinstance(step, PrivateClusters) for step in shared.steps)
    single = (behind == 1.0) & (not truncated)
    # Noise left nothing of some rows, which were made uniform for that: they are 0 again.
    emptied = (np.abs(shared.records - 1.0 / d) < EXACT).all(axis=2) & (shared.scale > LEAST_SCALE).any(axis=1)
    targets = np.where(emptied[:, :, None], 0.0, shared.records).reshape(n, -1)
    spread = np.maximum(np.abs(targets - np.median(targets, axis=0)).mean(axis=0), _NARROW)
    common, common_ratio = _commonness(shared.scale, targets, spread, single)
    return LinkModel(
        SharedRows(targets, _logarithm(targets), behind, single, common, common_ratio),
        _known(shared.scale, cells, values, spread),
        limited=not truncated and not private,  # small private clusters have more noise than its mean
    )


def _known(scale: Floats, cells: Ints, values: Floats, spread: Floats) -> KnownCells:
    total, unsure = _row_sums(scale, cells, values)
    noise = np.broadcast_to(scale.ravel()[cells], cells.shape)
    alone = np.hypot(noise, values / total * unsure)
    blurred = np.maximum(alone, total * spread[cells])
    noise = np.where(noise > 0, np.maximum(noise, LEAST_SCALE), 0.0)
    alone = np.maximum(alone, LEAST_SCALE)
    relative = np.where(unsure > 0, np.maximum(unsure / total, LEAST_SCALE), 0.0)
    return KnownCells(
        cells=cells,
        values=values,
        logs=_logarithm(values),
        noise=noise,
        alone=alone,
        blurred=blurred,
        total=total,
        log_total=np.log(total),
        unsure=unsure,
        relative=relative,
        top_noise=-_logarithm(2 * noise),
        top_alone=-np.log(2 * alone),
        top_blurred=-np.log(2 * blurred),
        top_relative=-_logarithm(2 * relative),
    )


def _logarithm(values: Floats) -> Floats:
    return np.log(np.where(values > 0, values, 1.0))


def _row_sums(scale: Floats, cells: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Return the expected sum S of the row of each known cell after cutting off, and how far it may be off.

    The cells of the row have the mean x + b/2 e^(-x/b) and the second moment x^2 + 2 b^2 - b^2 e^(-x/b); x is an even
    share of what is left of the row where it is not known.
    """
    d, q = len(scale), len(cells)
    if not scale.any():
        return np.ones(cells.shape), np.zeros(cells.shape)
    flat, known = np.zeros((q, d * d)), np.zeros((q, d * d), dtype=np.bool_)
    np.put_along_axis(flat, cells, values, axis=1)
    np.put_along_axis(known, cells, True, axis=1)
    given, told = flat.reshape(q, d, d), known.reshape(q, d, d)
    left = np.maximum(1.0 - given.sum(axis=2), 0.0) / np.maximum((~told).sum(axis=2), 1)
    cell = np.where(told, given, left[:, :, None])
    cut = np.where(scale > 0, np.exp(-cell / np.where(scale > 0, scale, 1.0)), 0.0)
    mean = cell + scale / 2 * cut
    variance = np.maximum(cell**2 + (2.0 - cut) * scale**2 - mean**2, 0.0)
    rows = cells // d
    total = np.take_along_axis(mean.sum(axis=2), rows, axis=1)
    return total, np.sqrt(np.take_along_axis(variance.sum(axis=2), rows, axis=1) / 2.0)


def _commonness(scale: Floats, targets: Floats, spread: Floats, single: Bools) -> tuple[Ints, Ints]:
    """Return the log-density of each cell's value among the shared records, and that of its logarithm.

    The kernel is a Laplace density as wide as noise alone spreads the cell of the middle record; for averages, as the
    spread of the cell. For a cell that was cut off to 0, or has no noise, it is the share of records with its value.
    """
    n, m = targets.shape
    centre = np.median(targets, axis=0)
    total, unsure = (x[0] for x in _row_sums(scale, np.arange(m)[None], centre[None]))
    noise = scale.ravel()
    width = np.where(noise > 0, np.maximum(np.hypot(noise, centre / total * unsure), LEAST_SCALE) / total, EXACT)
    zeros = np.log(((targets == 0).sum(axis=0) + 0.5) / (n + 1.0))

    def density(values: Floats, width: Floats, left_out: Bools) -> Floats:
        return np.asarray(np.log(_nearby(values, width, left_out) / (2 * width * n)))

    nobody = np.zeros(targets.shape, dtype=np.bool_)
    same = np.log(_nearby(targets, np.full(m, EXACT), nobody) / n)
    own = np.where(noise > 0, np.where(targets == 0, zeros, density(targets, width, nobody)), same)
    mixed = np.where(targets == 0, zeros, density(targets, np.maximum(width, spread), nobody))
    ratio = density(_logarithm(targets), np.maximum(unsure / total, LEAST_SCALE), targets == 0)
    return to_grid(np.where(single[:, None], own, mixed)), to_grid(ratio)


def _nearby(values: Floats, width: Floats, left_out: Bools) -> Floats:
    """Return sum over records j of e^(-|v_i - v_j| / width) in each cell, (n, m); 1 for cells that are left out."""
    order = np.argsort(np.where(left_out, -np.inf, values), axis=0, kind="stable")
    out = np.ones(values.shape)
    _add_nearby(np.take_along_axis(values, order, axis=0), order, width, left_out.sum(axis=0), out)
    return out


@njit(nogil=True, cache=True)
def _add_nearby(ascending: Any, order: Any, width: Any, first: Any, out: Any) -> None:
    """Sum over the records below, then over those above: each sum follows from that of the neighbour."""
    n, m = ascending.shape
    for c in range(m):
        below = 0.0
        for i in range(first[c] + 1, n):
            below = (below + 1.0) * np.exp(-(ascending[i, c] - ascending[i - 1, c]) / width[c])
            out[order[i, c], c] += below
        above = 0.0
        for i in range(n - 2, first[c] - 1, -1):
            above = (above + 1.0) * np.exp(-(ascending[i + 1, c] - ascending[i, c]) / width[c])
            out[order[i, c], c] += above


def likelihood_scores(shared: Shared, cells: Ints, values: Floats, threads: int | None = None) -> Ints:
    """Return the score of every query with every shared record: (q, n) integers; known cells (q, a) ascend."""
    model = model_of(shared, cells, values)
    out = np.zeros((len(cells), len(model.targets.cells)), dtype=np.int64)

    def scored(part: slice) -> None:
        _score(model.targets, model.known.chosen(part), shared.records.shape[1], model.limited, out[part])

    each(scored, slices(len(cells), _SHARD), threads)
    return out


@njit(nogil=True, cache=True)
def _score(targets: Any, known: Any, d: int, limited: bool, out: Any) -> None:
    queries, a = known.cells.shape
    for q in range(queries):
        start = 0
        while start < a:  # row by row
            end = start + 1
            while end < a and known.cells[q, end] // d == known.cells[q, start] // d:
                end += 1
            _add_singles(targets, known, q, start, end, out[q])
            _add_averages(targets, known, q, start, end, limited, out[q])
            start = end


@njit(nogil=True, cache=True)
def _add_singles(targets: Any, known: Any, q: int, start: int, end: int, out: Any) -> None:
    for t in range(len(out)):
        if not targets.single[t]:
            continue
        pin, largest = -1, 0.0  # the largest known cell without noise tells the sum of the row
        for i in range(start, end):
            x = known.values[q, i]
            without_noise = known.noise[q, i] == 0.0 and known.relative[q, i] > 0.0
            if without_noise and x > largest and targets.cells[t, known.cells[q, i]] > 0.0:
                pin, largest = i, x
        total, log_total = known.total[q, start], known.log_total[q, start]
        if pin >= 0:
            total = largest / targets.cells[t, known.cells[q, pin]]
            log_total = known.logs[q, pin] - targets.logs[t, known.cells[q, pin]]
        for i in range(start, end):
            c = known.cells[q, i]
            r, x, noise = targets.cells[t, c], known.values[q, i], known.noise[q, i]
            if i == pin:
                off = abs(log_total - known.log_total[q, i]) / known.relative[q, i]
                told = _rounded(known.top_relative[q, i] - min(off, _RULED_OUT)) - targets.common_ratio[t, c]
            elif noise == 0.0:
                same = (r == 0.0) == (x == 0.0) and abs(total * r - x) < EXACT + _RELATIVE * x
                told = -targets.common[t, c] if same else _LEAST
            else:
                scale = noise if pin >= 0 else known.alone[q, i]
                top = known.top_noise[q, i] if pin >= 0 else known.top_alone[q, i]
                density = _HALF - x / scale if r == 0.0 else log_total + top - abs(total * r - x) / scale
                told = _rounded(density) - targets.common[t, c]
            out[t] += max(told, _LEAST)


@njit(nogil=True, cache=True)
def _add_averages(targets: Any, known: Any, q: int, start: int, end: int, limited: bool, out: Any) -> None:
    for t in range(len(out)):
        if targets.single[t]:
            continue
        m = targets.behind[t]
        for i in range(start, end):
            c = known.cells[q, i]
            r, x, noise, scale = targets.cells[t, c], known.values[q, i], known.noise[q, i], known.blurred[q, i]
            if limited and noise == 0.0 and r == 0.0:  # it was 0 for all m users, each of whom tells a part of it
                out[t] += _LEAST if x > 0.0 else max(-int(np.floor(targets.common[t, c] / m + 0.5)), _LEAST)
                continue
            seen, top = known.total[q, i] * r, known.log_total[q, i] + known.top_blurred[q, i]
            density = _HALF - x / scale if r == 0.0 else top - abs(seen - x) / scale
            if limited:
                moved = r * known.unsure[q, i]
                wobble = max(np.sqrt(noise * noise + moved * moved), LEAST_SCALE)
                beyond = max(x / m - seen, seen - (x + m - 1.0) / m) - EXACT - _SLACK * wobble
                density -= min(max(beyond / wobble, 0.0), _RULED_OUT)
            out[t] += max(_rounded(density) - targets.common[t, c], _LEAST)


@njit(nogil=True, cache=True)
def _rounded(nats: float) -> int:
    return int(np.floor(min(max(nats, -_MOST), _MOST) * GRID + 0.5))
