"""Compiled loops of the search among vectors: look through a block of single-precision values, and score what may win.

A block holds a value for each of some queries and targets. Whoever lies within the margin of what is wanted
is scored again, exactly and in one fixed order (:mod:`reidrisk.search.dense.rows`); all others are never touched.
"""

from typing import Any, NamedTuple

import numpy as np

from reidrisk.base.kernels import njit
from reidrisk.search.dense.rows import COSINE_STEPS, CUT_BITS
from reidrisk.search.weights import GRID

COSINE, DISTANCE, LIKELIHOOD = 0, 1, 2
_CHUNK = 64
_HALF = 1 << (CUT_BITS - 1)


class Block(NamedTuple):
    """Values (q, m) of a block and what targets add to them (m,); the exact rows of both; the first target's row."""

    values: Any
    bias: Any
    targets: Any
    target_extra: Any
    queries: Any
    query_extra: Any
    first: int


class Ruler(NamedTuple):
    """How exact values relate to those of a block.

    The form, the scale of the block's values, and of each query its squared length about the centre, and the margin.
    """

    form: int
    scale: float
    square: Any
    margin: Any


@njit(nogil=True, cache=True, inline="always")
def _value(form: int, x: Any, y: Any, of_x: float, of_y: float) -> float:
    total = 0.0
    if form == DISTANCE:
        for i in range(len(x)):
            gap = np.float64(x[i]) - np.float64(y[i])
            total += gap * gap
        return total
    for i in range(len(x)):
        total += np.float64(x[i]) * np.float64(y[i])
    return total / (of_x * of_y) if form == COSINE else total + of_y + of_x


@njit(nogil=True, cache=True, inline="always")
def _score(form: int, value: float, room: Any) -> Any:
    if form == COSINE:
        return np.int64(np.rint(value * COSINE_STEPS))
    if form == LIKELIHOOD:
        return np.int64(np.rint(value * GRID))
    room[0] = value
    return -((room.view(np.int64)[0] + _HALF) >> CUT_BITS)


@njit(nogil=True, cache=True, inline="always")
def _least(form: int, value: float, scale: float, square: float, of_x: float, margin: float) -> Any:
    """Return the value in the block, rounded down, below which nobody can score as high as this exact value."""
    if form == COSINE:
        found = value - 4.0 / COSINE_STEPS
    elif form == LIKELIHOOD:
        found = (value - of_x - 2.0 / GRID) / scale
        found -= abs(found) * 2.0**-44 + abs(of_x) / scale * 2.0**-44
    else:
        found = (square - value) / (2.0 * scale) - (square + value) / scale * 2.0**-38
    found -= margin
    return np.float32(found - abs(found) * 2.0**-23 - 2.0**-140)


@njit(nogil=True, cache=True, inline="always")
def _reached(values: Any, bias: Any, start: int, least: Any) -> Any:
    """Whether any of the next few values reaches ``least``: of slices, whose indices need no check."""
    some, more = values[start : start + _CHUNK], bias[start : start + _CHUNK]
    above = np.int32(0)
    for j in range(len(some)):
        above += np.int32(some[j] + more[j] >= least)
    return above > 0


@njit(nogil=True, cache=True)
def find_best(block: Any, ruler: Any, rows: Any, score: Any, n_ties: Any, target: Any, held: Any) -> None:
    """Update best score, number of ties and lowest target of the queries in [rows[0], rows[1]).

    ``held`` is the exact value of each query's best so far; where there is none, ``n_ties`` is 0.
    """
    room, m = np.empty(1), block.values.shape[1]
    form = ruler.form
    for q in range(rows[0], rows[1]):
        line, x, of_x = block.values[q], block.queries[q], block.query_extra[q]
        least = np.float32(-np.inf)
        if n_ties[q]:
            least = _least(form, held[q], ruler.scale, ruler.square[q], of_x, ruler.margin[q])
        for start in range(0, m, _CHUNK):
            if not _reached(line, block.bias, start, least):
                continue
            for j in range(start, min(start + _CHUNK, m)):
                if line[j] + block.bias[j] >= least:
                    value = _value(form, x, block.targets[j], of_x, block.target_extra[j])
                    found = _score(form, value, room)
                    if n_ties[q] == 0 or found > score[q]:
                        score[q], n_ties[q], target[q], held[q] = found, 1, block.first + j, value
                        least = _least(form, value, ruler.scale, ruler.square[q], of_x, ruler.margin[q])
                    elif found == score[q]:
                        n_ties[q] += 1


@njit(nogil=True, cache=True)
def find_top(block: Any, ruler: Any, rows: Any, score: Any, target: Any, held: Any, n_held: Any) -> None:
    """Keep the k best of each query in order; ``held`` (q, k) are their exact values, ``n_held`` how many there are."""
    room, m, k = np.empty(1), block.values.shape[1], score.shape[1]
    form = ruler.form
    for q in range(rows[0], rows[1]):
        line, x, of_x = block.values[q], block.queries[q], block.query_extra[q]
        least = np.float32(-np.inf)
        if n_held[q] == k:
            least = _least(form, held[q, k - 1], ruler.scale, ruler.square[q], of_x, ruler.margin[q])
        for j in range(m):
            if line[j] + block.bias[j] < least:
                continue
            value = _value(form, x, block.targets[j], of_x, block.target_extra[j])
            found = _score(form, value, room)
            if n_held[q] == k and found <= score[q, k - 1]:
                continue
            place = n_held[q] if n_held[q] < k else k - 1
            while place > 0 and score[q, place - 1] < found:
                score[q, place], target[q, place] = score[q, place - 1], target[q, place - 1]
                held[q, place] = held[q, place - 1]
                place -= 1
            score[q, place], target[q, place], held[q, place] = found, block.first + j, value
            n_held[q] = min(n_held[q] + 1, k)
            if n_held[q] == k:
                least = _least(form, held[q, k - 1], ruler.scale, ruler.square[q], of_x, ruler.margin[q])


@njit(nogil=True, cache=True)
def write_scores(block: Any, ruler: Any, rows: Any, least: Any, out: Any) -> None:
    """Write the exact scores of whoever's value reaches ``least`` (q,), which has the margin in it already."""
    room = np.empty(1)
    form = ruler.form
    for q in range(rows[0], rows[1]):
        line, x, of_x = block.values[q], block.queries[q], block.query_extra[q]
        for j in range(block.values.shape[1]):
            if line[j] + block.bias[j] >= least[q]:
                value = _value(form, x, block.targets[j], of_x, block.target_extra[j])
                out[q, block.first + j] = _score(form, value, room)


@njit(nogil=True, cache=True)
def add_likelihoods(block: Any, ruler: Any, rows: Any, least: Any, given: Any, per_nat: float, unit: Any) -> Any:
    """Add up exp((score - given) / per_nat), in whole steps of ``unit[1]``, of whoever's value reaches ``least``."""
    room = np.empty(1)
    form, far, steps = ruler.form, unit[0], unit[1]
    out = np.zeros(len(least), dtype=np.int64)
    for q in range(rows[0], rows[1]):
        line, x, of_x = block.values[q], block.queries[q], block.query_extra[q]
        total = 0
        for j in range(block.values.shape[1]):
            if line[j] + block.bias[j] >= least[q]:
                found = _score(form, _value(form, x, block.targets[j], of_x, block.target_extra[j]), room)
                below = (found - given[q]) / per_nat
                if below > -far:
                    total += int(np.rint(np.exp(below) * steps))
        out[q] = total
    return out


@njit(nogil=True, cache=True)
def score_records(products: Any, targets: Any, queries: Any, pairs: Any, least: Any, out: Any) -> None:
    """Write the largest cosine of two vectors of each pair of records, exactly.

    ``targets`` and ``queries`` are vectors, their lengths, and where each record's begin; ``products`` are the cosines
    of all vectors in single precision. Two vectors below ``least`` there cannot be the nearest of their records.
    """
    room = np.empty(1)
    for pair in range(len(least)):
        q, t, found = pairs[0][pair], pairs[1][pair], np.int64(-(1 << 62))
        for i in range(queries[2][q], queries[2][q + 1]):
            for j in range(targets[2][t], targets[2][t + 1]):
                if products[i, j] >= least[pair]:
                    value = _value(COSINE, queries[0][i], targets[0][j], queries[1][i], targets[1][j])
                    found = max(found, _score(COSINE, value, room))
        out[q, t] = found
