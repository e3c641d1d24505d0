"""Rows of real vectors, the three ways to compare them, and the exact score of a pair in one fixed order.

Each score is a whole number, made of a sum in double precision that goes through the dimensions from the first to the
last. Products of two single-precision numbers are exact there, so neither the device nor a fused multiplication can
change it. What rounding left in the last bits is cut off: pairs that are equally near by the formula tie.

* ``"cosine"``: x y / (|x| |y|), in steps of 2^-42;
* ``"distance"``: the sum of (x_i - y_i)^2, rounded to 40 bits; its bits, as a whole number, are in the order of the
  distance however small or large it is, and their negative is the score;
* ``"likelihood"``: x y + a(x) + b(y) nats, in steps of 2^-16; what a row adds by itself stands in ``extra``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from reidrisk.base.arrays import Floats, Ints
from reidrisk.base.errors import DataError
from reidrisk.base.parallel import slices
from reidrisk.search.weights import GRID

Form = Literal["cosine", "distance", "likelihood"]

COSINE_STEPS = float(1 << 42)
"""Steps of a cosine: coarser than what rounding leaves of equal ones up to thousands of dimensions."""
CUT_BITS = 12
"""Bits of a squared distance that are cut off."""

_ROWS = 2_048  # rows summed together: they stay in the cache while dimension after dimension goes by


@dataclass(frozen=True, eq=False)
class VectorRows:
    """Points (n, d) in single precision, and what each adds by itself: its length for a cosine, else a constant.

    >>> rows = VectorRows.of(np.array([[3.0, 4.0]], dtype=np.float32), "cosine")
    >>> rows.extra.tolist()
    [5.0]
    """

    values: npt.NDArray[np.float32]
    extra: Floats

    @classmethod
    def of(cls, values: npt.NDArray[np.float32], form: Form, extra: Floats | None = None) -> VectorRows:
        """Return rows for a form; of a cosine the lengths are taken here, and one of 0 is refused."""
        points = np.ascontiguousarray(values, dtype=np.float32)
        if form == "cosine":
            found = lengths(points)
            if not found.all():
                row = int(np.argmin(found))
                raise DataError(f"row {row} holds zeros only, which has no direction; leave it out, or use a distance")
            return cls(points, found)
        return cls(points, np.zeros(len(points)) if extra is None else np.asarray(extra, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> VectorRows:
        return VectorRows(self.values[rows], self.extra[rows])

    take = __getitem__


def lengths(values: npt.NDArray[np.float32]) -> Floats:
    """Return |x| of each row, summed from the first dimension to the last."""
    found = np.zeros(len(values))
    for part in slices(len(values), _ROWS):
        for column in values[part].T:
            found[part] += column.astype(np.float64) ** 2
    return np.sqrt(found)


def exact_values(form: Form, targets: VectorRows, queries: VectorRows) -> Floats:
    """Return the value of each pair of rows before it is made a whole number: cosine, squared distance, or nats."""
    total = np.zeros(len(queries))
    for part in slices(len(queries), _ROWS):
        for one, other in zip(queries.values[part].T, targets.values[part].T, strict=True):
            x, y = one.astype(np.float64), other.astype(np.float64)
            total[part] += (x - y) ** 2 if form == "distance" else x * y
    if form == "cosine":
        return np.asarray(total / (queries.extra * targets.extra))
    return total if form == "distance" else total + targets.extra + queries.extra


def to_scores(form: Form, values: Floats) -> Ints:
    """Make whole numbers of such values, higher for a nearer pair.

    >>> to_scores("distance", np.array([0.0, 1.0, 1.0 + 1e-15, 4.0])).tolist()[:1], bool(np.diff(
    ...     to_scores("distance", np.array([1.0, 1.0 + 1e-15])))[0] == 0)
    ([0], True)
    """
    if form == "cosine":
        return np.rint(values * COSINE_STEPS).astype(np.int64)
    if form == "likelihood":
        return np.rint(values * GRID).astype(np.int64)
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.asarray(-((bits + (1 << (CUT_BITS - 1))) >> CUT_BITS))


def pair_scores(form: Form, targets: VectorRows, queries: VectorRows) -> Ints:
    """Return the score of each pair of rows.

    >>> one, two = (VectorRows.of(np.array(x, dtype=np.float32), "cosine") for x in ([[1.0, 0.0]], [[2.0, 0.0]]))
    >>> pair_scores("cosine", one, two)[0] == 1 << 42
    np.True_
    """
    return to_scores(form, exact_values(form, targets, queries))
