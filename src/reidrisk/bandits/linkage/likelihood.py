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

from typing import Any

import numpy as np

from reidrisk.bandits.linkage.likelihood_model import EXACT, LEAST_SCALE, model_of
from reidrisk.bandits.sharing.anonymise import Shared
from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.kernels import njit
from reidrisk.base.parallel import each
from reidrisk.search import GRID

_RULED_OUT = 30.0  # nats that a contradiction costs
_RELATIVE = 1e-6  # by which cells without noise may differ: records may have been kept in single precision
_SLACK = 3.0  # scales of the noise by which a limit may be missed at no cost
_MOST = 1e4  # nats that a single cell can tell: sums of them stay far inside 64 bits
_HALF = float(np.log(0.5))
_LEAST = -int(_RULED_OUT * GRID)
_SHARD = 64


def likelihood_scores(shared: Shared, cells: Ints, values: Floats, threads: int | None = None) -> Ints:
    """Return the score of every query with every shared record: (q, n) integers; known cells (q, a) ascend."""
    model = model_of(shared, cells, values)
    out = np.zeros((len(cells), len(model.targets.cells)), dtype=np.int64)

    def scored(part: slice) -> None:
        _score(model.targets, model.known.chosen(part), shared.records.shape[1], model.limited, out[part])

    each(scored, [slice(start, start + _SHARD) for start in range(0, len(cells), _SHARD)], threads)
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
