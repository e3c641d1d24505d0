"""The attacker who knows the mechanism: how likely a shared record is, given known cells.

A target r' fits the known cells aux by

    score(aux, r') = sum over known cells i of  log f(r'_i | aux_i) - log g(r'_i),

f being the distribution that the mechanism gives a cell of true value aux_i, and g that of the cell among all shared
records (a kernel estimate of the width of the noise): a rare value that fits says more than a common one. What f is
depends on the mechanism:

- **nothing changed** (own or a neighbour's record): the cell agrees, or the record is ruled out;
- **noise**: aux_i plus Laplace noise of known scale b_i, cut off at 0 and divided by the sum of its row. That sum is
  not known; in its place come its mean and variance, from E max(m + Z, 0) = m + b/2 e^(-m/b) for each cell, m = aux_i
  where it is known and an even share of what is left of the row elsewhere;
- **averages and truncated matrices**: Laplace around aux_i with the spread of the cell among the shared records,
  together with the noise. An average of m records also obeys limits: aux_i / m <= r'_i <= (aux_i + m - 1) / m. They
  are hard without noise; with noise, what is more than three of its scales beyond them costs its distance in scales.

It never sees the other true records. It is an approximation of the best attack, not a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from reidrisk.bandits.anonymise import Shared
from reidrisk.bandits.strategies import PrivateClusters, TruncatedSVD
from reidrisk.engines.threads import ThreadsEngine
from reidrisk.search import GRID, to_grid

__all__ = ["Model", "likelihood_scores", "model_of", "reference"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_RULED_OUT = 30.0  # nats that a contradiction costs: rounding may break a limit, so it is not infinite
_EXACT = 1e-9
_NARROW = 1e-4  # least scale of a cell among the shared records
_SLACK = 3.0  # scales of the noise by which a limit may be missed at no cost
_LEAST_SCALE = 1e-9  # below it, noise is lost in rounding
_MOST = 1e4  # nats that a single cell can tell: sums of them stay far inside 64 bits
_SHARD = 64


@dataclass(frozen=True)
class Model:
    """What the kernel needs: for each query and known cell the density, for each record and cell its commonness.

    The log-density of a cell is ``at_zero`` where the shared value is 0 and the mechanism cuts off, else
    ``top - |total r' - aux| / scale``; a scale of 0 means that the cell tells nothing. ``wobble`` is how far noise
    alone moves ``total r'``, which softens the limits of averages. ``common`` is on the score grid.
    """

    scale: Floats
    total: Floats
    top: Floats
    at_zero: Floats
    wobble: Floats
    common: Ints
    behind: Floats
    cuts_off: bool
    exact: bool
    limited: bool


def likelihood_scores(shared: Shared, cells: Ints, values: Floats, threads: int | None = None) -> Ints:
    """Return the score of every query with every shared record: (q, n) integers on the grid.

    Parameters
    ----------
    shared : Shared
        What was handed out, and how it was made.
    cells, values : (q, a) arrays
        Which cells the attacker knows of each query, and their true values.
    threads : int, optional
        How many; one for each core when missing.

    Examples
    --------
    >>> from reidrisk.bandits import Laplace, anonymise
    >>> records = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.1, 0.9]]])
    >>> shared = anonymise(records, Laplace(1e-4))
    >>> likelihood_scores(shared, np.array([[0, 2]]), np.array([[0.7, 0.1]])).argmax(axis=1).tolist()
    [1]
    """
    model = model_of(shared, cells, values)
    targets = shared.records.reshape(len(shared.records), -1)
    out = np.zeros((len(cells), len(targets)), dtype=np.int64)

    def scored(part: slice, _: None) -> None:
        per_query = (
            cells[part],
            values[part],
            model.scale[part],
            model.total[part],
            model.top[part],
            model.at_zero[part],
            model.wobble[part],
        )
        modes = (model.cuts_off, model.exact, model.limited)
        _score(targets, *per_query, model.common, model.behind, *modes, out[part])

    shards = [slice(start, start + _SHARD) for start in range(0, len(cells), _SHARD)]
    ThreadsEngine(threads).map_reduce(shards, None, scored, lambda a, _: a)
    return out


def model_of(shared: Shared, cells: Ints, values: Floats) -> Model:
    """Work out the densities, from what is public alone: the shared records, the mechanism, and the known cells."""
    targets = np.ascontiguousarray(shared.records.reshape(len(shared.records), -1))
    behind = np.bincount(shared.source)[shared.source].astype(np.float64)
    full = shared.records.shape[1]
    truncated = any(isinstance(step, TruncatedSVD) and step.rank < full for step in shared.steps)
    private = any(isinstance(step, PrivateClusters) for step in shared.steps)
    averaged = bool((shared.sizes > 1).any())
    noisy = bool(shared.scale.any())
    if not (noisy or averaged or truncated):
        ones = np.ones(cells.shape)
        common = to_grid(np.log(_nearby(targets, np.full(targets.shape[1], _EXACT)) / len(targets)))
        return Model(ones, ones, 0 * ones, 0 * ones, 0 * ones, common, behind, False, True, False)
    centre = np.median(targets, axis=0)
    total, scale, wobble = _noise(shared.scale, cells, values)
    # The same of the middle record: how far noise alone spreads a cell among the shared records.
    everything = np.arange(targets.shape[1])[None]
    middle_total, middle_scale, _ = (x[0] for x in _noise(shared.scale, everything, centre[None]))
    width = middle_scale / middle_total
    if averaged or truncated:
        spread = np.maximum(np.abs(targets - centre).mean(axis=0), _NARROW)
        beyond = np.sqrt(np.maximum((total * spread[cells]) ** 2 - scale**2, 0.0))
        scale, width = np.hypot(scale, beyond), np.maximum(width, spread)
    common = np.log(_nearby(targets, width, noisy) / (2 * np.where(width > 0, width, 1.0) * len(targets)))
    if noisy:
        zeros = ((targets == 0).sum(axis=0) + 0.5) / (len(targets) + 1.0)
        common = np.where(targets == 0, np.log(zeros), common)
    safe = np.where(scale > 0, scale, 1.0)
    return Model(
        scale=np.ascontiguousarray(scale),
        total=total,
        top=np.log(total) - np.log(2 * safe),
        at_zero=np.log(0.5) - values / safe,
        wobble=np.maximum(wobble, _LEAST_SCALE),
        common=to_grid(common),
        behind=behind,
        cuts_off=noisy,
        exact=False,
        limited=averaged and not truncated and not private,  # small private clusters have more noise than its mean
    )


def reference(shared: Shared, cells: Ints, values: Floats) -> Ints:
    """Score every query with every shared record the short way: the NumPy twin of the kernel."""
    model = model_of(shared, cells, values)
    targets = shared.records.reshape(len(shared.records), -1)
    r = targets[:, cells].swapaxes(0, 1)  # (q, n, a)
    aux, total, scale = (x[:, None, :] for x in (values, model.total, model.scale))
    if model.exact:
        density = np.where(np.abs(r - aux) < _EXACT, 0.0, -_RULED_OUT)
    else:
        density = model.top[:, None] - np.abs(total * r - aux) / np.where(scale > 0, scale, 1.0)
        if model.cuts_off:
            density = np.where(r == 0, model.at_zero[:, None], density)
        if model.limited:
            m = model.behind[None, :, None]
            wobble = model.wobble[:, None]
            beyond = np.maximum(aux / m - total * r, total * r - (aux + m - 1) / m) - _EXACT - _SLACK * wobble
            density = density - np.clip(beyond / wobble, 0.0, _RULED_OUT)
    told = np.floor(np.clip(density, -_MOST, _MOST) * GRID + 0.5).astype(np.int64) - model.common[:, cells].swapaxes(
        0, 1
    )
    return np.asarray(np.where(scale > 0, told, 0).sum(axis=2))


def _noise(scale: Floats, cells: Ints, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return, for each query and known cell, the expected sum of its row, and how far the cell is from its true value.

    The third is how far it can be from the mean of a group, which is not known: the largest share of the row is 1.

    The sum S of a row after cutting off has the moments of its cells, m + b/2 e^(-m/b) and m^2 + 2 b^2 - b^2
    e^(-m/b). What is not known of S moves a cell by its share of the row: the scales of both add up in squares.
    """
    d, q = len(scale), len(cells)
    noise = np.broadcast_to(scale.ravel()[cells], cells.shape)
    if not scale.any():
        return np.ones(cells.shape), noise, noise
    flat, known = np.zeros((q, d * d)), np.zeros((q, d * d), dtype=np.bool_)
    np.put_along_axis(flat, cells, values, axis=1)
    np.put_along_axis(known, cells, True, axis=1)
    given, told = flat.reshape(q, d, d), known.reshape(q, d, d)
    left = np.maximum(1.0 - given.sum(axis=2), 0.0) / np.maximum((~told).sum(axis=2), 1)
    cell = np.where(told, given, left[:, :, None])
    cut = np.exp(-cell / np.where(scale > 0, scale, 1.0))
    mean = cell + scale / 2 * cut
    variance = np.maximum(cell**2 + (2.0 - cut) * scale**2 - mean**2, 0.0)
    rows = cells // d
    total = np.take_along_axis(mean.sum(axis=2), rows, axis=1)
    unsure = np.sqrt(np.take_along_axis(variance.sum(axis=2), rows, axis=1) / 2.0)  # as the scale of a Laplace variable
    apart = np.maximum(np.hypot(noise, values / total * unsure), _LEAST_SCALE)
    return total, np.where(noise > 0, apart, 0.0), np.hypot(noise, unsure)


def _nearby(targets: Floats, width: Floats, without_zeros: bool = False) -> Floats:
    """Return how many records are near each one in each cell: sum over records j of e^(-|r_i - r_j| / width), (n, m).

    A cell of width 0 tells nothing, and has 1. With ``without_zeros``, records that are 0 there are not counted.
    """
    order = np.argsort(targets, axis=0, kind="stable")
    out = np.ones(targets.shape)
    _add_nearby(np.take_along_axis(targets, order, axis=0), order, width, without_zeros, out)
    return out


@numba.njit(nogil=True, cache=True)
def _add_nearby(
    ascending: Any, order: Any, width: Any, without_zeros: bool, out: Any
) -> None:  # pragma: no cover - compiled
    """Sum over the records below, then over those above: each sum follows from that of the neighbour."""
    n, m = ascending.shape
    for c in range(m):
        if not width[c] > 0.0:
            continue
        first = 0
        while without_zeros and first < n - 1 and ascending[first, c] == 0.0:
            first += 1
        below = 0.0
        for i in range(first, n):
            if i > first:
                below = (below + 1.0) * np.exp(-(ascending[i, c] - ascending[i - 1, c]) / width[c])
            out[order[i, c], c] += below
        above = 0.0
        for i in range(n - 2, first - 1, -1):
            above = (above + 1.0) * np.exp(-(ascending[i + 1, c] - ascending[i, c]) / width[c])
            out[order[i, c], c] += above


@numba.njit(nogil=True, cache=True)
def _score(
    targets: Any,
    cells: Any,
    values: Any,
    scale: Any,
    total: Any,
    top: Any,
    at_zero: Any,
    wobble: Any,
    common: Any,
    behind: Any,
    cuts_off: bool,
    exact: bool,
    limited: bool,
    out: Any,
) -> None:  # pragma: no cover - compiled
    for q in range(cells.shape[0]):
        for t in range(targets.shape[0]):
            score = 0
            m = behind[t]
            for i in range(cells.shape[1]):
                if not scale[q, i] > 0.0:
                    continue
                r, aux = targets[t, cells[q, i]], values[q, i]
                if exact:
                    density = 0.0 if abs(r - aux) < _EXACT else -_RULED_OUT
                elif cuts_off and r == 0.0:
                    density = at_zero[q, i]
                else:
                    density = top[q, i] - abs(total[q, i] * r - aux) / scale[q, i]
                if limited:
                    seen = total[q, i] * r
                    beyond = max(aux / m - seen, seen - (aux + m - 1.0) / m) - _EXACT - _SLACK * wobble[q, i]
                    density -= min(max(beyond / wobble[q, i], 0.0), _RULED_OUT)
                density = min(max(density, -_MOST), _MOST)
                score += int(np.floor(density * GRID + 0.5)) - common[t, cells[q, i]]
            out[q, t] = score
